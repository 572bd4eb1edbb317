// Contracts as text: every row comes back, a record has one text, and what is wrong is named.

#include <set>

#include "model/error.hpp"
#include "model/numerics/tile.hpp"
#include "tests/catch.hpp"

namespace mx::tests {
namespace {

std::string refused(std::string_view text) {
  try {
    contract_named(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

std::vector<const ContractRow*> every_row() {
  std::vector<const ContractRow*> rows;
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    for (const ContractRow& row : table) rows.push_back(&row);
  }
  return rows;
}

/// Sums of codes drawn by a fixed rule, with C and scales.
std::vector<std::uint32_t> some_sums(const ContractRow& row) {
  constexpr std::size_t kLength = 256;
  std::uint64_t state = 85;
  const auto draw = [&] { return static_cast<std::uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 33U); };
  const Format& format_a = row.a_formats.empty() ? kBf16 : *row.a_formats[0];
  const Format& format_b = row.b_formats.empty() ? kBf16 : *row.b_formats[0];
  std::vector<std::uint32_t> sums;
  for (int i = 0; i < 20; ++i) {
    const auto values = [&](const Format& format) {
      std::vector<Value> drawn;
      for (std::size_t k = 0; k < kLength; ++k) {
        const std::uint32_t wide = (draw() & 0x8000U) | (0x3C00U + draw() % 0x600U);
        drawn.push_back(decode(format, format.width == 16 ? wide : draw() & ((1U << format.width) - 1U)));
      }
      return drawn;
    };
    const std::vector<Value> a = values(format_a);
    const std::vector<Value> b = values(format_b);
    const bool terms = row.scales == ScaleEntry::term;
    const bool chains = scales_chains(row.scales);
    const int of_chain = row.restart == kScaleBlock ? 32 : row.restart;
    const int block = terms ? row.scale_block : chains ? of_chain : static_cast<int>(kLength);
    const std::vector<Value> scales(kLength / static_cast<std::size_t>(block), decode(kUe4m3, 0x3B));
    const std::vector<Value> powers(scales.size(), decode(kE8m0, 0x7D));
    const Format* scale_format = terms ? row.scale_format : nullptr;
    const std::span<const Value> given = terms && *row.scale_format == kE8m0 ? powers : scales;
    const std::uint32_t c = i % 3 == 0 ? 0U : 0x3F800000U + draw() % 0x800U * 0x2000U;
    sums.push_back(dot(row, {a, &format_a, given, block, scale_format}, {b, &format_b, given, block, scale_format}, {.c = c, .bias = {}}));
  }
  return sums;
}

TEST_CASE("every row is a record that is read back the same, with the same sums") {
  for (const ContractRow* row : every_row()) {
    INFO(row->name);
    const std::string text = text_of(*row);
    INFO(text);
    CHECK(text.find(' ') == std::string::npos);
    REQUIRE(is_record(text));
    const ContractRow& read = row_of(contract_named(text));
    CHECK(text_of(read) == text);
    CHECK(read.name == text);
    CHECK(contract_named(text) == read.contract);
    CHECK(read.evidence == Evidence::own_record);
    CHECK(some_sums(read) == some_sums(*row));
  }
}

TEST_CASE("the rows of tensor and matrix cores are whole, and their names are of one table") {
  std::set<std::string_view> names;
  for (const ContractRow* row : every_row()) {
    INFO(row->name);
    CHECK(names.insert(row->name).second);
    CHECK(&row_of(row->contract) == row);
    CHECK(contract_named(row->name) == row->contract);
    CHECK_FALSE((row->operands.empty() || row->accumulation.empty() || row->bias.empty() || row->source.empty()));
    const bool by_silicon = row->evidence == Evidence::silicon || row->evidence == Evidence::silicon_of_others;
    CHECK(by_silicon == (row->grounds == Grounds::run));
    CHECK((row->evidence == Evidence::simulator_of_others) == (row->grounds == Grounds::published));
  }
  CHECK(names.size() == 14 + 60);
}

TEST_CASE("a record's fields come in any order, from a name or from nothing, and equal arithmetic is one contract") {
  const Contract own = contract_named("step=aligned:cast=bf16:group=8:align=20:keep=20");
  CHECK(contract_named("KEEP=20:align=20:group=8:cast=BF16:step=Aligned") == own);
  CHECK(contract_named("step=aligned:cast=bf16:group=8:align=20:keep=20:c=term:round=zero") == own);
  CHECK(name_of(own) == "step=aligned:cast=bf16:group=8:align=20:keep=20");
  const ContractRow& narrow = row_of(contract_named("hopper-bf16:align=24"));
  CHECK(narrow.alignment_bits == 24);
  CHECK(narrow.least_exponent == -133);
}

TEST_CASE("what is wrong in a record is named with its field") {
  const std::string aligned = "step=aligned:cast=bf16:group=8:align=20:keep=20";
  const auto with = [&](const std::string& field) { return refused(aligned + ":" + field); };
  const auto whole = [&](const std::string& field, const std::string& what) { return "contract '" + aligned + ":" + field + "': " + what; };
  CHECK(refused("hoper-bf16:align=24") == "unknown contract 'hoper-bf16' (did you mean hopper-bf16?)");
  CHECK(refused("hopper-bf16:algn=24") == "contract 'hopper-bf16:algn=24': unknown field 'algn' (did you mean align?)");
  CHECK(refused("hopper-bf16:align") == "contract 'hopper-bf16:align': 'align' is no field: KEY=VALUE, separated by ':'");
  CHECK(refused("hopper-bf16:") == "contract 'hopper-bf16:': '' is no field: KEY=VALUE, separated by ':'");
  CHECK(with("keep=2") == whole("keep=2", "field keep twice"));
  CHECK(refused("hopper-bf16:align=49") == "contract 'hopper-bf16:align=49': align=49: a whole number from 0 to 48");
  CHECK(refused("hopper-bf16:align=2x") == "contract 'hopper-bf16:align=2x': align=2x: a whole number from 0 to 48");
  CHECK(with("round=up") == whole("round=up", "unknown round 'up' (known: zero floor nearest odd)"));
  CHECK(with("order=0.2") == whole("order=0.2", "order=0.2: each k of a period once, as 1.0 for pairs exchanged"));
  CHECK(with("nan=7") == whole("nan=7", "nan=7: the 8 hexadecimal digits of an fp32 NaN, as 0x7fc00000"));
  CHECK(with("nan=0x3f800000") == whole("nan=0x3f800000", "nan=0x3f800000: the 8 hexadecimal digits of an fp32 NaN, as 0x7fc00000"));
  CHECK(with("join=1.2.3") == whole("join=1.2.3", "join=1.2.3: four numbers as 32.24.any.31"));
  CHECK(with("a=none") == whole("a=none", "a=none: formats, or any"));
  CHECK(with("result=bf16") == whole("result=bf16", "addend and result are f32 or fp16"));
  CHECK(with("c=joined") == whole("c=joined", "c=joined and join=A.B.C.D go together"));
  CHECK(with("lanes=2") == whole("lanes=2", "lanes of step=aligned need c=joined"));
  CHECK(with("restart=12") == whole("restart=12", "restart is a multiple of group and of order's period"));
  CHECK(with("reference=scale") == whole("reference=scale", "presum and reference=scale need a and b of 8 bits at most, and no cast"));
  CHECK(with("scales=term") == whole("scales=term", "scales=term, scale=FORMAT and block=N go together"));
  CHECK(with("split=2") == whole("split=2", "split and split-tile go together"));
  CHECK(with("bias=term") == whole("bias=term", "bias=term is of one exact sum"));
  CHECK(with("result=fp16") == whole("result=fp16", "keep is at most the bits of the result's format"));
  CHECK(refused("step=aligned:group=8:align=20:keep=20") ==
        "contract 'step=aligned:group=8:align=20:keep=20': aligned operands have a format: cast, or a and b");
  CHECK(refused("hopper-bf16: align=24") == "a record has a byte 32 at 12: fields and values joined by ':', without blanks");
  CHECK(refused("hopper-bf16:align=24\n") == "a record has a byte 10 at 20: fields and values joined by ':', without blanks");
  CHECK(refused("hopper-bf16:order=" + std::string(5000, '1')) == "a record of 5018 characters, allowed are 4096");
  CHECK(refused("step=aligned:a=e8m0:b=e8m0:group=8:align=20:keep=20").ends_with("aligned operands are of floating-point formats"));
  CHECK(refused("step=fused:zero=rounded") == "contract 'step=fused:zero=rounded': zero=rounded is of step=exact and step=aligned");
  CHECK(refused("step=fused:group=4") == "contract 'step=fused:group=4': step=fused has no groups");
  CHECK(refused("step=pairwise:group=4") == "contract 'step=pairwise:group=4': step=pairwise needs a cast");
  CHECK(refused("f32-sequential:keep=20") ==
        "contract 'f32-sequential:keep=20': presum, align, keep, round, least, zero-term and product-limit are of step=aligned");
}

/// One sum of bf16 numbers under a record.
std::uint32_t sum_under(std::string_view record, const std::vector<std::uint32_t>& a, std::optional<std::uint32_t> c = {}) {
  std::vector<Value> left;
  for (const std::uint32_t code : a) left.push_back(decode(kBf16, code));
  const std::vector<Value> ones(a.size(), decode(kBf16, 0x3F80));
  return dot(row_of(contract_named(record)), {left, &kBf16}, {ones, &kBf16}, {.c = c, .bias = {}});
}

TEST_CASE("each field says what is computed: expectations worked out by hand") {
  const std::string four = "step=aligned:cast=bf16:group=4:align=8:keep=24";
  // 2^8 and 1.5: the unit is 1. Cut, rounded to nearest even, to odd, and toward minus infinity with the other sign.
  CHECK(sum_under(four, {0x4380, 0x3FC0}) == 0x43808000U);                              // 257
  CHECK(sum_under(four + ":align-rounding=nearest", {0x4380, 0x3FC0}) == 0x43810000U);  // 258
  CHECK(sum_under(four + ":align-rounding=odd", {0x4380, 0x4020}) == 0x43818000U);      // 2.5 becomes 3: 259
  CHECK(sum_under(four + ":align-rounding=floor", {0x4380, 0xBFC0}) == 0x437E0000U);    // -1.5 becomes -2: 254
  CHECK(sum_under(four, {0x4380, 0xBFC0}) == 0x437F0000U);                              // 255
  // The sum's own bits: 257 in 8 of them.
  CHECK(sum_under("step=aligned:cast=bf16:group=4:align=20:keep=8", {0x4380, 0x3F80}) == 0x43800000U);
  CHECK(sum_under("step=aligned:cast=bf16:group=4:align=20:keep=8:round=odd", {0x4380, 0x3F80}) == 0x43810000U);
  CHECK(sum_under("step=aligned:cast=bf16:group=4:align=20:keep=8:round=nearest", {0x4380, 0x3FC0}) == 0x43810000U);
  // A lower bound of 2^10: a unit of 4 leaves nothing of 3. What a zero counts as does the same where there is one.
  CHECK(sum_under(four + ":least=10", {0x4040}) == 0U);
  CHECK(sum_under(four + ":zero-term=10", {0x4040, 0x0000}) == 0U);
  CHECK(sum_under(four + ":zero-term=10", {0x4040}, 0x3F800000U) == 0x40800000U);
  // C = 2^9 among the terms, or behind the sum.
  CHECK(sum_under(four, {0x3FC0}, 0x44000000U) == 0x44000000U);
  CHECK(sum_under(four + ":c=last", {0x3FC0}, 0x44000000U) == 0x44006000U);  // 513.5
  // Two groups: C behind each chain of one group.
  CHECK(sum_under(four + ":restart=4", {0x3FC0, 0, 0, 0, 0x3FC0}, 0x44000000U) == 0x4400C000U);  // 515
  // Beyond the range: Inf, or the largest number.
  CHECK(sum_under(four, {0x7F7F, 0x7F7F}) == 0x7F800000U);
  CHECK(sum_under(four + ":overflow=largest", {0xFF7F, 0xFF7F}) == 0xFF7FFFFFU);
  CHECK(sum_under(four + ":product-limit=9", {0x4400, 0x3F80}) == 0x7F800000U);
  CHECK(sum_under(four + ":product-limit=10", {0x4400, 0x3F80}) == 0x44000000U);
  // Zeros.
  CHECK(sum_under(four, {0x8000, 0x8000}, 0x80000000U) == 0x80000000U);
  CHECK(sum_under(four + ":zero=plus", {0x8000, 0x8000}, 0x80000000U) == 0U);
  CHECK(sum_under(four + ":zero=rounded", {0x8000, 0x8000}, 0x80000000U) == 0U);
  CHECK(sum_under("step=pairwise:cast=bf16:group=4", {0x8000, 0x8000}, 0x80000000U) == 0x80000000U);
  CHECK(sum_under("step=pairwise:cast=bf16:group=4:zero=plus", {0x8000, 0x8000}, 0x80000000U) == 0U);
  CHECK(sum_under("step=fused:cast=bf16:zero=plus", {0x8000, 0x8000}, 0x80000000U) == 0U);
  CHECK(sum_under("step=exact:cast=bf16:zero=plus", {0x8000, 0x8000}, 0x80000000U) == 0U);
  // A tree: (2^24 + 1) and (1 + 1), where a chain from the left loses both ones.
  CHECK(sum_under("step=pairwise:cast=bf16:group=4", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800001U);
  CHECK(sum_under("step=fused:cast=bf16", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800000U);
  // Two parts of four: 2^24 + 1 and 1 + 1 again.
  CHECK(sum_under("step=fused:cast=bf16:split=2:split-tile=2", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800001U);
  // Exact sums of two, each rounded: 2^24 + 1 is a tie to even, 2^24 + 2 a number.
  CHECK(sum_under("step=exact:cast=bf16:group=2", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800001U);
  CHECK(sum_under("step=exact:cast=bf16:group=1", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800000U);
  CHECK(sum_under("step=exact:cast=bf16", {0x4B80, 0x3F80, 0x3F80, 0x3F80}) == 0x4B800002U);
  // Results in fp16: 2049 is a tie, 65520 overflows.
  CHECK(sum_under("step=exact:cast=bf16:group=2:addend=fp16:result=fp16", {0x4500, 0x3F80}) == 0x45000000U);
  CHECK(sum_under("step=exact:cast=bf16:addend=fp16:result=fp16", {0x4780, 0xC180}) == 0x7F800000U);
  CHECK(sum_under("step=exact:cast=bf16:addend=fp16:result=fp16:overflow=largest", {0x4780, 0xC180}) == 0x477FE000U);
  // Each step saturates: the largest number less the largest of bf16 is 65535 units. An Inf is no overflow.
  CHECK(sum_under("step=exact:cast=bf16:group=1:overflow=largest", {0x7F7F, 0x7F7F, 0xFF7F}) == 0x7B7FFF00U);
  CHECK(sum_under("step=exact:cast=bf16:overflow=largest", {0xFF7F, 0xFF7F}) == 0xFF7FFFFFU);
  CHECK(sum_under("step=exact:cast=bf16:overflow=largest", {0xFF80, 0x3F80}) == 0xFF800000U);
  CHECK(sum_under("step=fused:cast=bf16:addend=fp16:result=fp16", {0x4500, 0x3F80, 0x3F80}) == 0x45000000U);
  // Products in bf16: 1.0078125 squared loses its last bit.
  const std::vector<Value> odd(1, decode(kBf16, 0x3F81));
  CHECK(dot(row_of(contract_named("step=fused:cast=bf16")), {odd, &kBf16}, {odd, &kBf16}, {}) == 0x3F820200U);
  CHECK(dot(row_of(contract_named("step=fused:cast=bf16:product=bf16")), {odd, &kBf16}, {odd, &kBf16}, {}) == 0x3F820000U);
}

}  // namespace
}  // namespace mx::tests
