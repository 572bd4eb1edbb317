// Every engine against the model, bit for bit: random shapes with all tails, scale bytes at both ends, activations of every kind.

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "model/error.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::kernels::moe;

namespace {

/// What scale bytes and activations look like.
enum class Kind { usual, any_scale, tiny_activations, special_activations, everything };
constexpr Kind kKinds[] = {Kind::usual, Kind::any_scale, Kind::tiny_activations, Kind::special_activations, Kind::everything};

using Draws = std::mt19937;

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

  PreparedOperand prepared(const ContractRow& row, Side side) const {
    return prepare(row, side, {.elements = elements, .format = format, .scales = scales, .block = scales.empty() ? 0 : 32});
  }
};

struct Weights {
  PanelShape shape;
  std::vector<std::uint8_t> codes, scales;
  std::vector<float> bias;

  Weights(const PanelShape& of, Kind kind, Draws& random) : shape(of) {
    const std::size_t rows = shape.experts * shape.halves * shape.columns;
    for (std::size_t i = 0; i < rows * shape.k / 2; ++i) codes.push_back(static_cast<std::uint8_t>(random()));
    for (std::size_t i = 0; i < rows * shape.blocks(); ++i) scales.push_back(any_scale(random, kind));
    // A biased matrix and one without must both be met.
    if (random() % 2 == 0) return;
    for (std::size_t i = 0; i < rows; ++i) bias.push_back(std::bit_cast<float>(any_bf16(random, kind) * 0x10000U));
  }

  ModelRow row(std::size_t index) const {
    std::vector<std::uint32_t> elements, bytes;
    for (std::size_t k = 0; k < shape.k; ++k) {
      const std::uint32_t byte = codes[(index * shape.k + k) / 2];
      elements.push_back(k % 2 == 0 ? byte & 15U : byte >> 4);
    }
    for (std::size_t b = 0; b < shape.blocks(); ++b) bytes.push_back(scales[static_cast<std::size_t>(index * shape.blocks() + b)]);
    return {decoded(kE2m1, elements), decoded(kE8m0, bytes), &kE2m1};
  }
};

struct Activations {
  std::vector<std::uint16_t> bf16;
  std::vector<std::int8_t> int8;
  std::vector<std::uint8_t> scales;

  Activations(std::size_t rows, std::size_t k, Kind kind, Draws& random) {
    for (std::size_t i = 0; i < rows * k; ++i) bf16.push_back(any_bf16(random, kind));
    for (std::size_t i = 0; i < rows * k; ++i) int8.push_back(static_cast<std::int8_t>(random()));
    for (std::size_t i = 0; i < rows * k / 32; ++i) scales.push_back(any_scale(random, kind));
  }

  ModelRow row(bool as_int8, std::size_t index, std::size_t k) const {
    std::vector<std::uint32_t> elements, bytes;
    const auto first = static_cast<std::size_t>(index * k);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(k); ++i)
      elements.push_back(as_int8 ? static_cast<std::uint8_t>(int8[i]) : bf16[i]);
    if (!as_int8) return {decoded(kBf16, elements), {}, &kBf16};
    for (std::size_t i = first / 32; i < first / 32 + static_cast<std::size_t>(k / 32); ++i) bytes.push_back(scales[i]);
    return {decoded(kMxint8, elements), decoded(kE8m0, bytes), &kMxint8};
  }
};

std::vector<float> run(const Engine& engine, const PanelMatrix& weights, std::size_t expert, const Activations& x, std::size_t rows, int threads) {
  const PanelShape& shape = weights.shape;
  std::vector<float> out(static_cast<std::size_t>(rows * shape.halves * shape.columns), -1.0F);
  if (engine.contract == Contract::int8_block) {
    gemm(engine, weights, expert, Int8Rows{x.int8, x.scales}, out, threads);
  } else {
    gemm(engine, weights, expert, Bf16Rows{x.bf16}, out, threads);
  }
  return out;
}

/// The model's outputs at a sample of places: for each, its index in `out` and the bits.
struct Expected {
  std::size_t index;
  std::uint32_t bits;
};

std::vector<Expected> modelled(Contract contract, const Weights& weights, std::size_t expert, const Activations& x, std::size_t rows) {
  const ContractRow& row = row_of(contract);
  const PanelShape& shape = weights.shape;
  const std::size_t length = shape.halves * shape.columns;
  std::vector<PreparedOperand> operands;
  for (std::size_t m = 0; m < rows; ++m) operands.push_back(x.row(contract == Contract::int8_block, m, shape.k).prepared(row, Side::a));
  std::vector<Expected> expected;
  for (std::size_t n = 0; n < length; ++n) {
    const std::size_t index = expert * length + n;
    const PreparedOperand column = weights.row(index).prepared(row, Side::b);
    Addends addends;
    if (!weights.bias.empty()) addends.bias = std::bit_cast<std::uint32_t>(weights.bias[static_cast<std::size_t>(index)]);
    for (std::size_t m = 0; m < rows; ++m) {
      expected.push_back({static_cast<std::size_t>(m * length + n), dot(row, operands[static_cast<std::size_t>(m)], column, addends)});
    }
  }
  return expected;
}

bool runs(const Engine& engine) { return (engine.needs & ~mx::kernels::isa_of_processor()) == 0; }

}  // namespace

TEST_CASE("every engine computes its contract, whatever the shape and the numbers") {
  Draws random(7);
  std::size_t compared = 0;
  for (const Kind kind : kKinds) {
    for (std::size_t round = 0; round < 12; ++round) {
      const PanelShape shape{.experts = 2,
                             .halves = 1 + static_cast<std::size_t>(random() % 2),
                             .columns = 1 + static_cast<std::size_t>(random() % 70),
                             .k = 32 * (1 + static_cast<std::size_t>(random() % 5))};
      const std::size_t rows = round < 6 ? 1 + round : 1 + random() % 27;
      const Weights weights(shape, kind, random);
      const Activations x(rows, shape.k, kind, random);
      const PanelMatrix panels = pack(shape, row_order(shape, layout::SourceOrder::standard), weights.codes, weights.scales, weights.bias);
      for (const Contract contract : {Contract::bf16_chain, Contract::bf16_block, Contract::int8_block}) {
        const std::vector<Expected> expected = modelled(contract, weights, 1, x, rows);
        for (const Engine& engine : engines()) {
          if (engine.contract != contract || !runs(engine)) continue;
          const std::vector<float> out = run(engine, panels, 1, x, rows, 2);
          std::size_t differing = 0;
          std::string first;
          for (const Expected& e : expected) {
            const std::uint32_t found = std::bit_cast<std::uint32_t>(out[e.index]);
            if (found != e.bits && differing++ == 0) first = std::to_string(e.index) + ": " + f32::text(found) + ", model " + f32::text(e.bits);
          }
          compared += expected.size();
          INFO(engine.name << ", kind " << static_cast<int>(kind) << ", " << rows << " rows, " << shape.halves << " x " << shape.columns
                           << " columns, K " << shape.k << ", at " << first);
          CHECK(differing == 0);
        }
      }
    }
  }
  CHECK(compared > 100000);
}
