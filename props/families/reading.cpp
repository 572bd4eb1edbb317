// How units are understood as numbers: the formats' definitions, typed in.

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "props/families/memory_formula.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::WeightFormat;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double e2m1(const Setting&, std::uint64_t code) {
  constexpr std::array<double, 8> kMagnitudes{0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8U) != 0 ? -kMagnitudes[code & 7U] : kMagnitudes[code & 7U];
}
double e4m3(const Setting&, std::uint64_t code) { return e4m3_number(code); }
double e4m3fnuz(const Setting&, std::uint64_t code) {
  return code == 0x80 ? kNan : (code & 0x7F) == 0x7F ? (code == 0x7F ? 240.0 : -240.0) : e4m3_number(code) / 2;
}
double value_plus_8(const Setting&, std::uint64_t code) { return static_cast<double>(code) - 8; }

double e8m0_scale(const Setting&, std::uint64_t unit, double second) { return e8m0_number(unit) * second; }
double e4m3_scale(const Setting&, std::uint64_t unit, double second) { return e4m3_number(unit) * second; }
double f32_scale(const Setting&, std::uint64_t unit, double second) { return f32_number(unit) * second; }
double bf16_scale(const Setting&, std::uint64_t unit, double second) { return f32_number(unit << 16) * second; }

}  // namespace

double f32_number(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

double e4m3_number(std::uint64_t code) {
  const auto field = static_cast<int>(code >> 3 & 15U);
  const auto fraction = static_cast<int>(code & 7U);
  if (field == 15 && fraction == 7) return kNan;
  const double magnitude = field == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, field - 10);
  return (code & 0x80U) != 0 ? -magnitude : magnitude;
}

double e8m0_number(std::uint64_t code) { return code == 255 ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127); }

Reading checkpoint_reading(WeightFormat format) {
  switch (format) {
    case WeightFormat::mxfp4: return {e2m1, e8m0_scale};
    case WeightFormat::nvfp4: return {e2m1, e4m3_scale};
    case WeightFormat::mxfp8:
    case WeightFormat::fp8_block_e8m0: return {e4m3, e8m0_scale};
    case WeightFormat::int4: return {value_plus_8, bf16_scale};
    case WeightFormat::fp8_tensor:
    case WeightFormat::fp8_pair:
    case WeightFormat::fp8_channel:
    case WeightFormat::fp8_block: break;
  }
  return {e4m3, f32_scale};
}

bool is_fnuz(const Setting& setting) {
  const WeightFormat format = setting.form.format;
  const bool is_fp8 = format == WeightFormat::fp8_tensor || format == WeightFormat::fp8_pair || format == WeightFormat::fp8_channel ||
                      format == WeightFormat::fp8_block;
  return is_fp8 && setting.arch == families::Arch::gfx942 && !setting.leaves_e4m3fn;
}

std::uint64_t handed_on(layout::Role role, const Setting& setting, std::uint64_t unit) {
  if (!is_fnuz(setting)) return unit;
  if (layout::is_weight(role)) return unit == 0x80 ? 0 : unit;
  if (!layout::is_scale(role)) return unit;
  const float twice = std::bit_cast<float>(static_cast<std::uint32_t>(unit)) * 2.0F;
  return twice != twice ? 0x7FC00000U : std::bit_cast<std::uint32_t>(twice);
}

Reading reading_of(const Setting& setting) { return is_fnuz(setting) ? Reading{e4m3fnuz, f32_scale} : checkpoint_reading(setting.form.format); }

}  // namespace mx::props
