#include "checkpoint/requantize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "checkpoint/nearest_even.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/format.hpp"

namespace mx::checkpoint {
namespace {

/// How codes of 8 bits with 3 of mantissa are read and made.
struct CodeRow {
  const Format* format;
  float factor;         ///< of both scales
  double largest;       ///< that the clamp leaves
  int bias;             ///< of the exponent
  std::uint8_t of_nan;  ///< the clamp's
  bool has_negative_zero;
};
constexpr CodeRow kE4m3fnRow{&kE4m3fn, 1, 448, 7, 0x7E, true};
constexpr CodeRow kE4m3fnuzRow{&kE4m3fnuz, 2, 224, 8, 0x7E, false};

const CodeRow& row_of(Fp8Codes as) { return as == Fp8Codes::e4m3fn ? kE4m3fnRow : kE4m3fnuzRow; }

double number_of(std::uint8_t code, const Format& format) { return static_cast<double>(std::bit_cast<float>(to_f32(code, format))); }
float scale_of(std::uint32_t bits, const CodeRow& row) { return std::bit_cast<float>(bits) * row.factor; }

/// The number of a code of the checkpoint as the engine's step before leaves it.
double number_before(std::uint8_t code, const CodeRow& row) { return code == 0x80 && !row.has_negative_zero ? 0 : number_of(code, *row.format); }

std::uint8_t code_of(float value, const CodeRow& row) {
  if (std::isnan(value)) return row.of_nan;
  const double held = std::clamp(static_cast<double>(value), -row.largest, row.largest);
  const double near = std::abs(nearest_even(held, 4, -2 - row.bias));
  const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (near == 0) return row.has_negative_zero ? sign : 0;
  const int exponent = std::max(std::ilogb(near), 1 - row.bias);
  const auto mantissa = static_cast<int>(std::ldexp(near, 3 - exponent));
  return static_cast<std::uint8_t>(sign | (mantissa < 8 ? mantissa : (exponent + row.bias) << 3 | (mantissa - 8)));
}

}  // namespace

std::array<std::uint8_t, 256> requantized_codes(std::uint32_t from, std::uint32_t to, Fp8Codes as) {
  const CodeRow& row = row_of(as);
  const double scale = nearest_fp16(static_cast<double>(scale_of(from, row)));
  const float inverse = 1.0F / scale_of(to, row);
  std::array<std::uint8_t, 256> codes{};
  for (int code = 0; code < 256; ++code) {
    const double product = nearest_fp16(number_before(static_cast<std::uint8_t>(code), row) * scale);
    codes[static_cast<std::size_t>(code)] = code_of(static_cast<float>(product) * inverse, row);
  }
  return codes;
}

InputScales joined_for(const InputScales& scales, Fp8Codes as) {
  const CodeRow& row = row_of(as);
  const auto factor = [&](std::uint32_t bits) { return std::bit_cast<std::uint32_t>(scale_of(bits, row)); };
  return {factor(scales.w13), factor(scales.w2)};
}

RequantizedCount count_requantized(const Requantized& half, std::span<const std::uint8_t> codes, Fp8Codes as) {
  const CodeRow& row = row_of(as);
  const std::array<std::uint8_t, 256> made = requantized_codes(half.from, half.to, as);
  std::array<std::int64_t, 256> counts{};
  for (const std::uint8_t code : codes) ++counts[code];
  RequantizedCount count;
  const double from = std::bit_cast<float>(half.from), to = scale_of(half.to, row);
  for (std::size_t code = 0; code < 256; ++code) {
    const double number = number_of(static_cast<std::uint8_t>(code), kE4m3fn);
    if (made[code] == code) {
      if (half.from != half.to && number != 0) count.changed += counts[code];
      continue;
    }
    count.changed += counts[code];
    // Products of 4 and 24 bits: exact.
    if (number * from == number_of(made[code], *row.format) * to) count.kept += counts[code];
  }
  return count;
}

Requantizer::Requantizer(std::vector<Requantized> halves, std::uint64_t half_bytes, Fp8Codes as)
    : halves_(std::move(halves)), half_bytes_(half_bytes), as_(as) {
  for (const Requantized& half : halves_) {
    const auto at = static_cast<std::size_t>(2 * half.expert + half.half);
    if (codes_.size() <= at) codes_.resize(at + 1);
    codes_[at] = requantized_codes(half.from, half.to, as);
  }
}

void Requantizer::apply(std::uint64_t begin, std::span<std::uint8_t> codes) const {
  while (!empty() && !codes.empty()) {
    const std::array<std::uint8_t, 256>& made = codes_[begin / half_bytes_];
    const std::span<std::uint8_t> here = codes.first(std::min<std::uint64_t>(codes.size(), half_bytes_ - begin % half_bytes_));
    for (std::uint8_t& code : here) code = made[code];
    codes = codes.subspan(here.size());
    begin += here.size();
  }
}

void Requantizer::note(const Requantized& half, std::span<const std::uint8_t> codes, std::vector<layout::Loss>& losses) const {
  const RequantizedCount count = count_requantized(half, codes, as_);
  if (count.changed == 0) return;
  if (losses.empty()) losses.push_back({.role = layout::Role::w13_weight, .what = std::string(kRequantized), .units = 0, .kept = 0});
  losses.front().units += count.changed;
  losses.front().kept += count.kept;
  losses.front().replaced = losses.front().replaced || half.from != half.to;
}

}  // namespace mx::checkpoint
