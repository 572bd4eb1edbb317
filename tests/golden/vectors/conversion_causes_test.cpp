// Devices that lose the carry out of the subnormals, or hand a code on as it is: `ver` names that first.

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::golden::FaultClass;
using mx::golden::Fit;
using mx::golden::Lanes;
using mx::golden::MutableLanes;

/// A target: its bits of mantissa, the exponent of its smallest normal number, its width; and how far up its source's bits are those of fp32.
struct Target {
  int mantissa, low, width, shift;
};

/// A subnormal result that rounds up to the smallest normal number: the fraction wraps, and the exponent stays 0. apytypes#1023, #1024.
std::function<void(Lanes, MutableLanes)> carry_lost(const Target& target) {
  return [=](Lanes operands, MutableLanes answer) {
    const std::uint32_t bits = operands[0] << static_cast<unsigned>(target.shift);
    const double value = std::fabs(static_cast<double>(std::bit_cast<float>(bits)));
    if (!std::isfinite(value) || value == 0 || std::ilogb(value) >= target.low) return;
    const std::uint32_t sign = 1U << static_cast<unsigned>(target.width - 1);
    if ((answer[0] & ~sign) == 1U << static_cast<unsigned>(target.mantissa)) answer[0] &= sign;
  };
}

/// The code is handed out as the number (arch-com#848), or put into the exponent without a look at 0 and NaN.
void handed_on(Lanes operands, MutableLanes answer) { answer[0] = operands[0]; }
void put_into_the_exponent(Lanes operands, MutableLanes answer) { answer[0] = operands[0] << 23U; }

struct Caused {
  const char* op;
  std::function<void(Lanes, MutableLanes)> broken;
  FaultClass cls;
  const char* cause;
  Fit fit = Fit::matches;
};

const char* const kCarry = "the carry out of the subnormals is lost: 0 where the smallest normal number is due";
const char* const kOwnBits = "the answer is the code's own bits";

}  // namespace

TEST_CASE("a carry lost below the smallest normal number, and a code that is handed on, are named first and explain every answer") {
  const Caused devices[] = {
      {"f32_to_e5m2", carry_lost({2, -14, 8, 0}), FaultClass::subnormal, kCarry},
      {"f32_to_e4m3fn", carry_lost({3, -6, 8, 0}), FaultClass::subnormal, kCarry},
      {"bf16_to_e4m3fn", carry_lost({3, -6, 8, 16}), FaultClass::subnormal, kCarry},
      {"f32_to_e2m3", carry_lost({3, 0, 6, 0}), FaultClass::subnormal, kCarry},
      {"f32_to_e3m2", carry_lost({2, -2, 6, 0}), FaultClass::subnormal, kCarry},
      {"e8m0_to_f32", handed_on, FaultClass::value, kOwnBits, Fit::possible},  // every answer is wrong: no right one bears it out
      {"e4m3fn_to_f32", handed_on, FaultClass::value, kOwnBits},
      {"e5m2_to_bf16", handed_on, FaultClass::value, kOwnBits},
      {"e8m0_to_f32", put_into_the_exponent, FaultClass::value, "the code is put into the exponent as it is"},
  };
  for (const Caused& device : devices) {
    const auto op = mx::tests::op_with(device.op, {});
    const auto answers = [&](Lanes operands, MutableLanes results) {
      op->evaluate(operands, results);
      device.broken(operands, results);
    };
    const CheckReport report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
    INFO(device.op << ", " << device.cause);
    CHECK(report.verdict == CheckVerdict::failed);
    REQUIRE_FALSE(report.explanations.empty());
    const mx::golden::Explanation& first = report.explanations.front();
    INFO(first.name << ": " << first.explained << " of " << first.mismatches << ", " << first.contradicted << " of " << first.matches);
    CHECK(first.name.find(device.cause) != std::string::npos);
    CHECK(first.cls == device.cls);
    CHECK(first.fit() == device.fit);
    CHECK(first.explained == first.mismatches);
    CHECK(first.contradicted == 0);
  }
}
