// The tables of thresholds against numbers from the documents. This program is linked without the model: they stand alone.

#include "tests/proof/thresholds.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"
#include "tests/proof/exact.hpp"

using namespace mx::tests;

namespace {

constexpr std::uint32_t kPlusNan = 0x5;
constexpr std::uint32_t kMinusNan = 0xA;

const FormatFacts& facts_named(std::string_view name) {
  for (const FormatFacts& facts : all_facts()) {
    if (facts.name == name) return facts;
  }
  throw std::logic_error("no facts about " + std::string(name));
}

Mode mode(Direction direction, Excess excess, bool before_rounding = false) {
  return {direction, excess, before_rounding, false, 0x00, NanCode::given, kPlusNan, kMinusNan};
}

std::vector<Step> table(std::string_view format, Direction direction, Excess excess, bool before_rounding = false) {
  return thresholds(facts_named(format), mode(direction, excess, before_rounding));
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// First pattern of the positive half that gives the code.
std::uint32_t first_of(const std::vector<Step>& steps, std::uint32_t code) {
  for (const Step& step : steps) {
    if (step.code == code) return step.first;
  }
  return 0;
}

}  // namespace

TEST_CASE("e2m1: the whole table of nearest even, by hand") {
  // Values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and the next grid point 8; an odd code's upper midpoint belongs to the even one above it.
  const auto above = [](float value) { return bits(value) + 1; };
  const std::vector<Step> expected{
      {0x00000000, 0x0},    {above(0.25F), 0x1}, {bits(0.75F), 0x2},  {above(1.25F), 0x3}, {bits(1.75F), 0x4},   {above(2.5F), 0x5},
      {bits(3.5F), 0x6},    {above(5.0F), 0x7},  {0x7F800001, 0x5},   {0x80000000, 0x8},   {above(-0.25F), 0x9}, {bits(-0.75F), 0xA},
      {above(-1.25F), 0xB}, {bits(-1.75F), 0xC}, {above(-2.5F), 0xD}, {bits(-3.5F), 0xE},  {above(-5.0F), 0xF},  {0xFF800001, 0xA},
  };
  CHECK(table("e2m1", Direction::nearest_even, Excess::saturate) == expected);
}

TEST_CASE("the directions turn at the value, at the midpoint, or right above one of them") {
  // e2m1 between 4 (code 6) and 6 (code 7).
  struct Row {
    Direction direction;
    std::uint32_t positive;
    std::uint32_t negative;
  };
  const std::vector<Row> rows{
      {Direction::nearest_even, bits(5) + 1, bits(-5) + 1},        {Direction::nearest_away, bits(5), bits(-5)},
      {Direction::nearest_toward_zero, bits(5) + 1, bits(-5) + 1}, {Direction::toward_zero, bits(6), bits(-6)},
      {Direction::toward_positive, bits(4) + 1, bits(-6)},         {Direction::toward_negative, bits(6), bits(-4) + 1},
  };
  for (const Row& row : rows) {
    const std::vector<Step> steps = table("e2m1", row.direction, Excess::saturate);
    INFO(static_cast<int>(row.direction));
    CHECK(first_of(steps, 0x7) == row.positive);
    CHECK(first_of(steps, 0xF) == row.negative);
  }
}

TEST_CASE("overflow begins where the documents and the recorded implementations say") {
  // OFP8 1.0 section 5; the table of differences for amd_hip_fp8.h; IEEE 754-2019 section 7.4 for the 16-bit formats.
  struct Row {
    std::string_view format;
    Direction direction;
    Excess excess;
    bool before_rounding;
    std::uint32_t code;
    std::uint32_t first;
  };
  const std::vector<Row> rows{
      {"e4m3fn", Direction::nearest_even, Excess::nan, false, 0x7F, bits(464) + 1},
      {"e4m3fn", Direction::nearest_even, Excess::nan, true, 0x7F, bits(448) + 1},
      {"e4m3fn", Direction::nearest_even, Excess::saturate, false, 0x7E, bits(432)},
      {"e4m3fn", Direction::toward_zero, Excess::nan, false, 0x7F, bits(480)},
      {"e4m3fn", Direction::toward_positive, Excess::nan, false, 0x7F, bits(448) + 1},
      {"e5m2", Direction::nearest_even, Excess::inf, false, 0x7C, bits(61440)},
      {"e5m2", Direction::nearest_even, Excess::inf, true, 0x7C, bits(57344) + 1},
      {"e4m3fnuz", Direction::nearest_even, Excess::nan, false, 0x80, bits(248)},
      {"e4m3fnuz", Direction::nearest_even, Excess::nan, true, 0x80, bits(240) + 1},
      {"e5m2fnuz", Direction::nearest_even, Excess::nan, false, 0x80, bits(61440)},
      {"fp16", Direction::nearest_even, Excess::ieee, false, 0x7C00, bits(65520)},
      {"fp16", Direction::toward_zero, Excess::ieee, false, 0x7C00, 0x7F800000},
      {"fp16", Direction::toward_negative, Excess::ieee, false, 0x7C00, 0x7F800000},
      {"fp16", Direction::toward_negative, Excess::ieee, false, 0xFC00, bits(-65504) + 1},
      {"fp16", Direction::toward_positive, Excess::ieee, false, 0xFC00, 0xFF800000},
      {"bf16", Direction::nearest_even, Excess::ieee, false, 0x7F80, 0x7F7F8000},
      {"bf16", Direction::toward_zero, Excess::ieee, false, 0x7F80, 0x7F800000},
      {"e8m0", Direction::nearest_up, Excess::nan, false, 0xFF, 0x7F400000},
      {"mxint8", Direction::nearest_even, Excess::saturate, false, 0x7F, bits(126.5F / 64) + 1},
      {"mxint8", Direction::nearest_even, Excess::saturate, false, 0x81, bits(-126.5F / 64) + 1},
  };
  for (const Row& row : rows) {
    INFO(row.format << " " << static_cast<int>(row.direction) << " " << static_cast<int>(row.excess) << " code " << row.code);
    CHECK(first_of(table(row.format, row.direction, row.excess, row.before_rounding), row.code) == row.first);
  }
}

TEST_CASE("small values: the smallest subnormal, one zero, and no zero") {
  // Half of 2^-9 is a tie that goes to zero.
  CHECK(first_of(table("e4m3fn", Direction::nearest_even, Excess::saturate), 0x01) == bits(0x1p-10F) + 1);
  CHECK(first_of(table("e4m3fn", Direction::nearest_away, Excess::saturate), 0x81) == bits(-0x1p-10F));
  CHECK(first_of(table("e4m3fn", Direction::toward_positive, Excess::saturate), 0x01) == 0x00000001);
  CHECK(code_at(table("e4m3fn", Direction::nearest_even, Excess::saturate), 0x80000001) == 0x80);
  CHECK(code_at(table("e4m3fnuz", Direction::nearest_even, Excess::saturate), 0x80000001) == 0x00);
  CHECK(code_at(table("mxint8", Direction::nearest_even, Excess::saturate), 0x80000000) == 0x00);
  // bf16's subnormals are fp32's, 16 bits shorter.
  CHECK(first_of(table("bf16", Direction::nearest_even, Excess::ieee), 0x0001) == 0x00008001);
  CHECK(first_of(table("bf16", Direction::toward_zero, Excess::ieee), 0x0001) == 0x00010000);
  // E8M0 (spec of the implementations): 2^-127 and everything below it is code 0; where code 1 begins depends on the rule.
  CHECK(first_of(table("e8m0", Direction::toward_zero, Excess::saturate), 0x01) == 0x00800000);
  CHECK(first_of(table("e8m0", Direction::magnitude_up, Excess::saturate), 0x01) == 0x00400001);
  CHECK(first_of(table("e8m0", Direction::nearest_up, Excess::saturate), 0x01) == 0x00400001);
  CHECK(first_of(table("e8m0", Direction::nearest_up, Excess::saturate), 0x02) == 0x00C00000);
  CHECK(first_of(table("e8m0", Direction::nearest_even, Excess::saturate), 0x01) == 0x00600000);
}

TEST_CASE("E8M0 makes NaN of zero and of negative values where the mode says so") {
  const Mode refusing{Direction::nearest_up, Excess::nan, false, true, 0xFF, NanCode::given, kPlusNan, kMinusNan};
  const std::vector<Step> steps = thresholds(facts_named("e8m0"), refusing);
  const std::vector<Step> start{{0x00000000, 0xFF}, {0x00000001, 0x00}, {0x00400001, 0x01}};
  CHECK(std::vector<Step>(steps.begin(), steps.begin() + 3) == start);
  const std::vector<Step> end{{0x7F400000, 0xFF}, {0x7F800001, kPlusNan}, {0x80000000, 0xFF}, {0xFF800001, kMinusNan}};
  CHECK(std::vector<Step>(steps.end() - 4, steps.end()) == end);
}

TEST_CASE("tables ascend, change at every step, and name every code of the format") {
  for (const FormatFacts& facts : all_facts()) {
    INFO(facts.name);
    const std::vector<Step> steps = thresholds(facts, mode(Direction::nearest_even, Excess::saturate));
    CHECK(steps.front().first == 0);
    bool ascends = true;
    std::vector<bool> seen(std::size_t{1} << facts.width);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i > 0) ascends = ascends && steps[i].first > steps[i - 1].first && steps[i].code != steps[i - 1].code;
      seen[steps[i].code] = true;
    }
    CHECK(ascends);
    bool complete = true;
    for (std::uint32_t code = 0; code <= facts.max_code; ++code) complete = complete && seen[code] && seen[signed_code(facts, code, true)];
    CHECK(complete);
  }
}

TEST_CASE("the values of the grid are the published extremes") {
  MpfrNumber value(kExactBits);
  for (const FormatFacts& facts : all_facts()) {
    INFO(facts.name);
    set_magnitude(value.get(), facts, facts.max_code);
    CHECK(mpfr_cmp_d(value.get(), facts.max_value) == 0);
    set_magnitude(value.get(), facts, facts.name == "e8m0" ? 0 : 1);
    CHECK(mpfr_cmp_d(value.get(), facts.min_value) == 0);
  }
  CHECK_THROWS_AS(set_f32(value.get(), 0x7F800000U), std::logic_error);
}

TEST_CASE("a NaN's payload is kept or made quiet") {
  Mode how = mode(Direction::nearest_even, Excess::ieee);
  how.nan = NanCode::kept;
  std::vector<Step> steps = thresholds(facts_named("fp16"), how);
  CHECK(code_at(steps, 0x7F800000) == 0x7C00);
  CHECK(code_at(steps, 0x7F800001) == 0x7C01);
  CHECK(code_at(steps, 0x7F803FFF) == 0x7C01);
  CHECK(code_at(steps, 0x7F804000) == 0x7C02);
  CHECK(code_at(steps, 0xFFC02000) == 0xFE01);
  CHECK(code_at(steps, 0x7FFFFFFF) == 0x7FFF);
  how.nan = NanCode::quiet;
  steps = thresholds(facts_named("bf16"), how);
  CHECK(code_at(steps, 0x7F800001) == 0x7FC0);
  CHECK(code_at(steps, 0xFF810000) == 0xFFC1);
  CHECK(code_at(steps, 0xFFFFFFFF) == 0xFFFF);
}

TEST_CASE("a random number moves the turning point, by hand") {
  // e2m1 between 4 (code 6) and 6 (code 7); 2 bits, r = 1: floor(4f) + 1 >= 4 from f = 3/4 on.
  Mode how = mode(Direction::stochastic_floor, Excess::saturate);
  how.random_bits = 2;
  how.random = 1;
  CHECK(first_of(thresholds(facts_named("e2m1"), how), 0x7) == bits(5.5F));
  // floor(8f) + 3 >= 8 from f = 5/8 on.
  how.direction = Direction::stochastic_odd;
  CHECK(first_of(thresholds(facts_named("e2m1"), how), 0x7) == bits(5.25F));
  // 4f rounds to 3 above 5/2, at which it is a tie that goes to 2.
  how.direction = Direction::stochastic_nearest;
  CHECK(first_of(thresholds(facts_named("e2m1"), how), 0x7) == bits(5.25F) + 1);
  // r = 2: 4f rounds to 2 from the tie at 3/2 on.
  how.random = 2;
  CHECK(first_of(thresholds(facts_named("e2m1"), how), 0x7) == bits(4.75F));
  // 22 bits below the last one of e2m1's significand: r = 2^21 + 1 makes a unit one of these bits below the midpoint.
  how.direction = Direction::stochastic_add;
  how.random_bits = 22;
  how.random = 0x200001;
  CHECK(first_of(thresholds(facts_named("e2m1"), how), 0x7) == bits(5.0F) - 1);
}

TEST_CASE("flushed subnormals are zeros with their sign") {
  Mode how = mode(Direction::nearest_even, Excess::saturate);
  how.flush_target = true;
  std::vector<Step> steps = thresholds(facts_named("e4m3fn"), how);
  // Halfway between the largest subnormal 7 * 2^-9 and 2^-6 rounds up, and is normal then.
  CHECK(code_at(steps, bits(7.5F / 512)) == 0x08);
  CHECK(code_at(steps, bits(7.5F / 512) - 1) == 0x00);
  CHECK(code_at(steps, bits(-7.0F / 512)) == 0x80);
  how.flush_target = false;
  how.flush_source = true;
  steps = thresholds(facts_named("bf16"), how);
  CHECK(code_at(steps, 0x007FFFFF) == 0x0000);
  CHECK(code_at(steps, 0x807FFFFF) == 0x8000);
  CHECK(code_at(steps, 0x00800000) == 0x0080);
  // To E8M0 a flushed number is a zero, not a small power of two.
  how.zero_code = 0xFF;
  CHECK(code_at(thresholds(facts_named("e8m0"), how), 0x00400000) == 0xFF);
}
