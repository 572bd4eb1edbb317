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

/// The tensors of a layer, in this order everywhere. A form has some of them.
enum class Role {
  w13_weight,
  w13_weight_scale,
  w13_bias,
  w2_weight,
  w2_weight_scale,
  w2_bias,
  w13_global_scale,  ///< fp32, one per expert: the second scale of NVFP4
  w2_global_scale,
  w13_channel_scale,  ///< fp32, one per row: made by the W4A8 conversion
  w2_channel_scale,
};
inline constexpr std::size_t kRoleCount = 10;
/// Weights, block scales and biases: all that MXFP4 has.
inline constexpr std::array<Role, 6> kRoles{Role::w13_weight, Role::w13_weight_scale, Role::w13_bias,
                                            Role::w2_weight,  Role::w2_weight_scale,  Role::w2_bias};
inline constexpr std::array<Role, kRoleCount> kAllRoles{
    Role::w13_weight, Role::w13_weight_scale, Role::w13_bias,        Role::w2_weight,         Role::w2_weight_scale,
    Role::w2_bias,    Role::w13_global_scale, Role::w2_global_scale, Role::w13_channel_scale, Role::w2_channel_scale};
std::string_view name_of(Role role);
bool is_w13(Role role);
bool is_weight(Role role);
bool is_bias(Role role);
bool is_scale(Role role);                ///< the first scales, w13_weight_scale and w2_weight_scale
Role role_named(std::string_view name);  ///< throws Error(usage)

/// Order of the rows of w13 in a checkpoint.
enum class SourceOrder {
  gpt_oss,   ///< interleaved: row 2i gate, row 2i+1 up
  standard,  ///< halves: rows 0..I-1 gate (w1), I..2I-1 up (w3)
};
std::string_view name_of(SourceOrder order);
SourceOrder source_order_named(std::string_view name);  ///< throws Error(usage)

/// What the elements and the first scales of a checkpoint's experts are.
enum class WeightFormat {
  mxfp4,           ///< e2m1, e8m0 per 32 along K
  nvfp4,           ///< e2m1, e4m3 per 16 along K, fp32 per expert
  mxfp8,           ///< e4m3, e8m0 per 32 along K
  fp8_tensor,      ///< e4m3, fp32 per expert
  fp8_channel,     ///< e4m3, fp32 per row
  fp8_block,       ///< e4m3, fp32 per square of block_side()
  int4,            ///< uint4b8 (value + 8), bf16 per 128 along K
  fp8_block_e8m0,  ///< e4m3, e8m0 per 128 x 128
  fp8_pair,        ///< e4m3, fp32 per expert; of w13 one for gate and one for up
};
inline constexpr std::array<WeightFormat, 9> kWeightFormats{WeightFormat::mxfp4,      WeightFormat::nvfp4,          WeightFormat::mxfp8,
                                                            WeightFormat::fp8_tensor, WeightFormat::fp8_channel,    WeightFormat::fp8_block,
                                                            WeightFormat::int4,       WeightFormat::fp8_block_e8m0, WeightFormat::fp8_pair};
std::string_view name_of(WeightFormat format);
WeightFormat weight_format_named(std::string_view name);  ///< throws Error(usage)
/// Elements per scale along K, 0 where scales do not group K; what Sizes::group is for the format.
std::int64_t group_of(WeightFormat format);
/// Whether a scale is that of a square of rows and columns.
bool has_squares(WeightFormat format);
/// Whether the form has that tensor at all (biases may still be absent from a checkpoint).
bool has_role(WeightFormat format, Role role);

/// A checkpoint's form: what its elements are and how the rows of w13 lie. A SourceOrder alone means gated MXFP4, the form of gpt-oss.
struct Form {
  WeightFormat format = WeightFormat::mxfp4;
  SourceOrder order = SourceOrder::gpt_oss;
  bool gated = true;  ///< w13 holds gate and up; else one matrix of I rows, and the axis "half" has extent 1

  constexpr Form() = default;
  constexpr Form(SourceOrder rows) : order(rows) {}  // NOLINT(google-explicit-constructor): the plain form is what most speak of
  constexpr Form(WeightFormat elements, SourceOrder rows, bool is_gated = true) : format(elements), order(rows), gated(is_gated) {}
  friend bool operator==(const Form&, const Form&) = default;
};

/// Sizes of one rank's experts. All positive; hidden and intermediate multiples of `group`.
struct Sizes {
  std::int64_t experts;
  std::int64_t intermediate;  ///< I: rows of gate, and of up; reduction length of w2
  std::int64_t hidden;        ///< H: reduction length of w13; rows of w2
  std::int64_t group = 32;    ///< elements per scale along K; 1 where scales do not group K (fp8 per tensor and per channel); block_side() of squares
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

/// Rows and columns of a square that has one scale, where a checkpoint says nothing else.
inline constexpr std::int64_t kBlockSide = 128;
/// Those of a layer of squares by its group, of which 1 stands for kBlockSide.
constexpr std::int64_t block_side(std::int64_t group) { return group > 1 ? group : kBlockSide; }

/// Throws Error(usage) naming the size: not positive, above 2^30, or not a multiple of the group.
void check(const Sizes& sizes);

/// Bits of one logical unit: 4 or 8 for weights, 8, 16 or 32 for scales, 16 for a bf16 bias.
int unit_bits(Role role, WeightFormat format = WeightFormat::mxfp4);

/// Logical axes; throws Error(usage) when a size is not positive, hidden or intermediate is no multiple of the group, or the form lacks the tensor.
/// w13: [E, half, I, K] weights, [E, half, I, G] scales, [E, half, I] bias, where axis "half" is 0 for gate and 1 for up. w2: [E, N, K], [E, N, G],
/// [E, N], N being the rows of w2 (H). Scales per expert are [E], of a pair [E, half] and [E], per row [E, half, I] and [E, N], per square
/// [E, half, IB, KB] and [E, NB, KB] with squares counted up.
std::vector<Axis> logical_axes(Role role, const Sizes& sizes, const Form& form = {});

/// "E=0 half=up I=3 K=17": a logical element as `mxact layout where` takes it.
std::string coord_text(std::span<const Axis> axes, std::span<const std::int64_t> coord);

/// The checkpoint's own memory of a tensor: row-major, two 4-bit elements a byte, even element in the low nibble.
Layout canonical(Role role, const Sizes& sizes, const Form& form);

/// Throws Error(usage) unless `padded` >= `sizes` in hidden and intermediate with the same experts and group.
void check_padded(const Sizes& sizes, const Sizes& padded);

/// The logical tensor with every axis zero-padded to the rounded-up sizes, axes as logical_axes: what a program starts from.
/// `bits` is the memory unit, unit_bits(role) unless a cast changes it. Throws Error(usage) as check_padded does.
Layout padded_tensor(Role role, const Sizes& sizes, const Sizes& padded, int bits, const Form& form = {});

/// The allocated buffer that an engine loads into: the canonical form with every size already rounded up, zero filled. In standard order gate and
/// up are padded each at its own end. `bits` as in padded_tensor. Throws Error(usage) as check_padded does.
Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, const Form& form, int bits);
Layout loaded(Role role, const Sizes& sizes, const Sizes& padded, const Form& form);

}  // namespace mx::layout
