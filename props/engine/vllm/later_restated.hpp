#pragma once
// Rules of the engine's later versions said a second time, as conditions and words: what their documents and sources say, not what the tables hold.
// Sources: vllm 7ca49fbe4 (2026-08) and 0.33.0, 4ba787ec9 (2026-11): fused_moe/config.py, fused_moe/oracle/*.py, models/deepseek_v4/.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/deployment/deployment.hpp"

namespace mx::props {

/// Which later version; the first is 2026-05, which restated.hpp has.
enum class Later : std::uint8_t { august, november };

/// Where a layer is put: "cuda" with a capability, "rocm" with an architecture, "xpu", "cpu".
struct LaterPlace {
  std::string_view platform;
  int capability = 0;
  std::string_view gfx = {};

  bool cuda(int exactly) const { return platform == "cuda" && capability == exactly; }
  bool cuda_family(int of) const { return platform == "cuda" && capability / 10 == of / 10; }
};

using RestatedSizes = std::pair<std::int64_t, std::int64_t>;  ///< hidden, intermediate

/// Sizes of MXFP4's buffers.
RestatedSizes later_mxfp4_sizes(Later version, const LaterPlace& place, std::string_view backend, std::string_view activation, RestatedSizes given);
/// Of a layer without quantization: 2026-11 alone rounds.
RestatedSizes later_plain_sizes(Later version, std::string_view backend, RestatedSizes given);

/// The engine's name of the routing method; `groups` is the number of expert groups.
std::string_view later_routing(Later version, std::string_view scoring, bool bias, int groups, bool renormalize, double scaling);

/// What orders of lists look at.
struct LaterOrder {
  LaterPlace place;
  bool blocks = false;  ///< FP8 weights and activations in blocks of 128
  bool experts_split = false;
  bool data_parallel = false;
  bool deepep_v2 = false;
  std::string_view activation = "SILU";
  std::string_view routing = "Renormalize";
};
/// Backends of an unspecific request in their order; none where no list is walked.
std::vector<std::string> later_order(Later version, std::string_view oracle, const LaterOrder& of);

/// What a value of moe_backend means to an oracle, words with blanks between; empty: it is unknown. Nothing for names that no document of these
/// versions changes.
std::optional<std::string_view> later_name(Later version, std::string_view oracle, std::string_view name);

/// The exception where no backend takes the layer; empty: the search ends without a backend. `named`: moe_backend is a name that the oracle knows.
std::string_view later_end(Later version, std::string_view oracle, const LaterPlace& place, bool named);

/// Why the layer is refused before an oracle is asked: the exception's type; empty: it is not.
std::string_view later_config_error(Later version, const deployment::Deployment& deployment, bool gated);

/// What DeepSeek-V4's model file raises for a name of mega MoE; empty: nothing. None where its file does not build such experts.
std::optional<std::string_view> later_mega_error(Later version, std::string_view moe_backend, const deployment::Deployment& deployment);

/// Whether a layer's SILU limit reaches the kernel: "reaches", "does not", "raises".
std::string_view later_limit(std::optional<Later> version, std::string_view oracle, std::string_view backend, std::string_view weight_key);

/// Why int_wna16 does not ask a backend's classes: the first code; empty: it does.
std::string_view later_weight_only_refusal(Later version, std::string_view backend, const deployment::Deployment& deployment);

/// Dtype that activations are quantized to before the first product of an MXFP4 backend, as the configuration says it; none: no document says.
std::optional<std::string_view> later_mxfp4_activations(Later version, std::string_view backend);

}  // namespace mx::props
