#include "tests/kernels/moe_edges.hpp"

#include "model/numerics/block.hpp"
#include "model/numerics/dot.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_kernels.hpp"

namespace mx::tests::edges {

using namespace kernels;
using namespace kernels::moe;

std::uint32_t EdgeCase::modelled(Contract contract, const WeightFacts& format) const {
  const ContractRow& row = row_of(contract);
  const auto values = [](const Format& of, const std::vector<std::uint32_t>& bits) {
    std::vector<Value> decoded;
    for (const std::uint32_t code : bits) decoded.push_back(decode(of, code));
    return decoded;
  };
  std::vector<Value> columns = values(*format.scale, scales);
  if (format.scale == &kE4m3fn) {
    for (Value& scale : columns) scale = exact_product(scale, decode(kF32, bits_of(expert)));
  }
  std::vector<Value> rows;
  for (const float scale : row_scales) rows.push_back(decode(kF32, bits_of(scale)));
  const std::vector<Value> a = values(kBf16, x);
  const std::vector<Value> b = values(*format.element, codes);
  const PreparedOperand left =
      prepare(row, Side::a, {.elements = a, .format = &kBf16, .scales = rows, .block = rows.empty() ? 0 : static_cast<int>(kRowBlock)});
  const PreparedOperand right =
      prepare(row, Side::b, {.elements = b, .format = format.element, .scales = columns, .block = static_cast<int>(format.block)});
  return dot(row, left, right, {});
}

std::vector<float> EdgeCase::multiplied(const GemmKernel& kernel, const WeightFacts& format, std::size_t rows) const {
  std::vector<std::uint8_t> bytes, scale_bytes;
  for (std::size_t k = 0; k < format.k; k += format.element == &kE2m1 ? 2 : 1) {
    bytes.push_back(static_cast<std::uint8_t>(format.element == &kE2m1 ? codes[k] | codes[k + 1] << 4 : codes[k]));
  }
  for (const std::uint32_t scale : scales) {
    for (int at = 0; at < format.scale->width; at += 8) scale_bytes.push_back(static_cast<std::uint8_t>(scale >> at));
  }
  const std::vector<float> experts{expert};
  const bool of_experts = format.scale == &kE4m3fn;
  const PanelMatrix panels = pack(
      {.experts = 1, .halves = 1, .columns = 1, .k = format.k}, panel_format_of(format.format), layout::SourceOrder::standard,
      {.codes = bytes, .scales = scale_bytes, .expert_scales = of_experts ? std::span<const float>(experts) : std::span<const float>(), .bias = {}});
  std::vector<std::uint16_t> all;
  std::vector<float> all_scales;
  for (std::size_t row = 0; row < rows; ++row) {
    all.insert(all.end(), x.begin(), x.end());
    all_scales.insert(all_scales.end(), row_scales.begin(), row_scales.end());
  }
  std::vector<float> out(rows);
  if (row_scales.empty()) {
    gemm(kernel, panels, 0, Bf16Rows{all}, out, 1);
  } else {
    gemm(kernel, panels, 0, ScaledRows{all, all_scales, kRowBlock}, out, 1);
  }
  return out;
}

EdgeCase one_unit(const WeightFacts& format, int exponent) {
  EdgeCase one{std::vector<std::uint32_t>(format.k, 0),
               std::vector<std::uint32_t>(format.k / format.block, 1),
               std::vector<std::uint32_t>(format.k, 0),
               1,
               {}};
  const auto field = static_cast<std::uint32_t>(exponent) << 7;
  one.codes[0] = one.codes[1] = 1;
  one.x[0] = field | 1U;
  one.x[1] = field | 0x8000U;
  return one;
}

EdgeCase cancelling(const WeightFacts& format, int exponent, std::mt19937& random) {
  EdgeCase any = one_unit(format, exponent);
  for (std::uint32_t& x : any.x) x = static_cast<std::uint32_t>(exponent) << 7 | (random() & 0x807FU);
  for (std::uint32_t& code : any.codes) {
    const auto sign = static_cast<std::uint32_t>(random() % 2) << (format.element == &kE2m1 ? 3 : 7);
    code = static_cast<std::uint32_t>(random() % 4) | sign;
  }
  return any;
}

std::uint32_t held(Contract contract, const EdgeCase& one, const WeightFacts& format, const std::string& what) {
  const std::uint32_t expected = one.modelled(contract, format);
  for (const GemmKernel& kernel : tested_kernels()) {
    if (kernel.contract != contract || kernel.kind != panel_format_of(format.format).kind || (kernel.needs & ~isa_of_processor()) != 0) continue;
    for (const std::size_t rows : {std::size_t{1}, std::size_t{4}, std::size_t{9}, std::size_t{14}}) {
      INFO(kernel.name << ", " << layout::name_of(format.format) << ", " << rows << " rows, " << what);
      for (const float out : one.multiplied(kernel, format, rows)) CHECK(bits_of(out) == expected);
    }
  }
  return expected;
}

bool hold(const EdgeCase& one, const WeightFacts& format, const std::string& what) {
  const std::uint32_t expected = held(Contract::bf16_block, one, format, what);
  return (expected & 0x7F800000U) == 0 && !is_zero(expected);
}

}  // namespace mx::tests::edges
