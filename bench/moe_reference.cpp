// The reference beside the engines: one token through one expert by the model, whose time for an operation does not depend on sizes.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/moe_shapes.hpp"
#include "model/layout/packed.hpp"
#include "model/moe/scaled_layer.hpp"
#include "model/numerics/profile.hpp"

namespace {

using mx::bench::Draws;
using mx::bench::kProductK;
using namespace mx::layout;

constexpr WeightFormat kFormats[] = {WeightFormat::mxfp4, WeightFormat::mxfp8, WeightFormat::nvfp4, WeightFormat::fp8_block,
                                     WeightFormat::fp8_channel};

constexpr std::size_t kIntermediate = 640;

/// One expert; codes are any but NaNs, scales near 1.
CanonicalLayer one_expert(WeightFormat format) {
  CanonicalLayer layer;
  layer.form = {format, SourceOrder::standard, true};
  layer.sizes = {1, kIntermediate, kProductK, group_of(format) == 0 ? 1 : group_of(format)};
  Draws draws;
  for (const Role role : kAllRoles) {
    if (!has_role(format, role) || is_bias(role)) continue;
    std::vector<std::uint8_t>& bytes = layer[role];
    bytes.resize(static_cast<std::size_t>(canonical(role, layer.sizes, layer.form).bytes()));
    const int bits = unit_bits(role, format);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const auto draw = static_cast<std::uint8_t>(draws());
      if (is_weight(role)) {
        bytes[i] = bits == 8 ? draw & 0xF7U : draw;
      } else if (bits == 32) {
        bytes[i] = i % 4 == 3 ? 0x3F : draw;
      } else {
        bytes[i] = static_cast<std::uint8_t>((format == WeightFormat::nvfp4 ? 48 : 118) + draw % 12);
      }
    }
  }
  return layer;
}

void reference(benchmark::State& state, mx::Contract contract, WeightFormat format) {
  const mx::moe::Activation& row = mx::moe::activation_named("swiglu_oai");
  mx::moe::ScaledChoices choices{.contract = contract, .activation = &row, .constants = row.constants};
  if (contract == mx::Contract::int8_block) choices.recipe = &mx::recipe(mx::profile_named(mx::kOcp), mx::kMxint8Block);
  const CanonicalLayer layer = one_expert(format);
  Draws draws;
  std::vector<std::uint32_t> x(kProductK);
  for (std::uint32_t& code : x) code = (draws() & 0x807FU) | (120 + draws() % 8) << 7;
  const std::vector<std::vector<mx::moe::Slot>> slots{{{0, 0x3F800000}}};
  for (auto _ : state) benchmark::DoNotOptimize(mx::moe::run_scaled_layer(layer, choices, x, slots, {}));
  const double operations = 2.0 * 3 * static_cast<double>(kProductK * kIntermediate) * static_cast<double>(state.iterations());
  state.counters["rate"] = benchmark::Counter(operations, benchmark::Counter::kIsRate);
}

const bool kRegistered = [] {
  for (const mx::Contract contract : {mx::Contract::bf16_chain, mx::Contract::bf16_block, mx::Contract::bf16_pair, mx::Contract::int8_block}) {
    for (const WeightFormat format : kFormats) {
      // int8-block takes codes that are integers times a fixed unit.
      if (contract == mx::Contract::int8_block && format != WeightFormat::mxfp4 && format != WeightFormat::nvfp4) continue;
      const std::string name = "moe_reference/" + std::string(mx::name_of(contract)) + "/w:" + std::string(name_of(format)) + "/threads:1";
      benchmark::RegisterBenchmark(name.c_str(), reference, contract, format)->Unit(benchmark::kMillisecond)->MinTime(0.1);
    }
  }
  return true;
}();

}  // namespace
