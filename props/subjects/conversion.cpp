// The laws of numbers on a conversion that is not ours.

#include <rapidcheck.h>

#include <algorithm>

#include "model/error.hpp"
#include "props/numerics/laws.hpp"
#include "props/subject.hpp"
#include "props/subjects/tools.hpp"

namespace mx::props {
namespace {

using numerics::Grid;
using numerics::hex;

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;

/// A finite number that is not zero and not above the largest.
bool is_in_range(const Grid& grid, std::uint32_t f32) {
  const std::uint32_t magnitude = f32 & ~kSign;
  return magnitude != 0 && magnitude <= grid.values.back();
}

/// What is wrong with the code of fp32 bits; "" when nothing is.
std::string wrong_code(const ConversionSubject& subject, const Grid& grid, std::uint32_t f32) {
  const std::uint32_t expected = numerics::restated_code(grid, f32, subject.rule);
  const std::string rule = std::string(name_of(subject.rule.rounding)) + ", " + std::string(name_of(subject.rule.overflow));
  const std::string input = "f32 " + hex(f32) + " -> " + std::string(grid.format->name) + ", " + rule + ": ";
  return told([&]() -> std::string {
    const std::uint32_t code = subject.encode(f32);
    return code == expected ? "" : input + hex(code) + ", not " + hex(expected) + numerics::encode_line(f32, *grid.format);
  });
}

/// A code with the fp32 bits of its number.
struct Numbered {
  std::uint32_t code;
  std::uint32_t f32;
};

/// Every finite code. E8M0 has no zero, which its grid begins with.
std::vector<Numbered> finite_codes(const Grid& grid) {
  std::vector<Numbered> codes;
  const bool has_sign = grid.format->has_sign;
  for (std::uint32_t magnitude = 0; magnitude < grid.values.size(); ++magnitude) {
    codes.push_back({numerics::signed_code(grid, magnitude, false), grid.values[magnitude]});
    const std::uint32_t negative = numerics::signed_code(grid, magnitude, true);
    if (has_sign && negative != codes.back().code) codes.push_back({negative, grid.values[magnitude] | kSign});
  }
  return codes;
}

std::string wrong_return(const ConversionSubject& subject, const Numbered& code) {
  return told([&]() -> std::string {
    const std::uint32_t f32 = subject.decode(code.code);
    if (f32 != code.f32) return std::string(subject.format->name) + " " + hex(code.code) + " is decoded as " + hex(f32) + ", not " + hex(code.f32);
    const std::uint32_t back = subject.encode(f32);
    return back == code.code ? "" : std::string(subject.format->name) + " " + hex(code.code) + " returns as " + hex(back);
  });
}

std::string wrong_byte(const ConversionSubject& subject, std::uint32_t byte) {
  return told([&]() -> std::string {
    const std::uint32_t f32 = subject.decode(byte);
    if (byte == 0xFF) return (f32 & ~kSign) > kInfinity ? "" : "E8M0 0xFF is decoded as " + hex(f32) + ", which is no NaN";
    const std::uint32_t expected = byte == 0 ? 0x00400000U : byte << 23U;
    return f32 == expected ? "" : "E8M0 " + hex(byte) + " is decoded as " + hex(f32) + ", not " + hex(expected);
  });
}

/// A case of a property: fails with what is wrong.
void require_right(const std::string& wrong) {
  if (!wrong.empty()) RC_FAIL(wrong);
}

Outcome codes_return(const Law& law, const ConversionSubject& subject) {
  const std::vector<Numbered> codes = finite_codes(numerics::grid_of(subject.format->name));
  const auto one = [&] { require_right(wrong_return(subject, codes[numerics::pick_uniform(0, static_cast<std::uint32_t>(codes.size()) - 1)])); };
  return numerics::run_both(law, one, [&](Exhaustive& all) {
    for (const Numbered& code : codes) {
      std::string wrong = wrong_return(subject, code);
      all.expect(wrong.empty(), [&] { return wrong; });
    }
  });
}

/// Random patterns, then all around the values of the format and at its ends, as far as they are of the law.
Outcome patterns(const Law& law, const ConversionSubject& subject, bool in_range) {
  const Grid& grid = numerics::grid_of(subject.format->name);
  const auto one = [&] {
    for (int i = 0; i < numerics::kPatternsPerCase; ++i) {
      const std::uint32_t f32 = numerics::pick_any(grid);
      if (is_in_range(grid, f32) == in_range) require_right(wrong_code(subject, grid, f32));
    }
  };
  return numerics::run_both(law, one, [&](Exhaustive& all) {
    std::vector<std::uint32_t> points = numerics::extreme_patterns(grid);
    for (const std::vector<std::uint32_t>* list : {&grid.values, &grid.midpoints}) {
      for (std::uint32_t point : *list) {
        for (std::uint32_t f32 : {point - (point == 0 ? 0U : 1U), point, point + 1U}) {
          points.push_back(f32);
          points.push_back(f32 | kSign);
        }
      }
    }
    for (std::uint32_t f32 : points) {
      if (is_in_range(grid, f32) != in_range) continue;
      std::string wrong = wrong_code(subject, grid, f32);
      all.expect(wrong.empty(), [&] { return wrong; });
    }
  });
}

Outcome bytes_widen(const Law& law, const ConversionSubject& subject) {
  Exhaustive all(law);
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::string wrong = wrong_byte(subject, byte);
    all.expect(wrong.empty(), [&] { return wrong; });
  }
  return all.outcome();
}

void check_known(const ConversionSubject& subject) {
  const bool known = std::ranges::any_of(numerics::all_grids(), [&](const Grid& grid) { return *grid.format == *subject.format; });
  if (!known) throw Error(ErrorCode::usage, "the laws do not know the format " + std::string(subject.format->name), subject.name);
  if (is_stochastic(subject.rule.rounding) || subject.rule.nan_rule != NanRule::fixed)
    throw Error(ErrorCode::usage, "the laws take no stochastic rounding and NaN rule fixed alone", subject.name);
}

}  // namespace

std::vector<HeldLaw> laws_of(const ConversionSubject& subject) {
  check_known(subject);
  std::vector<HeldLaw> laws;
  const bool is_e8m0 = *subject.format == kE8m0;
  if (subject.decode && is_e8m0) {
    laws.push_back({"N4/" + subject.name, "each of the 256 bytes is its power of two, 255 a NaN",
                    [subject](const Law& law) { return bytes_widen(law, subject); }});
  }
  if (subject.decode) {
    laws.push_back({"N1/" + subject.name, "a finite code is decoded as its number, which is encoded as the code",
                    [subject](const Law& law) { return codes_return(law, subject); }});
  }
  laws.push_back({"N2/" + subject.name, "a number within the range of the format is rounded as the rule says",
                  [subject](const Law& law) { return patterns(law, subject, true); }});
  laws.push_back({"N3/" + subject.name, "zeros, overflow, Inf and NaN have the codes that the rule says",
                  [subject](const Law& law) { return patterns(law, subject, false); }});
  return laws;
}

}  // namespace mx::props
