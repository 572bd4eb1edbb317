// Tensor parallel sharding of a layer, through the layouts: a shard is a slice of the logical tensor.

#include <string>

#include "model/error.hpp"
#include "sim/verify.hpp"

namespace mx::sim {
namespace {

using layout::CanonicalLayer;
using layout::Layout;
using layout::Role;
using layout::Sizes;

/// The axis that tensor parallelism cuts, or none (w2's bias is whole on every rank), with the number of its entries per scale group.
struct Cut {
  const char* axis;
  bool in_groups;
};

std::optional<Cut> cut_of(Role role) {
  switch (role) {
    case Role::w13_weight:
    case Role::w13_weight_scale:
    case Role::w13_bias: return Cut{"I", false};
    case Role::w2_weight: return Cut{"K", false};
    case Role::w2_weight_scale: return Cut{"G", true};
    default: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

CanonicalLayer shard(const CanonicalLayer& layer, int rank, int tp) {
  const Sizes& sizes = layer.sizes;
  if (sizes.intermediate % (static_cast<std::int64_t>(tp) * sizes.group) != 0) {
    throw Error(ErrorCode::usage, "intermediate size " + std::to_string(sizes.intermediate) + " over TP=" + std::to_string(tp) +
                                      " is not a whole number of scale groups of " + std::to_string(sizes.group));
  }
  CanonicalLayer part;
  part.sizes = sizes;
  part.sizes.intermediate = sizes.intermediate / tp;
  part.form = layer.form;
  for (Role role : layout::kRoles) {
    if (layer[role].empty()) continue;
    const std::optional<Cut> cut = cut_of(role);
    if (!cut) {
      part[role] = layer[role];
      continue;
    }
    const std::int64_t length = part.sizes.intermediate / (cut->in_groups ? sizes.group : 1);
    const Layout whole = layout::canonical(role, sizes, layer.form);
    // The rank's memory, described on the whole logical tensor: slice first, then the checkpoint's own row order.
    Layout target(layout::logical_axes(role, sizes), layout::unit_bits(role));
    target.slice(cut->axis, rank * length, length);
    if (cut->axis == std::string_view("I") && layer.form.order == layout::SourceOrder::gpt_oss) {
      if (role == Role::w13_bias)
        target.permute({"E", "I", "half"});
      else
        target.permute({"E", "I", "half", role == Role::w13_weight ? "K" : "G"});
    }
    part[role] = layout::apply(whole, layer[role], target);
  }
  return part;
}

}  // namespace mx::sim
