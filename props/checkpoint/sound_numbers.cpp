#include "props/checkpoint/sound_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace mx::props {
namespace {

using K = SoundKind;

/// Magnitudes of a format by their codes, and the nearest one, of two the even one.
class Magnitudes {
 public:
  Magnitudes(int mantissa_bits, int bias, int count) {
    for (int code = 0; code < count; ++code) {
      const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
      const double unit = std::ldexp(1.0, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
      values_.push_back(unit * (mantissa + (exponent == 0 ? 0 : 1 << mantissa_bits)));
    }
  }
  std::uint8_t nearest(double magnitude) const {
    const auto above = std::ranges::lower_bound(values_, magnitude);
    if (above == values_.end()) return static_cast<std::uint8_t>(values_.size() - 1);
    const auto code = static_cast<std::uint8_t>(above - values_.begin());
    if (code == 0 || *above == magnitude) return code;
    const double below = values_[code - 1U], middle = (below + *above) / 2;
    if (magnitude != middle) return magnitude > middle ? code : static_cast<std::uint8_t>(code - 1);
    return code % 2 == 0 ? code : static_cast<std::uint8_t>(code - 1);
  }
  double at(std::uint8_t code) const { return values_[code]; }

 private:
  std::vector<double> values_;
};
const Magnitudes& e2m1() {
  static const Magnitudes made(1, 1, 8);
  return made;
}
const Magnitudes& e4m3() {
  static const Magnitudes made(3, 7, 127);
  return made;
}

std::uint8_t code_of(double number, const Magnitudes& magnitudes, std::uint8_t sign) {
  const std::uint8_t code = magnitudes.nearest(std::abs(number));
  return static_cast<std::uint8_t>(code | (std::signbit(number) && code != 0 ? sign : 0));
}

double largest_of(SoundKind kind, const SoundRules& rules) { return kind == K::mxfp4 || kind == K::nvfp4 ? 6 : kind == K::int4 ? 7 : rules.largest; }

/// OCP MX 1.0 section 6.3, and two other rules in use.
int exponent_of(double amax, SoundKind kind, const SoundRules& rules) {
  if (amax == 0) return -127;
  const int top = kind == K::mxfp4 ? 2 : 8;
  const double largest = kind == K::mxfp4 ? 6 : 448;
  int exponent = std::ilogb(amax) - top;
  if (rules.powers == 1) {
    int power = 0;
    const double share = std::frexp(amax / largest, &power);
    exponent = share == 0.5 ? power - 1 : power;
  }
  if (rules.powers == 2) exponent = std::ilogb(amax * (kind == K::mxfp4 ? 8.0 / 7 : 16.0 / 15)) - top;
  return std::clamp(exponent, -127, 127);
}

/// The scale that is stored, and its number.
std::pair<std::uint32_t, double> scale_of(double amax, const SoundForm& form, const SoundRules& rules, double global) {
  if (form.kind == K::mxfp4 || form.kind == K::mxfp8 || form.scale_dtype == "F8_E8M0") {
    const int exponent = exponent_of(amax, form.kind == K::mxfp4 ? K::mxfp4 : K::mxfp8, rules);
    return {static_cast<std::uint32_t>(exponent + 127), std::ldexp(1.0, exponent)};
  }
  if (form.kind == K::nvfp4) {
    const double wanted = amax == 0 ? rules.zero_scale : amax / 6 / global;
    const std::uint8_t code = e4m3().nearest(wanted);
    return {code, e4m3().at(code)};
  }
  const double largest = largest_of(form.kind, rules);
  double scale = amax == 0 ? 0x1p-20 : amax / largest;
  if (rules.block_powers && form.kind == K::fp8_block) scale = std::ldexp(1.0, static_cast<int>(std::ceil(std::log2(scale))));
  if (form.scale_dtype == "BF16") {
    const std::uint32_t code = bf16_code(scale);
    return {code, static_cast<double>(std::bit_cast<float>(code << 16))};
  }
  return {f32_code(scale), static_cast<double>(std::bit_cast<float>(f32_code(scale)))};
}

}  // namespace

std::uint32_t f32_code(double number) { return std::bit_cast<std::uint32_t>(static_cast<float>(number)); }

std::uint32_t bf16_code(double number) {
  const std::uint32_t bits = f32_code(number);
  return (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
}

void put_code(SoundBytes& bytes, std::uint32_t word, std::size_t count) {
  for (std::size_t byte = 0; byte < count; ++byte) bytes.push_back(static_cast<std::uint8_t>(word >> 8 * byte));
}

double amax_of(const SoundMatrix& matrix) {
  double amax = 0;
  for (const double number : matrix.numbers) amax = std::max(amax, std::abs(number));
  return amax;
}

Coded coded(const SoundMatrix& matrix, const SoundForm& form, const SoundRules& rules, double amax) {
  Coded made{matrix.rows, matrix.columns, SoundBytes(matrix.numbers.size()), {}, 0, 0, 1};
  if (form.kind == K::plain) return made;
  std::int64_t tall = 1, wide = matrix.columns;
  if (form.kind == K::mxfp4 || form.kind == K::mxfp8 || form.kind == K::int4) wide = 32;
  if (form.kind == K::nvfp4) wide = 16;
  if (form.kind == K::fp8_block) tall = wide = 128;
  if (form.kind == K::fp8_tensor) tall = matrix.rows;
  if (form.kind == K::nvfp4) made.global = amax == 0 ? 0x1p-20 : amax / (6 * 448);
  const bool four = form.kind == K::mxfp4 || form.kind == K::nvfp4;
  made.scale_rows = (matrix.rows + tall - 1) / tall;
  made.scale_columns = (matrix.columns + wide - 1) / wide;
  const std::size_t width = form.scale_dtype == "F32" ? 4 : form.scale_dtype == "BF16" ? 2 : 1;
  for (std::int64_t r = 0; r < made.scale_rows; ++r) {
    for (std::int64_t c = 0; c < made.scale_columns; ++c) {
      double largest = 0;
      const auto each = [&](const std::function<void(std::size_t)>& look) {
        for (std::int64_t y = r * tall; y < std::min(matrix.rows, (r + 1) * tall); ++y) {
          for (std::int64_t x = c * wide; x < std::min(matrix.columns, (c + 1) * wide); ++x) look(static_cast<std::size_t>(y * matrix.columns + x));
        }
      };
      each([&](std::size_t i) { largest = std::max(largest, std::abs(matrix.numbers[i])); });
      if (form.kind == K::fp8_tensor) largest = amax;
      const auto found = scale_of(largest, form, rules, made.global);
      const double scale = found.second;
      put_code(made.scales, found.first, width);
      each([&](std::size_t i) {
        const double share = scale == 0 ? 0 : matrix.numbers[i] / (scale * made.global);
        if (form.kind == K::int4)
          made.codes[i] = static_cast<std::uint8_t>(8 + std::clamp(static_cast<int>(std::nearbyint(share)), -8, 7));
        else
          made.codes[i] = four ? code_of(share, e2m1(), 8) : code_of(std::clamp(share, -rules.largest, rules.largest), e4m3(), 0x80);
      });
    }
  }
  return made;
}

}  // namespace mx::props
