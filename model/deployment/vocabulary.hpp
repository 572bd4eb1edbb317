#pragma once
// The engine's words for a layer: activations, routing methods, quantization keys. Tables of names; sets of them are bit masks.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/deployment/version.hpp"

namespace mx::deployment {

/// vllm fused_moe/activation.py MoEActivation, in the order in which versions brought them.
enum class Activation : std::uint8_t {
  silu,
  gelu,
  gelu_tanh,
  relu2,
  swigluoai,
  swiglustep,
  silu_no_mul,
  gelu_no_mul,
  gelu_tanh_no_mul,
  relu2_no_mul,
  situ,
  swigluoai_uninterleave,
};

/// vllm fused_moe/config.py RoutingMethodType, in the order in which versions brought them (not the engine's integers).
enum class Routing : std::uint8_t {
  standard,
  renormalize,
  deepseek_v3,
  llama4,
  renormalize_naive,
  top_k,
  sigmoid_renorm,
  minimax2,
  unspecified,
  deepseek_v4,
  custom,
  simulated,
  sigmoid,
};

/// vllm quantization/utils/quant_utils.py: the named keys; `none` is 16-bit activations, and "no key asked for". The last three stand for all keys
/// that callers build themselves and that no named one equals: `INT:<type>:<scale dtype>:<row>,<column>:<sym|asym>` and `FP8:<scale
/// dtype>:<row>,<column>`.
enum class QuantKey : std::uint8_t {
  none,
  fp8_static_tensor,
  fp8_dynamic_tensor,
  fp8_static_token,
  fp8_dynamic_token,
  fp8_static_channel,
  fp8_static_128_block,
  fp8_dynamic_128,
  fp8_dynamic_64,
  mxfp8_static,
  mxfp8_dynamic,
  mxfp4_static,
  mxfp4_dynamic,
  nvfp4_static,
  nvfp4_dynamic,
  int4_static,
  int8_static,
  int8_static_channel,
  int8_dynamic_token,
  int4_static_32,
  int4_static_asym,
  int4_static_32_asym,
  int8_static_tensor,
  int8_dynamic_tensor,
  int4_w4a8_group_128,
  int4_w4a8_group_64,
  int4_w4a8_group_32,
  int4_w4a8_group,
  mxfp6_e3m2_static,
  mxfp6_e3m2_dynamic,
  mxfp6_e2m3_static,
  mxfp6_e2m3_dynamic,
  nvfp4_dynamic_token,
  fp8_static_128_block_e8m0,
  int8_dynamic_token_asym,
  int8_static_tensor_asym,
  int8_dynamic_tensor_asym,
  int8_dynamic_32,
  built_unsigned_groups,  ///< unsigned integers of 2 to 8 bits with one scale a channel or a group
  built_fp8_blocks,       ///< FP8 with one static f32 scale a block of several rows and columns
  built_other,
};

/// A set of enumerators of one of the enums above.
using Mask = std::uint64_t;
template <typename Word>
constexpr Mask bit(Word word) {
  return Mask{1} << static_cast<unsigned>(word);
}
template <typename... Words>
constexpr Mask set_of(Words... words) {
  return (Mask{0} | ... | bit(words));
}
template <typename Word>
constexpr bool contains(Mask set, Word word) {
  return (set & bit(word)) != 0;
}
inline constexpr Mask kEverything = ~Mask{0};

/// The engine's spelling: SWIGLUOAI, Renormalize, kMxfp4Static, None.
std::string_view name_of(Activation activation);
std::string_view name_of(Routing routing);
std::string_view name_of(QuantKey key);
/// False for the two keys whose dtype the engine cannot print: taking their text raises KeyError there.
bool has_text_form(QuantKey key);

/// True when a gate is multiplied in: all but the NO_MUL.
bool is_gated(Activation activation);

/// Exact spelling only. Throws Error(usage) with the nearest known name.
Activation activation_named(std::string_view name);
Routing routing_named(std::string_view name);
QuantKey quant_key_named(std::string_view name);
/// Rows and columns of the squares and rectangles that share a scale.
struct KeyBlock {
  std::int64_t rows;
  std::int64_t columns;
};
/// Of a key of FP8 blocks: kFp8Static128BlockSym, FP8:float32:64,64; of other keys none. Throws as quant_key_named does.
std::optional<KeyBlock> fp8_block_of_key(std::string_view name);
/// The engine's own name, or what a caller builds: FP8:float32:64,64.
std::string key_of_fp8_block(const KeyBlock& block);
/// A value of quantization_config.moe.activation; no key for the four ways of leaving it out (unset, no_args, moe_none, null).
/// Throws Error(usage) on another name.
std::optional<QuantKey> override_key_named(std::string_view name);

/// Throws Error(unsupported) when the version does not have the word: "activation SITU is not one of vllm@2026-05, which it came after".
void require_word(Engine engine, Activation activation);
void require_word(Engine engine, Routing routing);
void require_word(Engine engine, QuantKey key);
void require_all2all(Engine engine, std::string_view name);
void require_override(Engine engine, std::string_view name);

/// Those of a version, numbered as the enumerators are.
std::span<const std::string_view> activation_names(Engine engine);
std::span<const std::string_view> routing_names(Engine engine);
std::span<const std::string_view> quant_key_names(Engine engine);
std::span<const std::string_view> override_names(Engine engine);
std::span<const std::string_view> all2all_names(Engine engine);
/// The exchange as the version calls it: 2026-08 has two of MoRI, and `mori` becomes the one for throughput. Other names are kept.
std::string_view all2all_of(Engine engine, std::string_view name);

/// Known names of all versions, for checks and suggestions.
std::span<const std::string_view> activation_names();
std::span<const std::string_view> routing_names();
std::span<const std::string_view> quant_key_names();
std::span<const std::string_view> override_names();
std::span<const std::string_view> dtype_names();
std::span<const std::string_view> all2all_names();
/// Values of moe_backend: those that the engine's command line admits, then those that only the config field reaches. Each oracle knows some.
std::span<const std::string_view> moe_backend_names();

}  // namespace mx::deployment
