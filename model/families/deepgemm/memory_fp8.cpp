// DeepGEMM with FP8 weights and scales per 128 x 128: as loaded on sm90; on sm100 the scales become e8m0, one per row, packed.

#include <array>
#include <cstdint>

#include "model/error.hpp"
#include "model/families/deepgemm/blocks.hpp"
#include "model/families/memory.hpp"
#include "model/families/row_blocks.hpp"
#include "model/fault.hpp"
#include "model/layout/grains.hpp"
#include "model/numerics/f32.hpp"

namespace mx::layout {
namespace {

constexpr std::int64_t kBlockRows = 128;

bool packs(const Setting& setting) { return setting.arch == Arch::sm100; }

TensorPlan build(Role role, const Setting& setting) {
  if (!is_scale(role) || !packs(setting)) return {loaded_rows(role, setting, unit_bits(role, setting.form.format)), &kKeep};
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

constexpr std::array<Need, 3> kNeeds{{
    {Quantity::deepgemm_device, Rule::equals, 1, "DeepGEMM has FP8 kernels for sm90 and sm100"},
    {Quantity::intermediate, Rule::multiple_of, kBlockRows, "the scales of gate and up are whole blocks", packs},
    {Quantity::hidden, Rule::multiple_of, kBlockRows, "the rows of w2 are whole blocks", packs},
}};

constexpr std::array<BackendLayout, 1> kRows{{
    {.format = WeightFormat::fp8_block,
     .backend = "DEEPGEMM",
     .family = "deepgemm_fp8",
     .summary = "weights as loaded; scales as loaded on sm90, on sm100 e8m0 for every row, four to a word, words column by column",
     .engines = since(kVllm2026_05),
     .standard_order = since(kVllm2026_05),
     .gpt_oss_order = kNever,
     .takes_not_gated = false,
     .needs = kNeeds,
     .build = build,
     .values = to_exponents,
     .undo_values = from_exponents,
     .source = {"deepseek-ai/DeepGEMM", "csrc/apis/layout.hpp", "transform_sf_into_required_layout", "54e22612409371d6364144b69086735beb54e98b"}},
}};

}  // namespace

std::span<const BackendLayout> deepgemm_fp8_layouts() { return kRows; }

}  // namespace mx::layout
