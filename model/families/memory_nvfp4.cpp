// NVFP4 (e2m1 weights, e4m3 scales per 16) for FlashInfer's and vLLM's kernels. Rows and columns that a converter pads, it pads at the end of the
// whole matrix: behind gate and up, not behind each.

#include <array>

#include "model/families/memory.hpp"
#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"

namespace mx::layout {
namespace {

constexpr std::string_view kRowsAxis = "rows";

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

std::int64_t shards(const Setting& setting) { return setting.form.gated ? 2 : 1; }

bool moves(Role role) { return is_weight(role) || is_scale(role); }

/// Pads the columns of a weight or its scales to those of `elements` elements.
void pad_columns(Layout& layout, Role role, const Setting& setting, std::int64_t elements) {
  const std::string columns = layout.view().back().name;
  const std::int64_t extent = is_scale(role) ? elements / setting.padded.group : elements;
  if (extent != blocks::extent_of(layout, columns)) layout.pad(columns, extent, PadContent::zero);
}

void pad_rows(Layout& layout, std::int64_t rows) {
  if (rows != blocks::extent_of(layout, kRowsAxis)) layout.pad(kRowsAxis, rows, PadContent::zero);
}

/// The planted fault takes the other version's.
template <std::int64_t multiple>
std::int64_t trtllm_multiple() {
  return fault::planted(fault::Fault::nvfp4_padding_of_other_engine) ? 64 + 16 - multiple : multiple;
}

/// TRT-LLM generated kernels; `gated_multiple` is what I is padded to with two shards.
template <std::int64_t gated_multiple>
TensorPlan build_trtllm(Role role, const Setting& setting) {
  Layout layout = loaded_rows(role, setting, unit_bits(role, WeightFormat::nvfp4));
  if (!moves(role)) return {std::move(layout), &kKeep};
  const std::int64_t hidden = rounded_up(setting.padded.hidden, 256);
  const std::int64_t intermediate = rounded_up(setting.padded.intermediate, setting.form.gated ? trtllm_multiple<gated_multiple>() : 128);
  const bool swaps = is_w13(role) && setting.form.gated;
  if (swaps) blocks::swap_halves(layout, kRowsAxis);
  pad_rows(layout, is_w13(role) ? shards(setting) * intermediate : hidden);
  pad_columns(layout, role, setting, is_w13(role) ? hidden : intermediate);
  if (swaps) blocks::alternate_halves(layout, kRowsAxis, 1);
  blocks::shuffle_a128(layout, kRowsAxis);
  if (is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &kKeep};
}

void keep_rows(Layout&, const Setting&) {}

void up_first(Layout& layout, const Setting& setting) {
  if (setting.form.gated) blocks::swap_halves(layout, kRowsAxis);
}

constexpr std::int64_t kCuteDslRows = 64;

void cutedsl_rows(Layout& layout, const Setting& setting) {
  if (!setting.form.gated) return;
  if (setting.engine == kVllm2026_08 && setting.activation == ConverterActivation::swigluoai) blocks::separate_pairs(layout, kRowsAxis);
  blocks::swap_halves(layout, kRowsAxis);
  blocks::alternate_halves(layout, kRowsAxis, kCuteDslRows);
}

/// Kernels that differ in the order of the rows of w13; scales go into the 128x4 tile. One shard is padded to what the tile takes.
template <void (*order_rows)(Layout&, const Setting&)>
TensorPlan build_cutlass(Role role, const Setting& setting) {
  Layout layout = loaded_rows(role, setting, unit_bits(role, WeightFormat::nvfp4));
  if (!moves(role)) return {std::move(layout), &kKeep};
  if (!setting.form.gated) {
    const std::int64_t intermediate = rounded_up(setting.padded.intermediate, 128);
    is_w13(role) ? pad_rows(layout, intermediate) : pad_columns(layout, role, setting, intermediate);
  }
  if (is_w13(role)) order_rows(layout, setting);
  if (is_scale(role)) blocks::sf128x4(layout, kRowsAxis, "G");
  return {std::move(layout), &kKeep};
}

bool is_gated(const Setting& setting) { return setting.form.gated; }

constexpr std::array<Need, 1> kTrtllmOldNeeds{
    {{Quantity::w13_rows, Rule::multiple_of, 128, "I is padded to 16 only, and the scale index asserts the rows of w13", is_gated}}};
constexpr std::array<Need, 1> kTileNeeds{{{Quantity::w13_rows, Rule::multiple_of, 128, "gate and up together are not padded", is_gated}}};

constexpr Source kSource{"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/flashinfer_fp4_moe.py",
                         "prepare_nvfp4_moe_layer_for_fi_or_cutlass", "017e9f4448b700e85ee16023287b025693c72b9e"};
constexpr Source kOldSource{kSource.repository, kSource.path, kSource.symbol, "7e1b45a09252a5b513cd83116aa7a2f310220c34"};

constexpr BackendLayout row(std::string_view backend, std::string_view summary, Versions engines, std::span<const Need> needs,
                            TensorPlan (*build)(Role, const Setting&)) {
  return {.format = WeightFormat::nvfp4,
          .backend = backend,
          .family = "nvfp4",
          .summary = summary,
          .engines = engines,
          .standard_order = engines,
          .gpt_oss_order = kNever,
          .takes_not_gated = true,
          .needs = needs,
          .build = build,
          .values = nullptr,
          .undo_values = nullptr,
          .source = engines.has(kVllm2026_08) ? kSource : kOldSource};
}

/// Takes rows interleaved as in gpt-oss as well: with SWIGLUOAI it expects them so.
constexpr BackendLayout from_any_order(BackendLayout row) {
  row.gpt_oss_order = row.engines;
  return row;
}
constexpr BackendLayout gated_only(BackendLayout row) {
  row.takes_not_gated = false;
  return row;
}

constexpr std::string_view kTrtllmSummary =
    "w13 rows up 0, gate 0, up 1, .. of the halves padded at the end of the matrix; all rows shuffled in blocks of 32; scales in the 128x4 tile";
constexpr std::string_view kUpFirstSummary = "w13 rows up then gate; scales in the 128x4 tile";
constexpr std::string_view kKeptSummary = "weights as loaded; scales in the 128x4 tile";
constexpr std::string_view kCuteDslSummary = "w13 blocks of 64 up rows and 64 gate rows alternate; scales in the 128x4 tile";

constexpr std::array<BackendLayout, 8> kRows{
    row("FLASHINFER_TRTLLM", kTrtllmSummary, before(kVllm2026_08), kTrtllmOldNeeds, build_trtllm<16>),
    row("FLASHINFER_TRTLLM", kTrtllmSummary, since(kVllm2026_08), {}, build_trtllm<64>),
    row("FLASHINFER_CUTLASS", kUpFirstSummary, since(kVllm2026_05), kTileNeeds, build_cutlass<up_first>),
    row("FLASHINFER_B12X", kUpFirstSummary, since(kVllm2026_05), kTileNeeds, build_cutlass<up_first>),
    row("VLLM_CUTLASS", kKeptSummary, since(kVllm2026_05), kTileNeeds, build_cutlass<keep_rows>),
    gated_only(row("FLASHINFER_CUTEDSL", kCuteDslSummary, before(kVllm2026_08), kTileNeeds, build_cutlass<cutedsl_rows>)),
    from_any_order(row("FLASHINFER_CUTEDSL", kCuteDslSummary, since(kVllm2026_08), kTileNeeds, build_cutlass<cutedsl_rows>)),
    row("FLASHINFER_CUTEDSL_BATCHED", kKeptSummary, since(kVllm2026_05), kTileNeeds, build_cutlass<keep_rows>),
};

std::vector<StageNeed> broken_interleave(const StageRequest& request) {
  std::vector<StageNeed> broken;
  need_multiple(broken, kRowsAxis, request.rows, 2 * request.param("group_rows"), "groups of rows of both halves alternate");
  return broken;
}

Layout interleave(const StageRequest& request) {
  Layout layout({{"batch", request.batch}, {"rows", request.rows}, {"cols", request.cols}}, request.unit_bits);
  return blocks::alternate_halves(layout, kRowsAxis, request.param("group_rows"));
}

constexpr std::array<StageParam, 1> kGroupRows{{{"group_rows", kCuteDslRows, 1, 1 << 20, "rows of one half before the other's follow"}}};
constexpr std::array<std::string_view, 1> kVersions{"vllm-2026-08"};

constexpr std::array<StageLayout, 1> kStages{{
    {"nvfp4_moe.FLASHINFER_CUTEDSL",
     "rows",
     0,
     "groups of rows of the two halves alternate",
     "dst row r <- src ((r%2g)/g)*(N/2) + g*(r/2g) + r%g, g = group_rows",
     kVersions,
     kGroupRows,
     broken_interleave,
     interleave,
     {"vllm-project/vllm", "vllm/model_executor/layers/quantization/utils/flashinfer_fp4_moe.py", "interleave_linear_and_gate",
      "017e9f4448b700e85ee16023287b025693c72b9e"}},
}};

}  // namespace

std::span<const BackendLayout> nvfp4_layouts() { return kRows; }
std::span<const StageLayout> nvfp4_stages() { return kStages; }

}  // namespace mx::layout
