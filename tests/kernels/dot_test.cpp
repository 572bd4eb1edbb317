// Quick sums against mx::dot, bit for bit: rows from prepared operands and from tables, numbers of every kind, and what they leave to the model.

#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernels/dot/row_set.hpp"
#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"

using namespace mx;
using namespace mx::kernels::dot;

namespace {

using Draws = std::mt19937;

/// What the two operands of a contract are codes of.
struct Pairing {
  Contract contract;
  const Format* a;
  const Format* a_scale;  ///< null: none
  int a_block;
  const Format* b;
  const Format* b_scale;
  int b_block;
};
const std::array kPairings{
    Pairing{Contract::exact, &kF32, &kF32, 32, &kE2m1, &kE8m0, 32},
    Pairing{Contract::exact, &kF32, nullptr, 0, &kE2m1, &kE8m0, 32},
    Pairing{Contract::exact, &kBf16, nullptr, 0, &kE2m1, &kE8m0, 32},
    Pairing{Contract::exact, &kE4m3fn, &kE8m0, 32, &kE2m1, &kE8m0, 32},
    Pairing{Contract::exact, &kE2m1, &kE4m3fn, 16, &kE2m1, &kE4m3fn, 16},
    Pairing{Contract::exact, &kE4m3fn, nullptr, 0, &kE4m3fn, nullptr, 0},
    Pairing{Contract::exact, &kE4m3fn, &kF32, 128, &kE2m1, &kE8m0, 32},
    Pairing{Contract::hopper_bf16, &kBf16, nullptr, 0, &kE2m1, &kE8m0, 32},
    Pairing{Contract::hopper_bf16, &kBf16, nullptr, 0, &kE4m3fn, &kE8m0, 32},
    Pairing{Contract::hopper_bf16, &kBf16, nullptr, 0, &kE2m1, &kE4m3fn, 16},
    Pairing{Contract::hopper_fp16, &kBf16, nullptr, 0, &kE2m1, &kE8m0, 32},
    Pairing{mx::contract_named("ampere-bf16"), &kBf16, nullptr, 0, &kE2m1, &kE8m0, 32},
    Pairing{mx::contract_named("ada-f16"), &kBf16, nullptr, 0, &kE4m3fn, &kE8m0, 32},
    Pairing{mx::contract_named("ada-fp8"), &kE4m3fn, nullptr, 0, &kE4m3fn, nullptr, 0},
    Pairing{Contract::hopper_fp8, &kE4m3fn, nullptr, 0, &kE4m3fn, nullptr, 0},
    Pairing{Contract::hopper_fp8, &kE5m2, nullptr, 0, &kE4m3fn, nullptr, 0},
    Pairing{mx::contract_named("blackwell-f8f6f4"), &kE4m3fn, nullptr, 0, &kE4m3fn, nullptr, 0},
    Pairing{Contract::hopper_fp8_promoted, &kE4m3fn, nullptr, 0, &kE5m2, nullptr, 0},
    Pairing{Contract::hopper_fp8_block_1x128, &kE4m3fn, &kF32, 128, &kE4m3fn, &kF32, 128},
    Pairing{Contract::hopper_fp8_block_128x128, &kE5m2, &kF32, 128, &kE4m3fn, &kF32, 256},
    Pairing{Contract::hopper_fp8_block_128x128, &kE4m3fn, nullptr, 0, &kE4m3fn, &kF32, 128},
    Pairing{mx::contract_named("ada-fp8-block-1x128"), &kE4m3fn, &kF32, 128, &kE4m3fn, &kF32, 128},
    Pairing{mx::contract_named("blackwell-f8f6f4-block-128x128"), &kE4m3fn, &kF32, 128, &kE4m3fn, &kF32, 128},
};

/// What codes look like: numbers of about one size, of any, few beside zeros, or anything at all.
enum class Kind { usual, wide, sparse, any };
constexpr Kind kKinds[] = {Kind::usual, Kind::wide, Kind::sparse, Kind::any};

std::uint32_t draw_element(Draws& random, const Format& format, Kind kind) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t all = 0xFFFFFFFFU >> (32 - format.width);
  const ValueClass cls = decode(format, bits & all).cls;
  if (kind != Kind::any && (cls == ValueClass::nan || cls == ValueClass::infinity)) return draw_element(random, format, kind);
  if (kind == Kind::sparse && bits >> 28 != 0) return bits >> 27 & 1U ? 1U << (format.width - 1) : 0;
  if (kind == Kind::any) return bits & all;
  if (format == kF32) return (bits & 0x807FFFFFU) | (100U + (bits >> 8U) % 40U) << 23U;
  if (format != kBf16) return bits & all;
  const std::uint32_t exponent = kind == Kind::wide ? (bits >> 16U) % 170U : 110U + (bits >> 16U) % 12U;
  return (bits & 0x807FU) | exponent << 7U;
}

std::uint32_t draw_scale(Draws& random, const Format& format, Kind kind) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (kind == Kind::any && bits % 31 == 0) return format.width == 8 ? 0xFFU : 0x7FC00000U;
  if (format == kE8m0) return kind == Kind::wide || kind == Kind::any ? 40U + (bits >> 8U) % 130U : 120U + (bits >> 8U) % 10U;
  if (format == kF32) return (120U + bits % 8U) << 23U | (bits >> 9U);
  return 0x20U + bits % 0x50U;
}

/// A row of codes, with everything that is made of it.
struct CodedRow {
  std::vector<std::uint8_t> codes;  ///< of formats of 8 bits at most
  std::vector<std::uint8_t> scale_codes;
  std::vector<Value> elements;
  std::vector<Value> scales;
  PreparedOperand prepared;

  CodedRow(Draws& random, const ContractRow& contract, Side side, const Format& format, const Format* scale, int block, std::size_t length,
           Kind kind) {
    for (std::size_t k = 0; k < length; ++k) {
      const std::uint32_t code = draw_element(random, format, kind);
      codes.push_back(static_cast<std::uint8_t>(code));
      elements.push_back(decode(format, code));
    }
    for (std::size_t k = 0; scale != nullptr && k < length; k += static_cast<std::size_t>(block)) {
      const std::uint32_t code = draw_scale(random, *scale, kind);
      scale_codes.push_back(static_cast<std::uint8_t>(code));
      scales.push_back(decode(*scale, code));
    }
    prepared = prepare(contract, side, {elements, &format, scales, scale == nullptr ? 0 : block});
  }
};

std::string text(const Pairing& pairing, Kind kind, std::size_t length) {
  return std::string(name_of(pairing.contract)) + " " + std::string(pairing.a->name) + " by " + std::string(pairing.b->name) + ", kind " +
         std::to_string(static_cast<int>(kind)) + ", " + std::to_string(length) + " elements";
}

}  // namespace

TEST_CASE("quick sums have the bits of mx::dot, or leave the answer to it") {
  Draws random(20261);
  for (const Pairing& pairing : kPairings) {
    const ContractRow& contract = mx::row_of(pairing.contract);
    REQUIRE(takes(contract));
    for (const Kind kind : kKinds) {
      int quick = 0;
      int tried = 0;
      for (int round = 0; round < 60; ++round) {
        const std::size_t length = round % 3 == 0 ? 32 * (1 + random() % 12) : 1 + random() % 300;
        INFO(text(pairing, kind, length));
        const CodedRow a(random, contract, Side::a, *pairing.a, pairing.a_scale, pairing.a_block, length, kind);
        const CodedRow b(random, contract, Side::b, *pairing.b, pairing.b_scale, pairing.b_block, length, kind);
        const Row row_a = quick_row(contract, a.prepared);
        std::vector<Row> rows_b{quick_row(contract, b.prepared)};
        if (RowTable::takes(contract, *pairing.b, pairing.b_scale)) {
          RowTable(contract, Side::b, *pairing.b, pairing.b_scale)
              .fill(rows_b.emplace_back(), b.codes, b.scale_codes, static_cast<std::size_t>(pairing.b_block));
        } else if (scales_chains(contract)) {
          Row& row = rows_b.emplace_back();
          RowTable(contract, Side::b, *pairing.b, nullptr).fill(row, b.codes, {}, 0);
          row.scales = b.prepared.scales;
          row.block = b.prepared.block;
        }
        const std::optional<std::uint32_t> bias =
            contract.bias_in_sum && round % 2 == 0 ? std::optional(draw_scale(random, kF32, kind)) : std::nullopt;
        for (const Row& row_b : rows_b) {
          const std::optional<std::uint32_t> got = quick_dot(contract, row_a, row_b, bias);
          ++tried;
          // Whatever the other row holds, a NaN is one.
          CHECK((got.has_value() || !row_a.nan));
          if (!got) continue;
          ++quick;
          REQUIRE(f32::text(*got) == f32::text(dot(contract, a.prepared, b.prepared, {.c = {}, .bias = bias})));
        }
      }
      // Of exact sums those of numbers very far apart, or with fp32 scales, are too wide, and fp16 has no such range; weights that are NaNs are left.
      INFO(text(pairing, kind, 0));
      const bool far_apart = kind == Kind::wide && (contract.step == Step::exact || contract.cast == &kFp16);
      const bool too_wide = far_apart || (contract.step == Step::exact && pairing.a_scale == &kF32);
      if (kind != Kind::any && !too_wide) CHECK(quick == tried);
    }
  }
}

TEST_CASE("rows side by side have the bits of mx::dot on every tier, whichever of them is left to the model") {
  Draws random(20263);
  constexpr std::size_t kCounts[] = {1, 3, 8, 9, 20};
  for (const Pairing& pairing : kPairings) {
    const ContractRow& contract = mx::row_of(pairing.contract);
    for (const std::size_t count : kCounts) {
      const std::size_t length = 32 * (1 + random() % 6);
      const Kind kind_b = kKinds[random() % 2];
      const CodedRow b(random, contract, Side::b, *pairing.b, pairing.b_scale, pairing.b_block, length, kind_b);
      const Row row_b = quick_row(contract, b.prepared);
      std::vector<CodedRow> coded;
      std::vector<Row> rows;
      // Rows of every kind beside each other: in one block some are for the kernel and some are not.
      for (std::size_t i = 0; i < count; ++i) {
        coded.emplace_back(random, contract, Side::a, *pairing.a, pairing.a_scale, pairing.a_block, length, kKinds[random() % 4]);
        rows.push_back(quick_row(contract, coded.back().prepared));
      }
      std::vector<const Row*> pointers;
      for (const Row& row : rows) pointers.push_back(&row);
      for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
        if (!kernels::runs_here(tier)) continue;
        INFO(text(pairing, kind_b, length) << ", " << count << " rows, " << tier.name);
        std::vector<std::optional<std::uint32_t>> sums(count);
        RowSet(contract, pointers, tier).dots(row_b, {}, sums);
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(sums[i] == quick_dot(contract, rows[i], row_b));
          if (sums[i]) CHECK(f32::text(*sums[i]) == f32::text(dot(contract, coded[i].prepared, b.prepared, {})));
        }
      }
    }
  }
}

TEST_CASE("a row of another length is refused beside others too") {
  const ContractRow& contract = mx::row_of(Contract::hopper_bf16);
  const Row three = quick_row(contract, prepare(contract, Side::a, {std::vector<Value>(3), &kBf16}));
  const Row forty = quick_row(contract, prepare(contract, Side::a, {std::vector<Value>(40), &kBf16}));
  std::vector<std::optional<std::uint32_t>> sums(2);
  CHECK_THROWS_WITH(RowSet(contract, {&forty, &three}).dots(forty, {}, sums), Catch::Contains("a dot product of 3 by 40 elements"));
}

TEST_CASE("a sum of zeros has the model's sign") {
  for (const Contract contract : {Contract::exact, Contract::hopper_bf16}) {
    const ContractRow& row = mx::row_of(contract);
    for (const std::uint32_t a_code : {0x0000U, 0x8000U}) {
      for (const std::uint32_t b_code : {0x0000U, 0x8000U, 0x3F80U}) {
        const std::vector<Value> a(40, decode(kBf16, a_code));
        const std::vector<Value> b(40, decode(kBf16, b_code));
        const PreparedOperand operand_a = prepare(row, Side::a, {a, &kBf16});
        const PreparedOperand operand_b = prepare(row, Side::b, {b, &kBf16});
        CHECK(quick_dot(row, quick_row(row, operand_a), quick_row(row, operand_b)) == dot(row, operand_a, operand_b, {}));
      }
    }
  }
}

TEST_CASE("contracts that round every step have no quick sum, and codes of 16 bits no table") {
  for (const Contract contract : {Contract::f32_sequential, Contract::bf16_chain, Contract::bf16_block, Contract::hopper_mma_fp8}) {
    CHECK_FALSE(takes(mx::row_of(contract)));
    CHECK_THROWS_WITH(quick_row(mx::row_of(contract), {}), Catch::Contains("has no quick sum"));
  }
  const ContractRow& exact = mx::row_of(Contract::exact);
  CHECK_THROWS_WITH(RowTable(exact, Side::b, kBf16, nullptr), Catch::Contains("no table for codes of bf16"));
  const Row three = quick_row(exact, prepare(exact, Side::a, {std::vector<Value>(3), &kBf16}));
  const Row four = quick_row(exact, prepare(exact, Side::a, {std::vector<Value>(4), &kBf16}));
  CHECK_THROWS_WITH(quick_dot(exact, three, four), Catch::Contains("a dot product of 3 by 4 elements"));
  Row row;
  CHECK_THROWS_WITH(RowTable(exact, Side::b, kE2m1, &kE8m0).fill(row, std::vector<std::uint8_t>(64), std::vector<std::uint8_t>(1), 32),
                    Catch::Contains("1 scales for 64 codes"));
}
