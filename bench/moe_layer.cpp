// The fused layer at gpt-oss-20b's sizes (32 experts, top 4), each run as a rate and as a share of what its two products alone reach on the same
// operands, the two taken in turns.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "bench/moe_shapes.hpp"
#include "kernels/moe/layer.hpp"
#include "model/numerics/profile.hpp"

namespace {

using namespace mx::kernels;
using namespace mx::kernels::moe;
using mx::bench::Draws;

constexpr std::size_t kExperts = 32;
constexpr std::size_t kHidden = 2880;
constexpr std::size_t kIntermediate = 2880;
constexpr std::size_t kTopK = 4;

PanelMatrix random_matrix(const PanelShape& shape, Draws& draws) {
  const std::size_t rows = shape.experts * shape.halves * shape.columns;
  std::vector<std::uint8_t> codes(rows * shape.k / 2);
  std::vector<std::uint8_t> scales(rows * shape.blocks());
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(draws());
  for (std::uint8_t& byte : scales) byte = static_cast<std::uint8_t>(116 + draws() % 6);
  const std::vector<float> bias(rows, 0.25F);
  return pack(shape, panel_format_of(mx::layout::WeightFormat::mxfp4), mx::layout::SourceOrder::gpt_oss, {codes, scales, {}, bias});
}

const PanelLayer& weights() {
  static const PanelLayer layer = [] {
    Draws draws;
    return PanelLayer{random_matrix({kExperts, 2, kIntermediate, kHidden}, draws), random_matrix({kExperts, 1, kHidden, kIntermediate}, draws)};
  }();
  return layer;
}

/// Tokens whose experts are drawn at random, four different ones each.
struct Tokens {
  std::vector<std::uint16_t> x;
  std::vector<std::int32_t> experts;
  std::vector<float> weights;

  explicit Tokens(std::size_t count) : weights(count * kTopK, 0.25F) {
    Draws draws;
    for (std::size_t i = 0; i < count * kHidden; ++i) x.push_back(static_cast<std::uint16_t>((draws() & 0x807FU) | (120 + draws() % 8) << 7));
    for (std::size_t token = 0; token < count; ++token) {
      std::vector<std::int32_t> all(kExperts);
      for (std::size_t i = 0; i < kExperts; ++i) all[i] = static_cast<std::int32_t>(i);
      for (std::size_t i = 0; i < kTopK; ++i) {
        std::swap(all[i], all[i + draws() % (kExperts - i)]);
        experts.push_back(all[i]);
      }
    }
  }

  RoutedTokens routed() const { return {.x = x, .experts = experts, .weights = weights, .top_k = kTopK, .expert_map = {}}; }
};

/// The layer's two products on operands that are ready, and nothing else.
class ProductsAlone {
 public:
  ProductsAlone(const GemmKernel& kernel, const Tokens& tokens, bool int8)
      : kernel_(kernel), pairs_(sort_pairs(tokens.experts, {}, kExperts)), out_(pairs_.slot_of.size() * kHidden * 2) {
    const std::size_t chain = int8 ? kScaleBlock : 0;
    make_room(first_, {.k = kHidden, .tiling = kernel.tiling, .chain = chain}, pairs_.group_sizes);
    make_room(second_, {.k = kIntermediate, .tiling = kernel.tiling, .chain = chain}, pairs_.group_sizes);
    std::ranges::fill(first_.data, int8 ? 0x01020304U : 0x3F803F80U);
    std::ranges::fill(second_.data, int8 ? 0x01020304U : 0x3F803F80U);
    for (Operand* operand : {&first_, &second_}) {
      std::ranges::fill(operand->bases, base_of(120));
      std::ranges::fill(operand->starts, base_of(120) - 12);
      for (RowBlock& block : operand->row_blocks) {
        block.least_exponent = 127;
        block.scales = {120, 120};
      }
    }
  }

  void run(int threads) {
    product(weights().w13, first_, threads);
    product(weights().w2, second_, threads);
  }

 private:
  void product(const PanelMatrix& matrix, const Operand& operand, int threads) {
    const std::size_t panels = matrix.shape.panels();
    constexpr std::size_t kPanels = 12;
    const std::size_t stretches = (panels + kPanels - 1) / kPanels;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::size_t i = 0; i < operand.row_blocks.size() * stretches; ++i) {
      const std::size_t block = i / stretches;
      const std::size_t first = i % stretches * kPanels;
      run_columns(kernel_, matrix, operand.row_blocks[block].group, operand, block, first, std::min(first + kPanels, panels), out_, Bias::added);
    }
  }

  const GemmKernel& kernel_;
  SortedPairs pairs_;
  Operand first_;
  Operand second_;
  Lines<float> out_;
};

/// One thread's processor time, or the clock on the wall for several.
double seconds(int threads) {
  if (threads > 1) return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void layer(benchmark::State& state, mx::Contract contract, std::size_t count, int threads) {
  mx::bench::pin(threads);
  const bool int8 = contract == mx::Contract::int8_block;
  const mx::moe::Activation& row = mx::moe::activation_named("swiglu_oai");
  mx::moe::ScaledChoices choices{.contract = contract, .activation = &row, .constants = row.constants};
  if (int8) choices.recipe = &mx::recipe(mx::profile_named(mx::kOcp), mx::kMxint8Block);
  const Tokens tokens(count);
  FusedLayer fused(weights(), choices);
  ProductsAlone alone(gemm_kernel_in_use(contract, *weights().w13.format), tokens, int8);
  std::vector<float> out(count * kHidden);
  // The first runs take their memory from the system.
  alone.run(threads);
  fused.run(tokens.routed(), out, threads);
  double products = 0;
  for (auto _ : state) {
    const double start = seconds(threads);
    alone.run(threads);
    const double middle = seconds(threads);
    fused.run(tokens.routed(), out, threads);
    benchmark::DoNotOptimize(out.data());
    products += middle - start;
    state.SetIterationTime(seconds(threads) - middle);
  }
  const double operations = 2.0 * static_cast<double>(count * kTopK * 3 * kIntermediate * kHidden) * static_cast<double>(state.iterations());
  state.counters["rate"] = benchmark::Counter(operations, benchmark::Counter::kIsRate);
  state.counters["limit"] = operations / products;
  state.counters["share"] = benchmark::Counter(products, benchmark::Counter::kIsRate);
}

const bool kRegistered = [] {
  for (const mx::Contract contract : {mx::Contract::bf16_chain, mx::Contract::bf16_block, mx::Contract::bf16_pair, mx::Contract::int8_block}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{8}, std::size_t{64}, std::size_t{512}}) {
      for (const int threads : {1, 2}) {
        const std::string name =
            "moe_layer/" + std::string(mx::name_of(contract)) + "/tokens:" + std::to_string(count) + "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(name.c_str(), layer, contract, count, threads)->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(0.1);
      }
    }
  }
  return true;
}();

}  // namespace
