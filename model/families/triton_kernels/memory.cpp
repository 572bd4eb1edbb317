// triton_kernels: rows stay as loaded; weights and scales get the layout that the device's kernels read. The engine's own Triton kernels read FP8 as
// it was loaded.

#include "model/families/triton_kernels/memory.hpp"

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/casts.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/triton_kernels/blocks.hpp"
#include "model/families/triton_kernels/family.hpp"

namespace mx::families {
namespace {

using Name = std::string_view;
using Swizzle = void (*)(layout::Layout& layout, Name rows, Name cols, const Setting& setting);

/// The kernels' own choice for Hopper is wgmma.
constexpr std::int64_t kHopperMma = 3;

void strided(layout::Layout&, Name, Name, const Setting&) {}

void hopper_value(layout::Layout& layout, Name rows, Name cols, const Setting& setting) {
  blocks::hopper_mx_value(layout, rows, cols, triton_kernels_of(setting), kHopperMma);
}

/// The oracle's conversions take 8 warps; the method before it took 4 with expert parallelism and chunks of at most 512 tokens.
void hopper_scale(layout::Layout& layout, Name rows, Name cols, const Setting& setting) {
  blocks::hopper_mx_scale(layout, rows, cols, setting.of<TritonParameters>().num_warps);
}

void blackwell_value(layout::Layout& layout, Name rows, Name cols, const Setting& setting) {
  blocks::blackwell_mx_value(layout, rows, cols, triton_kernels_of(setting));
}

void blackwell_scale(layout::Layout& layout, Name rows, Name cols, const Setting&) { blocks::blackwell_mx_scale(layout, rows, cols); }

void cdna4_scale(layout::Layout& layout, Name rows, Name cols, const Setting&) { blocks::cdna4_mx_scale(layout, rows, cols); }

/// Which layouts a device gets.
struct DeviceRow {
  Arch arch;
  deployment::Versions engines;
  bool (*applies)(const Setting& setting);  // null: always
  std::int64_t group_multiple;              // scales are zero-padded to it before the swizzle
  Swizzle value;
  Swizzle scale;
};

bool torch_swizzles(const Setting& setting) { return !setting.of<TritonParameters>().torch_before_2_8_1; }
bool few_ranks(const Setting& setting) { return setting.tp_size <= 2; }

/// The first that applies; other devices keep both tensors. Source: _swizzle_mxfp4; triton_kernels, make_default_matmul_mxfp4_w_layout and
/// make_default_matmul_mxfp4_w_scale_layout.
constexpr std::array<DeviceRow, 6> kDevices{{
    {Arch::sm100, deployment::since(deployment::kVllm2026_05), nullptr, 1, blackwell_value, blackwell_scale},
    {Arch::sm90, deployment::before(deployment::kVllm2026_08), torch_swizzles, 1, hopper_value, hopper_scale},
    {Arch::sm90, deployment::since(deployment::kVllm2026_08), torch_swizzles, 4, hopper_value, hopper_scale},
    {Arch::sm90, deployment::since(deployment::kVllm2026_08), nullptr, 4, strided, strided},
    {Arch::gfx950, deployment::before(deployment::kVllm2026_08), nullptr, 1, strided, cdna4_scale},
    {Arch::gfx950, deployment::since(deployment::kVllm2026_08), few_ranks, 1, strided, cdna4_scale},
}};
constexpr DeviceRow kOtherDevices{Arch::cpu, deployment::since(deployment::kVllm2026_05), nullptr, 1, strided, strided};

const DeviceRow& device_of(const Setting& setting) {
  for (const DeviceRow& row : kDevices) {
    if (row.arch == setting.arch && row.engines.has(setting.engine) && (row.applies == nullptr || row.applies(setting))) return row;
  }
  return kOtherDevices;
}

/// dst[.., c] <- src[.., (c%2)*(n/2) + c/2] on an axis of n.
void interleave_halves(layout::Layout& layout, Name axis) {
  const std::string name(axis);
  layout.split(name, blocks::extent_of(layout, axis) / 2, "side", name);
  const std::array<std::string, 2> halves{"side", name};
  const std::array<std::string, 2> pairs{name, "side"};
  blocks::rearrange(layout, halves, pairs);
  layout.merge({name, "side"}, name);
}

/// The helper that TRITON's conversion of standard order calls on w13's tensors means the rows, and takes the last axis: for a bias these are the
/// rows, for scales the groups, for weights the bytes of packed elements.
void interleave_last_axis(layout::Layout& layout, layout::Role role) {
  const std::string name = layout.view().back().name;
  if (!layout::is_weight(role)) return interleave_halves(layout, name);
  layout.split(name, 2, name, "nibble");
  interleave_halves(layout, name);
  layout.merge({name, "nibble"}, name);
}

}  // namespace

layout::TensorPlan triton_plan(layout::Role role, const Setting& setting, LastAxis last_axis) {
  const layout::Cast& cast = layout::is_bias(role) ? cast_named("bf16_to_f32") : layout::kKeep;
  layout::Layout layout =
      layout::loaded(role, setting.sizes, setting.padded, setting.form, layout::is_bias(role) ? cast.to_bits : layout::unit_bits(role));
  if (layout::is_bias(role) && layout::is_w13(role)) layout.merge({layout.view()[1].name, layout.view()[2].name}, "rows");
  const bool interleaves = last_axis == LastAxis::halves_interleaved && layout::is_w13(role);
  if (interleaves) interleave_last_axis(layout, role);
  if (layout::is_bias(role) || setting.of<TritonParameters>().before_swizzle) return {std::move(layout), &cast};
  const std::string rows = blocks::merge_rows(layout);
  const std::string cols = layout.view().back().name;
  const DeviceRow& device = device_of(setting);
  if (layout::is_scale(role)) blocks::pad_to_multiple(layout, cols, device.group_multiple, layout::PadContent::zero);
  (layout::is_weight(role) ? device.value : device.scale)(layout, rows, cols, setting);
  return {std::move(layout), &cast};
}

namespace {

bool from_standard(const Setting& setting) { return setting.form.order == layout::SourceOrder::standard; }

bool swizzles(const Setting& setting, Swizzle scale) { return !setting.of<TritonParameters>().before_swizzle && device_of(setting).scale == scale; }
bool swizzles_for_hopper(const Setting& setting) { return swizzles(setting, hopper_scale); }
bool swizzles_unpadded_cdna4(const Setting& setting) {
  return swizzles(setting, cdna4_scale) && !blocks::pads_cdna4_scales(triton_kernels_of(setting));
}

constexpr Need kOddGroups{Quantity::w13_groups, Rule::multiple_of, 2, "the helper stacks the halves of the scales' last axis, the groups",
                          from_standard};
constexpr Need kInputScales{Quantity::has_input_scale, Rule::equals, 1, "activations are quantized with static scales", nullptr};
constexpr Need kWarps{Quantity::num_warps, Rule::power_of_two, 0, "HopperMXScaleLayout asserts it", swizzles_for_hopper};
constexpr Need kCdna4W13{Quantity::w13_groups, Rule::multiple_of, 8, "CDNA4MXScaleLayout of this release views tiles of 8 groups without padding",
                         swizzles_unpadded_cdna4};
constexpr Need kCdna4W2{Quantity::w2_groups, Rule::multiple_of, 8, "CDNA4MXScaleLayout of this release views tiles of 8 groups without padding",
                        swizzles_unpadded_cdna4};

constexpr std::array<Need, 4> kTritonNeeds{kOddGroups, kWarps, kCdna4W13, kCdna4W2};
constexpr std::array<Need, 3> kUnfusedNeeds{kWarps, kCdna4W13, kCdna4W2};
constexpr std::array<Need, 4> kAiterNeeds{kInputScales, kWarps, kCdna4W13, kCdna4W2};

layout::TensorPlan build_triton(layout::Role role, const Setting& setting) {
  return triton_plan(role, setting, from_standard(setting) ? LastAxis::halves_interleaved : LastAxis::kept);
}
layout::TensorPlan build_unfused(layout::Role role, const Setting& setting) { return triton_plan(role, setting, LastAxis::kept); }

constexpr layout::Source source_of(deployment::Versions engines) {
  return {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/mxfp4_utils.py", "_swizzle_mxfp4",
          engines.has(deployment::kVllm2026_05) ? "7e1b45a09252a5b513cd83116aa7a2f310220c34" : "017e9f4448b700e85ee16023287b025693c72b9e"};
}

constexpr BackendLayout row(std::string_view backend, std::string_view summary, deployment::Versions engines, deployment::Versions standard,
                            std::span<const Need> needs, layout::TensorPlan (*build)(layout::Role role, const Setting& setting)) {
  return {.format = layout::WeightFormat::mxfp4,
          .backend = backend,
          .family = "triton_kernels",
          .summary = summary,
          .engines = engines,
          .standard_order = standard,
          .gpt_oss_order = engines,
          .takes_not_gated = false,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = source_of(engines)};
}

constexpr std::string_view kTriton2026_05 =
    "rows as loaded, w13's last axis interleaved in standard order; sm90, sm100 and gfx950 swizzled for their kernels; biases fp32";
constexpr std::string_view kTriton2026_08 =
    "as 2026-05; on sm90 scales are padded to 4 groups first, on gfx950 they are swizzled for at most two ranks";
constexpr std::string_view kUnfused2026_05 = "rows as loaded; sm90, sm100 and gfx950 swizzled for their kernels; biases fp32";

/// The engine's own Triton kernels.
constexpr BackendLayout fp8(layout::WeightFormat format, std::string_view backend) { return fp8_as_loaded_row("triton_kernels", format, backend); }

/// Of squares of any side, which the kernel is told.
constexpr BackendLayout of_any_square(BackendLayout row) {
  row.finer_squares = true;
  return row;
}

/// What was run stops before the last layout.
constexpr BackendLayout swizzled(std::string_view backend, std::string_view summary, deployment::Versions engines, deployment::Versions standard,
                                 std::span<const Need> needs, layout::TensorPlan (*build)(layout::Role role, const Setting& setting)) {
  return of_library(by_parts(row(backend, summary, engines, standard, needs, build), kLastLayoutStandIn), "triton_kernels");
}

constexpr std::array<BackendLayout, 13> kRows{{
    swizzled("TRITON", kTriton2026_05, deployment::before(deployment::kVllm2026_08), deployment::before(deployment::kVllm2026_08), kTritonNeeds,
             build_triton),
    swizzled("TRITON", kTriton2026_08, deployment::since(deployment::kVllm2026_08), deployment::since(deployment::kVllm2026_08), kTritonNeeds,
             build_triton),
    swizzled("TRITON_UNFUSED", kUnfused2026_05, deployment::before(deployment::kVllm2026_08), deployment::before(deployment::kVllm2026_08),
             kUnfusedNeeds, build_unfused),
    swizzled("TRITON_UNFUSED", kTriton2026_08, deployment::since(deployment::kVllm2026_08), deployment::since(deployment::kVllm2026_08),
             kUnfusedNeeds, build_unfused),
    swizzled("AITER_MXFP4_FP8", kUnfused2026_05, deployment::before(deployment::kVllm2026_08), deployment::kNever, kAiterNeeds, build_unfused),
    swizzled("AITER_MXFP4_FP8", kTriton2026_08, deployment::since(deployment::kVllm2026_08), deployment::since(deployment::kVllm2026_08), kAiterNeeds,
             build_unfused),
    fp8(layout::WeightFormat::fp8_tensor, "TRITON"),
    fp8(layout::WeightFormat::fp8_channel, "TRITON"),
    of_any_square(fp8(layout::WeightFormat::fp8_block, "TRITON")),
    fp8(layout::WeightFormat::fp8_tensor, "BATCHED_TRITON"),
    read_alone(fp8(layout::WeightFormat::fp8_channel, "BATCHED_TRITON")),
    fp8(layout::WeightFormat::fp8_block, "BATCHED_TRITON"),
    fp8_as_loaded_row("triton_kernels", layout::WeightFormat::mxfp8, "TRITON_MXFP8", deployment::since(deployment::kVllm2026_08)),
}};

}  // namespace

constinit const std::span<const BackendLayout> kTritonKernelsLayouts{kRows};

}  // namespace mx::families
