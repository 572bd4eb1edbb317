#pragma once
// The tensors of one MoE layer's experts, their canonical (checkpoint) forms, and the sizes that everything is computed from.
// Source: vllm-project/vllm, create_weights of the MXFP4 MoE method (shapes, zero fill) and
// vllm/model_executor/layers/fused_moe/oracle/mxfp4.py, convert_*_weight_to_mxfp4_moe_kernel_format (row orders).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/layout/layout.hpp"

namespace mx::layout {

/// The six tensors of a layer, in this order everywhere.
enum class Role { w13_weight, w13_weight_scale, w13_bias, w2_weight, w2_weight_scale, w2_bias };
inline constexpr std::array<Role, 6> kRoles{Role::w13_weight, Role::w13_weight_scale, Role::w13_bias,
                                            Role::w2_weight,  Role::w2_weight_scale,  Role::w2_bias};
std::string_view name_of(Role role);
bool is_bias(Role role);
bool is_scale(Role role);
Role role_named(std::string_view name);  ///< throws Error(usage)

/// Order of the rows of w13 in a checkpoint.
enum class SourceOrder {
  gpt_oss,   ///< interleaved: row 2i gate, row 2i+1 up
  standard,  ///< halves: rows 0..I-1 gate (w1), I..2I-1 up (w3)
};
std::string_view name_of(SourceOrder order);
SourceOrder source_order_named(std::string_view name);  ///< throws Error(usage)

/// Sizes of one rank's experts. All positive; hidden and intermediate multiples of `group`.
struct Sizes {
  std::int64_t experts;
  std::int64_t intermediate;  ///< I: rows of gate, and of up; reduction length of w2
  std::int64_t hidden;        ///< H: reduction length of w13; rows of w2
  std::int64_t group = 32;    ///< elements per scale
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

/// Throws Error(usage) naming the size: not positive, above 2^30, or not a multiple of the group.
void check(const Sizes& sizes);

/// Bits of one logical unit: 4 for weights, 8 for scales, 16 for a bf16 bias.
int unit_bits(Role role);

/// Logical axes; throws Error(usage) when a size is not positive or hidden or intermediate is no multiple of the group. w13: [E, 2, I, K] weights,
/// [E, 2, I, G] scales, [E, 2, I] bias, where axis "half" is 0 for gate and 1 for up. w2: [E, H, K], [E, H, G], [E, H]. Axis names: E half I K G N
/// (N: rows of w2).
std::vector<Axis> logical_axes(Role role, const Sizes& sizes);

/// "E=0 half=up I=3 K=17": a logical element as `mxact layout where` takes it.
std::string coord_text(std::span<const Axis> axes, std::span<const std::int64_t> coord);

/// The checkpoint's own memory of a tensor: row-major, two fp4 elements a byte, even element in the low nibble.
Layout canonical(Role role, const Sizes& sizes, SourceOrder order);

/// Throws Error(usage) unless `padded` >= `sizes` in hidden and intermediate with the same experts and group.
void check_padded(const Sizes& sizes, const Sizes& padded);

/// The logical tensor with every axis zero-padded to the rounded-up sizes, axes as logical_axes: what every backend's program starts from.
/// `bits` is the memory unit, unit_bits(role) unless a cast changes it. Throws Error(usage) as check_padded does.
Layout padded_tensor(Role role, const Sizes& sizes, const Sizes& padded, int bits);

/// The allocated buffer that an engine loads into: the canonical form with every size already rounded up, zero filled. In standard order gate and
/// up are padded each at its own end. Throws Error(usage) as check_padded does.
Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, SourceOrder order);

}  // namespace mx::layout
