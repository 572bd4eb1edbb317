#pragma once
// The oracles said a second time, from the documents and not from the model's tables: which backends there are, what each class refuses first, how
// sizes are rounded, in which order lists are walked, what each oracle answers. Written as the engine's code runs, in plain conditions and
// exceptions, so that it shares neither data nor shape with the model. Facts say of which version. Source: vllm 7e1b45a09 (2026-05; w4a8: 4438b6e7d),
// 7ca49fbe4 (2026-08) and 0.33.0, 4ba787ec9 (2026-11) fused_moe/config.py, fused_moe/oracle/*.py, fused_moe/experts/*.py, models/deepseek_v4/.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "props/engine/vllm/facts.hpp"

namespace mx::props {

// Rules of every version.

using RestatedSizes = std::pair<std::int64_t, std::int64_t>;  ///< hidden, intermediate

/// What a backend's sizes are rounded up to, for the platform and the activation of the facts.
RestatedSizes restated_sizes(std::string_view oracle, std::string_view backend, const Facts& facts, RestatedSizes given);

/// Backends that an unspecific request walks, best first, before variables and keys take some away; none where no list is walked.
std::vector<std::string_view> restated_order(std::string_view oracle, const Facts& facts);

/// What a class, asked with the keys of the facts, says: "" when it takes the layer, else the first failing check or "exc:TYPE".
/// Throws std::out_of_range for a class that the restatement does not know in that version.
std::string restated_verdict(std::string_view kernel_class, const Facts& facts);

/// The names of all classes that the restatement knows: of 2026-05 every one, of the versions since then of each kind of check one at least.
std::vector<std::string_view> restated_classes(deployment::Engine engine);

/// The engine's name of the routing method since 2026-08; `groups` is the number of expert groups.
std::string_view restated_routing(deployment::Engine engine, std::string_view scoring, bool bias, int groups, bool renormalize, double scaling);

/// What a value of moe_backend means to an oracle since 2026-08, words with blanks between; empty: it is unknown. Nothing for names that no document
/// of these versions changes.
std::optional<std::string_view> restated_meaning(deployment::Engine engine, std::string_view oracle, std::string_view name);

/// The exception where no backend takes the layer; empty: the search ends without a backend. `named`: moe_backend is a name that the oracle knows.
std::string_view restated_end(std::string_view oracle, const Facts& facts, bool named);

/// Why the layer is refused before an oracle is asked, since 2026-08: the exception's type; empty: it is not.
std::string_view restated_config_error(const Facts& facts);

/// What DeepSeek-V4's model file raises for a name of mega MoE since 2026-08; empty: nothing. None where its file does not build such experts.
std::optional<std::string_view> restated_mega_error(const Facts& facts);

/// Whether a layer's SILU limit reaches the kernel: "reaches", "does not", "raises".
std::string_view restated_limit(deployment::Engine engine, std::string_view oracle, std::string_view backend, std::string_view weight_key);

/// Why int_wna16 does not ask a backend's classes: the first code; empty: it does.
std::string_view restated_call_refusal(std::string_view backend, const Facts& facts);

/// Dtype that activations are quantized to before the first product of an MXFP4 backend since 2026-08, as the configuration says it; none: no
/// document says.
std::optional<std::string_view> restated_mxfp4_activations(deployment::Engine engine, std::string_view backend);

// The whole search, of one version.

inline constexpr deployment::Engine kSearched = deployment::kVllm2026_05;

/// A backend of one oracle or several. Lists are words with blanks between.
struct RestatedBackend {
  std::string_view oracles = {};
  std::string_view name = {};
  std::string_view classes = {};  ///< in the order of trial
  std::string_view own_key = {};  ///< of activations; "" where the oracle knows none
  std::string_view wishes = {};   ///< values of moe_backend that mean it; a wish for several tries them in the order of the rows
  bool global_sf = false;
};
std::span<const RestatedBackend> restated_backends();
/// Null for a name that is no backend of the oracle.
const RestatedBackend* restated_backend(std::string_view oracle, std::string_view name);

/// True when the oracle may answer a wish with that backend.
bool wish_means(std::string_view oracle, std::string_view wish, std::string_view backend);

/// The batched member of a backend under a batched exchange, or the backend itself.
std::string_view batched_member(std::string_view oracle, std::string_view backend);

struct RestatedVerdict {
  std::string_view backend;
  std::string_view kernel_class;  ///< "*" where they cannot be imported
  std::string code;
};
/// Every (backend, class), in the order of the rows, asked as the recorded support files ask.
std::vector<RestatedVerdict> restated_support(std::string_view oracle, const deployment::Deployment& deployment);

/// The verdict on one class of one backend, asked in the same way.
std::string restated_verdict(std::string_view oracle, const RestatedBackend& backend, std::string_view kernel_class,
                             const deployment::Deployment& deployment);

/// What the oracle answers: a backend with its class ("" with NONE) and sizes, or the type of an exception.
struct RestatedAnswer {
  std::string backend = {};
  std::string kernel_class = {};
  std::string error_type = {};
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  bool global_sf = false;

  bool operator==(const RestatedAnswer&) const = default;
};
RestatedAnswer restated_answer(std::string_view oracle, const deployment::Deployment& deployment);

}  // namespace mx::props
