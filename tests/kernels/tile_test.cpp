// Tiles: the kernels against mx::multiply, contract by contract, on every tier and any number of threads.

#include "kernels/dot/tile.hpp"

#include <string>

#include "kernels/isa.hpp"
#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/codec_cases.hpp"

namespace mx::tests {
namespace {

/// What the codes of an operand are like.
enum class Codes { any, near, sparse };

std::uint32_t draw_code(Words& random, const Format& format, Codes codes) {
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t mask = format.width == 32 ? 0xFFFFFFFFU : (1U << format.width) - 1U;
  if (codes == Codes::sparse && bits % 4 != 0) return bits % 8 < 4 || !format.has_sign ? 0U : 1U << (format.width - 1);
  if (codes == Codes::any || format.exponent_bits < 5) return static_cast<std::uint32_t>(random()) & mask;
  // Exponents about 1, some of them far below.
  const std::uint32_t field = static_cast<std::uint32_t>(format.bias) - bits % 12 - (bits % 50 == 0 ? 10U : 0U) + 4;
  const std::uint32_t mantissa = static_cast<std::uint32_t>(random()) & ((1U << format.mantissa_bits) - 1U);
  return (bits >> 31U) << (format.width - 1) | field << format.mantissa_bits | mantissa;
}

/// The memory of one operand.
struct Drawn {
  std::vector<std::uint8_t> codes, scales;
  TileOperand operand;

  Drawn(Words& random, const ContractRow& row, const Format& format, std::size_t rows, std::size_t k, Codes kind) {
    const auto put = [](std::vector<std::uint8_t>& bytes, std::uint32_t word, std::size_t width) {
      for (std::size_t i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    };
    for (std::size_t i = 0; i < rows * k; ++i) {
      const std::uint32_t code = draw_code(random, format, kind);
      put(codes, format == kTf32 ? code << 13U | (static_cast<std::uint32_t>(random()) & 0x1FFFU) : code, tile_word_bytes(format));
    }
    operand = {.format = &format, .codes = codes};
    if (row.scales == ScaleEntry::operand) return;
    const bool terms = row.scales == ScaleEntry::term;
    const bool chains = row.restart > 0 && scales_chains(row.scales);
    operand.scale_format = terms ? row.scale_format : &kF32;
    operand.block = terms                        ? static_cast<std::size_t>(row.scale_block)
                    : chains                     ? static_cast<std::size_t>(row.restart)
                    : row.restart == kScaleBlock ? 32
                                                 : k;
    for (std::size_t i = 0; i < rows * ((k + operand.block - 1) / operand.block); ++i) {
      const auto bits = static_cast<std::uint32_t>(random());
      const std::uint32_t near = *operand.scale_format == kE8m0 ? 120U + bits % 16U : bits % 128U;
      const bool wild = kind == Codes::any && bits % 3 == 0;
      put(scales, terms ? (wild ? bits >> 24U : near) : ((bits & 1U) << 31U | (117U + bits % 20U) << 23U | (bits >> 9U)),
          tile_word_bytes(*operand.scale_format));
    }
    operand.scales = scales;
  }
};

std::uint32_t draw_c(Words& random, const ContractRow& row, Codes kind) {
  const auto bits = static_cast<std::uint32_t>(random());
  if (bits % 5 == 0) return bits & 0x80000000U;
  const std::uint32_t any =
      kind == Codes::any ? static_cast<std::uint32_t>(random()) : (bits & 0x80000000U) | (110U + bits % 30U) << 23U | (bits & 0x7FFFFFU);
  return *row.addend == kF32 ? any : to_f32(any & 0xFFFFU, kFp16);
}

const Format& drawn_format(Words& random, std::span<const Format* const> formats, const ContractRow& row) {
  if (!formats.empty()) return *formats[random() % formats.size()];
  if (row.cast == nullptr || random() % 4 == 0) return random() % 2 == 0 ? kBf16 : kE4m3fn;
  return random() % 3 == 0 ? kF32 : *row.cast;
}

std::string words(std::span<const std::uint32_t> codes) {
  std::string text;
  for (const std::uint32_t code : codes) text += f32::text(code) + " ";
  return text;
}

void hold(const ContractRow& row, Words& random, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto kind = static_cast<Codes>(round % 3);
    const Format& format_a = drawn_format(random, row.a_formats, row);
    const Format& format_b = drawn_format(random, row.b_formats, row);
    Tile tile{.m = 1 + random() % 3, .n = 1 + random() % 35, .k = 1 + random() % 150, .a = {}, .b = {}};
    if (scales_chains(row.scales)) tile.k = 256;
    const Drawn a(random, row, format_a, tile.m, tile.k, kind);
    const Drawn b(random, row, format_b, tile.n, tile.k, random() % 3 == 0 ? Codes::any : kind);
    tile.a = a.operand;
    tile.b = b.operand;
    std::vector<std::uint32_t> c, bias;
    for (std::size_t i = 0; round % 4 != 0 && i < tile.m * tile.n; ++i) c.push_back(draw_c(random, row, kind));
    for (std::size_t j = 0; round % 5 == 0 && j < tile.n; ++j) bias.push_back(draw_c(random, row, kind));
    tile.c = c;
    tile.bias = bias;
    constexpr std::array<const Format*, 4> kOutputs{&kF32, &kF32, &kBf16, &kFp16};
    tile.output = kOutputs[random() % kOutputs.size()];
    INFO(row.name << ", " << format_a.name << " by " << format_b.name << ", " << tile.m << " x " << tile.n << " x " << tile.k << ", round " << round);
    std::vector<std::uint32_t> expected(tile.m * tile.n);
    mx::multiply(row, tile, expected);
    for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
      if (!kernels::runs_here(tier)) continue;
      INFO(tier.name);
      for (const int threads : {1, 3}) {
        std::vector<std::uint32_t> got(expected.size());
        kernels::dot::multiply(row, tile, got, kernels::Workers{&tier, threads});
        REQUIRE(words(got) == words(expected));
      }
    }
  }
}

}  // namespace

TEST_CASE("a tile has the model's bits under every contract, on every tier, on any number of threads") {
  Words random(85);
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    for (const ContractRow& row : table) hold(row, random, row.step == Step::aligned ? 24 : 6);
  }
}

TEST_CASE("a tile has the model's bits under records") {
  Words random(86);
  for (const std::string_view text :
       {"step=aligned:cast=bf16:group=5:align=20:keep=17:zero=plus", "step=aligned:cast=fp16:group=7:align=25:keep=24:zero=plus:c=last",
        "step=aligned:cast=fp16:group=16:align=9:keep=11:zero=plus:round=nearest:addend=fp16:result=fp16",
        "step=aligned:cast=bf16:group=16:align=25:keep=24:zero=plus:least=-20:order=1.0:restart=64", "blackwell-nvf4:align=30:group=32",
        "blackwell-mxf8f6f4:keep=14:align=13", "hopper-bf16:align=24:round=floor", "hopper-bf16:zero=ieee", "hopper-bf16:split=3:split-tile=16",
        "ampere-tf32:group=3", "hopper-fp8-f16:overflow=largest"})
    hold(row_of(contract_named(text)), random, 24);
}

TEST_CASE("kernels do the work for the contracts that align and truncate") {
  const std::vector<std::uint8_t> none;
  const auto quick = [&](std::string_view name, const Format& format) {
    const TileOperand operand{.format = &format, .codes = none};
    return kernels::dot::is_quick(row_of(contract_named(name)), {.m = 1, .n = 1, .k = 64, .a = operand, .b = operand});
  };
  for (const std::string_view name : {"hopper-fp8", "hopper-fp8-promoted", "hopper-mma-fp8", "ada-fp8-f16", "blackwell-f8f6f4", "blackwell-mxf8f6f4"})
    CHECK(quick(name, kE4m3fn));
  for (const std::string_view name : {"hopper-bf16", "ampere-tf32", "volta-f16", "turing-f16-f16"}) CHECK(quick(name, kBf16));
  for (const std::string_view name : {"blackwell-mxf4", "blackwell-nvf4"}) CHECK(quick(name, kE2m1));
  for (const std::string_view name : {"cdna1-f16", "cdna2-bf16", "cdna3-f16", "f32-sequential", "exact"}) CHECK_FALSE(quick(name, kBf16));
}

TEST_CASE("tiles that do not fit are refused") {
  const std::vector<std::uint8_t> eight(8, 0x38);
  const auto refused = [&](Tile tile, std::string_view contract, std::size_t room = 4, int threads = 1) -> std::string {
    std::vector<std::uint32_t> out(room);
    try {
      kernels::dot::multiply(row_of(contract_named(contract)), tile, out, {&kernels::isa_tier(), threads});
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return error.what();
    }
    return "no error";
  };
  const Tile good{.m = 2, .n = 2, .k = 4, .a = {.format = &kE4m3fn, .codes = eight}, .b = {.format = &kE4m3fn, .codes = eight}};
  CHECK(refused(good, "hopper-fp8") == "no error");
  CHECK(refused(good, "hopper-fp8", 3) == "a tile: room for 3 results, not 4");
  CHECK(refused(good, "hopper-fp8", 4, 0) == "0 threads, allowed are 1 to 1024");
  Tile tile = good;
  tile.k = 0;
  CHECK(refused(tile, "hopper-fp8") == "a tile: no rows, columns or k");
  tile = good;
  tile.a.format = &kE2m1;
  CHECK(refused(tile, "blackwell-f8f6f4") == "a tile: codes of a 0 is 56, no code of e2m1");
  tile = good;
  tile.b.codes = std::span(eight).first(7);
  CHECK(refused(tile, "hopper-fp8") == "a tile: codes of b: 7 bytes for 8 of e4m3fn");
  tile = good;
  tile.output = &kE5m2;
  CHECK(refused(tile, "hopper-fp8") == "a tile: the output is f32, bf16 or fp16");
  tile = good;
  const std::vector<std::uint32_t> c{0, 0x3F800000U, 0x3F800001U, 0};
  tile.c = c;
  CHECK(refused(tile, "hopper-fp8") == "no error");
  CHECK(refused(tile, "hopper-fp8-f16") == "a tile: C 2 is no number of fp16, which contract hopper-fp8-f16 takes");
  tile.c = std::span(c).first(3);
  CHECK(refused(tile, "hopper-fp8") == "a tile: C has 3 numbers, not 4");
  CHECK(refused(good, "blackwell-mxf8f6f4") == "contract blackwell-mxf8f6f4: no scales, it takes e8m0, one for each 32");
}

}  // namespace mx::tests
