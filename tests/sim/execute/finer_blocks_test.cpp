// Blocks of FP8 finer than 128 in vLLM's Triton kernel on sm_90. Codes and scales are such that every sum is a whole number of a unit, which the test
// counts in integers: activations of one magnitude in each group, whose scale is then a power of two, weights of -2 to 2, scales of powers of two.

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "checkpoint/shard.hpp"
#include "model/families/fnuz.hpp"
#include "model/layout/grains.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using layout::Role;

constexpr layout::Form kForm{layout::WeightFormat::fp8_block, layout::SourceOrder::standard};

/// Small numbers without a pattern that a row or a block repeats.
std::int64_t mixed(std::int64_t a, std::int64_t b, std::int64_t c) { return ((a * 7919 + b * 104729 + c * 1299709) >> 3) % 1000; }

/// e4m3 of -2, -1, 1, 2.
constexpr std::array<std::pair<std::uint8_t, int>, 4> kCodes{{{0xC0, -2}, {0xB8, -1}, {0x38, 1}, {0x40, 2}}};
int weight(std::int64_t row, std::int64_t k) { return static_cast<int>(mixed(row, k, 1) % 4); }
/// Exponents of the scale of a square of 128 by 128.
int scale(std::int64_t rows, std::int64_t columns) { return static_cast<int>(mixed(rows, columns, 2) % 4) - 2; }
/// Of the activations' groups of `side`: 448 * 2^exponent, and its signs.
int exponent(std::int64_t token, std::int64_t group) { return static_cast<int>(mixed(token, group, 3) % 3) - 1; }
bool is_negative(std::int64_t token, std::int64_t k) { return mixed(token, k, 4) % 2 == 1; }

/// One expert without a gate's partner: gate rows first, up rows behind, then w2; scales of squares of 128.
layout::CanonicalLayer layer_of(const layout::Sizes& sizes) {
  layout::CanonicalLayer layer = sim::sample_layer(sizes, kForm, false, 1);
  for (const Role role : {Role::w13_weight, Role::w2_weight}) {
    const std::int64_t columns = role == Role::w13_weight ? sizes.hidden : sizes.intermediate;
    for (std::size_t i = 0; i < layer[role].size(); ++i)
      layer[role][i] = kCodes[static_cast<std::size_t>(weight(static_cast<std::int64_t>(i) / columns, static_cast<std::int64_t>(i) % columns))].first;
  }
  for (const Role role : {Role::w13_weight_scale, Role::w2_weight_scale}) {
    const std::int64_t columns = ((role == Role::w13_weight_scale ? sizes.hidden : sizes.intermediate) + 127) / 128;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(layer[role].size()) / 4; ++i)
      layout::set_grain(layer[role], i, 32, sim::power_of_two(scale(i / columns, i % columns)));
  }
  return layer;
}

/// The whole number of 2^-8 that a row of weights [first, first + length) of the whole's columns gives with a token, and as fp32.
float product(std::int64_t token, std::int64_t row, std::int64_t scale_row, std::int64_t first, std::int64_t length, std::int64_t side) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t units = 448 * kCodes[static_cast<std::size_t>(weight(row, first + k))].second * (is_negative(token, k) ? -1 : 1);
    sum += units << (8 + exponent(token, k / side) + scale(scale_row, (first + k) / 128));
  }
  return static_cast<float>(sum) / 256;
}

std::vector<std::uint32_t> tokens_of(std::int64_t count, std::int64_t width, std::int64_t side) {
  std::vector<std::uint32_t> x;
  for (std::int64_t token = 0; token < count; ++token) {
    for (std::int64_t k = 0; k < width; ++k) {
      const float value = 448.0F * std::bit_cast<float>(sim::power_of_two(exponent(token, k / side))) * (is_negative(token, k) ? -1.0F : 1.0F);
      x.push_back(std::bit_cast<std::uint32_t>(value) >> 16U);
    }
  }
  return x;
}

void check_side(std::int64_t side, const layout::Sizes& whole, int tp) {
  INFO("side " << side);
  constexpr std::int64_t kTokens = 3;
  const layout::CanonicalLayer layer = layer_of(whole);
  const std::int64_t share = whole.intermediate / tp;
  for (int rank = 0; rank < tp; ++rank) {
    INFO("rank " << rank);
    const layout::CanonicalLayer part = checkpoint::shard(layer, {rank, tp, share, side});
    REQUIRE(part.sizes.group == side);
    const families::ExecutionRow& row = families::execution_of(kForm.format, "TRITON");
    const families::Setting setting{.sizes = part.sizes, .padded = part.sizes, .form = kForm, .arch = families::Arch::sm90};
    const sim::Execution execution =
        sim::execution_on(row, families::operation_of(setting), "kFp8Dynamic128Sym", {"SILU", {0, 0, 0, 0}}, {0, 0}, deployment::kVllm2026_08);
    CHECK(execution.first->format->block == side);
    CHECK(execution.second->format->block == side);
    CHECK(execution.unit->grounds == Grounds::run);
    const sim::Weights weights = sim::Weights::of_checkpoint(part, row, false);
    std::vector<sim::SlotWork> slots;
    for (std::int64_t token = 0; token < kTokens; ++token) slots.push_back({token, 0});
    std::vector<sim::SlotStages> stages(kTokens);
    const std::vector<std::int64_t> rows = sim::or_all(std::nullopt, share), columns = sim::or_all(std::nullopt, whole.hidden);
    const sim::Activations x = sim::quantized(*execution.first, tokens_of(kTokens, whole.hidden, side), whole.hidden, 0);
    sim::run_first(execution, weights, x, slots, rows, stages);
    const sim::Activations act = sim::quantized(*execution.second, tokens_of(kTokens, share, side), share, 0);
    sim::run_second(execution, weights, act, slots, columns, stages);
    const std::int64_t first = rank * share, halves = (whole.intermediate + 127) / 128;
    for (std::int64_t token = 0; token < kTokens; ++token) {
      const sim::SlotStages& slot = stages[static_cast<std::size_t>(token)];
      for (std::int64_t i = 0; i < share; ++i) {
        const float gate = product(token, first + i, (first + i) / 128, 0, whole.hidden, side);
        const float up = product(token, whole.intermediate + first + i, halves + (first + i) / 128, 0, whole.hidden, side);
        REQUIRE(slot.gate[static_cast<std::size_t>(i)] == sim::to_bf16(std::bit_cast<std::uint32_t>(gate)));
        REQUIRE(slot.up[static_cast<std::size_t>(i)] == sim::to_bf16(std::bit_cast<std::uint32_t>(up)));
      }
      for (std::int64_t n = 0; n < whole.hidden; ++n) {
        const float down = product(token, n, n / 128, first, share, side);
        REQUIRE(slot.down[static_cast<std::size_t>(n)] == std::bit_cast<std::uint32_t>(down));
      }
    }
  }
}

}  // namespace

TEST_CASE("finer blocks: the shares of 768 over four ranks in blocks of 64, and of 96 in blocks of 32, as integers give them") {
  check_side(64, {1, 768, 256, 1}, 4);
  check_side(32, {1, 288, 160, 1}, 3);
  check_side(64, {1, 192, 192, 1}, 1);
}
