// mxact_recipes_bench: every recipe beside ocp's quantizer of the same elements, by turns in one run, on one thread: a table for docs/performance.md.
// usage: mxact_recipes_bench [TURNS]   (20)

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "bench/machine.hpp"
#include "kernels/codec/codec.hpp"

namespace mx::bench {
namespace {

constexpr std::size_t kSide = 4096;
constexpr std::array<std::string_view, 2> kTiers{"avx512", "avx2"};

/// A recipe from fp32, and its fastest turn on each tier, in seconds.
struct Row {
  std::string name;
  const Recipe* recipe;
  TensorScale tensor;
  std::array<double, kTiers.size()> best;
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const Profile& profile : all_profiles()) {
    for (const Recipe& recipe : profile.recipes) {
      if (!gives_codes(recipe) || !takes_source(recipe, kF32)) continue;
      const TensorNeeds needs = tensor_needs(recipe);
      TensorScale tensor;  // of an amax of 5.7
      if (needs.encode) tensor.encode = 0x43EBCA1BU;
      if (needs.decode) tensor.decode = 0x3B0AF96AU;
      rows.push_back({std::string(profile.name) + " " + std::string(recipe.format->name), &recipe, tensor, {}});
      rows.back().best.fill(std::numeric_limits<double>::infinity());
    }
  }
  return rows;
}

/// About normal: the mean of four uniform numbers.
void fill(std::span<std::uint32_t> words) {
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) {
    std::int32_t sum = 0;
    for (int i = 0; i < 4; ++i) {
      state = state * 1664525U + 1013904223U;
      sum += static_cast<std::int32_t>(state) >> 10;
    }
    word = std::bit_cast<std::uint32_t>(static_cast<float>(sum) * 0x1p-21F);
  }
}

double seconds(const Row& row, std::span<const std::uint32_t> x, std::span<std::uint8_t> room, const kernels::IsaTier& tier) {
  const kernels::Shape shape{kSide, kSide};
  const kernels::QuantizedSizes sizes = kernels::quantized_sizes(shape, *row.recipe->format, kernels::ScaleLayout::rows);
  const auto began = std::chrono::steady_clock::now();
  kernels::quantize(kernels::f32_bits(x), shape, *row.recipe, row.tensor, kernels::ScaleLayout::rows,
                    {room.first(sizes.codes), room.subspan(kSide * kSide, sizes.scales)}, {&tier, 1});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// The row of ocp whose elements are these; every element format of a recipe has one.
const Row& ocp_of(const std::vector<Row>& rows, const Recipe& recipe) {
  const auto is_it = [&](const Row& row) { return row.name.starts_with("ocp ") && *row.recipe->format->element == *recipe.format->element; };
  return *std::ranges::find_if(rows, is_it);
}

void run(int turns) {
  const Memory elements(kSide * kSide * 4);
  const Memory room(kSide * kSide * 2);
  fill(elements.words<std::uint32_t>());
  pin(1);
  std::vector<Row> rows = all_rows();
  for (int turn = 0; turn < turns; ++turn) {
    for (Row& row : rows) {
      for (std::size_t t = 0; t < kTiers.size(); ++t) {
        const kernels::IsaTier& tier = kernels::isa_tier_named(kTiers[t]);
        if (!kernels::runs_here(tier)) continue;
        row.best[t] = std::min(row.best[t], seconds(row, elements.words<std::uint32_t>(), room.words<std::uint8_t>(), tier));
      }
    }
  }
  std::printf("| recipe, from fp32 | way | avx512, ms | of ocp's rate | avx2, ms | of ocp's rate |\n| --- | --- | --: | --: | --: | --: |\n");
  for (const Row& row : rows) {
    const Row& ocp = ocp_of(rows, *row.recipe);
    std::printf("| %s | %s |", row.name.c_str(), std::string(kernels::name_of(kernels::quantize_way(*row.recipe, kF32))).c_str());
    for (std::size_t t = 0; t < kTiers.size(); ++t) std::printf(" %.2f | %.2f |", row.best[t] * 1e3, ocp.best[t] / row.best[t]);
    std::printf("\n");
  }
}

}  // namespace
}  // namespace mx::bench

int main(int argc, char** argv) {
  constexpr int kTurns = 20;
  mx::bench::run(argc > 1 ? std::max(std::atoi(argv[1]), 1) : kTurns);
}
