// Laws about single codes: N1, N2, N4.

#include <rapidcheck.h>

#include "model/numerics/profile.hpp"
#include "props/failure_file.hpp"
#include "props/numerics/grid.hpp"
#include "props/numerics/laws.hpp"

namespace mx::props::numerics {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kLargestF32 = 0x7F7FFFFFU;

/// The ocp conversion with another rounding; E8M0 takes magnitudes.
Conversion conversion_with(Rounding rounding, const Format& format) {
  Conversion how = conversion(profile_named(kOcp), kF32, format);
  how.rounding = rounding;
  how.negative_is_nan = false;
  return how;
}

/// The code that a code's value gets. E8M0's zero code is told apart from the code of 2^-127.
std::uint32_t returned(std::uint32_t code, const Format& format, Rounding rounding) {
  Conversion how = conversion_with(rounding, format);
  how.zero_code = 0xFF;
  // The profile saturates infinities, which this law is not about.
  if (format.specials == Specials::ieee) how.overflow = Overflow::inf;
  Flags flags;
  return encode(decode(format, code), format, how, flags);
}

std::uint32_t expected_return(std::uint32_t code, const Format& format) {
  if (is_nan_code(format, code)) return conversion(profile_named(kOcp), kF32, format).nan_positive;
  return format == kMxint8 && code == 0x80 ? 0x81 : code;
}

std::uint32_t encoded(std::uint32_t f32, const Grid& grid, Rounding rounding) {
  Conversion how = conversion_with(rounding, *grid.format);
  how.overflow = Overflow::saturate;
  return convert(f32, kF32, *grid.format, how);
}

/// Value of an E8M0 byte in fp16: 2^(byte-127), whose exponents reach from -24 to 15; 2^-25 is a tie with zero.
std::uint32_t scale_in_fp16(std::uint32_t byte) {
  const int exponent = static_cast<int>(byte) - 127;
  if (exponent > 15) return 0x7C00;
  if (exponent >= -14) return static_cast<std::uint32_t>(exponent + 15) << 10;
  return exponent >= -24 ? 1U << (exponent + 24) : 0U;
}

/// The number of a byte in fp32, bf16 or fp16. fp32 and bf16 have E8M0's exponent field; byte 0, 2^-127, is a subnormal of theirs.
std::uint32_t widened(std::uint32_t byte, const Format& to) {
  if (to == kFp16) return scale_in_fp16(byte);
  const std::uint32_t f32 = byte == 0 ? 0x00400000U : byte << 23;
  return to == kBf16 ? f32 >> 16 : f32;
}

bool widens(std::uint32_t byte, const Format& to) {
  const std::uint32_t code = convert(byte, kE8m0, to, conversion(profile_named(kOcp), kE8m0, to));
  if (byte == 0xFF) return is_nan_code(to, code);
  return code == widened(byte, to) && (to != kF32 || to_f32(byte, kE8m0) == code);
}

}  // namespace

Outcome codes_return(const Law& law) {
  const Grid& grid = grid_of(subject_of(law));
  const Format& format = *grid.format;
  const std::vector<Rounding> roundings = roundings_of(grid);
  const std::uint32_t codes = 1U << format.width;
  const auto property = [&] {
    const std::uint32_t code = pick_code(format.width);
    RC_LOG("code " + hex(code) + try_line("mxact decode " + std::string(format.name) + " " + hex(code)));
    for (Rounding rounding : roundings) RC_ASSERT(returned(code, format, rounding) == expected_return(code, format));
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t code = 0; code < codes; ++code) {
      for (Rounding rounding : roundings) {
        const std::uint32_t back = returned(code, format, rounding);
        exhaustive.expect(back == expected_return(code, format), [&] {
          return std::string(format.name) + " " + hex(code) + " returns as " + hex(back) + ", " + std::string(name_of(rounding));
        });
      }
    }
  };
  return run_both(law, property, all_cases);
}

Outcome encode_is_nearest(const Law& law) {
  const Grid& grid = grid_of(subject_of(law));
  const std::vector<Rounding> roundings = roundings_of(grid);
  // A saturated overflow is the largest value for every rounding, so the search needs no grid above it.
  const auto property = [&] {
    for (int i = 0; i < kPatternsPerCase; ++i) {
      const std::uint32_t f32 = pick_boundary(grid);
      RC_LOG("f32 " + hex(f32) + encode_line(f32, *grid.format));
      for (Rounding rounding : roundings) {
        RC_LOG(std::string(name_of(rounding)));
        RC_ASSERT(encoded(f32, grid, rounding) == searched_code(grid, f32, rounding));
      }
    }
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    const auto check = [&](std::uint32_t f32) {
      for (Rounding rounding : roundings) {
        const std::uint32_t code = encoded(f32, grid, rounding);
        const std::uint32_t expected = searched_code(grid, f32, rounding);
        exhaustive.expect(code == expected, [&] {
          return "f32 " + hex(f32) + " -> " + std::string(grid.format->name) + " " + hex(code) + ", not " + hex(expected) + ", " +
                 std::string(name_of(rounding));
        });
      }
    };
    for (const std::vector<std::uint32_t>* points : {&grid.values, &grid.midpoints}) {
      for (std::uint32_t point : *points) {
        for (std::uint32_t f32 : {point - (point == 0 ? 0U : 1U), point, point + 1U}) {
          if (f32 > kLargestF32) continue;
          check(f32);
          check(f32 | kSign);
        }
      }
    }
  };
  return run_both(law, property, all_cases);
}

Outcome scales_widen(const Law& law) {
  const Format& to = format_named(subject_of(law));
  const auto property = [&] {
    const std::uint32_t byte = pick_code(8);
    RC_LOG("E8M0 " + hex(byte) + try_line("mxact decode e8m0 " + hex(byte)));
    RC_ASSERT(widens(byte, to));
  };
  const auto all_cases = [&](Exhaustive& exhaustive) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      exhaustive.expect(widens(byte, to), [&] { return "E8M0 " + hex(byte) + " -> " + std::string(to.name); });
    }
  };
  return run_both(law, property, all_cases);
}

}  // namespace mx::props::numerics
