// One weight times its scale, as the plain code of bf16-chain's kernels computes it, against the model.

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "kernels/moe/bf16_product.hpp"
#include "kernels/moe/gemm.hpp"
#include "kernels/moe/stage.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_draws.hpp"
#include "tests/kernels/moe_kernels.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::tests;
using namespace mx::deployment;

namespace {

/// Kernels that round weights times their scales.
bool folds(const GemmKernel& kernel) { return kernel.contract == Contract::bf16_chain || kernel.contract == Contract::bf16_pair; }

}  // namespace

TEST_CASE("a weight times its scale is the exact product, rounded once to bf16") {
  Draws random(8);
  const ContractRow& row = row_of(Contract::bf16_chain);
  for (int round = 0; round < 20000; ++round) {
    const auto code = static_cast<std::uint32_t>(random() % 256);
    const std::uint32_t scale = any_f32_scale(random, Kind::everything);
    const Value weight = decode(kE4m3fn, code);
    const float found = bf16_product(std::bit_cast<float>(to_f32(weight)), std::bit_cast<float>(scale));
    const Value scales[] = {decode(kF32, scale)};
    const Value weights[] = {weight};
    const PreparedOperand folded = prepare(row, Side::b, {.elements = weights, .format = &kE4m3fn, .scales = scales, .block = 1});
    // The element comes second in its pair; what is subnormal the kernels flush.
    const std::uint32_t expected = folded.factors[1].f32;
    const auto bits = std::bit_cast<std::uint32_t>(found);
    const std::uint32_t flushed = (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits;
    INFO(code << " times " << f32::text(scale) << " is " << f32::text(bits) << ", model " << f32::text(expected));
    CHECK((f32::is_nan(expected) ? std::isnan(found) : flushed == expected));
  }
  // The largest and the smallest weight, of NVFP4 with its block's scale: 6 * 448 and 0.5 * 2^-9.
  CHECK(is_moderate(0x1p-116F));
  CHECK(0x1p-116 * 0x1p-10 == 0x1p-126);
  CHECK(!is_moderate(0x1.fffffep-117F));
  CHECK(is_moderate(-0x1.fffffep99F));
  CHECK(0x1.fffffep99 * 2688 * kSplitter < 0x1p128);
  CHECK(!is_moderate(0x1p100F));
  CHECK(!is_moderate(std::numeric_limits<float>::quiet_NaN()));
}

namespace {

/// Scales whose products with e4m3's numbers are ties of bf16, next to ties, next to powers of two, a little below two of these, or any. Those a
/// little below have only even exponents, only odd ones, or both, in this order from `column` 128 on: kernels may treat them together.
float hard_scale(Draws& random, std::size_t column) {
  const auto bits = static_cast<std::uint32_t>(random());
  std::uint32_t significand = bits & 0x007FFFFFU;
  std::uint32_t exponent = 100 + (bits >> 24 & 31U);
  switch (random() % 5) {
    case 0: significand &= 0x007FFF00U << random() % 12; break;
    case 1: significand = next_to_tie(bits) & 0x007FFFFFU; break;
    case 2: {
      const float near = 1.0F / static_cast<float>(8 + bits % 8);
      significand = (std::bit_cast<std::uint32_t>(near) + (bits >> 8 & 7U) - 3U) & 0x007FFFFFU;
      break;
    }
    case 3: {
      const std::size_t group = column / 128 % 4;
      if (group == 0) break;
      significand = 0x007F0000U + bits % 0x9000U;
      if (group != 3) exponent = (exponent & ~1U) + (group == 1 ? 0U : 1U);
      break;
    }
    default: break;
  }
  return std::bit_cast<float>(significand | exponent << 23);
}

}  // namespace

TEST_CASE("activations of every format of 8 bits or fewer come back to bf16 as their exact products, rounded once") {
  Draws random(33);
  const ContractRow& row = row_of(Contract::bf16_chain);
  for (const Format* format : {&kE4m3fn, &kE5m2, &kE2m3, &kE3m2, &kE2m1}) {
    std::vector<Value> elements;
    std::vector<std::uint16_t> codes;
    for (std::uint32_t code = 0; code < 1U << format->width; ++code) {
      elements.push_back(decode(*format, code));
      codes.push_back(static_cast<std::uint16_t>(to_f32(elements.back()) >> 16));
    }
    for (std::size_t round = 0; round < 300; ++round) {
      const float edges[] = {kLeastDequantizable, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()};
      const float scale = round < 3 ? edges[round] : hard_scale(random, round);
      const Value scales[] = {decode(kF32, std::bit_cast<std::uint32_t>(scale))};
      const PreparedOperand folded =
          prepare(row, Side::a, {.elements = elements, .format = format, .scales = scales, .block = static_cast<int>(elements.size())});
      for (const KernelRow<DequantizeFunction>& kernel : dequantize_kernels()) {
        if ((kernel.needs & ~mx::kernels::isa_of_processor()) != 0) continue;
        std::vector<std::uint16_t> found = codes;
        kernel.run(found.data(), found.size(), scale);
        std::size_t differing = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          // Of each pair the second comes first.
          const std::uint32_t expected = folded.factors[i ^ 1U].f32;
          differing += found[i] != (f32::is_nan(expected) ? 0x7FC0U : expected >> 16) ? 1U : 0U;
        }
        INFO(kernel.name << ", " << format->name << " times " << scale);
        CHECK(differing == 0);
      }
    }
  }
}

TEST_CASE("kernels round each code times its channel's scale as the plain code does") {
  constexpr std::size_t kCodes = 256;
  constexpr std::size_t kColumns = 1920;
  Draws random(12);
  // Of each column row k of the identity takes code k.
  std::vector<std::uint8_t> codes, scale_bytes;
  std::vector<float> scales;
  for (std::size_t n = 0; n < kColumns; ++n) {
    for (std::size_t code = 0; code < kCodes; ++code) codes.push_back(static_cast<std::uint8_t>((code & 0x7FU) == 0x7FU ? 0 : code));
    scales.push_back(hard_scale(random, n));
    for (int shift = 0; shift < 32; shift += 8)
      scale_bytes.push_back(static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(scales.back()) >> shift));
  }
  const PanelMatrix panels = pack({.experts = 1, .halves = 1, .columns = kColumns, .k = kCodes}, panel_format_of(layout::WeightFormat::fp8_channel),
                                  layout::SourceOrder::standard, {.codes = codes, .scales = scale_bytes, .expert_scales = {}, .bias = {}});
  std::vector<std::uint16_t> identity(kCodes * kCodes);
  for (std::size_t k = 0; k < kCodes; ++k) identity[k * kCodes + k] = 0x3F80;
  for (const GemmKernel& kernel : tested_kernels()) {
    if (!folds(kernel) || kernel.kind != PanelKind::fp8 || (kernel.needs & ~mx::kernels::isa_of_processor()) != 0) continue;
    for (const std::size_t rows : {std::size_t{4}, kCodes}) {
      std::size_t differing = 0;
      for (std::size_t first = 0; first < kCodes; first += rows) {
        std::vector<float> out(rows * kColumns);
        gemm(kernel, panels, 0, Bf16Rows{std::span(identity).subspan(first * kCodes, rows * kCodes)}, out, 1);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const std::size_t column = i % kColumns;
          const std::uint8_t code = codes[first + i / kColumns];
          const float weight = std::bit_cast<float>(to_f32(decode(kE4m3fn, code)));
          // The sum of the chain has no negative zero.
          differing += std::bit_cast<std::uint32_t>(out[i]) != std::bit_cast<std::uint32_t>(bf16_product(weight, scales[column]) + 0.0F) ? 1U : 0U;
        }
      }
      INFO(kernel.name << ", " << rows << " rows at once");
      CHECK(differing == 0);
    }
  }
}

namespace {

/// An exact product to eight significant bits, nearest even: of normal numbers of bf16.
float rounded_to_bf16(double product) {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 45;  // of 52 bits behind the first, seven stay
  const auto bits = std::bit_cast<std::uint64_t>(product);
  const std::uint64_t rounded = bits + kLast / 2 - 1 + (bits / kLast & 1U);
  return static_cast<float>(std::bit_cast<double>(rounded & ~(kLast - 1)));
}

}  // namespace

TEST_CASE("kernels round the products of every scale's significand with every code's") {
  constexpr std::size_t kColumns = std::size_t{1} << 17;
  constexpr std::size_t kK = 32;
  constexpr std::size_t kRows = 8;
  constexpr std::uint8_t kOne = 0x38;
  std::vector<std::uint8_t> codes(kColumns * kK);
  for (std::size_t n = 0; n < kColumns; ++n) {
    for (std::size_t k = 0; k < kRows; ++k) codes[n * kK + k] = static_cast<std::uint8_t>(kOne + k);
  }
  std::vector<std::uint16_t> identity(kRows * kK);
  for (std::size_t k = 0; k < kRows; ++k) identity[k * kK + k] = 0x3F80;
  std::vector<std::uint8_t> scales(kColumns * sizeof(float));
  std::vector<float> out(kRows * kColumns), expected(kRows * kColumns);
  std::vector<std::size_t> differing(gemm_kernels().size());
  // Of even and of odd exponents.
  for (std::uint32_t first = 0x3F000000; first < 0x40000000; first += kColumns) {
    for (std::size_t n = 0; n < kColumns; ++n) {
      for (std::size_t i = 0; i < sizeof(float); ++i) scales[n * sizeof(float) + i] = static_cast<std::uint8_t>((first + n) >> (8 * i));
    }
    const PanelMatrix panels = pack({.experts = 1, .halves = 1, .columns = kColumns, .k = kK}, panel_format_of(layout::WeightFormat::fp8_channel),
                                    layout::SourceOrder::standard, {.codes = codes, .scales = scales, .expert_scales = {}, .bias = {}});
    for (std::size_t k = 0; k < kRows; ++k) {
      const double weight = static_cast<double>(8 + k) / 8;
      for (std::size_t n = 0; n < kColumns; ++n) {
        expected[k * kColumns + n] = rounded_to_bf16(weight * std::bit_cast<float>(first + static_cast<std::uint32_t>(n)));
      }
    }
    for (std::size_t e = 0; e < gemm_kernels().size(); ++e) {
      const GemmKernel& kernel = gemm_kernels()[e];
      const bool runs = kernel.needs != 0 && (kernel.needs & ~mx::kernels::isa_of_processor()) == 0;  // the portable one takes most of a minute
      if (!folds(kernel) || kernel.kind != PanelKind::fp8 || !runs) continue;
      gemm(kernel, panels, 0, Bf16Rows{identity}, out, 1);
      for (std::size_t i = 0; i < out.size(); ++i) differing[e] += out[i] != expected[i] ? 1U : 0U;
    }
  }
  CHECK(differing == std::vector<std::size_t>(gemm_kernels().size()));
}

TEST_CASE("a NaN among the codes makes its column NaN and no other") {
  constexpr std::size_t kColumns = 128;
  constexpr std::size_t kK = 64;
  std::vector<std::uint8_t> scales;
  for (std::size_t n = 0; n < kColumns; ++n) {
    const auto bits = std::bit_cast<std::uint32_t>(0.001F * static_cast<float>(n + 1));
    for (int shift = 0; shift < 32; shift += 8) scales.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  for (const GemmKernel& kernel : gemm_kernels()) {
    if (!folds(kernel) || kernel.kind != PanelKind::fp8 || (kernel.needs & ~mx::kernels::isa_of_processor()) != 0) continue;
    for (const std::size_t rows : {std::size_t{1}, std::size_t{5}, std::size_t{40}}) {
      for (std::size_t k = 0; k < kK; ++k) {
        std::vector<std::uint8_t> codes(kColumns * kK, 0x38);
        const std::size_t positive = (7 * k + rows) % kColumns;
        const std::size_t negative = (positive + 1 + k) % kColumns;
        codes[positive * kK + k] = 0x7F;
        codes[negative * kK + k] = 0xFF;
        const PanelMatrix panels = pack({.experts = 1, .halves = 1, .columns = kColumns, .k = kK}, panel_format_of(layout::WeightFormat::fp8_channel),
                                        layout::SourceOrder::standard, {.codes = codes, .scales = scales, .expert_scales = {}, .bias = {}});
        std::vector<float> out(rows * kColumns);
        gemm(kernel, panels, 0, Bf16Rows{std::vector<std::uint16_t>(rows * kK, 0x3F80)}, out, 1);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
          const bool is_nan = i % kColumns == positive || i % kColumns == negative;
          wrong += std::isnan(out[i]) != is_nan ? 1U : 0U;
        }
        INFO(kernel.name << ", " << rows << " rows, K " << k);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("splitting rounds the products of every significand with every weight") {
  // Odd parts of e2m1 times e4m3, which those of e4m3 are among.
  std::set<int> weights;
  for (int code = 1; code <= 3; code += 2) {
    for (int scale = 1; scale < 16; scale += 2) weights.insert(code * scale);
  }
  std::size_t wrong = 0;
  for (const int odd : weights) {
    const auto weight = static_cast<float>(odd);
    for (std::uint32_t significand = 0; significand < 1U << 23; ++significand) {
      const float scale = std::bit_cast<float>(0x3F800000U | significand);
      const float whole = weight * (scale * kSplitter);
      wrong += whole - std::fma(-weight, scale, whole) != bf16_product(weight, scale) ? 1U : 0U;
    }
  }
  CHECK(weights.size() == 13);
  CHECK(wrong == 0);
}
