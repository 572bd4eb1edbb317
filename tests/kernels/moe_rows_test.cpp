// More rows than a kernel takes at once by teams of threads, and no rows at all.

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "kernels/moe/gemm.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/moe_cases.hpp"
#include "tests/kernels/moe_draws.hpp"
#include "tests/kernels/moe_kernels.hpp"

using namespace mx;
using namespace mx::kernels;
using namespace mx::kernels::moe;
using namespace mx::tests;
using namespace mx::deployment;
using mx::moe::ScaledChoices;

namespace {

constexpr std::size_t kColumns = 37;
constexpr std::size_t kK = 64;
constexpr std::size_t kBlock = 32;  ///< of K with a scale
constexpr std::size_t kBlocks = kK / kBlock;

/// Random weights. Their scales are moderate, but not with the tiny ones of rows.
PanelMatrix any_panels(WeightFormat weight_format, std::size_t halves, Draws& random) {
  const PanelShape shape{.experts = 1, .halves = halves, .columns = kColumns, .k = kK};
  const PanelFormat& format = panel_format_of(weight_format);
  std::vector<std::uint8_t> codes, scales;
  for (std::size_t i = 0; i < halves * kColumns * kK * static_cast<std::size_t>(format.code_bits) / 8; ++i) {
    const auto code = static_cast<std::uint8_t>(random());
    codes.push_back(format.code_bits == 8 && (code & 0x7FU) == 0x7FU ? std::uint8_t{0x7E} : code);
  }
  if (format.scale == PanelScale::f32) {
    const std::size_t rows = weight_format == WeightFormat::fp8_tensor ? 1 : weight_format == WeightFormat::fp8_channel ? halves * kColumns : halves;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint32_t word = any_f32_scale(random, Kind::usual);
      for (int shift = 0; shift < 32; shift += 8) scales.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  } else {
    const bool e8m0 = format.scale == PanelScale::e8m0;
    for (std::size_t i = 0; i < halves * kColumns * format.scales_of(kK); ++i) {
      scales.push_back(static_cast<std::uint8_t>(e8m0 ? 100 + random() % 28 : 1 + random() % 126));
    }
  }
  const std::vector<float> experts(format.scale == PanelScale::e4m3 ? 1 : 0, 0x1.8p-20F);
  return pack(shape, format, SourceOrder::standard, {.codes = codes, .scales = scales, .expert_scales = experts, .bias = {}});
}

/// Where the numbers of one row lie.
enum class Odd { none, tiny, huge };

/// Rows of moderate numbers in every form, but for one.
struct Rows {
  std::size_t count;
  std::vector<std::uint16_t> bf16;
  std::vector<std::uint16_t> moderate;  ///< what comes with scales: of these alone some are odd
  std::vector<float> scales;
  std::vector<std::int8_t> int8;
  std::vector<std::uint8_t> int8_scales;

  Rows(std::size_t rows, Odd odd, std::size_t odd_row, Draws& random) : count(rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      const Odd kind = row == odd_row ? odd : Odd::none;
      const std::uint32_t least = kind == Odd::none ? 118 : kind == Odd::tiny ? 1 : 247;
      const auto field = [&] { return least + static_cast<std::uint32_t>(random() % 8); };
      for (std::size_t k = 0; k < kK; ++k) {
        bf16.push_back(static_cast<std::uint16_t>((random() & 0x807FU) | field() << 7));
        moderate.push_back(static_cast<std::uint16_t>((random() & 0x807FU) | (118 + random() % 8) << 7));
        int8.push_back(static_cast<std::int8_t>(random()));
      }
      for (std::size_t b = 0; b < kBlocks; ++b) {
        scales.push_back(std::bit_cast<float>((static_cast<std::uint32_t>(random()) & 0x007FFFFFU) | field() << 23));
        int8_scales.push_back(static_cast<std::uint8_t>(field()));
      }
    }
  }
};

/// `count` rows from `first` on; `scaled`: with a scale for each block.
std::vector<float> multiplied(const GemmKernel& kernel, const PanelMatrix& weights, const Rows& x, bool scaled, std::size_t first, std::size_t count,
                              int threads) {
  std::vector<float> out(count * weights.shape.halves * kColumns, -1);
  const auto codes = std::span(scaled ? x.moderate : x.bf16).subspan(first * kK, count * kK);
  if (kernel.contract == Contract::int8_block) {
    gemm(kernel, weights, 0,
         Int8Rows{std::span(x.int8).subspan(first * kK, count * kK), std::span(x.int8_scales).subspan(first * kBlocks, count * kBlocks)}, out,
         threads);
  } else if (scaled) {
    gemm(kernel, weights, 0, ScaledRows{codes, std::span(x.scales).subspan(first * kBlocks, count * kBlocks), kBlock}, out, threads);
  } else {
    gemm(kernel, weights, 0, Bf16Rows{codes}, out, threads);
  }
  return out;
}

/// Every team's outputs are those of one thread, and of that those of rows alone: of many rows, with the last, and of `odd`.
void hold(const GemmKernel& kernel, const PanelMatrix& weights, const Rows& x, bool scaled, std::size_t odd) {
  INFO(kernel.name << ", " << layout::name_of(weights.format->format) << (scaled ? ", rows with scales" : ""));
  const std::size_t length = weights.shape.halves * kColumns;
  const std::vector<std::uint32_t> by_one = bits_of(multiplied(kernel, weights, x, scaled, 0, x.count, 1));
  const auto is_alone = [&](std::size_t row) {
    const auto begin = by_one.begin() + static_cast<std::ptrdiff_t>(row * length);
    CHECK(difference({begin, begin + static_cast<std::ptrdiff_t>(length)}, bits_of(multiplied(kernel, weights, x, scaled, row, 1, 1))) == "");
  };
  constexpr std::size_t kStep = 37;
  for (std::size_t row = x.count % kStep; row <= x.count; row += kStep) is_alone(row - 1);
  is_alone(odd);
  for (const int threads : {2, 3, 8}) {
    INFO(threads << " threads");
    CHECK(difference(bits_of(multiplied(kernel, weights, x, scaled, 0, x.count, threads)), by_one) == "");
  }
}

}  // namespace

TEST_CASE("rows beyond what an kernel takes at once come out as each does alone, by any number of threads") {
  Draws random(21);
  // The second block of rows begins before the odd row, which lies in one of its later tiles, of a team's last thread and not of its first.
  constexpr std::size_t kRows = kMostRows + 152;
  constexpr std::size_t kOddRow = kRows - 100;
  for (const Odd odd : {Odd::tiny, Odd::huge}) {
    const Rows x(kRows, odd, kOddRow, random);
    for (const WeightFormat format : tests::kFormats) {
      const PanelMatrix weights = any_panels(format, format == WeightFormat::mxfp4 ? 1 : 1 + random() % 2, random);
      for (const GemmKernel& kernel : gemm_kernels()) {
        if (kernel.kind != weights.format->kind || (kernel.needs & ~isa_of_processor()) != 0) continue;
        // Plain code takes its time.
        if (kernel.needs == 0 && (format != WeightFormat::mxfp4 || odd == Odd::huge)) continue;
        hold(kernel, weights, x, false, kOddRow);
        if (kernel.contract == Contract::bf16_block && odd == Odd::tiny) hold(kernel, weights, x, true, kOddRow);
      }
    }
  }
}

TEST_CASE("few rows come out as each does alone, by any number of threads") {
  Draws random(24);
  // Of one tile and of several, where kernels have ways for few rows.
  for (const std::size_t rows : {std::size_t{5}, std::size_t{20}}) {
    for (const Odd odd : {Odd::tiny, Odd::huge}) {
      const Rows x(rows, odd, rows - 1, random);
      for (const WeightFormat format : tests::kFormats) {
        const PanelMatrix weights = any_panels(format, 1 + random() % 2, random);
        for (const GemmKernel& kernel : tested_kernels()) {
          if (kernel.kind != weights.format->kind || (kernel.needs & ~isa_of_processor()) != 0) continue;
          hold(kernel, weights, x, false, rows - 1);
          if (kernel.contract == Contract::bf16_block) hold(kernel, weights, x, true, rows - 1);
        }
      }
    }
  }
}

TEST_CASE("products of no rows are empty") {
  Draws random(22);
  const Rows none(0, Odd::none, 0, random);
  for (const WeightFormat format : tests::kFormats) {
    const PanelMatrix weights = any_panels(format, 2, random);
    for (const GemmKernel& kernel : tested_kernels()) {
      if (kernel.kind != weights.format->kind || (kernel.needs & ~isa_of_processor()) != 0) continue;
      for (const int threads : {1, 3}) CHECK(multiplied(kernel, weights, none, kernel.contract == Contract::bf16_block, 0, 0, threads).empty());
    }
  }
}

TEST_CASE("a layer takes no tokens, experts without tokens and no room for any, and others after that") {
  std::mt19937 random(23);
  for (const Contract contract : kContracts) {
    const Case c = any_case(random, false);
    const PanelLayer panels = pack(c.layer);
    ScaledChoices choices = any_choices(random, contract, c);
    choices.weight_on = mx::moe::WeightPlace::output;
    for (const IsaTier& tier : isa_tiers()) {
      if (!runs_here(tier)) continue;
      for (const int threads : {1, 3}) {
        INFO(name_of(contract) << ", " << tier.name << ", " << threads << " threads");
        FusedLayer layer(panels, choices, tier);
        layer.run({.x = {}, .experts = {}, .weights = {}, .top_k = c.top_k, .expert_map = c.map}, {}, threads);
        std::vector<std::int32_t> counts(static_cast<std::size_t>(c.layer.sizes.experts), 0);
        layer.run_batched({.x = {}, .counts = counts, .room = 0}, {}, threads);
        constexpr std::size_t kRoom = 2;
        const std::vector<std::uint16_t> x(counts.size() * kRoom * c.hidden(), 0x3F80);
        std::vector<float> room(x.size(), -1);
        layer.run_batched({.x = x, .counts = counts, .room = kRoom}, room, threads);
        CHECK(room == std::vector<float>(x.size(), -1));
        // Every token to experts of other ranks.
        std::vector<float> out(c.tokens() * c.hidden(), -1);
        RoutedTokens elsewhere = c.routed();
        const std::vector<std::int32_t> map(counts.size() + 2, -1);
        elsewhere.expert_map = map;
        layer.run(elsewhere, out, threads);
        CHECK(bits_of(out) == std::vector<std::uint32_t>(out.size(), 0));
        layer.run(c.routed(), out, threads);
        CHECK(difference(bits_of(out), modelled(c, choices)) == "");
      }
    }
  }
}
