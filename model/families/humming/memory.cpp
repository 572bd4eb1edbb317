// Humming: Marlin's fragments with more cases. Rows stay as loaded; what a tile lacks is padded, with zero weights and scales of one.

#include "model/families/memory.hpp"

#include <array>

#include "model/families/fragments.hpp"
#include "model/families/humming/values.hpp"
#include "model/families/stage.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }

/// Kernels on sm90 use wgmma, all others mma.
bool uses_wgmma(const Setting& setting) { return setting.arch == Arch::sm90; }

blocks::Fragments fragments_of(const Setting& setting) {
  // Activations of 8 bits mean fused scales, for which the halves of a fragment stay as they are.
  return {.weight_bits = 4, .activation_bits = is_a_8bit(setting) ? 8 : 16, .transposed = uses_wgmma(setting) && !is_a_8bit(setting)};
}

/// Scales in groups of 32 multiply the result only where 8-bit activations run on mma.
bool scale_is_on_c(const Setting& setting) { return !uses_wgmma(setting) && is_a_8bit(setting); }

/// The loaded tensor [E, rows, cols] or [E, rows].
Layout matrix(Role role, const Setting& setting) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form);
  if (!is_w13(role)) return layout.merge({"N"}, "rows");
  const std::string first = layout.view()[1].name;
  const std::string second = layout.view()[2].name;
  return layout.merge({first, second}, "rows");
}

TensorPlan build(Role role, const Setting& setting) {
  if (!is_weight(role) && !is_scale(role) && !is_bias(role)) return {loaded(role, setting.sizes, setting.padded, setting.form), &kKeep};
  Layout layout = matrix(role, setting);
  blocks::pad_to_multiple(layout, "rows", blocks::kFragmentRows,
                          is_scale(role) && !fault::planted(fault::Fault::humming_scales_padded_with_zero) ? PadContent::neutral : PadContent::zero);
  if (is_bias(role)) {
    blocks::scale_blocks_of_32(layout, "rows");
  } else if (is_weight(role)) {
    blocks::pad_to_multiple(layout, "K", 2 * blocks::fragment_columns(fragments_of(setting)), PadContent::zero);
    blocks::fragment_order(layout, "rows", "K", fragments_of(setting));
  } else {
    layout.permute({"E", "G", "rows"});
    scale_is_on_c(setting) ? blocks::scale_blocks_of_32(layout, "rows") : blocks::scale_blocks_of_64(layout, "rows");
  }
  return {std::move(layout), &kKeep};
}

// With fused scales, whether padding counts among an expert's scales differs between releases: such sizes are left out.
constexpr std::array<Need, 2> kNeeds{{
    {Quantity::intermediate, Rule::multiple_of, 64, "fused scales are modelled without padding", is_a_8bit},
    {Quantity::hidden, Rule::multiple_of, 64, "fused scales are modelled without padding", is_a_8bit},
}};

constexpr std::array<BackendLayout, 1> kRows{{
    {.format = WeightFormat::mxfp4,
     .backend = "HUMMING",
     .family = "humming",
     .summary =
         "rows as loaded, padded to 64; weights in mma fragments; scales along N in blocks; for 8-bit activations scales small numbers beside a "
         "global one",
     .engines = since(kVllm2026_05),
     .standard_order = since(kVllm2026_05),
     .gpt_oss_order = since(kVllm2026_05),
     .takes_not_gated = false,
     .needs = kNeeds,
     .build = build,
     .values = humming::fused_values,
     .undo_values = humming::fused_values_back,
     .source = {"mgoin/humming", "humming/layer.py", "HummingMethod.transform_humming_layer", "a6455de3edd09d8ee0f1fb657475606fd2f02532"}},
}};

}  // namespace

std::span<const BackendLayout> humming_layouts() { return kRows; }

}  // namespace mx::layout
