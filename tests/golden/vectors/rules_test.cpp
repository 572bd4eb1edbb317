// Conversions that are written as rules: vectors of a format of no table, the five flags of IEEE 754, and what `ver` says of devices that follow
// others.

#include <bit>
#include <cmath>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::golden::Lanes;
using mx::golden::MutableLanes;

double magnitude(std::uint32_t f32) { return std::fabs(static_cast<double>(std::bit_cast<float>(f32))); }
bool is_finite(std::uint32_t f32) { return (f32 >> 23U & 255U) != 255U; }

/// What `ver` says of a device that makes something else of the right answers.
template <typename Broken>
CheckReport report_of(const char* name, const std::vector<mx::golden::OpSetting>& options, const Broken& broken) {
  const auto op = mx::tests::op_with(name, options);
  const auto answers = [&](Lanes operands, MutableLanes results) {
    op->evaluate(operands, results);
    broken(operands, results);
  };
  return mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
}

}  // namespace

TEST_CASE("a format of no table has vectors, and every bin that can be hit is") {
  const CheckReport right = report_of("f32_to_e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f", {{"flags", "ieee"}}, [](Lanes, MutableLanes) {});
  CHECK(right.verdict == CheckVerdict::passed);
  // The largest is 7.5, the least 2^-7: to odd nothing becomes 0.
  const auto op = mx::tests::op_with("f32_to_e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f", {{"flags", "ieee"}});
  std::uint32_t answer[2];
  op->evaluate(std::array{0x00000001U}, answer);
  CHECK(answer[0] == 0x01);
  CHECK(answer[1] == 3);  // inexact, underflow
  op->evaluate(std::array{0xC1100000U}, answer);
  CHECK(answer[0] == 0x7F);
  CHECK(answer[1] == 5);  // inexact, overflow
  op->evaluate(std::array{0x7F800001U}, answer);
  CHECK(answer[0] == 0x3F);
  CHECK(answer[1] == 16);  // invalid
  CHECK_THROWS_AS(mx::tests::op_with("f32_to_e2m1", {{"flags", "some"}}), mx::Error);
}

TEST_CASE("flags of IEEE 754: other bits are not compared, and another tininess is named") {
  const std::vector<mx::golden::OpSetting> options{{"profile", "riscv"}, {"flags", "ieee"}};
  CHECK(report_of("f32_to_e4m3fn", options, [](Lanes, MutableLanes answer) { answer[1] |= 0xE0U; }).verdict == CheckVerdict::passed);
  const CheckReport before = report_of("f32_to_e4m3fn", options, [](Lanes operands, MutableLanes answer) {
    if (is_finite(operands[0]) && magnitude(operands[0]) < 0x1p-6 && (answer[1] & 1U) != 0) answer[1] |= 2U;
  });
  CHECK(before.verdict == CheckVerdict::failed);
  REQUIRE_FALSE(before.explanations.empty());
  CHECK(before.explanations.front().name == "a result is tiny before rounding");
}

TEST_CASE("a device that overflows whatever the direction is told from IEEE 754's") {
  const CheckReport report = report_of("f32_to_e4m3fn,round=rdn,overflow=ieee", {}, [](Lanes operands, MutableLanes answer) {
    if (is_finite(operands[0]) && magnitude(operands[0]) >= 480) answer[0] = 0x7FU | (operands[0] >> 31U) << 7U;
  });
  CHECK(report.verdict == CheckVerdict::failed);
  REQUIRE_FALSE(report.explanations.empty());
  CHECK(report.explanations.front().name == "overflow nan");
}
