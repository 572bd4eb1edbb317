#pragma once
// The mxfp4 method as it was before there were oracles. Source throughout: vllm ae067888d (2025-08-25) quantization/mxfp4.py Mxfp4MoEMethod and
// quantization/utils/mxfp4_utils.py.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/deployment/vocabulary.hpp"
#include "model/engine/vllm/answer.hpp"
#include "model/engine/vllm/env.hpp"

namespace mx::engine {

/// A torch version, as far as the method compares it.
struct TorchVersion {
  std::array<int, 3> release;
  bool pre_release;  ///< 2.8.0.dev20250801, 2.8.0rc1: older than 2.8.0. A post-release or a build label (+cu128) is not
};
/// Throws Error(usage) for text that is no version of at most three numbers.
TorchVersion torch_version_of(std::string_view text);
bool at_least(const TorchVersion& version, const std::array<int, 3>& release);

/// What the method looks at.
struct LegacyMachine {
  deployment::Hardware hardware;
  bool has_flashinfer = false;  ///< plain presence of the package, at that time
  bool has_triton_kernels = false;
  TorchVersion torch{};
  Environment environment;
};

/// Which of its paths the method takes.
struct LegacyChoice {
  bool use_marlin;
  bool flashinfer_bf16;
  bool flashinfer_mxfp8;
  bool use_flashinfer() const { return flashinfer_bf16 || flashinfer_mxfp8; }
};
/// ValueError when a variable is text that is no integer. Capability 100 is compared exactly: 103 is treated like 90 and above.
Answer<LegacyChoice> legacy_choice(const LegacyMachine& machine);

struct LegacySizes {
  std::int64_t hidden;
  std::int64_t intermediate;
};
/// Sizes of the padded parameters, in elements. Marlin is asked before FlashInfer: with both, Marlin's padding.
/// Throws Error(usage) for a size outside [1, kLargestSize].
LegacySizes legacy_padding(const LegacyChoice& choice, deployment::PlatformKind platform, const LegacySizes& sizes);

/// Shapes of the six parameters from padded sizes. A block is 32 elements; the scales of a hidden size that is no multiple are cut off.
struct LegacyShapes {
  std::array<std::int64_t, 3> w13_weight;        ///< [E, 2I, H/2]
  std::array<std::int64_t, 3> w13_weight_scale;  ///< [E, 2I, H/32]
  std::array<std::int64_t, 2> w13_bias;          ///< [E, 2I]
  std::array<std::int64_t, 3> w2_weight;         ///< [E, H, I/2]
  std::array<std::int64_t, 3> w2_weight_scale;   ///< [E, H, I/32]
  std::array<std::int64_t, 2> w2_bias;           ///< [E, H]
};
LegacyShapes legacy_shapes(std::int64_t experts, const LegacySizes& padded);

/// A layer, by what the method can refuse: every optional tensor or function is here as "is there". A group count of 0 counts as absent.
struct LegacyLayer {
  bool use_grouped_topk = false;
  std::optional<std::int64_t> topk_group = {};
  std::optional<std::int64_t> num_expert_group = {};
  bool expert_map = false;
  bool custom_routing_function = false;
  bool e_score_correction_bias = false;
  bool apply_router_weight_on_input = false;
  std::string scoring_func = "softmax";
  std::string activation = "swigluoai";  ///< the engine's value, in lower case
  bool expert_load_view = false;
  bool logical_to_physical_map = false;
  bool logical_replica_count = false;
};
/// _can_support_mxfp4; Marlin does not ask it.
bool legacy_can_support(const LegacyLayer& layer);

enum class LegacyPath : std::uint8_t { marlin, flashinfer, triton };
/// marlin, flashinfer, triton.
std::string_view name_of(LegacyPath path);
/// What apply() runs: NotImplementedError with EPLB before everything else; AssertionError for a layer that the other two paths cannot support, and
/// for expert parallelism on the FlashInfer path.
Answer<LegacyPath> legacy_path(const LegacyChoice& choice, bool enable_eplb, bool use_ep, const LegacyLayer& layer);

/// The backend of the later oracles that has the kernels, row orders and scale layouts of a path. Source: the same file,
/// process_weights_after_loading and apply: pair swap and 128-row shuffle for FlashInfer, Marlin's repack, triton_kernels' swizzles.
std::string_view legacy_backend(LegacyPath path, const LegacyChoice& choice);

/// The routing that FlashInfer is told. Standard (softmax, then top-k) is reachable here; the later oracles refuse it.
deployment::Routing legacy_flashinfer_routing(bool renormalize);

/// Tokens per tile that FlashInfer is told: those of an expert under an even split, times 1.3, up to a power of two within 8..64.
/// Throws Error(usage) for negative counts, no experts, more than kLargestTopK experts per token or kLargestSize of anything else.
inline constexpr std::int64_t kLargestTopK = std::int64_t{1} << 16;
std::int64_t legacy_tile_tokens_dim(std::int64_t tokens, std::int64_t top_k, std::int64_t experts);

/// Default of VLLM_MOE_DP_CHUNK_SIZE. Source: vllm ae067888d envs.py.
inline constexpr std::int64_t kLegacyDpChunkSize = 256;
/// Warps for which the Triton path lays its scales out.
int legacy_num_warps(bool use_ep, std::int64_t dp_chunk_size = kLegacyDpChunkSize);

/// How the Triton path lays weights and scales out. Source: _swizzle_mxfp4.
struct LegacySwizzle {
  bool strided;            ///< no swizzle at all, for values and scales
  bool persistent_kernel;  ///< forced, with epilogue subtile 1
};
LegacySwizzle legacy_swizzle(const std::optional<int>& capability, const TorchVersion& torch);

}  // namespace mx::engine
