// Where scale rules part, by the definitions of the rules, and the error of formats against their values typed in.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/study/error_line.hpp"
#include "sim/study/scale_steps.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using mx::tests::refuses;

/// OFP8: three bits of mantissa, bias 7, subnormals below 2^-6, up to 448.
std::vector<double> e4m3fn_values() {
  std::vector<double> values;
  for (int eighths = 0; eighths < 8; ++eighths) values.push_back(std::ldexp(eighths, -9));
  for (int exponent = -6; exponent <= 8; ++exponent) {
    for (int eighths = 8; eighths < 16; ++eighths) values.push_back(std::ldexp(eighths, exponent - 3));
  }
  values.pop_back();  // 480 is NaN
  return values;
}

/// The distance to the nearest value, as a share of x: a tie has one distance.
double error_at(double x, const std::vector<double>& values) {
  double least = HUGE_VAL;
  for (const double value : values) least = std::min(least, std::abs(value - x));
  return least / x;
}

const ScaleStep& row_of(const ScaleSteps& steps, std::string_view rule) {
  const auto row = std::ranges::find(steps.rows, rule, &ScaleStep::rule);
  REQUIRE(row != steps.rows.end());
  return *row;
}

}  // namespace

TEST_CASE("the error along the real line is the distance to the nearest value") {
  const std::vector<ErrorLine> lines = error_lines({"e2m1", "e4m3fn"});
  REQUIRE(lines.size() == 2);
  const std::vector<std::vector<double>> values{{0, 0.5, 1, 1.5, 2, 3, 4, 6}, e4m3fn_values()};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    INFO(lines[i].format);
    REQUIRE(lines[i].worst.size() == static_cast<std::size_t>((kErrorLineHighest - kErrorLineLowest) * kErrorLineBins));
    std::size_t wrong = 0;
    for (std::size_t bin = 0; bin < lines[i].worst.size(); ++bin) {
      const int power = kErrorLineLowest + static_cast<int>(bin) / kErrorLineBins;
      double worst = 0;
      for (int sample = 0; sample < kErrorLineSamples; ++sample) {
        const double part = (static_cast<double>(bin % kErrorLineBins) + static_cast<double>(sample) / kErrorLineSamples) / kErrorLineBins;
        worst = std::max(worst, error_at(std::ldexp(1 + part, power), values[i]));
      }
      wrong += lines[i].worst[bin] == worst ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("lines of every narrow format with a sign, and of no other") {
  std::vector<std::string> names;
  for (const ErrorLine& line : error_lines({})) names.push_back(line.format);
  CHECK(names == std::vector<std::string>{"e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m3", "e3m2", "e2m1"});
  CHECK(refuses(ErrorCode::usage, "e8m0 is no floating-point format with a sign", [] { error_lines({"e8m0"}); }));
  CHECK(refuses(ErrorCode::usage, "f32 is no floating-point format", [] { error_lines({"f32"}); }));
  CHECK(refuses(ErrorCode::usage, "e2m7", [] { error_lines({"e2m7"}); }));
}

TEST_CASE("scale rules part where their definitions say") {
  // e2m1: emax 2, largest 6, one bit of mantissa. 1 / 2^2 has the exponent -2: code 125.
  const std::vector<ScaleSteps> all = scale_steps({"mxfp4", "mxfp8_e4m3"});
  REQUIRE(all.size() == 2);
  const ScaleStep& floor = row_of(all[0], "floor");
  CHECK(floor.below == 125);
  CHECK(floor.above == 125);
  CHECK_FALSE(floor.first);
  CHECK(std::ranges::find(floor.profiles, "ocp") != floor.profiles.end());
  CHECK(row_of(all[0], "ceil").first == 0x3F800001);   // above 1
  CHECK(row_of(all[0], "rceil").first == 0x3FC00001);  // above 6 / 4
  CHECK(row_of(all[0], "even").first == 0x3FE00000);   // 1.75, half way from 1.5 to 2
  // The same rule asked with bf16 alone: the next bf16 number above 1.5.
  CHECK(row_of(all[0], "rceil_rcp").first == 0x3FC10000);
  for (const char* rule : {"ceil", "rceil", "even"}) {
    CHECK(row_of(all[0], rule).below == 125);
    CHECK(row_of(all[0], rule).above == 126);
  }
  // e4m3fn: emax 8, largest 448, three bits of mantissa.
  CHECK(row_of(all[1], "floor").below == 119);
  CHECK(row_of(all[1], "rceil").first == 0x3FE00001);  // above 448 / 256
  CHECK(row_of(all[1], "even").first == 0x3FF80000);   // 1.9375
  CHECK(row_of(all[1], "floor_log2_no_emax").below == 127);
}

TEST_CASE("scale rules of formats that have none are refused") {
  CHECK(refuses(ErrorCode::usage, "no profile chooses an E8M0 scale", [] { scale_steps({"nvfp4"}); }));
  CHECK(refuses(ErrorCode::usage, "mxfp5", [] { scale_steps({"mxfp5"}); }));
  CHECK(scale_steps({}).size() >= 6);
}
