// Marlin with every format. Source: spec layouts 6.1 to 6.5 and rows 15 and 16 of section 14.

#include <array>
#include <cmath>

#include "props/families/marlin/family.hpp"
#include "props/families/memory_formula.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::InputDtype;
using families::ParamsDtype;
using families::Setting;
using layout::Role;
using layout::WeightFormat;

bool is_a_8bit(const Setting& setting) { return setting.input_dtype != InputDtype::none; }
bool is_4bit(const Setting& setting) { return setting.form.format == WeightFormat::mxfp4 || setting.form.format == WeightFormat::nvfp4; }

/// I after the converter's own padding, which the engine of 2026-05 and MXFP4 do not have.
std::int64_t padded_i(const Setting& setting) {
  const std::int64_t i = setting.padded.intermediate;
  if (setting.engine == deployment::kVllm2026_05) return i;
  switch (setting.form.format) {
    case WeightFormat::nvfp4: return round_up(i, setting.padded.hidden % 128 == 0 ? 64 : 128);
    case WeightFormat::mxfp8:
    case WeightFormat::fp8_tensor:
    case WeightFormat::fp8_channel: return round_up(i, 64);
    case WeightFormat::fp8_block: return round_up(i, 128);
    default: return i;
  }
}

/// Zero rows behind each shard of w13.
Matrix shards_padded(const Matrix& from, const Setting& setting) {
  const std::int64_t is = setting.padded.intermediate;
  const std::int64_t padded = padded_i(setting);
  if (is == padded) return from;
  return with_rows(from, shard_count(setting) * padded, [&](std::int64_t r) { return r % padded < is ? r / padded * is + r % padded : -1; });
}

std::int64_t group_of(const Setting& setting) {
  switch (setting.form.format) {
    case WeightFormat::nvfp4: return 16;
    case WeightFormat::fp8_block: return 128;
    case WeightFormat::fp8_tensor:
    case WeightFormat::fp8_channel: return -1;
    default: return 32;
  }
}

/// fp32 scales in the parameters' 16 bits, repeated to one for each row.
Matrix row_scales(Role role, const Setting& setting) {
  const Matrix given = loaded_matrix(role, setting, 16);
  const std::int64_t rows = layout::is_w13(role) ? shard_count(setting) * setting.padded.intermediate : setting.padded.hidden;
  const std::int64_t times = setting.form.format == WeightFormat::fp8_block ? 128 : rows / given.rows;
  return with_rows(given, rows, [&](std::int64_t r) { return r / times; });
}

bool has_f32_scales(const Setting& setting) { return setting.form.format >= WeightFormat::fp8_tensor; }

Matrix matrix(Role role, const Setting& setting) {
  if (!layout::is_weight(role) && !layout::is_scale(role)) return loaded_matrix(role, setting);
  const Matrix from = layout::is_scale(role) && has_f32_scales(setting) ? row_scales(role, setting) : loaded_matrix(role, setting);
  if (layout::is_w13(role)) return shards_padded(from, setting);
  const std::int64_t group = layout::is_weight(role) ? 1 : group_of(setting);
  return group < 0 || padded_i(setting) == setting.padded.intermediate ? from : with_size(from, from.rows, padded_i(setting) / group);
}

/// [N, G] transposed to [G, N], in blocks along the list, then perhaps 0, 2, 1, 3 in fours.
Memory scale_place(Role role, const Setting& setting, const Matrix& sizes) {
  const std::int64_t depth = layout::is_w13(role) ? setting.padded.hidden : padded_i(setting);
  const std::int64_t group = group_of(setting);
  const bool grouped = group != -1 && group < depth && !is_a_8bit(setting);
  const bool fours = !has_f32_scales(setting) && !is_a_8bit(setting);
  const families::BlockRequest request{
      .version = {}, .batch = sizes.experts, .rows = sizes.rows, .cols = sizes.cols, .unit_bits = sizes.bits, .params = {}};
  return gathered(request, sizes.bits, sizes.rows * sizes.cols, layout::Layout::kPadZero, [&](std::int64_t p) {
    constexpr std::array<std::int64_t, 4> kFours{0, 2, 1, 3};
    const std::int64_t q = fours ? p / 4 * 4 + kFours[static_cast<std::size_t>(p % 4)] : p;
    const std::int64_t i = grouped ? block_of_64(q) : block_of_32(q);
    return Spot{i % sizes.rows, i / sizes.rows};
  });
}

Memory place(Role role, const Setting& setting, const Matrix& sizes) {
  if (layout::is_scale(role)) return scale_place(role, setting, sizes);
  if (layout::is_weight(role)) {
    if (is_4bit(setting)) return block_memory(is_a_8bit(setting) ? "marlin.repack.w4a8" : "marlin.repack.w4a16", sizes, 4);
    return block_memory(is_a_8bit(setting) ? "marlin.repack.w8a8" : "marlin.repack.w8a16", sizes, 8);
  }
  return layout::is_bias(role) && setting.form.format == WeightFormat::mxfp4 ? block_memory("marlin.permute_bias", sizes, 16) : kept(sizes);
}

/// bf16 bits of a number as fp16, nearest even, said with integers: the significand of 8 bits in units of the target's last place.
std::uint64_t bf16_as_fp16(std::uint64_t unit) {
  const std::uint64_t sign = unit >> 15 << 15;
  const std::int64_t field = static_cast<std::int64_t>(unit >> 7 & 0xFFU);
  const std::uint64_t fraction = unit & 0x7FU;
  if (field == 255) return fraction != 0 ? 0x7FFFU : sign | 0x7C00U;
  const std::int64_t exponent = (field == 0 ? 1 : field) - 127;  // of the bit with weight 128 in `significand`
  const std::uint64_t significand = (field == 0 ? 0U : 128U) | fraction;
  if (exponent > 15) return significand == 0 ? sign : sign | 0x7C00U;
  if (exponent >= -14 && field != 0) return sign | static_cast<std::uint64_t>(exponent + 15) << 10 | fraction << 3;
  // Subnormal: in units of 2^-24 the significand is shifted by exponent - 7 + 24.
  const std::int64_t shift = exponent + 17;
  if (shift >= 0) return sign | significand << shift;
  if (shift < -9) return sign;
  const std::uint64_t low = significand & ((std::uint64_t{1} << -shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (-shift - 1);
  const std::uint64_t whole = significand >> -shift;
  return sign | (whole + (low > half || (low == half && whole % 2 == 1) ? 1 : 0));
}

/// e8m0 scales through fp16 and 6 more for e4m3 activations; biases in the parameters' dtype.
std::uint64_t mxfp4_cast(Role role, const Setting& setting, std::uint64_t unit) {
  const bool fp16 = setting.params_dtype == ParamsDtype::fp16;
  if (layout::is_bias(role) && setting.form.format == WeightFormat::mxfp4) return fp16 ? bf16_as_fp16(unit) : unit;
  if (!layout::is_scale(role)) return unit;
  if (fp16) unit = unit < 103 ? 0 : unit > 142 ? 255 : unit;
  return is_a_8bit(setting) ? unit + 6 : unit;
}

/// The number that a kernel takes for a 16-bit one.
double params_number(const Setting& setting, std::uint64_t unit) {
  if (setting.params_dtype == ParamsDtype::bf16) return f32_number(unit << 16);
  const auto field = static_cast<int>(unit >> 10 & 31U);
  const auto fraction = static_cast<int>(unit & 1023U);
  return std::ldexp(field == 0 ? fraction : 1024 + fraction, (field == 0 ? 1 : field) - 25);
}

/// What the dequantizer's exponents leave out: 2^(b-7), b = 126 or 14; of e4m3 2^120 or 2^8.
int left_out(const Setting& setting, int bf16, int fp16) { return setting.params_dtype == ParamsDtype::bf16 ? bf16 : fp16; }

double lowered_scale(const Setting&, std::uint64_t unit, double) { return e8m0_number(unit - 6); }
/// S0E5M3 of 128 times the scale; the global scale without the exponent.
double nvfp4_scale(const Setting& setting, std::uint64_t unit, double second) {
  const auto field = static_cast<int>(unit >> 3);
  const auto fraction = static_cast<int>(unit & 7U);
  const double scale = unit == 0 ? 0 : std::ldexp(8 + fraction, field - 15 - 3 - 7);
  return scale * std::ldexp(second, -left_out(setting, 119, 7));
}
double fp8_scale(const Setting& setting, std::uint64_t unit, double) { return std::ldexp(params_number(setting, unit), -left_out(setting, 120, 8)); }

Reading reading(const Setting& setting) {
  Reading reading = checkpoint_reading(setting.form.format);
  if (is_a_8bit(setting)) reading.scale = lowered_scale;
  if (setting.form.format == WeightFormat::nvfp4) reading.scale = nvfp4_scale;
  if (has_f32_scales(setting)) reading.scale = fp8_scale;
  return reading;
}

void draw_mxfp4(Setting& setting) {
  setting.params_dtype = pick(0, 2) == 0 ? ParamsDtype::fp16 : ParamsDtype::bf16;
  setting.input_dtype = pick(0, 2) == 0 ? InputDtype::float8_e4m3fn : InputDtype::none;
}
void draw_params(Setting& setting) { setting.params_dtype = pick(0, 2) == 0 ? ParamsDtype::fp16 : ParamsDtype::bf16; }

/// Rows in pairs are padded as two shards, and repeated blocks run over the end of gate where that is no whole block: the documents say nothing of
/// the first, and of the second that it is so.
bool is_unpadded_or_standard(const Setting& setting) { return is_standard(setting) || padded_i(setting) == setting.padded.intermediate; }
bool has_whole_blocks(const Setting& setting) {
  return setting.form.format != WeightFormat::fp8_block || setting.padded.intermediate % 128 == 0 || !setting.form.gated;
}

constexpr BackendFormula mxfp4(std::string_view backend) {
  return {WeightFormat::mxfp4, backend, deployment::since(deployment::kVllm2026_05), 64, 64, draw_mxfp4, matrix, place, as_loaded, nullptr, nullptr,
          mxfp4_cast,          reading};
}
constexpr BackendFormula other(WeightFormat format, deployment::Versions engines) {
  return {format,
          "MARLIN",
          engines,
          64,
          64,
          draw_params,
          matrix,
          place,
          as_loaded,
          has_whole_blocks,
          is_unpadded_or_standard,
          format == WeightFormat::mxfp8 ? mxfp4_cast : nullptr,
          reading};
}
constexpr deployment::Versions kMay = deployment::before(deployment::kVllm2026_08);
constexpr deployment::Versions kSinceAugust = deployment::since(deployment::kVllm2026_08);

constexpr std::array<BackendFormula, 12> kFormulas{
    mxfp4("MARLIN"),
    mxfp4("BATCHED_MARLIN"),
    other(WeightFormat::nvfp4, kMay),
    other(WeightFormat::nvfp4, kSinceAugust),
    other(WeightFormat::mxfp8, kMay),
    other(WeightFormat::mxfp8, kSinceAugust),
    other(WeightFormat::fp8_tensor, kMay),
    other(WeightFormat::fp8_tensor, kSinceAugust),
    other(WeightFormat::fp8_channel, kMay),
    other(WeightFormat::fp8_channel, kSinceAugust),
    other(WeightFormat::fp8_block, kMay),
    other(WeightFormat::fp8_block, kSinceAugust),
};

void draw_parameters(Setting& setting, std::mt19937& random) {
  setting.of<families::MarlinParameters>().largest_scale_byte = one_of(random, {0, 127, 141, 142, 143, 144, 248, 249, 250, 251, 254});
}

}  // namespace

constinit const FamilyFormulas kMarlinFormulas{
    .name = "marlin", .backends = kFormulas, .takes = &kMarlinTakes, .blocks = &kMarlinBlocks, .draw = draw_parameters};

}  // namespace mx::props
