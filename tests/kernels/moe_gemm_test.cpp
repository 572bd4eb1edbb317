// Every kernel against the model, bit for bit: random shapes with all tails, scale bytes at both ends, activations of every kind.

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "model/error.hpp"
#include "model/numerics/block.hpp"
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
using layout::SourceOrder;
using layout::WeightFormat;

namespace {

std::uint8_t any_scale(Draws& random, Kind kind) {
  constexpr std::uint8_t kEnds[] = {0, 1, 2, 7, 8, 9, 127, 252, 253, 254, 255};
  if (kind == Kind::any_scale || kind == Kind::everything) {
    const std::uint32_t pick = static_cast<std::uint32_t>(random());
    if (pick % 3 == 0) return kEnds[pick / 3 % std::size(kEnds)];
    if (pick % 3 == 1) return static_cast<std::uint8_t>(pick >> 8);
  }
  return static_cast<std::uint8_t>(118 + random() % 12);
}

std::uint16_t any_bf16(Draws& random, Kind kind) {
  constexpr std::uint16_t kSpecial[] = {0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8080, 0x7F80, 0xFF80, 0x7FC0, 0xFF81, 0x7F7F, 0xFF7F};
  const auto bits = static_cast<std::uint32_t>(random());
  if (bits >> 28 == 0) return 0x8000U & bits;
  if ((kind == Kind::special_activations || kind == Kind::everything) && (bits >> 20) % 997 == 0) return kSpecial[bits % std::size(kSpecial)];
  if (kind == Kind::everything && bits >> 28 == 1) return static_cast<std::uint16_t>(bits);
  if (kind == Kind::tiny_activations || (kind == Kind::everything && bits >> 28 == 2)) {
    return static_cast<std::uint16_t>((bits & 0x807FU) | (bits >> 16 & 15U) << 7);
  }
  return static_cast<std::uint16_t>((bits & 0x807FU) | (118 + (bits >> 16 & 15U)) << 7);
}

std::vector<Value> decoded(const Format& format, std::span<const std::uint32_t> codes) {
  std::vector<Value> values;
  for (const std::uint32_t code : codes) values.push_back(decode(format, code));
  return values;
}

/// One row of codes and scales as the model's operand, and the memory behind it.
struct ModelRow {
  std::vector<Value> elements;
  std::vector<Value> scales;
  const Format* format;
  std::size_t block;

  PreparedOperand prepared(const ContractRow& row, Side side) const {
    return prepare(row, side, {.elements = elements, .format = format, .scales = scales, .block = static_cast<int>(block)});
  }
};

void append(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}
std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i-- > 0;) word = word << 8 | bytes[4 * index + i];
  return word;
}

/// The facts of the formats, typed in from their documents.
struct WeightFacts {
  WeightFormat format;
  std::size_t bits;
  const Format* element;
  std::size_t block;  ///< 0: the row
};
constexpr WeightFacts kWeights[] = {{WeightFormat::mxfp4, 4, &kE2m1, 32},        {WeightFormat::mxfp8, 8, &kE4m3fn, 32},
                                    {WeightFormat::nvfp4, 4, &kE2m1, 16},        {WeightFormat::fp8_block, 8, &kE4m3fn, 128},
                                    {WeightFormat::fp8_channel, 8, &kE4m3fn, 0}, {WeightFormat::fp8_tensor, 8, &kE4m3fn, 0}};

struct Weights {
  PanelShape shape;
  WeightFacts facts;
  std::vector<std::uint8_t> codes, scales;
  std::vector<float> experts, bias;

  std::size_t rows() const { return shape.experts * shape.halves * shape.columns; }
  std::size_t blocks() const { return facts.block == 0 ? 1 : (shape.k + facts.block - 1) / facts.block; }
  std::size_t squares() const { return (shape.columns + 127) / 128; }

  Weights(const WeightFacts& of_format, const PanelShape& of, Kind kind, Draws& random) : shape(of), facts(of_format) {
    const bool usual = kind == Kind::usual || kind == Kind::tiny_activations;
    for (std::size_t i = 0; i < rows() * shape.k * facts.bits / 8; ++i) {
      const auto code = static_cast<std::uint8_t>(random());
      // NaNs in every row would leave nothing to compare.
      codes.push_back(facts.bits == 8 && (code & 0x7FU) == 0x7FU && (usual || random() % 4 != 0) ? 0x7E : code);
    }
    switch (facts.format) {
      case WeightFormat::mxfp4:
      case WeightFormat::mxfp8:
        for (std::size_t i = 0; i < rows() * blocks(); ++i) scales.push_back(any_scale(random, kind));
        break;
      case WeightFormat::nvfp4:
        for (std::size_t i = 0; i < rows() * blocks(); ++i) scales.push_back(static_cast<std::uint8_t>(random() % (usual ? 127 : 256)));
        for (std::size_t e = 0; e < shape.experts; ++e) experts.push_back(std::bit_cast<float>(any_f32_scale(random, kind)));
        break;
      default: {
        const std::size_t count = facts.format == WeightFormat::fp8_tensor    ? shape.experts
                                  : facts.format == WeightFormat::fp8_channel ? rows()
                                                                              : shape.experts * shape.halves * squares() * blocks();
        for (std::size_t i = 0; i < count; ++i) append(scales, any_f32_scale(random, kind));
      }
    }
    // A biased matrix and one without must both be met.
    if (random() % 2 == 0) return;
    for (std::size_t i = 0; i < rows(); ++i) bias.push_back(std::bit_cast<float>(any_bf16(random, kind) * 0x10000U));
  }

  PanelMatrix packed() const {
    return pack(shape, panel_format_of(facts.format), SourceOrder::standard,
                {.codes = codes, .scales = scales, .expert_scales = experts, .bias = bias});
  }

  std::vector<Value> scales_of(std::size_t index) const {
    const std::size_t half = index / shape.columns;
    const std::size_t expert = half / shape.halves;
    std::vector<Value> values;
    for (std::size_t b = 0; b < blocks(); ++b) {
      const std::size_t of_row = index * blocks() + b;
      switch (facts.format) {
        case WeightFormat::mxfp4:
        case WeightFormat::mxfp8: values.push_back(decode(kE8m0, scales[of_row])); break;
        case WeightFormat::nvfp4:
          values.push_back(exact_product(decode(kE4m3fn, scales[of_row]), decode(kF32, std::bit_cast<std::uint32_t>(experts[expert]))));
          break;
        case WeightFormat::fp8_channel: values.push_back(decode(kF32, word_at(scales, index))); break;
        case WeightFormat::fp8_tensor: values.push_back(decode(kF32, word_at(scales, expert))); break;
        default: values.push_back(decode(kF32, word_at(scales, (half * squares() + index % shape.columns / 128) * blocks() + b)));
      }
    }
    return values;
  }

  ModelRow row(std::size_t index) const {
    std::vector<std::uint32_t> elements;
    for (std::size_t k = 0; k < shape.k; ++k) {
      const std::uint32_t byte = codes[(index * shape.k + k) * facts.bits / 8];
      elements.push_back(facts.bits == 8 ? byte : k % 2 == 0 ? byte & 15U : byte >> 4);
    }
    return {decoded(*facts.element, elements), scales_of(index), facts.element, facts.block == 0 ? shape.k : facts.block};
  }
};

/// What enters the product: bf16; MXINT8; or e4m3 with scales for so many elements.
struct RowKind {
  Contract contract;
  std::size_t block;  ///< of bf16-block; 0: bf16 as it is, `kWholeRow`: one scale a row
};
constexpr std::size_t kWholeRow = ~std::size_t{0};
constexpr RowKind kRowKinds[] = {{Contract::bf16_chain, 0},         {Contract::bf16_pair, 0},   {Contract::bf16_block, 0},
                                 {Contract::bf16_block, 32},        {Contract::bf16_block, 64}, {Contract::bf16_block, 128},
                                 {Contract::bf16_block, kWholeRow}, {Contract::int8_block, 0}};

struct Activations {
  std::vector<std::uint16_t> bf16;
  std::vector<std::int8_t> int8;
  std::vector<std::uint8_t> int8_scales;
  std::vector<std::uint8_t> e4m3;
  std::vector<std::uint16_t> widened;  ///< of e4m3
  std::vector<float> scales;

  Activations(const RowKind& row_kind, std::size_t rows, std::size_t k, Kind kind, Draws& random) {
    for (std::size_t i = 0; i < rows * k; ++i) bf16.push_back(any_bf16(random, kind));
    for (std::size_t i = 0; i < rows * k; ++i) int8.push_back(static_cast<std::int8_t>(random()));
    for (std::size_t i = 0; i < rows * k / 32; ++i) int8_scales.push_back(any_scale(random, kind));
    if (row_kind.block == 0) return;
    for (std::size_t i = 0; i < rows * k; ++i) {
      e4m3.push_back(static_cast<std::uint8_t>(random() % (kind == Kind::everything && random() % 997 == 0 ? 256 : 127)) ^
                     (random() % 2 == 0 ? 0x80 : 0));
      widened.push_back(static_cast<std::uint16_t>(to_f32(decode(kE4m3fn, e4m3.back())) >> 16));
    }
    const std::size_t block = std::min(row_kind.block, k);
    for (std::size_t i = 0; i < rows * ((k + block - 1) / block); ++i) {
      scales.push_back(row_kind.block == 32 ? std::ldexp(1.0F, any_scale(random, kind) % 255 - 127)
                                            : std::bit_cast<float>(any_f32_scale(random, kind)));
    }
  }

  ModelRow row(const RowKind& row_kind, std::size_t index, std::size_t k) const {
    std::vector<std::uint32_t> elements;
    std::vector<Value> values;
    const std::size_t first = index * k;
    if (row_kind.contract == Contract::int8_block) {
      for (std::size_t i = first; i < first + k; ++i) elements.push_back(static_cast<std::uint8_t>(int8[i]));
      for (std::size_t i = first / 32; i < (first + k) / 32; ++i) values.push_back(decode(kE8m0, int8_scales[i]));
      return {decoded(kMxint8, elements), values, &kMxint8, 32};
    }
    if (row_kind.block == 0) {
      for (std::size_t i = first; i < first + k; ++i) elements.push_back(bf16[i]);
      return {decoded(kBf16, elements), {}, &kBf16, 0};
    }
    for (std::size_t i = first; i < first + k; ++i) elements.push_back(e4m3[i]);
    const std::size_t block = std::min(row_kind.block, k);
    const std::size_t count = (k + block - 1) / block;
    for (std::size_t i = index * count; i < (index + 1) * count; ++i) values.push_back(decode(kF32, std::bit_cast<std::uint32_t>(scales[i])));
    return {decoded(kE4m3fn, elements), values, &kE4m3fn, block};
  }
};

std::vector<float> run(const GemmKernel& kernel, const PanelMatrix& weights, std::size_t expert, const RowKind& kind, const Activations& x,
                       std::size_t rows, int threads) {
  const PanelShape& shape = weights.shape;
  std::vector<float> out(rows * shape.halves * shape.columns, -1.0F);
  if (kernel.contract == Contract::int8_block) {
    gemm(kernel, weights, expert, Int8Rows{x.int8, x.int8_scales}, out, threads);
  } else if (kind.block != 0) {
    gemm(kernel, weights, expert, ScaledRows{x.widened, x.scales, std::min(kind.block, shape.k)}, out, threads);
  } else {
    gemm(kernel, weights, expert, Bf16Rows{x.bf16}, out, threads);
  }
  return out;
}

/// The model's bits of one output.
struct Expected {
  std::size_t index;  ///< [row][half * columns + i]
  std::uint32_t bits;
};

/// At so many columns, the first and the last among them, in each row or, of many, some.
std::vector<Expected> modelled(const RowKind& kind, const Weights& weights, std::size_t expert, const Activations& x, std::size_t rows) {
  constexpr std::size_t kColumns = 5;
  constexpr std::size_t kRows = 7;
  const ContractRow& row = row_of(kind.contract);
  const std::size_t length = weights.shape.halves * weights.shape.columns;
  std::vector<Expected> expected;
  std::vector<PreparedOperand> operands;
  for (std::size_t m = 0; m < rows; m += 1 + rows / kRows) operands.push_back(x.row(kind, m, weights.shape.k).prepared(row, Side::a));
  for (std::size_t i = 0; i < std::min(kColumns, length); ++i) {
    const std::size_t n = length <= kColumns ? i : i * (length - 1) / (kColumns - 1);
    const PreparedOperand column = weights.row(expert * length + n).prepared(row, Side::b);
    Addends addends;
    if (!weights.bias.empty()) addends.bias = std::bit_cast<std::uint32_t>(weights.bias[expert * length + n]);
    for (std::size_t m = 0; m < operands.size(); ++m) {
      expected.push_back({m * (1 + rows / kRows) * length + n, dot(row, operands[m], column, addends)});
    }
  }
  return expected;
}

bool runs(const GemmKernel& kernel) { return (kernel.needs & ~mx::kernels::isa_of_processor()) == 0; }

/// Holds every kernel of a contract and kind of weights against the model; returns how many outputs were compared, of those how many are numbers.
struct Compared {
  std::size_t outputs = 0;
  std::size_t numbers = 0;
};
void hold(const Weights& weights, const RowKind& row_kind, Kind kind, std::size_t rows, Draws& random, Compared& compared) {
  const PanelMatrix panels = weights.packed();
  const Activations x(row_kind, rows, weights.shape.k, kind, random);
  const std::vector<Expected> expected = modelled(row_kind, weights, 1, x, rows);
  for (const GemmKernel& kernel : tested_kernels()) {
    if (kernel.contract != row_kind.contract || kernel.kind != panels.format->kind || !runs(kernel)) continue;
    const std::vector<float> out = run(kernel, panels, 1, row_kind, x, rows, 1);
    std::size_t differing = 0;
    std::string first;
    for (const Expected& e : expected) {
      const auto found = std::bit_cast<std::uint32_t>(out[e.index]);
      compared.numbers += f32::is_nan(e.bits) ? 0U : 1U;
      if (found != e.bits && differing++ == 0) first = std::to_string(e.index) + ": " + f32::text(found) + ", model " + f32::text(e.bits);
    }
    compared.outputs += expected.size();
    INFO(kernel.name << ", " << layout::name_of(weights.facts.format) << ", kind " << static_cast<int>(kind) << ", " << rows
                     << " rows with scales for " << row_kind.block << ", " << weights.shape.halves << " x " << weights.shape.columns << " columns, K "
                     << weights.shape.k << ", at " << first);
    CHECK(differing == 0);
  }
}

}  // namespace

TEST_CASE("every kernel computes its contract, whatever the shape and the numbers") {
  Draws random(7);
  Compared compared;
  for (const WeightFacts& facts : kWeights) {
    for (const Kind kind : kKinds) {
      for (std::size_t round = 0; round < 4; ++round) {
        const PanelShape shape{.experts = 2,
                               .halves = 1 + static_cast<std::size_t>(random() % 2),
                               .columns = 1 + static_cast<std::size_t>(random() % (round == 0 ? 200 : 40)),
                               .k = 32 * (1 + static_cast<std::size_t>(random() % (round == 3 && kind == Kind::usual ? 14 : 3)))};
        const std::size_t rows = round < 2 ? 1 + random() % 6 : 1 + random() % 20;
        const Weights weights(facts, shape, kind, random);
        for (const RowKind& row_kind : kRowKinds) {
          // What the contract's row says: e4m3 codes are no integers of 8 bits times a fixed unit.
          if (row_kind.contract == Contract::int8_block && facts.element != &kE2m1) continue;
          hold(weights, row_kind, kind, rows, random, compared);
        }
      }
    }
  }
  CHECK(compared.outputs > 10000);
  CHECK(compared.numbers * 2 > compared.outputs);
}

TEST_CASE("rows of several stretches and tiles are the contract's too") {
  Draws random(10);
  Compared compared;
  for (const WeightFacts& facts : kWeights) {
    for (const Kind kind : {Kind::usual, Kind::any_scale, Kind::tiny_activations}) {
      // More of K than any kernel decodes at once, not a multiple of it; more rows than any tile has, in tiles of two heights, the tallest of every
      // kernel among them.
      const Weights weights(facts, {.experts = 2, .halves = 1, .columns = 40, .k = 1184}, kind, random);
      for (const RowKind& row_kind : kRowKinds) {
        if (row_kind.contract == Contract::int8_block && facts.element != &kE2m1) continue;
        hold(weights, row_kind, kind, 34, random, compared);
      }
    }
  }
  CHECK(compared.numbers > 3000);
}

TEST_CASE("products refuse what they cannot take before they write") {
  Draws random(9);
  const PanelShape shape{.experts = 1, .halves = 1, .columns = 5, .k = 64};
  const Weights mxfp4(kWeights[0], shape, Kind::usual, random);
  const Weights fp8(kWeights[4], shape, Kind::usual, random);
  const PanelMatrix panels = mxfp4.packed();
  const PanelMatrix fp8_panels = fp8.packed();
  const IsaTier& tier = isa_tier();
  const GemmKernel& kernel = gemm_kernel_for(Contract::bf16_block, *panels.format, tier);
  const GemmKernel& int8 = gemm_kernel_for(Contract::int8_block, *panels.format, tier);
  const std::vector<std::uint16_t> x(128, 0x3F80);
  const std::vector<float> scales(4, 1.0F);
  std::vector<float> out(11, -1.0F);
  const std::span<float> room = std::span(out).first(10);
  const auto refused = [&](auto call, const std::string& words) {
    CHECK_THROWS_WITH(call(), Catch::Matchers::Contains(words));
    CHECK(out == std::vector<float>(11, -1.0F));
  };
  refused([&] { gemm(kernel, fp8_panels, 0, Bf16Rows{x}, room, 1); }, "does not read weights in fp8_channel");
  refused([&] { gemm(kernel, panels, 1, Bf16Rows{x}, room, 1); }, "expert 1 is not in 0..0");
  refused([&] { gemm(kernel, panels, 0, Bf16Rows{std::span(x).first(100)}, room, 1); }, "x has 100 values, not rows of 64");
  refused([&] { gemm(kernel, panels, 0, Bf16Rows{x}, room.first(9), 1); }, "out has 9 values, not 2 rows of 5");
  refused([&] { gemm(kernel, panels, 0, Bf16Rows{x}, room, 0); }, "0 threads");
  refused([&] { gemm(int8, panels, 0, Bf16Rows{x}, room, 1); }, "takes MXINT8 activations, not bf16");
  refused([&] { gemm(kernel, panels, 0, ScaledRows{x, std::span(scales).first(3), 32}, room, 1); }, "x has 3 scales, not 2 rows of 2");
  refused([&] { gemm(kernel, panels, 0, ScaledRows{x, scales, 16}, room, 1); }, "a scale for 16 of K: 32, 64, 128 or all");
  refused([&] { gemm(kernel, panels, 0, ScaledRows{x, scales, 0}, room, 1); }, "a scale for 0 of K");
  const std::span<float> misaligned(reinterpret_cast<float*>(reinterpret_cast<char*>(out.data()) + 1), 10);
  refused([&] { gemm(kernel, panels, 0, Bf16Rows{x}, misaligned, 1); }, "out is misaligned");
  refused([&] { gemm(kernel, panels, 0, ScaledRows{x, std::span<const float>(out).first(4), 32}, room, 1); }, "out overlaps scales");
  refused([&] { gemm_kernel_for(Contract::exact, *panels.format, tier); }, "no kernel computes the contract exact");
  refused([&] { gemm_kernel_for(Contract::int8_block, *fp8_panels.format, tier); }, "int8-block of weights in fp8_channel");
  // No processor has all extensions of both architectures.
  refused([&] { gemm_kernel_for(Contract::bf16_block, *panels.format, IsaTier{"all", ~0U}); }, "cannot run the instruction sets 'all'");
  refused([&] { check({.experts = 1, .halves = 1, .columns = 5, .k = 48}); }, "K 48 is not a multiple of 32");
  refused([&] { check({.experts = 1, .halves = 3, .columns = 5, .k = 64}); }, "3 halves");
  refused([&] { panel_format_of(WeightFormat::int4); }, "no kernel multiplies int4");
  const RowMajor short_scales{.codes = fp8.codes, .scales = std::span(fp8.scales).first(8), .expert_scales = {}, .bias = {}};
  refused([&] { pack(shape, *fp8_panels.format, SourceOrder::standard, short_scales); }, "bytes of scales has 8");
}
