// Humming with MXFP4. Source: spec layouts 8.3.

#include <array>
#include <cmath>

#include "props/families/humming/family.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::Arch;
using families::InputDtype;
using families::Setting;
using layout::Layout;
using layout::Role;
using layout::WeightFormat;

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }
bool is_int8(const Setting& setting) { return setting.input_dtype == InputDtype::int8; }
/// Release 0.1.12, in 2026-08, or a later one.
bool is_since_august(const Setting& setting) {
  return setting.of<families::HummingParameters>().release ? *setting.of<families::HummingParameters>().release != families::Humming::v0_1_0
                                                           : setting.engine == deployment::kVllm2026_08;
}
/// hardware 14.7.
bool is_latest(const Setting& setting) { return setting.of<families::HummingParameters>().release == families::Humming::v0_1_19; }
bool is_transposed(const Setting& setting) { return setting.arch == Arch::sm90 && !is_a_8bit(setting) && !is_latest(setting); }
bool has_groups_of_128(const Setting& setting) {
  return is_latest(setting) && setting.of<families::HummingParameters>().group_128 && setting.input_dtype == InputDtype::float8_e4m3fn;
}
bool is_mxmma(const Setting& setting) { return is_since_august(setting) && setting.arch == Arch::sm120 && is_a_8bit(setting) && !is_int8(setting); }
bool fuses(const Setting& setting) { return is_a_8bit(setting) && !is_mxmma(setting); }

void draw_release(Setting& setting) {
  constexpr std::array<families::Humming, 3> kReleases{families::Humming::v0_1_0, families::Humming::v0_1_12, families::Humming::v0_1_19};
  if (pick(0, 1) != 0) setting.of<families::HummingParameters>().release = kReleases[static_cast<std::size_t>(pick(0, 2))];
  setting.of<families::HummingParameters>().group_128 = pick(0, 1) != 0;
}

void draw(Setting& setting) {
  constexpr std::array<Arch, 4> kArchs{Arch::sm90, Arch::sm100, Arch::sm80, Arch::sm120};
  setting.arch = kArchs[static_cast<std::size_t>(pick(0, 3))];
  if (pick(0, 2) != 0) setting.input_dtype = pick(0, 1) == 0 ? InputDtype::float8_e4m3fn : InputDtype::int8;
  draw_release(setting);
}

/// The rows of 256 and columns of 128 that the engine pads to: weights and biases with 0, scales with 1. Scales that were fused are numbers of their
/// own, of the padding too.
Matrix matrix(Role role, const Setting& setting) {
  if (!layout::is_weight(role) && !layout::is_scale(role) && !layout::is_bias(role)) return loaded_matrix(role, setting);
  Matrix loaded = loaded_matrix(role, setting);
  const std::int64_t rows = round_up(loaded.rows, 256);
  const std::int64_t cols = layout::is_weight(role) ? round_up(loaded.cols, 128) : layout::is_scale(role) ? round_up(loaded.cols, 4) : loaded.cols;
  if (layout::is_scale(role) && fuses(setting)) {
    Matrix made{loaded.experts, rows, cols, loaded.bits, {}};
    for (std::int64_t unit = 0; unit < loaded.experts * rows * cols; ++unit) made.units.push_back(unit);
    return made;
  }
  const auto same = [](std::int64_t at) { return at; };
  const std::int64_t outside = layout::is_scale(role) ? Layout::kPadNeutral : Layout::kPadZero;
  return with_columns(with_rows(loaded, rows, same, outside), cols, same, outside);
}

Memory mxmma_scales(const Matrix& sizes) {
  Memory memory{8, {}};
  for (std::int64_t e = 0; e < sizes.experts; ++e) {
    for (std::int64_t gb = 0; gb < sizes.cols / 2; ++gb) {
      for (std::int64_t nb = 0; nb < sizes.rows / 16; ++nb) {
        for (std::int64_t at = 0; at < 32; ++at)
          memory.sources.push_back((e * sizes.rows + 16 * nb + 8 * (at / 2 % 2) + at / 4) * sizes.cols + 2 * gb + at % 2);
      }
    }
  }
  return memory;
}

Memory place(Role role, const Setting& setting, const Matrix& sizes) {
  if (layout::is_weight(role)) {
    if (!is_a_8bit(setting)) {
      return block_memory("humming.repack.w4a16", sizes, 4,
                          {{"weight_bits", 4},
                           {"activation_bits", 16},
                           {"transpose_mini_block", is_transposed(setting) ? 1 : 0},
                           {"padded_n", 0},
                           {"padded_k", 0},
                           {"packed_k", 0},
                           {"fused_scale", 0}});
    }
    return block_memory("humming.repack.w4a8", sizes, 4,
                        {{"weight_bits", 4},
                         {"activation_bits", 8},
                         {"transpose_mini_block", 0},
                         {"padded_n", 0},
                         {"padded_k", 0},
                         {"packed_k", has_groups_of_128(setting) ? 1 : 0},
                         {"fused_scale", is_since_august(setting) && fuses(setting) && !is_int8(setting) ? 1 : 0}});
  }
  if (layout::is_scale(role)) return is_mxmma(setting) ? mxmma_scales(sizes) : block_memory("humming.scale", sizes, 8, {{"to_apply_on_c", 0}});
  // Global scales of rows lie as biases do.
  return sizes.bits == 16 ? block_memory("humming.bias", sizes, 16) : kept(sizes);
}

/// With 8-bit activations a scale counts from the lowest, whose power of two is the global scale; int8 and the later release halve that, and the
/// later release counts from 1 for e4m3.
double fused_scale(const Setting& setting, std::uint64_t unit, double second) {
  const int counted = static_cast<int>(unit) - (is_since_august(setting) && !is_int8(setting) ? 1 : 0);
  return std::ldexp(second, counted + (is_int8(setting) || is_since_august(setting) ? 1 : 0));
}
Reading reading(const Setting& setting) {
  Reading reading = checkpoint_reading(setting.form.format);
  if (fuses(setting)) reading.scale = fused_scale;
  return reading;
}

/// The rows of the loaded matrix, whatever is padded behind them.
RowPair rows_of(std::int64_t i, std::int64_t, const Setting& setting) { return as_loaded(i, 2 * setting.padded.intermediate, setting); }

// 2026-08 has other formats too, for 16-bit activations.

bool in_blocks(const Setting& setting) { return setting.form.format == WeightFormat::fp8_block; }
bool has_groups(const Setting& setting) { return setting.form.format == WeightFormat::mxfp8 || setting.form.format == WeightFormat::nvfp4; }

/// Scales of FP8 are repeated to one for each row.
Matrix format_matrix(Role role, const Setting& setting) {
  if (!layout::is_weight(role) && !layout::is_scale(role)) return loaded_matrix(role, setting);
  const bool spread = layout::is_scale(role) && !has_groups(setting);
  Matrix loaded = spread ? loaded_matrix(role, setting, 16) : loaded_matrix(role, setting);
  const Matrix weight = loaded_matrix(layout::is_w13(role) ? Role::w13_weight : Role::w2_weight, setting);
  if (spread)
    loaded = with_rows(loaded, weight.rows, [&](std::int64_t r) {
      return !in_blocks(setting) ? r / (weight.rows / loaded.rows) : loaded.rows == weight.rows ? r : r / 128;
    });
  const std::int64_t rows = round_up(weight.rows, 256);
  const std::int64_t depth = round_up(weight.cols, 128);
  const std::int64_t cols = layout::is_weight(role) ? depth : has_groups(setting) ? depth / setting.padded.group : loaded.cols;
  const auto same = [](std::int64_t at) { return at; };
  const bool has_one = layout::is_scale(role) && setting.form.format == WeightFormat::mxfp8;
  const std::int64_t outside = has_one ? Layout::kPadNeutral : Layout::kPadZero;
  return with_columns(with_rows(loaded, rows, same, outside), cols, same, outside);
}

Memory format_place(Role role, const Setting& setting, const Matrix& sizes) {
  if (layout::is_scale(role)) {
    const bool on_c = !has_groups(setting) && !in_blocks(setting);
    return block_memory("humming.scale", sizes, sizes.bits, {{"to_apply_on_c", on_c ? 1 : 0}});
  }
  if (!layout::is_weight(role)) return kept(sizes);
  const int bits = setting.form.format == WeightFormat::nvfp4 ? 4 : 8;
  const bool flat = is_a_8bit(setting);
  return block_memory(flat        ? "humming.flat.w8a8"
                      : bits == 4 ? "humming.repack.w4a16"
                                  : "humming.repack.w8a16",
                      sizes, bits,
                      {{"weight_bits", bits},
                       {"activation_bits", flat ? 8 : 16},
                       {"transpose_mini_block", is_transposed(setting) ? 1 : 0},
                       {"padded_n", 0},
                       {"padded_k", 0},
                       {"packed_k", 0},
                       {"fused_scale", 0}});
}

double bf16_scale(const Setting&, std::uint64_t unit, double) { return f32_number(unit << 16); }
Reading format_reading(const Setting& setting) {
  Reading reading = checkpoint_reading(setting.form.format);
  if (!has_groups(setting)) reading.scale = bf16_scale;
  return reading;
}

void draw_device(Setting& setting) {
  setting.arch = pick(0, 1) == 0 ? Arch::sm90 : Arch::sm80;
  draw_release(setting);
}
/// Blocks also for e4m3 activations in groups of 128.
void draw_blocks(Setting& setting) {
  draw_device(setting);
  if (!is_latest(setting) || pick(0, 1) == 0) return;
  setting.of<families::HummingParameters>().group_128 = true;
  setting.input_dtype = InputDtype::float8_e4m3fn;
}

constexpr BackendFormula of_format(WeightFormat format) {
  return {format,
          "HUMMING",
          deployment::since(deployment::kVllm2026_08),
          128,
          128,
          format == WeightFormat::fp8_block ? draw_blocks : draw_device,
          format_matrix,
          format_place,
          rows_of,
          nullptr,
          nullptr,
          nullptr,
          format_reading,
          nullptr,
          256,
          128};
}

constexpr std::array<BackendFormula, 7> kFormulas{{
    of_format(WeightFormat::mxfp8),
    of_format(WeightFormat::nvfp4),
    of_format(WeightFormat::fp8_tensor),
    of_format(WeightFormat::fp8_pair),
    of_format(WeightFormat::fp8_channel),
    of_format(WeightFormat::fp8_block),
    {layout::WeightFormat::mxfp4, "HUMMING", deployment::since(deployment::kVllm2026_05), 128, 128, draw, matrix, place, rows_of, nullptr, nullptr,
     nullptr, reading, nullptr, 256, 128},
}};

void draw_parameters(Setting& setting, std::mt19937& random) {
  families::HummingParameters& humming = setting.of<families::HummingParameters>();
  if (random() % 2 == 0) humming.release = static_cast<families::Humming>(random() % 3);
  humming.group_128 = random() % 2 == 0;
}

}  // namespace

constinit const FamilyFormulas kHummingFormulas{
    .name = "humming", .backends = kFormulas, .takes = &kHummingTakes, .blocks = &kHummingBlocks, .draw = draw_parameters};

}  // namespace mx::props
