// Devices that add C of a dot product elsewhere, by MPFR, and of tensor cores in whole numbers: the directed vectors show each of them, as the
// coverage says, vector by vector, and ver names it; or a reason says why it is right everywhere.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "model/numerics/value.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"
#include "tests/numerics/mpfr_number.hpp"

namespace {

using mx::golden::Lanes;
using mx::golden::VectorOp;

/// Wide enough for the exact sum of any products of fp32's range squared.
constexpr long kExact = 1200;

/// One vector: what is multiplied, with the exponents of the formats' fields, and C.
struct Numbers {
  std::vector<double> products;  ///< scaled, exact in 53 bits
  std::vector<int> exponents;    ///< of a product: the sum of its factors' fields, subnormal ones count as the least normal
  std::vector<int> in_fp16;      ///< of a product: the sum of its factors' exponents in fp16
  float c;
  std::array<std::vector<float>, 2> scales = {};  ///< of each side
  std::vector<double> bare = {};                  ///< products without scales
  bool finite = true;                             ///< what is multiplied
};

float nearest(mpfr_srcptr exact) { return std::bit_cast<float>(mx::tests::rounded_bits(exact, mx::tests::kF32Range)); }

/// before + addends, rounded once.
float exact_sum(const std::vector<double>& addends, float before) {
  mx::tests::MpfrNumber sum(kExact);
  mpfr_set_flt(sum.get(), before, MPFR_RNDN);
  for (const double addend : addends) mpfr_add_d(sum.get(), sum.get(), addend, MPFR_RNDN);
  return nearest(sum.get());
}

float chain(const std::vector<double>& products, float start) {
  float sum = start;
  for (const double product : products) sum = std::isfinite(sum) ? exact_sum({product}, sum) : sum;
  return sum;
}

std::vector<double> without_first(std::vector<double> products) {
  products.erase(products.begin());
  return products;
}

/// A tensor core's group: addends cut to whole units of 2^(top - alignment), their sum to so many bits. The unit is never below 2^(least -
/// alignment).
struct Core {
  std::size_t group;
  int alignment, kept, least;
};

float group_sum(const Core& core, const Numbers& numbers, std::size_t first, float before) {
  int top = before == 0 ? INT32_MIN : std::max(std::ilogb(before), -126);
  const std::size_t last = std::min(first + core.group, numbers.products.size());
  for (std::size_t k = first; k < last; ++k) top = numbers.products[k] == 0 ? top : std::max(top, numbers.exponents[k]);
  if (top == INT32_MIN) return 0;
  const int unit = std::max(top, core.least) - core.alignment;
  const auto units = [unit](double addend) { return static_cast<long long>(std::trunc(std::ldexp(addend, -unit))); };
  long long sum = units(static_cast<double>(before));
  for (std::size_t k = first; k < last; ++k) sum += units(numbers.products[k]);
  // Cut to `kept` bits, and to whole units of 2^-149.
  const long long magnitude = std::llabs(sum);
  const int dropped = std::max(static_cast<int>(std::bit_width(static_cast<unsigned long long>(magnitude))) - core.kept, -149 - unit);
  const double cut = dropped >= 63 ? 0.0 : std::ldexp(static_cast<double>(dropped > 0 ? magnitude >> dropped << dropped : magnitude), unit);
  const double value = sum < 0 ? -cut : cut;
  return std::fabs(value) > 0x1.FFFFFEp127 ? static_cast<float>(std::copysign(INFINITY, value)) : static_cast<float>(value) + 0.0F;
}

float core_chain(const Core& core, const Numbers& numbers, float start) {
  float sum = start;
  for (std::size_t first = 0; first < numbers.products.size() && std::isfinite(sum); first += core.group) sum = group_sum(core, numbers, first, sum);
  return sum;
}

Numbers without_first(Numbers numbers) {
  numbers.products.front() = 0;
  return numbers;
}

constexpr std::string_view kLast = "C added last";
constexpr std::string_view kFirst = "C added first";
constexpr std::string_view kBehind = "C and the sums before added behind each group";

/// What the contract computes itself, and the device that adds C elsewhere.
using Sum = std::function<float(const Numbers&)>;
struct Device {
  std::string_view place;
  Sum sum;
};

struct Asked {
  const char* op;
  const char* contract;
  const char* length;
  std::uint32_t nan;
  Sum right;
  std::vector<Device> devices;
};

std::vector<Device> core_devices(const Core& core) {
  return {{kLast, [core](const Numbers& n) { return core_chain(core, n, 0) + n.c; }},
          {kFirst, [core](const Numbers& n) { return core_chain(core, without_first(n), exact_sum({n.products.front()}, n.c)); }},
          {kBehind, [core](const Numbers& n) {
             float sum = n.c;
             for (std::size_t first = 0; first < n.products.size(); first += core.group) sum += group_sum(core, n, first, 0);
             return sum;
           }}};
}

/// Chains of so many products from +0, each added to the total.
float promoted(const Core& core, const Numbers& numbers, std::size_t length, float total, float first_start) {
  for (std::size_t first = 0; first < numbers.products.size(); first += length) {
    const auto part = [&](const auto& all) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + length));
    };
    const Numbers one{part(numbers.products), part(numbers.exponents), {}, 0};
    total += core_chain(core, one, first == 0 ? first_start : 0.0F);
  }
  return total;
}

std::vector<Device> promoted_devices(const Core& core, std::size_t length) {
  return {{kLast, [=](const Numbers& n) { return promoted(core, n, length, 0, 0) + n.c; }},
          {kFirst, [=](const Numbers& n) { return promoted(core, n, length, 0, n.c); }}};
}

float flushed(float sum) { return std::fabs(sum) < 0x1p-126F ? std::copysign(0.0F, sum) : sum; }

/// A chain whose sums are never subnormal.
float flushed_chain(const std::vector<double>& products, float start) {
  float sum = flushed(start);
  for (const double product : products) sum = flushed(chain({product}, sum));
  return sum;
}

/// Each block from +0 or the start, then one fused multiply-add of its sum, both scales and the total. `pairs`: of each two k the odd one first,
/// one rounding each; else the exact sum of a block.
float by_blocks(const Numbers& numbers, bool pairs, float total, float first_start) {
  const std::size_t blocks = numbers.scales[0].size();
  const std::size_t length = numbers.bare.size() / blocks;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<double> products(numbers.bare.begin() + static_cast<std::ptrdiff_t>(block * length),
                                 numbers.bare.begin() + static_cast<std::ptrdiff_t>((block + 1) * length));
    for (std::size_t k = 0; pairs && k < length; k += 2) std::swap(products[k], products[k + 1]);
    const float start = block == 0 ? first_start : 0.0F;
    const float sum = pairs ? flushed_chain(products, start) : exact_sum(products, start);
    total = std::fma(sum, numbers.scales[0][block] * numbers.scales[1][block], total);
  }
  return total;
}

/// Of each 32 those with k mod 4 below 2 first, then the rest; factors with their exponents in fp16.
Numbers as_two_of_fp16(Numbers numbers) {
  Numbers other = numbers;
  for (std::size_t k = 0, at = 0; k < numbers.products.size(); k += 32, at = k) {
    for (const std::size_t rest : {0U, 2U}) {
      for (std::size_t i = 0; i < 32; ++i) {
        if (i % 4 / 2 * 2 != rest) continue;
        other.products[at] = numbers.products[k + i];
        other.exponents[at++] = numbers.in_fp16[k + i];
      }
    }
  }
  return other;
}

constexpr std::uint32_t kNan = 0x7FC00000U;
constexpr std::uint32_t kCudaNan = 0x7FFFFFFFU;

std::vector<Asked> asked() {
  const std::vector<Device> exact{
      {kLast, [](const Numbers& n) { return exact_sum(n.products, -0.0F) + n.c; }},
      {kFirst, [](const Numbers& n) { return exact_sum(without_first(n.products), exact_sum({n.products.front()}, n.c)); }}};
  const std::vector<Device> sequential{
      {kLast, [](const Numbers& n) { return chain(n.products, 0) + n.c; }},
      {kFirst, [](const Numbers& n) { return chain(without_first(n.products), exact_sum({n.products.front()}, n.c)); }}};
  const auto right_exact = [](const Numbers& n) { return exact_sum(n.products, n.c); };
  const auto right_chain = [](const Numbers& n) { return chain(n.products, n.c); };
  // Groups and bits as recorded outputs of the devices show them.
  constexpr Core kFp8{32, 13, 14, -1000};
  constexpr Core kBf16{16, 25, 24, -133};
  constexpr Core kFp16{16, 25, 24, -1000};
  const auto on = [](const Core& core) { return [core](const Numbers& n) { return core_chain(core, n, n.c); }; };
  std::vector<Asked> all;
  for (const char* op : {"dot_mxfp4_mxfp4", "dot_mxfp8_e4m3_mxfp8_e4m3", "dot_nvfp4_nvfp4", "dot_bf16_bf16"}) {
    for (const char* length : {"32", "64"}) {
      all.push_back({op, "exact", length, kNan, right_exact, exact});
      all.push_back({op, "f32-sequential", length, kNan, right_chain, sequential});
    }
  }
  all.push_back({"dot_nvfp4_nvfp4", "exact", "16", kNan, right_exact, exact});
  all.push_back({"dot_e4m3fn_e4m3fn", "hopper-fp8", "64", kCudaNan, on(kFp8), core_devices(kFp8)});
  all.push_back({"dot_e5m2_e4m3fn", "hopper-fp8", "96", kCudaNan, on(kFp8), core_devices(kFp8)});
  all.push_back({"dot_e4m3fn_e4m3fn", "hopper-fp8-promoted", "256", kCudaNan, [=](const Numbers& n) { return promoted(kFp8, n, 128, n.c, 0); },
                 promoted_devices(kFp8, 128)});
  for (const auto& [op, contract, pairs] :
       {std::tuple{"dot_mxfp8_e4m3_mxfp4", "bf16-block", true}, std::tuple{"dot_mxint8_mxfp4", "int8-block", false}}) {
    all.push_back({op,
                   contract,
                   "64",
                   kNan,
                   [pairs = pairs](const Numbers& n) { return by_blocks(n, pairs, n.c, 0); },
                   {{kLast, [pairs = pairs](const Numbers& n) { return by_blocks(n, pairs, 0, 0) + n.c; }},
                    {kFirst, [pairs = pairs](const Numbers& n) { return by_blocks(n, pairs, 0, n.c); }}}});
  }
  std::vector<Device> emulated = promoted_devices(kFp16, 32);
  for (Device& device : emulated) device.sum = [sum = device.sum](const Numbers& n) { return sum(as_two_of_fp16(n)); };
  all.push_back({"dot_e4m3fn_e5m2", "hopper-mma-fp8", "64", kCudaNan,
                 [=](const Numbers& n) { return promoted(kFp16, as_two_of_fp16(n), 32, n.c, 0); }, emulated});
  all.push_back({"dot_bf16_bf16", "hopper-bf16", "32", kCudaNan, on(kBf16), core_devices(kBf16)});
  all.push_back({"dot_fp16_fp16", "hopper-fp16", "32", kCudaNan, on(kFp16), core_devices(kFp16)});
  return all;
}

double number(const mx::Value& value) {
  const double magnitude = value.cls == mx::ValueClass::finite ? std::ldexp(static_cast<double>(value.significand), value.exponent) : 0.0;
  return value.negative ? -magnitude : magnitude;
}

/// What the columns stand for.
Numbers numbers_of(const VectorOp& op, Lanes operands) {
  Numbers all{{}, {}, {}, 0};
  std::array<std::vector<double>, 2> elements, scales;
  std::array<std::vector<int>, 2> fields, in_fp16;
  for (const mx::golden::Column& column : op.operands()) {
    const Lanes lanes = operands.first(static_cast<std::size_t>(column.lanes));
    operands = operands.subspan(lanes.size());
    if (column.name == "c") {
      all.c = std::bit_cast<float>(lanes[0]);
      continue;
    }
    const std::size_t side = column.name.front() == 'a' ? 0 : 1;
    for (const std::uint32_t code : lanes) {
      const mx::Value value = mx::decode(*column.format, code);
      all.finite = all.finite && value.cls != mx::ValueClass::infinity && value.cls != mx::ValueClass::nan;
      (column.name.size() == 1 ? elements : scales)[side].push_back(number(value));
      if (column.name.size() > 1) all.scales[side].push_back(static_cast<float>(number(value)));
      if (column.name.size() > 1) continue;
      const int own = number(value) == 0 ? 0 : std::ilogb(number(value));
      fields[side].push_back(std::max(own, 1 - column.format->bias));
      in_fp16[side].push_back(std::max(own, -14));
    }
  }
  for (std::size_t k = 0; k < elements[0].size(); ++k) {
    double product = elements[0][k] * elements[1][k];
    all.bare.push_back(product);
    for (const std::vector<double>& side : scales) product *= side.empty() ? 1.0 : side[k * side.size() / elements[0].size()];
    all.products.push_back(product);
    all.exponents.push_back(fields[0][k] + fields[1][k]);
    all.in_fp16.push_back(in_fp16[0][k] + in_fp16[1][k]);
  }
  return all;
}

/// Whether two answers are other numbers; zeros of any sign are one.
bool differ(std::uint32_t device, std::uint32_t right) { return device != right && ((device | right) & 0x7FFFFFFFU) != 0; }

}  // namespace

TEST_CASE("devices that add C elsewhere, computed apart, fail where the coverage says so and are named") {
  int caught = 0;
  int right_everywhere = 0;
  for (const Asked& one : asked()) {
    const auto op = mx::tests::op_with(one.op, {{"contract", one.contract}, {"length", one.length}, {"operand-c", "yes"}});
    for (const Device& device : one.devices) {
      INFO(one.op << " " << one.contract << " " << one.length << ": " << device.place);
      const auto axis = static_cast<std::size_t>(
          std::ranges::find(op->axes(), "told from " + std::string(device.place), &mx::golden::CoverageAxis::name) - op->axes().begin());
      REQUIRE(axis < op->axes().size());
      int wrong = 0, otherwise = 0, other_contract = 0, finite = 0;
      const auto answers = [&](Lanes operands, mx::golden::MutableLanes results) {
        op->evaluate(operands, results);
        const Numbers numbers = numbers_of(*op, operands);
        if (!numbers.finite) return;
        // Operands at the ends of their range, which the contract rounds before it multiplies them, are none of this test's.
        const auto code = [&](float value) { return std::isnan(value) ? one.nan : std::bit_cast<std::uint32_t>(value); };
        if (differ(code(one.right(numbers)), results[0])) {
          ++other_contract;
          return;
        }
        ++finite;
        mx::golden::Bins bins(op->axes().size());
        op->bins(operands, results, bins);
        const std::uint32_t answer = code(device.sum(numbers));
        const bool shows = differ(answer, results[0]);
        wrong += shows ? 1 : 0;
        otherwise += shows != (bins[axis] != 0) ? 1 : 0;
        results[0] = answer;
      };
      const auto report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
      CHECK(finite > 200);
      CHECK(other_contract * 50 <= finite);
      CHECK(otherwise == 0);
      if (wrong == 0) {
        ++right_everywhere;
        CHECK(op->why_unreachable(axis, 0).find("was found") == std::string::npos);
        continue;
      }
      ++caught;
      CHECK(report.mismatched >= static_cast<std::uint64_t>(wrong));
      REQUIRE_FALSE(report.explanations.empty());
      const auto is_whole = [](const mx::golden::Explanation& cause) { return cause.is_whole() && cause.fit() == mx::golden::Fit::matches; };
      const auto& first = report.explanations.front();
      INFO(first.name << ": " << first.explained << " of " << first.mismatches << ", " << first.contradicted << " of " << first.matches);
      CHECK(is_whole(first));
      CHECK(std::ranges::any_of(report.explanations, [&](const auto& cause) { return is_whole(cause) && cause.name == device.place; }));
    }
  }
  // Chains that begin with C, and short sums to which C is added once.
  CHECK(right_everywhere == 9);
  CHECK(caught == 45);
}

TEST_CASE("C left out, shortened or with the other sign is named") {
  const auto op = mx::tests::op_with("dot_mxfp4_mxfp4", {{"operand-c", "yes"}});
  struct Change {
    const char* name;
    std::uint32_t (*c)(std::uint32_t c);
  };
  const auto to_bf16 = [](std::uint32_t c) { return (c & 0x7FFFFFFFU) > 0x7F800000U ? c : (c + 0x7FFFU + (c >> 16U & 1U)) & 0xFFFF0000U; };
  for (const Change& change :
       {Change{"C is left out", [](std::uint32_t) { return 0x80000000U; }},
        Change{"C with the other sign", [](std::uint32_t c) { return c ^ 0x80000000U; }}, Change{"C is rounded to bf16 first", to_bf16},
        Change{"a subnormal C is flushed", [](std::uint32_t c) { return (c & 0x7F800000U) == 0 ? c & 0x80000000U : c; }}}) {
    const auto answers = [&](Lanes operands, mx::golden::MutableLanes results) {
      std::vector<std::uint32_t> other(operands.begin(), operands.end());
      other.back() = change.c(other.back());
      op->evaluate(other, results);
    };
    const auto report = mx::tests::check(*op, mx::tests::kDirected, mx::tests::stream_of(*op, mx::tests::kDirected, answers));
    INFO(change.name);
    CHECK(report.mismatched > 5);
    REQUIRE_FALSE(report.explanations.empty());
    CHECK(report.explanations.front().name == change.name);
  }
}

TEST_CASE("operand C is a column of edition v1.1, and enters as the contract says") {
  const auto op = mx::tests::op_with("dot_mxfp4_mxfp4", {{"operand-c", "yes"}});
  CHECK(op->operands().back().name == "c");
  CHECK(mx::tests::op_with("dot_mxfp4_mxfp4", {{"operand-c", "no"}})->operands().size() + 1 == op->operands().size());
  CHECK_THROWS_WITH(mx::tests::op_with("dot_mxfp4_mxfp4", {{"operand-c", "yes"}, {"edition", "v1"}}), Catch::Matchers::Contains("edition v1"));
  CHECK_THROWS_WITH(mx::tests::op_with("dot_mxfp4_mxfp4", {{"operand-c", "2"}}), Catch::Matchers::Contains("neither yes nor no"));
  CHECK_THROWS_WITH(mx::tests::op_with("f32_to_bf16", {{"operand-c", "yes"}}), Catch::Matchers::Contains("takes no --operand-c"));
  // 1 * 1 + 2^24 is a tie, to the even 2^24; 2^24 + 2 for two products at once, and for a chain none of both counts.
  const auto answer = [](const char* contract) {
    const auto dot = mx::tests::op_with("dot_e2m1_e2m1", {{"operand-c", "yes"}, {"contract", contract}, {"length", "2"}});
    std::vector<std::uint32_t> result(1);
    dot->evaluate(std::vector<std::uint32_t>{2, 2, 2, 2, 0x4B800000U}, result);
    return result[0];
  };
  CHECK(answer("exact") == 0x4B800001U);
  CHECK(answer("f32-sequential") == 0x4B800000U);
}
