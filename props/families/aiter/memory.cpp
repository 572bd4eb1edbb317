// AITER's kernels. Source: spec layouts 7.5 and rows 5 to 7 and 19 of section 14.

#include <array>

#include "props/families/aiter/family.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Arch;
using families::ConverterActivation;
using families::Setting;
using layout::Role;
using layout::WeightFormat;

Memory a16w4_weight(const Matrix& sizes, bool gate_up) {
  return block_memory("aiter.shuffle_weight_a16w4", sizes, 8, {{"gate_up", gate_up ? 1 : 0}});
}
Memory a16w4_scale(const Matrix& sizes, bool gate_up) {
  return block_memory("aiter.shuffle_scale_a16w4", sizes, 8, {{"gate_up", gate_up ? 1 : 0}, {"experts_given", 1}});
}
Memory e8m0(const Matrix& sizes) { return block_memory("aiter.e8m0_shuffle", sizes, 8); }

void draw_bf16(Setting& setting) {
  constexpr std::array<Arch, 3> kArchs{Arch::gfx950, Arch::gfx942, Arch::gfx1250};
  setting.arch = kArchs[static_cast<std::size_t>(pick(0, 2))];
  constexpr std::array<ConverterActivation, 3> kActivations{ConverterActivation::silu, ConverterActivation::swigluoai, ConverterActivation::situ};
  setting.activation = kActivations[static_cast<std::size_t>(pick(0, 2))];
  setting.of<families::AiterParameters>().a8w4 = pick(0, 1) == 1;
}

/// The triton way: nothing moves.
bool is_strided(const Setting& setting) {
  return setting.engine == deployment::kVllm2026_08 && is_standard(setting) && setting.arch == Arch::gfx1250;
}
bool is_situ(const Setting& setting) {
  return setting.engine == deployment::kVllm2026_08 && is_standard(setting) && !is_strided(setting) &&
         setting.activation == ConverterActivation::situ;
}

Matrix bf16_matrix(Role role, const Setting& setting) {
  const Matrix loaded = loaded_with_f32_bias(role, setting);
  const bool separates = !is_standard(setting) || setting.engine == deployment::kVllm2026_05;
  return layout::is_w13(role) && separates ? pairs_separated(loaded) : loaded;
}

Memory bf16_place(Role role, const Setting& setting, const Matrix& sizes) {
  if (layout::is_bias(role) || is_strided(setting)) return kept(sizes);
  if (role == Role::w2_weight_scale && is_situ(setting)) return e8m0(sizes);
  const bool gate_up = layout::is_w13(role) && (!is_situ(setting) || setting.of<families::AiterParameters>().a8w4);
  return layout::is_weight(role) ? a16w4_weight(sizes, gate_up) : a16w4_scale(sizes, gate_up);
}

/// The older engine takes halves for pairs.
bool was_in_pairs(const Setting& setting) { return !is_standard(setting); }

Memory mxfp4_place(Role role, const Setting&, const Matrix& sizes) {
  if (layout::is_weight(role)) return block_memory("aiter.shuffle_weight", sizes, 8);
  return layout::is_scale(role) ? e8m0(sizes) : kept(sizes);
}

Matrix loaded(Role role, const Setting& setting) { return loaded_matrix(role, setting); }

Memory mxfp8_place(Role role, const Setting&, const Matrix& sizes) {
  if (role == Role::w2_weight_scale) return e8m0(sizes);
  if (layout::is_weight(role)) return a16w4_weight(sizes, layout::is_w13(role));
  return layout::is_scale(role) ? a16w4_scale(sizes, true) : kept(sizes);
}

Memory fp8_place(Role role, const Setting&, const Matrix& sizes) {
  return layout::is_weight(role) ? block_memory("aiter.shuffle_weight", sizes, 8) : kept(sizes);
}

void draw_fp8(Setting& setting) { setting.arch = pick(0, 1) == 0 ? Arch::gfx942 : Arch::gfx950; }

bool stacks_bf16(Role role, const Setting& setting) { return role == Role::w2_weight_scale && is_situ(setting); }
bool stacks_scales(Role role, const Setting&) { return layout::is_scale(role); }
bool stacks_w2_scales(Role role, const Setting&) { return role == Role::w2_weight_scale; }

constexpr BackendFormula bf16(deployment::Versions engines, bool (*halves_meet)(const Setting&)) {
  return {WeightFormat::mxfp4, "AITER_MXFP4_BF16", engines, 128,         128,      draw_bf16, bf16_matrix,
          bf16_place,          gate_then_up,       nullptr, halves_meet, f32_bias, nullptr,   stacks_bf16};
}
constexpr BackendFormula fp8(WeightFormat format) {
  return {format, "AITER", deployment::since(deployment::kVllm2026_05), 32, 64, draw_fp8, loaded, fp8_place, as_loaded, nullptr, nullptr, nullptr};
}

constexpr std::array<BackendFormula, 7> kFormulas{{
    bf16(deployment::before(deployment::kVllm2026_08), was_in_pairs),
    bf16(deployment::since(deployment::kVllm2026_08), nullptr),
    {WeightFormat::mxfp4, "AITER_MXFP4_MXFP4", deployment::since(deployment::kVllm2026_05), 64, 64, nullptr, loaded_with_f32_bias, mxfp4_place,
     as_loaded, nullptr, nullptr, f32_bias, nullptr, stacks_scales},
    fp8(WeightFormat::fp8_tensor),
    fp8(WeightFormat::fp8_channel),
    fp8(WeightFormat::fp8_block),
    {WeightFormat::mxfp8, "AITER_MXFP8", deployment::since(deployment::kVllm2026_08), 128, 128, nullptr, loaded, mxfp8_place, as_loaded, nullptr,
     nullptr, nullptr, nullptr, stacks_w2_scales},
}};

void draw_parameters(Setting& setting, std::mt19937& random) { setting.of<families::AiterParameters>().a8w4 = random() % 2 == 0; }

}  // namespace

constinit const FamilyFormulas kAiterFormulas{
    .name = "aiter", .backends = kFormulas, .takes = &kAiterTakes, .blocks = &kAiterBlocks, .draw = draw_parameters};

}  // namespace mx::props
