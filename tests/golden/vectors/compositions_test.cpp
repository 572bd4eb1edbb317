// Devices that differ from what they are checked against in one choice or in two: `ver` prints rules that make the operation of the device, and by
// these rules the device passes.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "golden/vectors/describe.hpp"
#include "golden/vectors/options.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::golden::CheckReport;
using mx::golden::CheckVerdict;
using mx::golden::Lanes;
using mx::golden::MutableLanes;
using mx::tests::Device;

/// fp32 into e5m2 by numbers of the host: cut off toward zero, Inf from 2^16 on, a NaN is 0x7F or 0xFF.
void cut_to_infinity(Lanes operands, MutableLanes answer) {
  const std::uint32_t sign = operands[0] >> 31U << 7U;
  const double x = std::fabs(static_cast<double>(std::bit_cast<float>(operands[0])));
  if (std::isnan(x)) {
    answer[0] = sign | 0x7FU;
  } else if (x >= 0x1p16) {
    answer[0] = sign | 0x7CU;
  } else {
    const int exponent = x < 0x1p-14 ? -14 : std::ilogb(x);
    const auto units = static_cast<std::uint32_t>(std::floor(std::ldexp(x, 2 - exponent)));  // of the binade's last place
    answer[0] = sign | (units < 4 ? units : (static_cast<std::uint32_t>(exponent + 15) << 2U) + units - 4U);
  }
}

/// A block of finite numbers by numbers of the host: a scale that holds the largest magnitude, 2^(ceil(log2 amax) - 2), and e2m1 cut off.
void cut_block(Lanes operands, MutableLanes answer) {
  constexpr double kGrid[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  double amax = 0;
  for (const std::uint32_t x : operands) amax = std::max(amax, std::fabs(static_cast<double>(std::bit_cast<float>(x))));
  const int above = amax == 0 ? -1000 : static_cast<int>(std::ceil(std::log2(amax))), exponent = std::max(above - 2, -127);
  answer[0] = static_cast<std::uint32_t>(exponent + 127);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const double units = std::ldexp(std::fabs(static_cast<double>(std::bit_cast<float>(operands[i]))), -exponent);
    std::uint32_t code = 7;
    while (kGrid[code] > units) --code;
    answer[1 + i] = (operands[i] >> 31U << 3U) | code;
  }
}

struct Planted {
  const char* asked;   ///< what it is checked against
  const char* device;  ///< what it computes
  const char* flags;   ///< the option
};

/// Against two choices of nine.
const Planted kDevices[] = {
    {"f32_to_e4m3,bias=7,fn,round=rne,overflow=saturate", "f32_to_e4m3,bias=7,fn,round=rtz,overflow=nan", "no"},
    {"f32_to_e4m3,bias=7,fn,round=rne,overflow=saturate", "f32_to_e4m3,bias=7,fn,round=odd,overflow=saturate,zero-sign=positive", "no"},
    {"bf16_to_e5m2,round=rna,overflow=ieee", "bf16_to_e5m2,round=rna,overflow=inf,flush=target", "no"},
    {"bf16_to_e5m2,round=rup,overflow=ieee", "bf16_to_e5m2,round=rup,overflow=ieee,infinity=largest,nan=7d/fd", "no"},
    {"f32_to_e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f", "f32_to_e3m3,bias=5,finite,round=away,overflow=ieee,nan=15/2a", "no"},
    {"f32_to_e4m3fn,round=rne,overflow=ieee,tininess=after", "f32_to_e4m3fn,round=rtz,overflow=ieee,tininess=before", "ieee"},
    {"f32_to_ue4m3,round=rne,overflow=saturate,negative=nan", "f32_to_ue4m3,round=rtz,overflow=saturate,negative=zero", "no"},
    {"f32_to_e8m0,round=rtz,overflow=saturate", "f32_to_e8m0,round=nearest-up,overflow=nan", "no"},
    {"add_e3m2_to_e3m2,round=rne,overflow=saturate,nan=0", "add_e3m2_to_e3m2,round=rtz,overflow=saturate,nan=0,flush=target", "no"},
    {"mul_e4m3fn_to_e5m2,round=rne,overflow=ieee", "mul_e4m3fn_to_e5m2,round=rup,overflow=inf", "no"},
};

/// Quantizers of blocks against two choices: scale rule, amax, rounding, factor, tensor's scale, candidates, zero point.
constexpr std::string_view kPowers = "quantize_block=8,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=floor";
constexpr std::string_view kSteps =
    "quantize_block=8,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e4m3fn,rule=quotient,factor=quotient,tensor-amax=41000000";
struct PlantedBlock {
  std::string asked, device;
};
std::vector<PlantedBlock> block_devices() {
  const auto other = [](std::string_view text, std::string_view from, std::string_view to) {
    std::string made(text);
    return made.replace(made.find(from), from.size(), to);
  };
  const std::string powers(kPowers), steps(kSteps), cuts = other(kPowers, "rne", "rtz");
  const std::string four = other(other(kSteps, "rule=quotient", "rule=two-candidates"), "factor=quotient", "factor=reciprocal-of-product");
  return {
      {powers, other(cuts, "=floor", "=ceil")},
      {powers, other(kPowers, "rne", "rna") + ",amax-nan=ignored"},
      {powers, powers + ",zero-scale=7f,nan-scale=fe"},
      {steps, other(steps + ",factor-of-zero=7f7fffff", "factor=quotient", "factor=reciprocal-of-product")},
      {steps, other(steps + ",largest-scale=43800000", "rne", "rnz")},
      {four, four + ",error-squared=yes,factor-in-bf16=yes"},
      {"Divide<Binary4p2sf,Binary8p3se,Binary4p2se,(NearestTiesToEven,SatFinite)>", "Divide<Binary4p2sf,Binary8p3se,Binary4p2se,(ToOdd,SatNone)>"},
      {"scale_block=8,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=floor",
       "scale_block=8,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=ceil,zero-scale=7f"},
      {"quantize_awq,block=8", "quantize_awq,block=8,range=with-zero,round=rna"},
      {"quantize_torchao-uint4,block=8", "quantize_torchao-uint4,block=8,operation=divide,round=rtz"}};
}

std::vector<mx::golden::OpSetting> flags_of(const Planted& device) { return {{"flags", device.flags}}; }

/// What `ver` says of a device, and that it passes by each of the compositions that it names.
CheckReport named_rightly(const mx::golden::VectorOp& asked, const Device& device, const std::vector<mx::golden::OpSetting>& options) {
  CheckReport report = mx::tests::check(asked, mx::tests::kDirected, mx::tests::stream_of(asked, mx::tests::kDirected, device));
  CHECK(report.verdict == CheckVerdict::failed);
  for (const mx::golden::FittingComposition& one : report.compositions) {
    INFO(one.name);
    const auto named = mx::tests::op_with(one.name, options);
    CHECK(mx::tests::check(*named, mx::tests::kDirected, mx::tests::stream_of(*named, mx::tests::kDirected, device)).verdict == CheckVerdict::passed);
  }
  return report;
}

}  // namespace

TEST_CASE("a device with two other choices verifies against the composition that ver prints of it") {
  for (const Planted& planted : kDevices) {
    INFO(planted.asked << " against " << planted.device);
    const auto asked = mx::tests::op_with(planted.asked, flags_of(planted)), device = mx::tests::op_with(planted.device, flags_of(planted));
    const CheckReport report = named_rightly(*asked, mx::tests::right_device(*device), flags_of(planted));
    REQUIRE_FALSE(report.compositions.empty());
    const mx::golden::FittingComposition& first = report.compositions.front();
    CHECK(first.mismatches * first.wrong_stride >= report.mismatched);
  }
}

TEST_CASE("a device of the host's own arithmetic is said in one line of rules") {
  const auto asked = mx::tests::op_with("f32_to_e5m2,round=rne,overflow=saturate,nan=7f/ff", {});
  const CheckReport report = named_rightly(*asked, cut_to_infinity, {});
  REQUIRE_FALSE(report.compositions.empty());
  CHECK(report.compositions.front().choices == 2);
  CHECK(report.compositions.front().name == "f32_to_e5m2,bias=15,ieee,round=rtz,overflow=inf,nan=7f/ff");
  const std::vector<std::string> lines = mx::golden::describe(report.explanations, report.compositions);
  CHECK(lines.back().ends_with(report.compositions.back().name));
}

TEST_CASE("a quantizer of blocks with two other choices verifies against the composition that ver prints of it") {
  for (const PlantedBlock& planted : block_devices()) {
    INFO(planted.asked << " against " << planted.device);
    const auto asked = mx::tests::op_with(planted.asked, {}), device = mx::tests::op_with(planted.device, {});
    const CheckReport report = named_rightly(*asked, mx::tests::right_device(*device), {});
    REQUIRE_FALSE(report.compositions.empty());
    CHECK(report.compositions.front().choices == 2);
  }
}

TEST_CASE("a quantizer of blocks in the host's own arithmetic is said in one line of rules") {
  const auto asked = mx::tests::op_with(kPowers, {});
  const auto device = [&](Lanes operands, MutableLanes answer) {
    const bool finite = std::ranges::all_of(operands, [](std::uint32_t x) { return std::isfinite(std::bit_cast<float>(x)); });
    if (finite) return cut_block(operands, answer);
    asked->evaluate(operands, answer);
  };
  const CheckReport report = named_rightly(*asked, device, {});
  REQUIRE_FALSE(report.compositions.empty());
  CHECK(report.compositions.front().choices == 2);
  CHECK(report.compositions.front().name == "quantize_block=8,element=(e2m1,bias=1,finite,round=rtz,overflow=saturate,nan=0),scale=e8m0,rule=ceil");
}

TEST_CASE("one other choice is said before two, and of a device that no rules make none is said") {
  const auto asked = mx::tests::op_with("bf16_to_e4m3fn", {});
  const auto away = mx::tests::op_with("bf16_to_e4m3fn", {{"rounding", "nearest_away"}});
  const CheckReport one = named_rightly(*asked, mx::tests::right_device(*away), {});
  REQUIRE_FALSE(one.compositions.empty());
  CHECK(one.compositions.front().choices == 1);
  const auto wrong_once = [&](Lanes operands, MutableLanes answer) {
    asked->evaluate(operands, answer);
    if (operands[0] == 0x3F81U) answer[0] ^= 1U;
  };
  CHECK(named_rightly(*asked, wrong_once, {}).compositions.empty());
}
