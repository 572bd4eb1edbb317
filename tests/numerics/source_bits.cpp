// Casts that move bit fields, at the places where they part from a rounding: VHDL's RESIZE as GHDL 2.0.0 answered. Recorded sets hold the rest.

#include "model/numerics/source_bits.hpp"

#include <string>

#include "model/error.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"

using namespace mx;

namespace {

std::uint32_t resized(std::uint32_t code, const Format& from, const Format& to) {
  return convert(code, from, to, conversion(profile_named("vhdl-float-pkg"), from, to));
}

std::string refusal(std::uint32_t code, const Format& from, const Format& to) {
  try {
    Flags flags;
    moved_bits(code, from, to, Rounding::float_pkg_nearest, flags);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("float_pkg's RESIZE folds exponents, drops signs of zeros and NaNs, and rounds to nearest even between") {
  CHECK(resized(0x3F800000U, kF32, kFp16) == 0x3C00U);  // 1
  CHECK(resized(0x3F801000U, kF32, kFp16) == 0x3C00U);  // a tie
  CHECK(resized(0x3F803000U, kF32, kFp16) == 0x3C02U);  // the other one
  CHECK(resized(0x477FF000U, kF32, kFp16) == 0x7C00U);  // 65520
  CHECK(resized(0x60400000U, kF32, kFp16) == 0x4200U);  // 3 * 2^64 comes out as 3
  CHECK(resized(0x80000000U, kF32, kFp16) == 0x0000U);  // -0
  CHECK(resized(0xFF800000U, kF32, kFp16) == 0xFC00U);  // -Inf
  CHECK(resized(0xFFC00001U, kF32, kFp16) == 0x7C01U);  // a NaN
  CHECK(resized(0xFC00U, kFp16, kE4m3Ieee) == 0xF8U);
  CHECK(resized(0x7E00U, kFp16, kE4m3Ieee) == 0x79U);
}

TEST_CASE("where RESIZE ends the simulation the model throws, and says for which code") {
  CHECK(has_no_answer(0x15000000U, kF32, kFp16, Rounding::float_pkg_nearest));  // 2^-85
  CHECK_FALSE(has_no_answer(0x60400000U, kF32, kFp16, Rounding::float_pkg_nearest));
  CHECK_FALSE(has_no_answer(0x15000000U, kF32, kFp16, Rounding::nearest_even));
  CHECK(refusal(0x15000000U, kF32, kFp16) ==
        "rounding 'float_pkg_nearest': float_pkg's RESIZE ends the simulation at code 0x15000000 of f32 -> fp16");
}

TEST_CASE("RESIZE is of IEEE 754's formats, from more bits of mantissa to fewer") {
  const std::string words = "rounding 'float_pkg_nearest' is not defined for ";
  CHECK(refusal(0, kF32, kE4m3fn) == words + "f32 -> e4m3fn");
  CHECK(refusal(0, kBf16, kFp16) == words + "bf16 -> fp16");
  CHECK(refusal(0, kF32, kF32) == words + "f32 -> f32");
  CHECK(refusal(0, kE4m3fn, kE5m2) == words + "e4m3fn -> e5m2");
}

}  // namespace
