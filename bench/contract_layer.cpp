// A layer of gpt-oss-120b's sizes (128 experts of 2880 x 2880, top 4) and 512 tokens as `mxact layer --contract` runs it, on all threads, beside the
// fused layer alone, the two taken in turns. What the door adds: tokens and sums as words, and the memory that a run asks for.

#include "sim/layer/contract_layer.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/moe_shapes.hpp"
#include "kernels/moe/layer.hpp"

namespace {

using mx::bench::Draws;
using namespace mx::kernels::moe;

constexpr std::int64_t kExperts = 128, kSize = 2880, kTokens = 512, kTopK = 4;

PanelMatrix drawn_matrix(std::size_t halves, Draws& draws) {
  const PanelShape shape{kExperts, halves, kSize, kSize};
  const std::size_t rows = shape.experts * shape.halves * shape.columns;
  std::vector<std::uint8_t> codes(rows * shape.k / 2), scales(rows * shape.blocks());
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(draws());
  for (std::uint8_t& byte : scales) byte = static_cast<std::uint8_t>(116 + draws() % 6);
  const std::vector<float> bias(rows, 0.25F);
  return pack(shape, panel_format_of(mx::layout::WeightFormat::mxfp4), mx::layout::SourceOrder::gpt_oss, {codes, scales, {}, bias});
}

std::shared_ptr<const PanelLayer> panels() {
  static const std::shared_ptr<const PanelLayer> made = [] {
    Draws draws;
    PanelMatrix w13 = drawn_matrix(2, draws);
    return std::make_shared<const PanelLayer>(PanelLayer{std::move(w13), drawn_matrix(1, draws)});
  }();
  return made;
}

mx::sim::LayerTokens drawn_tokens() {
  Draws draws;
  mx::sim::LayerTokens tokens{kTopK, {}};
  for (std::int64_t i = 0; i < kTokens * kSize; ++i) tokens.x.push_back((draws() & 0x807FU) | (120 + draws() % 8) << 7);
  for (std::int64_t token = 0; token < kTokens; ++token) {
    for (std::int64_t slot = 0; slot < kTopK; ++slot) {
      // Four different ones.
      tokens.ids.push_back(static_cast<std::int32_t>((draws() % (kExperts / kTopK)) * kTopK + slot));
      tokens.weights.push_back(std::bit_cast<std::uint32_t>(0.25F));
    }
  }
  return tokens;
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void door(benchmark::State& state, mx::Contract contract) {
  const mx::moe::Activation& row = mx::moe::activation_named("swiglu_oai");
  const mx::moe::ScaledChoices choices{
      .contract = contract, .activation = &row, .constants = row.constants, .recipe = mx::sim::recipe_under(contract)};
  const mx::sim::ContractExperts experts{choices, {kExperts, kSize, kSize, 32}, true, panels(), {}, mx::sim::SumsBy::twins};
  const mx::sim::LayerTokens tokens = drawn_tokens();
  const std::vector<std::uint16_t> x(tokens.x.begin(), tokens.x.end());
  const std::vector<float> weights(tokens.ids.size(), 0.25F);
  const std::vector<mx::sim::LayerStage> out{mx::sim::LayerStage::out};
  FusedLayer fused(*experts.panels, choices);
  std::vector<float> sums(x.size());
  const RoutedTokens routed{.x = x, .experts = tokens.ids, .weights = weights, .top_k = kTopK, .expert_map = {}};
  fused.run(routed, sums, omp_get_max_threads());
  double alone = 0;
  for (auto _ : state) {
    const double start = now();
    fused.run(routed, sums, omp_get_max_threads());
    const double middle = now();
    benchmark::DoNotOptimize(mx::sim::run_layer(experts, tokens, {}, out));
    alone += middle - start;
    state.SetIterationTime(now() - middle);
  }
  state.counters["fused"] = alone / static_cast<double>(state.iterations());
}

const bool kRegistered = [] {
  for (const mx::Contract contract : {mx::Contract::bf16_chain, mx::Contract::bf16_block, mx::Contract::bf16_pair, mx::Contract::int8_block}) {
    const std::string name = "contract_layer/" + std::string(mx::name_of(contract));
    benchmark::RegisterBenchmark(name.c_str(), door, contract)->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(0.3);
  }
  return true;
}();

}  // namespace
