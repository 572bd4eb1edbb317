#pragma once
// Scales s = amax / max_normal of groups, as fp32 numbers or rounded up to powers of two: DeepGEMM, vLLM.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/numerics/block.hpp"
#include "model/numerics/element_step.hpp"

namespace mx {

enum class GroupRule {
  group_amax,       ///< s as it is
  group_pow2_log2,  ///< 2^ceil(log2 s), the logarithm correctly rounded in fp32
  group_pow2_bits,  ///< s's exponent field, plus 1 where its mantissa is not 0, within 1 and 254
};

struct GroupRecipe {
  GroupRule rule;
  bool divides;  ///< s = amax / max_normal in fp32; else amax * RN(1 / max_normal)
  AmaxNan amax_nan;
  std::uint32_t amax_floor;  ///< fp32 bits: lower bound of amax; a NaN that is not ignored stays
  ElementStep step;          ///< the factor is s where it divides, RN(1 / s) where it multiplies
  Sources sources;
  std::uint32_t least_scale;  ///< fp32 bits: lower bound of s
  bool scale_in_fp16;         ///< the scale that is stored is s rounded to fp16; elements meet s itself

  friend bool operator==(const GroupRecipe&, const GroupRecipe&) = default;
};

/// The word of golden/witness/FORMAT.md.
std::string_view name_of(GroupRule rule);

/// fp32 bits of what elements of a group meet whose largest magnitude has these bits; a NaN is 0x7FC00000. The scale too, but where fp16 holds that.
std::uint32_t group_scale(std::uint32_t amax_f32, const Format& element, const GroupRecipe& how);

/// block_scaling for this family.
BlockScaling block_scaling(std::uint32_t amax_f32, const Format& source, const BlockFormat& format, const GroupRecipe& how);

/// quantize_block for this family; the length has been checked. Throws Error(usage) for any member of `tensor`.
QuantizedBlock quantize(std::span<const std::uint32_t> x, const Format& source, const BlockFormat& format, const GroupRecipe& how,
                        const TensorScale& tensor);

}  // namespace mx
