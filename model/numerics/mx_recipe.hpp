#pragma once
// E8M0 scales chosen from the exponent of the largest magnitude: MX 1.0 §6.3 and its dialects.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"

namespace mx {

/// How the shared scale follows from the block's largest magnitude. emax and max_normal are those of the element format.
enum class ScaleRule {
  floor,                 ///< 2^floor(log2(amax / 2^emax)) (MX 1.0 §6.3)
  ceil,                  ///< 2^ceil(log2(amax / 2^emax))
  rceil,                 ///< 2^ceil(log2(amax / max_normal)) (NVIDIA)
  rceil_rcp,             ///< rceil whose Inf saturates to 2^127 (PTX cvt.rp.satfinite.ue8m0x2)
  even,                  ///< floor of amax rounded to the element's mantissa bits, ties up, as fp32 (AMD Quark)
  even_source_width,     ///< the same with the rounding done in the source's type
  floor_log2,            ///< floor of the correctly rounded fp32 log2(amax), minus emax (microxcaling)
  floor_log2_no_emax,    ///< the same without emax (vLLM)
  floor_log2_ggml,       ///< floor_log2 whose byte may wrap (ggml)
  floor_log2_unclamped,  ///< the same as an fp32 power of two of any exponent (AMD Quark)
  ceil_log2_unclamped,   ///< its rounded-up variant
  rceil_log2,            ///< 2^ceil(log2(amax / max_normal)), quotient and logarithm rounded to fp32 (torchao, ModelOpt)
  floor_log2_quotient,   ///< 2^floor(log2(amax / max_normal)), likewise (flashinfer's reference)
  ceil_exact,            ///< 2^ceil(log2 q), q = amax / max_normal rounded, its logarithm exact (MLX on a CPU)
  even_quark,            ///< even whose overflow is 2^127 (AMD Quark)
};

/// How amax meets its divisor, where both steps are not one: 2^emax of floor, ceil and even, max_normal of rceil.
enum class AmaxQuotient {
  exponent_field,  ///< the exponent fields are subtracted: exact, and a subnormal amax counts as 0. Not for rceil
  division,        ///< amax / divisor in fp32
  reciprocal,      ///< amax * RN(1 / divisor) in fp32
};

/// Which subnormal quotients of ceil and rceil give scale byte 1 instead of 0.
enum class SubnormalBump {
  any,                  ///< every one but zero: byte 0 stands for zero
  above_smallest_scale  ///< those above 2^-127, the value of byte 0
};

/// What becomes of a power of two below 2^-127.
enum class BelowBytes {
  clamped,      ///< byte 0
  wraps,        ///< the byte modulo 256; elements meet the power of two itself
  wraps_alone,  ///< the byte modulo 256; elements meet what it stands for
};

/// One dialect of a rule.
struct MxScale {
  ScaleRule rule;
  AmaxQuotient quotient;
  SubnormalBump bump;
  AmaxNan amax_nan;
  bool flush_subnormals;                   ///< a subnormal amax or quotient is zero
  std::uint32_t zero_amax;                 ///< fp32 bits that stand in for an amax of 0
  std::uint32_t least_amax;                ///< fp32 bits: lower bound of amax
  std::uint32_t nan_code;                  ///< scale byte when amax is NaN
  std::uint32_t infinite_code;             ///< scale byte when amax is Inf, or rounds to Inf
  std::uint32_t overflow_code;             ///< scale byte where the rule's power of two is above 2^127
  std::uint32_t zero_code;                 ///< scale byte when amax, after the two bounds, or its quotient is 0
  std::optional<int> mantissa_bits;        ///< bits that `even` keeps of amax; none: those of the element
  bool in_source_type;                     ///< quotient and logarithm are rounded to the source's type
  BelowBytes below;                        ///< what becomes of powers of two below that of byte 0
  std::optional<std::uint32_t> lost_code;  ///< scale byte where the source's type holds the power of two as 0
  std::uint32_t lost_power;                ///< fp32 scales: bits in place of a power of two that is 0

  friend bool operator==(const MxScale&, const MxScale&) = default;
};

/// False where elements meet another power of two than the one that the byte stands for, or amax another step than fp32's.
constexpr bool follows_byte(const MxScale& scale) { return !scale.in_source_type && scale.below == BelowBytes::clamped && !scale.lost_code; }

/// The fp32 factor that a scale byte stands for: 2^(127 - byte) where elements are multiplied, 2^(byte - 127) where they are divided, NaN for
/// byte 255; and where an implementation has another one.
struct ScaleFactor {
  bool in_source_type;                            ///< rounded to the source's type first: fp16 makes 2^-127 zero
  std::optional<std::uint32_t> at_0;              ///< for byte 0
  std::optional<std::uint32_t> at_254;            ///< for byte 254
  std::optional<std::uint32_t> at_255;            ///< for byte 255
  std::optional<std::uint32_t> at_nan_amax;       ///< whatever the byte, when amax is NaN
  std::optional<std::uint32_t> at_infinite_amax;  ///< whatever the byte, when amax is Inf or rounds to it

  friend bool operator==(const ScaleFactor&, const ScaleFactor&) = default;
};

struct MxElements {
  ElementStep step;
  ScaleFactor factor;
  /// Code of every element of a block whose byte is 255, where the implementation's own conversion of NaN products is not specified.
  std::optional<std::uint32_t> nan_block_code;
  /// An element whose value times the scale is not finite in fp32 cannot be chosen: the largest one that can takes its place.
  bool finite_products = false;

  friend bool operator==(const MxElements&, const MxElements&) = default;
};

struct MxRecipe {
  MxScale scale;
  std::optional<MxElements> elements;  ///< none: the implementation gives scales alone
  Sources sources;

  friend bool operator==(const MxRecipe&, const MxRecipe&) = default;
};

/// The word of golden/witness/FORMAT.md.
std::string_view name_of(ScaleRule rule);
/// Throws Error(usage) with the nearest known name.
ScaleRule scale_rule_named(std::string_view name);

/// E8M0 code of the scale for a block whose largest magnitude has these fp32 bits (sign ignored). `source` is the type of the elements, for
/// what is done in it; amax is a value of it.
std::uint32_t scale_code(std::uint32_t amax_f32, const Format& element, const MxScale& scale, const Format& source = kF32);

/// E8M0 code of the scale of one block, or its fp32 bits where the format has such scales; the length has been checked.
std::uint32_t block_scale(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how);

/// block_scaling for this family, of a recipe that gives codes.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const MxRecipe& how);

/// quantize_block for this family; the length has been checked. Throws Error(usage) for a recipe of scales alone and for any member of `tensor`.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const MxRecipe& how,
                        const TensorScale& tensor);

// Rows that follow the documents: exact quotients, NaN and Inf blocks with scale 255 whose elements are NaN, rounded as `element` says.

constexpr MxScale plain_scale(ScaleRule rule) {
  return {.rule = rule,
          .quotient = AmaxQuotient::exponent_field,
          .bump = SubnormalBump::above_smallest_scale,
          .amax_nan = AmaxNan::propagates,
          .flush_subnormals = false,
          .zero_amax = 0,
          .least_amax = 0,
          .nan_code = 0xFF,
          .infinite_code = 0xFF,
          .overflow_code = 0xFE,
          .zero_code = 0x00,
          .mantissa_bits = std::nullopt,
          .in_source_type = false,
          .below = BelowBytes::clamped,
          .lost_code = std::nullopt,
          .lost_power = 0};
}

constexpr ElementStep plain_step(const Conversion& element) {  ///< exact quotients, rounded as `element` says
  return {.operation = ElementOperation::exact,
          .nan_sign = NanSign::positive,
          .zero_sign = ZeroSign::kept,
          .flush_subnormals = false,
          .half_is_added = false,
          .unit_by_log2 = false,
          .in_source_type = false,
          .encode = element};
}

constexpr ScaleFactor kPlainFactor{false, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt};

/// MX 1.0 §6.3.
constexpr MxRecipe ocp_recipe(const Conversion& element) {
  return {plain_scale(ScaleRule::floor), MxElements{plain_step(element), kPlainFactor, std::nullopt}, kAnySource};
}

}  // namespace mx
