#pragma once
// The oracles said a second time, from the documents and not from the model's tables: which backends there are, what each class refuses first, what
// each oracle answers. Written as the engine's code runs, in plain conditions and exceptions, so that it shares neither data nor shape with the
// model. Source: vllm 7e1b45a09 fused_moe/oracle/*.py and fused_moe/experts/*.py; of w4a8 4438b6e7d.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "props/engine/vllm/facts.hpp"

namespace mx::props {

/// A backend of one oracle or several. Lists are words with blanks between.
struct RestatedBackend {
  std::string_view oracles = {};
  std::string_view name = {};
  std::string_view classes = {};  ///< in the order of trial
  std::string_view own_key = {};  ///< of activations; "" where the oracle knows none
  std::string_view wishes = {};   ///< values of moe_backend that mean it; a wish for several tries them in the order of the rows
  std::int64_t hidden = 1;        ///< sizes are rounded up to multiples of these
  std::int64_t intermediate = 1;
  std::int64_t hidden_on_rocm = 1;
  std::int64_t intermediate_on_rocm = 1;
  bool global_sf = false;
};
std::span<const RestatedBackend> restated_backends();
/// Null for a name that is no backend of the oracle.
const RestatedBackend* restated_backend(std::string_view oracle, std::string_view name);

/// What its sizes are rounded up to on a platform.
struct Multiples {
  std::int64_t hidden;
  std::int64_t intermediate;
};
Multiples restated_multiples(const RestatedBackend& backend, deployment::PlatformKind platform);

/// True when the oracle may answer a wish with that backend.
bool wish_means(std::string_view oracle, std::string_view wish, std::string_view backend);

/// Backends that an unspecific request walks, best first, before variables and keys take some away.
std::vector<std::string_view> restated_priority(std::string_view oracle, const Facts& facts);

/// The batched member of a backend under a batched exchange, or the backend itself.
std::string_view batched_member(std::string_view oracle, std::string_view backend);

/// What a class, asked with the keys of the facts, says: "" when it takes the layer, else the first failing check or "exc:TYPE".
/// Throws std::out_of_range for a class that the restatement does not know.
std::string restated_verdict(std::string_view kernel_class, const Facts& facts);

/// The names of all classes that the restatement knows.
std::vector<std::string_view> restated_classes();

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
