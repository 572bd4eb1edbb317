// DeepGEMM: weights and biases as loaded. Scales of MXFP4 leave e8m0. Scales of FP8 per 128 x 128 stay as loaded on sm90; on sm100 they become e8m0,
// one per row, packed.

#include <array>
#include <cstdint>

#include "model/error.hpp"
#include "model/families/casts.hpp"
#include "model/families/deepgemm/blocks.hpp"
#include "model/families/matrix.hpp"
#include "model/families/memory_rows.hpp"
#include "model/families/row_blocks.hpp"
#include "model/families/stage.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"

namespace mx::layout {
namespace {

TensorPlan build_upcast(Role role, const Setting& setting) {
  const Cast& cast = is_scale(role) ? cast_named("e8m0_to_f32_shift") : kKeep;
  return {loaded(role, setting.sizes, setting.padded, setting.form, is_scale(role) ? cast.to_bits : unit_bits(role)), &cast};
}

/// The upcast and the packing, which takes the exponent back out, leave every code as it was.
TensorPlan build_packed(Role role, const Setting& setting) {
  Layout layout = loaded(role, setting.sizes, setting.padded, setting.form);
  if (!is_scale(role)) return {std::move(layout), &kKeep};
  const std::string rows = blocks::merge_rows(layout);
  blocks::deepgemm_packed_ue8m0(layout, rows, "G");
  return {std::move(layout), &kKeep};
}

constexpr std::int64_t kBlockRows = 128;

bool packs(const Setting& setting) { return setting.arch == Arch::sm100; }

TensorPlan build_fp8(Role role, const Setting& setting) {
  if (!is_scale(role) || !packs(setting)) return {loaded_units(role, setting), &kKeep};
  Layout layout = loaded_rows(role, setting, 8);
  layout.repeat("rows", kBlockRows);
  return {blocks::deepgemm_packed_ue8m0(layout, "rows", "KB"), &kKeep};
}

constexpr std::array<Role, 2> kScales{Role::w13_weight_scale, Role::w2_weight_scale};
constexpr int kMantissaBits = 23;

/// fp32 scales to e8m0. Others than powers of two the engine makes such by requantizing the weights, which is not modelled.
void to_exponents(LayerUnits& units, const Setting& setting, std::vector<Loss>&) {
  if (!packs(setting)) return;
  for (Role role : kScales) {
    Units& scales = units[static_cast<std::size_t>(role)];
    Units exponents{8, std::vector<std::uint8_t>(scales.bytes.size() / 4)};
    for (std::size_t i = 0; i < exponents.bytes.size(); ++i) {
      const auto bits = static_cast<std::uint32_t>(get_grain(scales.bytes, static_cast<std::int64_t>(i), 32));
      exponents.bytes[i] = static_cast<std::uint8_t>(bits >> kMantissaBits);
      if (std::uint32_t{exponents.bytes[i]} << kMantissaBits == bits || fault::planted(fault::Fault::ue8m0_cuts_mantissa)) continue;
      throw Error(ErrorCode::unsupported,
                  "scale " + std::to_string(i) + " has bits " + f32::text(bits) + ", which are no power of two: weights would be requantized",
                  std::string(name_of(role)));
    }
    scales = std::move(exponents);
  }
}

void from_exponents(LayerUnits& units, const Setting& setting) {
  if (!packs(setting)) return;
  for (Role role : kScales) {
    const Units exponents = std::move(units[static_cast<std::size_t>(role)]);
    Units scales{32, std::vector<std::uint8_t>(exponents.bytes.size() * 4)};
    for (std::size_t i = 0; i < exponents.bytes.size(); ++i) {
      set_grain(scales.bytes, static_cast<std::int64_t>(i), 32, std::uint64_t{exponents.bytes[i]} << kMantissaBits);
    }
    units[static_cast<std::size_t>(role)] = std::move(scales);
  }
}

constexpr std::array<Need, 3> kFp8Needs{{
    {Quantity::deepgemm_device, Rule::equals, 1, "DeepGEMM has FP8 kernels for sm90 and sm100"},
    {Quantity::intermediate, Rule::multiple_of, kBlockRows, "the scales of gate and up are whole blocks", packs},
    {Quantity::hidden, Rule::multiple_of, kBlockRows, "the rows of w2 are whole blocks", packs},
}};

constexpr BackendLayout mxfp4(std::string_view summary, Versions engines, Build build) {
  BackendLayout row = mxfp4_row("deepgemm", "DEEPGEMM_MXFP4", summary, {}, build);
  row.engines = row.standard_order = row.gpt_oss_order = engines;
  if (!engines.has(kVllm2026_08)) row.source.commit = kCommit2026_05;
  return row;
}

constexpr BackendLayout fp8() {
  BackendLayout row = gated_only(fp8_row(
      "deepgemm", WeightFormat::fp8_block, "DEEPGEMM",
      "weights as loaded; scales as loaded on sm90, on sm100 e8m0 for every row, four to a word, words column by column", kFp8Needs, build_fp8));
  row.values = to_exponents;
  row.undo_values = from_exponents;
  row.source = {"deepseek-ai/DeepGEMM", "csrc/apis/layout.hpp", "transform_sf_into_required_layout", "54e22612409371d6364144b69086735beb54e98b"};
  return row;
}

constexpr std::array<BackendLayout, 3> kRows{
    mxfp4("weights and biases as loaded; scales fp32 in row order (code 0 becomes 0, 255 infinity), packed at run time", before(kVllm2026_08), build_upcast),
    mxfp4("weights and biases as loaded; scales four to a word, words column by column", since(kVllm2026_08), build_packed),
    fp8(),
};

}  // namespace

std::span<const BackendLayout> deepgemm_layouts() { return kRows; }

}  // namespace mx::layout
