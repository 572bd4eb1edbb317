#pragma once
// What a kernel makes of packed tensors: it looks for each element of its matrices where the documents place it, and finds what the model put there.

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "props/families/memory_case.hpp"

namespace mx::props {

/// A weight with its scales.
struct WeightRoles {
  layout::Role weight;
  layout::Role scale;
  layout::Role global;
  layout::Role channel;
};
inline constexpr std::array<WeightRoles, 2> kWeights{
    {{layout::Role::w13_weight, layout::Role::w13_weight_scale, layout::Role::w13_global_scale, layout::Role::w13_channel_scale},
     {layout::Role::w2_weight, layout::Role::w2_weight_scale, layout::Role::w2_global_scale, layout::Role::w2_channel_scale}}};

/// How many elements of a weight a kernel dequantizes to another number than the checkpoint's. Fails the running property when it does not find them
/// all.
std::int64_t count_misread(const BackendCase& c, const layout::CanonicalLayer& layer, const families::PackedLayer& packed, const WeightRoles& roles);

/// How many pairs of rows of a tensor of w13 are not gate i and up i.
std::int64_t count_mispaired(const BackendCase& c, layout::Role role);

/// Number, in the checkpoint's memory, of a unit of the logical tensor: rows of w13 alternate in gpt-oss order.
std::int64_t checkpoint_unit(const BackendCase& c, layout::Role role, std::int64_t unit);

/// Fails the running property unless every grain of the packed tensor is what the documents have there: a unit of the layer, cast, or padding.
void check_bytes(const BackendCase& c, const layout::CanonicalLayer& layer, const layout::PackedTensor& tensor, const Memory& expected);

}  // namespace mx::props
