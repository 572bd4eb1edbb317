// The table of contracts and its interpreter: tensor cores restated with MPFR from the codes' own fields, special values, scales, refusals.

#include "model/numerics/contract.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "model/error.hpp"
#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/search_encoder.hpp"

using namespace mx;
using namespace mx::tests;

namespace {

constexpr std::uint32_t kOne = 0x3F800000U;
constexpr std::uint32_t kInfinity = 0x7F800000U;
constexpr std::uint32_t kCudaNan = 0x7FFFFFFFU;

Value f32(float value) { return decode(kF32, std::bit_cast<std::uint32_t>(value)); }
std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

std::vector<Value> values_of(const Format& format, const std::vector<std::uint32_t>& codes) {
  std::vector<Value> values;
  for (std::uint32_t code : codes) values.push_back(decode(format, code));
  return values;
}

std::uint32_t dot_of(Contract contract, const Format& format, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                     const Addends& addends) {
  const std::vector<Value> left = values_of(format, a);
  const std::vector<Value> right = values_of(format, b);
  return dot(row_of(contract), {left, &format, {}, 0}, {right, &format, {}, 0}, addends);
}

/// What is known of a group step, typed in again: numerics of the H200's tensor cores.
struct GroupFacts {
  Contract contract;
  const Format* format;
  int alignment;
  int kept;
  int least = -10000;  ///< no group is aligned to a lower exponent
};

int nominal_exponent_of(const Format& format, std::uint32_t code) {
  const FormatFacts& facts = facts_of(format);
  const auto field = static_cast<int>((code >> facts.mantissa_bits) & ((1U << facts.exponent_bits) - 1U));
  return std::max(field, 1) - facts.bias;
}

/// One group by MPFR with more bits than any of it needs. Finite codes.
std::uint32_t mpfr_group(const GroupFacts& facts, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b, std::uint32_t c) {
  constexpr long kPrecision = 1400;
  const FormatFacts& format = facts_of(*facts.format);
  int largest = -10000;
  const double start = f32_value(c);
  if (start != 0) largest = std::max(static_cast<int>(c >> 23 & 0xFFU), 1) - 127;
  std::vector<double> products;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // A product of two bf16 numbers is a double: 16 bits, above 2^-266.
    products.push_back(value_of(format, a[i]) * value_of(format, b[i]));
    if (products.back() != 0) largest = std::max(largest, nominal_exponent_of(*facts.format, a[i]) + nominal_exponent_of(*facts.format, b[i]));
  }
  largest = std::max(largest, facts.least);
  MpfrNumber sum(kPrecision);
  mpfr_set_zero(sum.get(), 1);
  MpfrNumber addend(kPrecision);
  const auto add = [&](double value) {
    mpfr_set_d(addend.get(), value, MPFR_RNDN);
    mpfr_mul_2si(addend.get(), addend.get(), facts.alignment - largest, MPFR_RNDN);
    mpfr_trunc(addend.get(), addend.get());
    mpfr_add(sum.get(), sum.get(), addend.get(), MPFR_RNDN);
  };
  add(start);
  for (double product : products) add(product);
  if (mpfr_zero_p(sum.get()) != 0) return 0;
  MpfrNumber kept(facts.kept);
  mpfr_set(kept.get(), sum.get(), MPFR_RNDZ);
  mpfr_mul_2si(kept.get(), kept.get(), largest - facts.alignment, MPFR_RNDN);
  // Toward zero to what fp32 can hold; beyond it Inf.
  mpfr_mul_2si(kept.get(), kept.get(), 149, MPFR_RNDN);
  mpfr_trunc(kept.get(), kept.get());
  mpfr_mul_2si(kept.get(), kept.get(), -149, MPFR_RNDN);
  const std::uint32_t result = rounded_bits(kept.get(), kF32Range);
  return (result & 0x7FFFFFFFU) == 0 ? 0 : result;
}

/// Finite codes whose exponent fields lie in a window, so that groups meet at the ends of fp32 and of the format as well as in between.
std::vector<std::uint32_t> pick_codes(std::mt19937& random, const Format& format, std::size_t count) {
  const FormatFacts& facts = facts_of(format);
  const std::uint32_t codes = facts.max_code + 1;
  const std::uint32_t width = std::min<std::uint32_t>(codes, 24U << facts.mantissa_bits);
  const std::uint32_t first = static_cast<std::uint32_t>(random()) % (codes - width + 1);
  std::vector<std::uint32_t> picked;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t sign = (static_cast<std::uint32_t>(random()) & 1U) << (format.width - 1);
    picked.push_back(random() % 16 == 0 ? sign : sign | (first + static_cast<std::uint32_t>(random()) % width));
  }
  return picked;
}

}  // namespace

TEST_CASE("a tensor core's group is MPFR's, at every exponent of its formats") {
  const GroupFacts rows[] = {{Contract::hopper_fp8, &kE4m3fn, 13, 14},
                             {Contract::hopper_fp8, &kE5m2, 13, 14},
                             {Contract::hopper_bf16, &kBf16, 25, 24, -133},
                             {Contract::hopper_bf16_v1, &kBf16, 25, 24},
                             {Contract::hopper_fp16, &kFp16, 25, 24}};
  std::mt19937 random(3);
  std::uint64_t subnormal = 0;
  std::uint64_t infinite = 0;
  for (const GroupFacts& facts : rows) {
    INFO(name_of(facts.contract) << ", " << facts.format->name);
    Comparison comparison;
    for (int round = 0; round < 20000; ++round) {
      const std::size_t count = 1 + random() % (facts.alignment == 13 ? 32 : 16);
      const std::vector<std::uint32_t> a = pick_codes(random, *facts.format, count);
      const std::vector<std::uint32_t> b = pick_codes(random, *facts.format, count);
      const std::uint32_t sign = static_cast<std::uint32_t>(random()) & 0x80000000U;
      const std::uint32_t c = random() % 4 == 0 ? sign : sign | (static_cast<std::uint32_t>(random()) % kInfinity);
      const std::uint32_t expected = mpfr_group(facts, a, b, c);
      const std::uint32_t result = dot_of(facts.contract, *facts.format, a, b, {.c = c, .bias = {}});
      subnormal += (expected & 0x7FFFFFFFU) != 0 && (expected & kInfinity) == 0 ? 1 : 0;
      infinite += (expected & 0x7FFFFFFFU) == kInfinity ? 1 : 0;
      comparison.expect(result == expected, [&] { return "round " + std::to_string(round) + ": " + hex(result) + ", MPFR " + hex(expected); });
    }
    INFO(comparison.first);
    CHECK(comparison.failures == 0);
  }
  CHECK(subnormal > 100);
  CHECK(infinite > 100);
}

TEST_CASE("infinities, NaNs and zeros on tensor cores") {
  struct Row {
    std::string_view what;
    std::uint32_t a, b, c, result;
  };
  // e5m2: 0x3C is 1, 0x7C Inf, 0x7E NaN, 0x80 -0.
  const Row rows[] = {
      {"NaN", 0x7E, 0x3C, 0, kCudaNan},
      {"a negative NaN", 0xFE, 0x3C, 0, kCudaNan},
      {"a NaN in C", 0x3C, 0x3C, 0xFFC00001U, kCudaNan},
      {"Inf times 0", 0x7C, 0x00, 0, kCudaNan},
      {"Inf", 0x7C, 0xBC, kOne, 0xFF800000U},
      {"Inf by Inf", 0xFC, 0xFC, 0, kInfinity},
      {"Inf less Inf", 0x7C, 0x3C, 0xFF800000U, kCudaNan},
      {"an infinite C", 0x3C, 0x3C, 0xFF800000U, 0xFF800000U},
      {"-0 by 1", 0x80, 0x3C, 0, 0},
      {"-0 by 1, C -0", 0x80, 0x3C, 0x80000000U, 0},
      {"1 less 1", 0x3C, 0x3C, 0xBF800000U, 0},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    for (Contract contract :
         {Contract::hopper_fp8, Contract::hopper_fp8_promoted, Contract::hopper_mma_fp8, Contract::hopper_bf16, Contract::hopper_fp16}) {
      INFO(name_of(contract));
      CHECK(dot_of(contract, kE5m2, {row.a}, {row.b}, {.c = row.c, .bias = {}}) == row.result);
    }
  }
}

TEST_CASE("results narrow to nearest even, NaNs to the contract's own") {
  const ContractRow& cuda = row_of(Contract::hopper_bf16);
  CHECK(narrowed(cuda, kCudaNan, kBf16) == 0x7FFF);
  CHECK(narrowed(cuda, kCudaNan, kFp16) == 0x7FFF);
  CHECK(narrowed(cuda, kCudaNan, kF32) == kCudaNan);
  CHECK(narrowed(row_of(Contract::exact), 0x7FC00000U, kBf16) == 0x7FC0);
  CHECK(narrowed(cuda, 0x3F808000U, kBf16) == 0x3F80);  // a tie
  CHECK(narrowed(cuda, 0x3F818000U, kBf16) == 0x3F82);
  CHECK(narrowed(cuda, 0x7F7FFFFFU, kBf16) == 0x7F80);
  CHECK(narrowed(cuda, bits(65520.0F), kFp16) == 0x7C00);
  CHECK(narrowed(cuda, 0x80000000U, kFp16) == 0x8000);
}

TEST_CASE("where C enters shows") {
  // C = 2^25, whose neighbour is 4 away, and three products of 1: truncated with C in the group, rounded up where C is added to their sum.
  const std::vector<std::uint32_t> ones(3, 0x38);
  const Addends c{.c = bits(0x1p25F), .bias = {}};
  CHECK(dot_of(Contract::hopper_fp8, kE4m3fn, ones, ones, c) == bits(0x1p25F));
  CHECK(dot_of(Contract::hopper_fp16, kE4m3fn, ones, ones, c) == bits(0x1p25F));
  CHECK(dot_of(Contract::hopper_mma_fp8, kE4m3fn, ones, ones, c) == bits(0x1p25F + 4.0F));
}

TEST_CASE("each place of the scales rounds where it says") {
  // 4097 * (1 + 2^-12) needs 25 bits, 448.5 * 4097 does not.
  const std::vector<Value> a{f32(1.0F), f32(1.0F)};
  const std::vector<Value> b{f32(448.0F), f32(0.5F)};
  const std::vector<Value> scale_a{f32(4097.0F)};
  const std::vector<Value> scale_b{f32(1.0F + 0x1p-12F)};
  const float sum = 448.5F;
  const auto with = [&](ScaleEntry entry) {
    ContractRow row = row_of(Contract::hopper_fp8_promoted);
    row.scales = entry;
    return dot(row, {a, &kE4m3fn, scale_a, 2}, {b, &kE4m3fn, scale_b, 2}, {.c = {}, .bias = bits(1.0F)});
  };
  const float both = 4097.0F * (1.0F + 0x1p-12F);
  CHECK(with(ScaleEntry::total_product) == bits(sum * both + 1.0F));
  const float first = sum * 4097.0F;
  CHECK(with(ScaleEntry::total_one_by_one) == bits(first * (1.0F + 0x1p-12F) + 1.0F));
  CHECK(with(ScaleEntry::chain_product) == bits(sum * both + 1.0F));
  CHECK(with(ScaleEntry::chain_one_by_one) == bits(first * (1.0F + 0x1p-12F) + 1.0F));
  CHECK(with(ScaleEntry::chain_b_first) == bits(sum * (1.0F + 0x1p-12F) * 4097.0F + 1.0F));
  CHECK(with(ScaleEntry::total_product) != with(ScaleEntry::total_one_by_one));

  // A folded scale is exact until the cast: 3 * 2^-127 is a bf16 number, and flushed where the contract flushes.
  const std::vector<Value> three{f32(3.0F)};
  const std::vector<Value> tiny{decode(kE8m0, 0)};
  const std::vector<Value> huge{f32(0x1p127F)};
  const Operand scaled{three, nullptr, tiny, 1};
  CHECK(dot(row_of(Contract::hopper_bf16), {huge}, scaled, {}) == bits(3.0F));
  CHECK(dot(row_of(Contract::exact), {huge}, scaled, {}) == bits(3.0F));
  CHECK(dot(row_of(Contract::bf16_chain), {huge}, scaled, {}) == bits(3.0F));  // 1.5 * 2^-126 is normal
  const std::vector<Value> one{f32(1.0F)};
  const Operand below{one, nullptr, tiny, 1};
  CHECK(dot(row_of(Contract::bf16_chain), {huge}, below, {}) == 0);
  CHECK(dot(row_of(Contract::bf16_block), {huge}, below, {}) == bits(1.0F));
  const std::vector<Value> nan{decode(kE8m0, 255)};
  for (Contract contract : {Contract::exact, Contract::f32_sequential, Contract::bf16_chain, Contract::bf16_block, Contract::hopper_bf16}) {
    INFO(name_of(contract));
    CHECK(dot(row_of(contract), {huge}, {one, nullptr, nan, 1}, {}) == row_of(contract).nan);
  }
}

TEST_CASE("the least scale of E8M0 counts with its own exponent, -127") {
  const auto scale = [](int exponent) { return decode(kE8m0, static_cast<std::uint32_t>(exponent + 127)); };
  const auto with = [&](std::string_view name, const std::vector<Value>& a, const std::vector<Value>& b, const std::vector<Value>& scales_a,
                        const std::vector<Value>& scales_b, float c) {
    return dot(row_of(contract_named(name)), {a, &kE2m1, scales_a, 32, &kE8m0}, {b, &kE2m1, scales_b, 32, &kE8m0}, {.c = bits(c), .bias = {}});
  };
  // -2.25 * 2^-124 and C = 2^-149, the last that 25 bits below 2^-124 keep: a little above, cut toward zero.
  CHECK(with("blackwell-mxf8f6f4", {f32(1.5F)}, {f32(-1.5F)}, {scale(-127)}, {scale(3)}, 0x1p-149F) == 0x820FFFFFU);
  CHECK(with("blackwell-mxf8f6f4", {f32(1.5F)}, {f32(-1.5F)}, {scale(-126)}, {scale(2)}, 0x1p-149F) == 0x820FFFFFU);
  // 1 and -2^-35, the last that 35 bits below 2^0 keep.
  std::vector<Value> ones(64, f32(0.0F));
  std::vector<Value> signs = ones;
  ones[0] = ones[32] = signs[0] = f32(1.0F);
  signs[32] = f32(-1.0F);
  CHECK(with("blackwell-mxf4", ones, signs, {scale(-127), scale(-35)}, {scale(127), scale(0)}, 0.0F) == 0x3F7FFFFFU);
  CHECK(with("blackwell-mxf4", ones, signs, {scale(-126), scale(-36)}, {scale(126), scale(0)}, 0.0F) == 0x3F800000U);
}

TEST_CASE("operands that a contract does not take are refused by name") {
  const std::vector<Value> two{f32(1.0F), f32(1.0F)};
  const std::vector<Value> three(3, f32(1.0F));
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return error.what();
    }
    return "no error";
  };
  const auto refused = [&](Contract contract, const Operand& a, const Operand& b) { return message_of([&] { dot(row_of(contract), a, b, {}); }); };
  CHECK(refused(Contract::exact, {two}, {three}) == "contract exact: a dot product of 2 by 3 elements");
  // Padding to whole pairs must not make them equal.
  const std::vector<Value> four(4, f32(1.0F));
  CHECK(refused(Contract::bf16_chain, {three}, {four}) == "contract bf16-chain: a dot product of 3 by 4 elements");
  CHECK(refused(Contract::hopper_fp8, {two}, {two}) == "contract hopper-fp8: operand a is of no named format, it takes e4m3fn, e5m2");
  CHECK(refused(Contract::hopper_fp8, {two, &kE5m2, {}, 0}, {two, &kBf16, {}, 0}) == "contract hopper-fp8: operand b is bf16, it takes e4m3fn, e5m2");
  CHECK(refused(Contract::int8_block, {two, &kE2m1, {}, 0}, {two, &kE2m1, {}, 0}) == "contract int8-block: operand a is e2m1, it takes mxint8");
  CHECK(refused(Contract::exact, {two, nullptr, three, 1}, {two}) == "contract exact: 3 scales for 2 elements in blocks of 1");
  CHECK(refused(Contract::exact, {two, nullptr, two, 0}, {two}) == "contract exact: 2 scales for 2 elements in blocks of 0");
  CHECK(refused(Contract::hopper_fp8, {two, &kE5m2, two, 1}, {two, &kE5m2, {}, 0}) ==
        "contract hopper-fp8: 2 scales along k, it takes one for all k");
  CHECK(refused(Contract::bf16_block, {three, nullptr, three, 1}, {three}) == "contract bf16-block: a scale block of 1 is not a multiple of 2");
  const std::vector<Value> long_row(200, f32(1.0F));
  CHECK(refused(Contract::hopper_fp8_block_1x128, {long_row, &kE4m3fn, two, 100}, {long_row, &kE4m3fn, {}, 0}) ==
        "contract hopper-fp8-block-1x128: a scale block of 100 is not made of chains of 128");
  CHECK(refused(Contract::bf16_block, {two}, {two}) == "contract bf16-block: neither operand has scales, whose blocks its chains are");
  const std::vector<Value> six(6, f32(1.0F));
  CHECK(refused(Contract::bf16_block, {six, nullptr, two, 4}, {six, nullptr, three, 2}) == "no error");
  CHECK(refused(Contract::bf16_block, {long_row, nullptr, {four.begin(), 4}, 60}, {long_row, nullptr, {six.begin(), 5}, 40}) ==
        "contract bf16-block: a scale block of 60 is not made of chains of 40");
}

TEST_CASE("the table of contracts is whole") {
  std::set<std::string_view> names;
  for (const ContractRow& row : all_contracts()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&row_of(row.contract) == &row);
    CHECK_FALSE((row.operands.empty() || row.accumulation.empty() || row.bias.empty() || row.source.empty()));
    CHECK_FALSE(name_of(row.grounds).empty());
    // Each place of a period once.
    std::vector<std::uint8_t> places(row.order.begin(), row.order.end());
    std::ranges::sort(places);
    for (std::size_t i = 0; i < places.size(); ++i) CHECK(places[i] == i);
    if (row.step != Step::aligned) continue;
    // Nominal exponents need a format; groups end where periods and chains end.
    CHECK((row.cast != nullptr || !row.a_formats.empty()));
    CHECK((row.group > 0 && row.group <= 32 && row.alignment_bits > 0 && row.kept_bits > 0 && row.kept_bits <= 24));
    CHECK(row.restart % row.group == 0);
  }
}
