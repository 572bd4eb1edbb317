// A layer of gpt-oss's size (experts of 2880 x 2880, top 4) as a backend computes it on SM90, on all threads: quantized, both products, the
// activation, slots summed. Eight experts and 32 tokens have sixteen slots an expert, as 128 experts have of 512 tokens: the time of a product is the
// same. The model computes a few rows of the layer, whose time for a product does not depend on how many.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"

namespace {

using namespace mx;
using namespace mx::sim;
using layout::WeightFormat;

constexpr std::int64_t kSize = 2880;
constexpr std::int64_t kExperts = 8;
constexpr std::int64_t kTokens = 32;
constexpr std::int64_t kTopK = 4;

struct Row {
  WeightFormat format;
  std::string_view activation_key;
  std::string_view contract;
  std::int64_t size = kSize;
};
constexpr std::array kRows{Row{WeightFormat::mxfp4, {}, "hopper-bf16"}, Row{WeightFormat::fp8_channel, "kFp8DynamicTokenSym", "hopper-fp8"},
                           Row{WeightFormat::fp8_channel, "kFp8DynamicTokenSym", "hopper-fp8-promoted"},
                           Row{WeightFormat::fp8_block, "kFp8Dynamic128Sym", "hopper-fp8-block-1x128", 2816},
                           Row{WeightFormat::fp8_block, "kFp8Dynamic128Sym", "hopper-fp8-block-128x128", 2816}};

bool is_oai(const Row& row) { return row.format == WeightFormat::mxfp4; }

/// Made once for rows of one format.
const Weights& weights_of(const Row& row, const families::ExecutionRow& backend) {
  static std::map<WeightFormat, Weights> made;
  if (const auto known = made.find(row.format); known != made.end()) return known->second;
  const layout::Sizes sizes{kExperts, row.size, row.size, std::max<std::int64_t>(layout::group_of(row.format), 1)};
  const layout::Form form{row.format, is_oai(row) ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard};
  return made.emplace(row.format, Weights::of_checkpoint(sample_layer(sizes, form, is_oai(row), 7), backend)).first->second;
}

void layer(benchmark::State& state, const Row& row, SumsBy sums) {
  const families::ExecutionRow& backend = families::execution_of(row.format, "TRITON");
  const ModelActivation model = is_oai(row) ? ModelActivation{"SWIGLUOAI", {0x3FD9DB23U, 0x3F800000U, 0x40E00000U, 0}} : ModelActivation{"SILU", {}};
  Execution execution = execution_on(backend, {families::Arch::sm90}, row.activation_key, model, {power_of_two(-6), power_of_two(-4)});
  families::UnitRow unit = *execution.unit;
  unit.contract = contract_named(row.contract);
  execution.unit = &unit;
  execution.sums = sums;
  const Weights& weights = weights_of(row, backend);
  const bool whole = sums == SumsBy::twins;
  const SampleTokens tokens = sample_tokens(kTokens, row.size, kExperts, kTopK, 7);
  std::vector<SlotWork> work;
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    for (const moe::Slot& slot : tokens.slots[token]) work.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  const std::vector<std::int64_t> few{0, 1, 2, 3};
  const Outputs outputs = whole ? Outputs{} : Outputs{few, few};
  for (auto _ : state) {
    const Activations x = quantized(*execution.first, tokens.x, row.size, execution.scales.first);
    const std::vector<SlotStages> stages = run_slots(execution, weights, x, work, outputs);
    std::size_t next = 0;
    for (const std::vector<moe::Slot>& slots : tokens.slots) {
      std::vector<WeighedSlot> weighed;
      for (const moe::Slot& slot : slots) {
        const SlotStages& made = stages[next++];
        weighed.push_back({slot.expert, made.weight(slot.weight), made.down, weighed.size()});
      }
      benchmark::DoNotOptimize(combined(execution, std::move(weighed), kTopK, stages.front().down.size()));
    }
  }
  const auto computed = static_cast<double>(whole ? row.size : static_cast<std::int64_t>(few.size()));
  const double products = 3 * static_cast<double>(work.size()) * computed * static_cast<double>(row.size);
  state.counters["products"] = benchmark::Counter(products * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

const bool kRegistered = [] {
  for (const Row& row : kRows) {
    const std::string name = "backend_layer/" + std::string(row.contract);
    for (const auto& [by, sums] : {std::pair{"twins", SumsBy::twins}, std::pair{"model", SumsBy::model}}) {
      benchmark::RegisterBenchmark((name + "/" + by).c_str(), layer, row, sums)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->MinTime(0.3);
    }
  }
  return true;
}();

}  // namespace
