#include "golden/vectors/number_bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "model/numerics/value.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 5> kClasses{"zero", "subnormal", "normal", "infinity", "NaN"};
enum Class : std::size_t { kZero, kSubnormal, kNormal, kInfinity, kNan };

/// Ends of ranges of E8M0 bytes, and the bytes where implementations part.
struct ByteRange {
  std::uint32_t first, last;
};
constexpr std::array<ByteRange, 11> kBytes{
    {{0, 0}, {1, 1}, {2, 2}, {3, 125}, {126, 126}, {127, 127}, {128, 128}, {129, 252}, {253, 253}, {254, 254}, {255, 255}}};

std::uint32_t sign_bit(const Format& format) { return format.has_sign ? 1U << (format.width - 1) : 0U; }

/// Mantissas of a wide format that decide, with names; `steps` away from each count too.
struct Mark {
  std::string name;
  std::uint32_t mantissa;
};
std::vector<Mark> marks_of(const Format& source, const Format& element) {
  const auto part = [&](std::uint32_t of_eighths) { return of_eighths << (source.mantissa_bits - 3); };
  std::vector<Mark> marks{{"1", 0}, {"1.5", part(4)}, {"1.75", part(6)}};
  // The mantissa of the element format's largest value, and half of its last place below the next binade, where "even" carries.
  const Value largest = decode(element, max_finite_code(element));
  const int top = static_cast<int>(std::bit_width(largest.significand)) - 1;
  const auto fraction = static_cast<std::uint32_t>((largest.significand << (63 - top) << 1U) >> 32U);
  marks.push_back({"of the largest element", fraction >> (32 - source.mantissa_bits)});
  const int bits = element.encoding == Encoding::floating ? element.mantissa_bits : 6;
  const std::uint32_t ones = (1U << source.mantissa_bits) - 1U;
  if (bits + 1 < source.mantissa_bits)
    marks.push_back({"half an element step below the next binade", ones & ~((1U << (source.mantissa_bits - bits - 1)) - 1U)});
  return marks;
}

}  // namespace

std::vector<std::string> number_classes() {
  std::vector<std::string> names;
  for (const char sign : {'+', '-'}) {
    for (const std::string_view name : kClasses) names.push_back(fmt::format("{} {}", sign, name));
  }
  return names;
}

std::uint8_t number_class(std::uint32_t code, const Format& format) {
  const Value value = decode(format, code);
  std::size_t cls = kNormal;
  switch (value.cls) {
    case ValueClass::zero: cls = kZero; break;
    case ValueClass::infinity: cls = kInfinity; break;
    case ValueClass::nan: cls = kNan; break;
    case ValueClass::finite:
      if (format.encoding == Encoding::floating && ((code & ~sign_bit(format)) >> format.mantissa_bits) == 0) cls = kSubnormal;
      break;
  }
  return static_cast<std::uint8_t>(cls + (value.negative ? kClasses.size() : 0U) + 1U);
}

std::string why_no_class(std::size_t cls, const Format& format) {
  const bool negative = cls >= kClasses.size();
  if (negative && !format.has_sign) return fmt::format("{} has no sign", format.name);
  switch (cls % kClasses.size()) {
    case kZero:
      if (format.encoding == Encoding::exponent_only) return fmt::format("{} has no zero", format.name);
      return negative && (format.encoding == Encoding::fixed_point || nan_is_negative_zero(format)) ? fmt::format("{} has one zero", format.name)
                                                                                                    : std::string();
    case kSubnormal: return format.encoding == Encoding::floating ? std::string() : fmt::format("{} has no subnormals", format.name);
    case kInfinity: return has_inf(format) ? std::string() : fmt::format("{} has no infinity", format.name);
    case kNan:
      if (format.specials == Specials::none) return fmt::format("{} has no NaN", format.name);
      return nan_is_negative_zero(format) && !negative ? fmt::format("the NaN of {} is the code of -0", format.name) : std::string();
    default: return {};
  }
}

std::vector<std::string> scale_bins(const Format& scale) {
  if (scale.encoding != Encoding::exponent_only) return number_classes();
  std::vector<std::string> names;
  for (const ByteRange& range : kBytes) {
    names.push_back(range.first == range.last ? fmt::format("byte {}", range.first) : fmt::format("bytes {} to {}", range.first, range.last));
  }
  return names;
}

std::uint8_t scale_bin(std::uint32_t code, const Format& scale) {
  if (scale.encoding != Encoding::exponent_only) return number_class(code, scale);
  const auto range = std::ranges::find_if(kBytes, [&](const ByteRange& r) { return code <= r.last; });
  return static_cast<std::uint8_t>(range - kBytes.begin() + 1);
}

std::vector<std::uint32_t> amax_codes(const Format& source, const Format& element) {
  const std::uint32_t last = max_finite_code(source);
  const std::uint32_t hidden = 1U << source.mantissa_bits;
  std::vector<std::uint32_t> codes{
      0, 1, 2, 3, hidden / 2U - 1U, hidden / 2U, hidden / 2U + 1U, hidden - 1U, last, last + 1U, last + 1U + hidden / 2U, last + 2U};
  const std::vector<Mark> marks = marks_of(source, element);
  for (std::uint32_t exponent = 0; exponent <= last >> source.mantissa_bits; ++exponent) {
    for (const Mark& mark : marks) {
      const std::uint32_t code = (exponent << source.mantissa_bits) | mark.mantissa;
      for (const std::uint32_t near : {code - 1U, code, code + 1U}) {
        if (near <= last) codes.push_back(near);
      }
    }
  }
  const std::size_t positive = codes.size();
  // The sign decides nothing but in itself: some of each kind are enough.
  constexpr std::size_t kSpecials = 12;
  constexpr std::size_t kStep = 16;
  for (std::size_t i = 0; i < positive; i += i < kSpecials ? 1 : kStep) codes.push_back(codes[i] | sign_bit(source));
  std::set<std::uint32_t> seen;
  std::erase_if(codes, [&](std::uint32_t code) { return !seen.insert(code).second; });
  return codes;
}

std::vector<std::string> mantissa_bins(const Format& element) {
  std::vector<std::string> names;
  for (const Mark& mark : marks_of(kF32, element)) {
    for (const std::string_view where : {"a step below ", "", "a step above "}) names.push_back(fmt::format("{}{}", where, mark.name));
  }
  return names;
}

std::uint8_t mantissa_bin(std::uint32_t code, const Format& source, const Format& element) {
  const std::uint32_t magnitude = code & ~sign_bit(source);
  if (magnitude > max_finite_code(source) || magnitude >> source.mantissa_bits == 0) return 0;
  const std::uint32_t mask = (1U << source.mantissa_bits) - 1U;
  std::uint8_t bin = 1;
  for (const Mark& mark : marks_of(source, element)) {
    for (const std::uint32_t near : {mark.mantissa - 1U, mark.mantissa, mark.mantissa + 1U}) {
      if ((near & mask) == (magnitude & mask)) return bin;
      ++bin;
    }
  }
  return 0;
}

}  // namespace mx::golden
