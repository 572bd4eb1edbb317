// Humming with MXFP4. Source: spec layouts 8.3.

#include <array>
#include <cmath>

#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using layout::Arch;
using layout::InputDtype;
using layout::Layout;
using layout::Role;
using layout::Setting;

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }
bool is_wgmma(const Setting& setting) { return setting.arch == Arch::sm90; }

void draw(Setting& setting) {
  constexpr std::array<Arch, 4> kArchs{Arch::sm90, Arch::sm100, Arch::sm80, Arch::sm120};
  setting.arch = kArchs[static_cast<std::size_t>(pick(0, 3))];
  // 8-bit activations leave no padding to look at.
  if (pick(0, 2) == 0) setting.input_dtype = pick(0, 1) == 0 ? InputDtype::float8_e4m3fn : InputDtype::int8;
}

/// Rows to 64; weights and biases with 0, scales with 1; the weights' K to a pair of slabs.
Matrix matrix(Role role, const Setting& setting) {
  Matrix loaded = loaded_matrix(role, setting);
  if (!layout::is_weight(role) && !layout::is_scale(role) && !layout::is_bias(role)) return loaded;
  const std::int64_t rows = round_up(loaded.rows, 64);
  const auto same = [](std::int64_t r) { return r; };
  const Matrix padded = with_rows(loaded, rows, same, layout::is_scale(role) ? Layout::kPadNeutral : Layout::kPadZero);
  return layout::is_weight(role) ? with_size(padded, rows, round_up(loaded.cols, is_a_8bit(setting) ? 64 : 32)) : padded;
}

Memory place(Role role, const Setting& setting, const Matrix& sizes) {
  if (layout::is_weight(role)) {
    const std::int64_t transposed = is_wgmma(setting) && !is_a_8bit(setting) ? 1 : 0;
    return stage_memory(is_a_8bit(setting) ? "humming.repack.w4a8" : "humming.repack.w4a16", sizes, 4,
                        {{"weight_bits", 4},
                         {"activation_bits", is_a_8bit(setting) ? 8 : 16},
                         {"transpose_mini_block", transposed},
                         {"padded_n", 0},
                         {"padded_k", 0}});
  }
  if (layout::is_scale(role)) {
    return stage_memory("humming.scale", sizes, 8, {{"to_apply_on_c", !is_wgmma(setting) && is_a_8bit(setting) ? 1 : 0}});
  }
  return layout::is_bias(role) ? stage_memory("humming.bias", sizes, 16) : kept(sizes);
}

/// With 8-bit activations a scale counts from the expert's lowest, whose power of two is the global scale; for int8 that is halved.
double fused_scale(const Setting& setting, std::uint64_t unit, double second) {
  return std::ldexp(second, static_cast<int>(unit) + (setting.input_dtype == InputDtype::int8 ? 1 : 0));
}
Reading reading(const Setting& setting) {
  Reading reading = checkpoint_reading(setting.form.format);
  if (is_a_8bit(setting)) reading.scale = fused_scale;
  return reading;
}

constexpr std::array<BackendFormula, 1> kFormulas{{
    {layout::WeightFormat::mxfp4, "HUMMING", since(kVllm2026_05), 64, 64, draw, matrix, place, as_loaded, nullptr, nullptr, nullptr, reading, nullptr,
     64},
}};

}  // namespace

std::span<const BackendFormula> humming_backend_formulas() { return kFormulas; }

}  // namespace mx::props
