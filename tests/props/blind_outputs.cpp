#include "tests/props/blind_outputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "model/families/convert.hpp"
#include "model/families/fnuz.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/packed.hpp"
#include "model/moe/arithmetic.hpp"
#include "model/numerics/profile.hpp"
#include "sim/execute/kernel.hpp"
#include "sim/execute/sample_layer.hpp"
#include "tests/props/normal.hpp"

namespace mx::tests {
namespace {

using families::Arch;
using fault::Fault;
using layout::CanonicalLayer;
using layout::Role;
using layout::WeightFormat;

constexpr std::int64_t kSize = 256;  // hidden and intermediate
constexpr std::int64_t kExperts = 4;
constexpr std::int64_t kTokens = 8;
constexpr std::int64_t kTopK = 2;

constexpr std::array kData{
    DataRow{"wide", 1, 10, "weights N(0, 1), bias N(0, 10): vLLM's own recipe"},
    DataRow{"narrow", 0.1, 10, "weights N(0, 0.1), bias N(0, 10)"},
    DataRow{"mild", 0.01, 0.01, "weights and bias N(0, 0.01)"},
    DataRow{"bytes", 0, 0.5, "random codes, scale bytes 118 to 122"},
};
/// A row of the execution table, on a device.
struct BackendRow {
  WeightFormat format;
  std::string_view backend;
  Arch arch;
  std::string_view activation = "SILU";
};
constexpr std::array kBackends{
    BackendRow{WeightFormat::mxfp4, "FLASHINFER_TRTLLM_MXFP4_MXFP8", Arch::sm100, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_MXFP8", Arch::sm100, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", Arch::sm90, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "MARLIN", Arch::sm90, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "TRITON", Arch::sm90, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "TRITON", Arch::sm100, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "AITER_MXFP4_BF16", Arch::gfx950, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "AITER_MXFP4_FP8", Arch::gfx950, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "DEEPGEMM_MXFP4", Arch::sm100},
    BackendRow{WeightFormat::mxfp4, "HUMMING", Arch::sm90, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "XPU", Arch::xpu, "SWIGLUOAI"},
    BackendRow{WeightFormat::mxfp4, "CPU", Arch::cpu, "SWIGLUOAI"},
    BackendRow{WeightFormat::nvfp4, "FLASHINFER_TRTLLM", Arch::sm100},
    BackendRow{WeightFormat::nvfp4, "FLASHINFER_CUTLASS", Arch::sm100},
    BackendRow{WeightFormat::nvfp4, "FLASHINFER_CUTEDSL", Arch::sm100},
    BackendRow{WeightFormat::nvfp4, "MARLIN", Arch::sm90},
    BackendRow{WeightFormat::mxfp8, "FLASHINFER_TRTLLM", Arch::sm100},
    BackendRow{WeightFormat::mxfp8, "MARLIN", Arch::sm90},
    BackendRow{WeightFormat::fp8_tensor, "FLASHINFER_CUTLASS", Arch::sm90},
    BackendRow{WeightFormat::fp8_channel, "AITER", Arch::gfx942},
    BackendRow{WeightFormat::fp8_block, "DEEPGEMM", Arch::sm90},
    BackendRow{WeightFormat::fp8_block, "FLASHINFER_CUTLASS", Arch::sm90},
    BackendRow{WeightFormat::int4, "CUTLASS", Arch::sm90},
};

bool is_mxfp4(const BackendRow& backend) { return backend.format == WeightFormat::mxfp4; }

layout::Sizes sizes_of(const BackendRow& backend) {
  return {.experts = kExperts, .intermediate = kSize, .hidden = kSize, .group = std::max<std::int64_t>(layout::group_of(backend.format), 1)};
}

layout::Form form_of(const BackendRow& backend) {
  return {backend.format, is_mxfp4(backend) ? layout::SourceOrder::gpt_oss : layout::SourceOrder::standard};
}

/// "nvfp4 MARLIN sm90"
std::string name_of(const BackendRow& backend) {
  return std::string(layout::name_of(backend.format)) + " " + std::string(backend.backend) + " " + std::string(families::name_of(backend.arch));
}

void put(CanonicalLayer& layer, Role role, const std::vector<std::uint8_t>& row_major) {
  layer[role] = layout::from_row_major(layout::canonical(role, layer.sizes, layer.form), row_major, 0);
}

void fill_weights(CanonicalLayer& layer, Role weight, Role scale, double deviation, Normal& normal) {
  static const Recipe& floor = recipe(profile_named(kOcp), kMxfp4);
  const std::int64_t codes = layout::canonical(weight, layer.sizes, layer.form).size();
  std::vector<std::uint8_t> nibbles(static_cast<std::size_t>(codes / 2));
  std::vector<std::uint8_t> scales;
  std::vector<std::uint32_t> block(static_cast<std::size_t>(layer.sizes.group));
  for (std::int64_t at = 0; at < codes; at += layer.sizes.group) {
    std::ranges::generate(block, [&] { return normal.f32(deviation); });
    const QuantizedBlock quantized = quantize_block(block, kF32, floor);
    scales.push_back(static_cast<std::uint8_t>(quantized.scale));
    for (std::int64_t i = 0; i < layer.sizes.group; ++i) layout::set_grain(nibbles, at + i, 4, quantized.codes[static_cast<std::size_t>(i)]);
  }
  put(layer, weight, nibbles);
  put(layer, scale, scales);
}

void fill_bias(CanonicalLayer& layer, Role role, double deviation, Normal& normal) {
  const std::int64_t count = layout::canonical(role, layer.sizes, layer.form).size();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(2 * count));
  for (std::int64_t i = 0; i < count; ++i) layout::set_grain(bytes, i, 16, normal.bf16(deviation));
  put(layer, role, bytes);
}

/// Other weights than MXFP4 are random codes of their own, without bias.
CanonicalLayer layer_of(const BackendRow& backend, const DataRow& data) {
  constexpr std::uint64_t kSeed = 7;
  CanonicalLayer layer = sim::sample_layer(sizes_of(backend), form_of(backend), is_mxfp4(backend), kSeed);
  if (!is_mxfp4(backend)) return layer;
  Normal normal(kSeed);
  if (data.weights != 0) {
    fill_weights(layer, Role::w13_weight, Role::w13_weight_scale, data.weights, normal);
    fill_weights(layer, Role::w2_weight, Role::w2_weight_scale, data.weights, normal);
  }
  fill_bias(layer, Role::w13_bias, data.bias, normal);
  fill_bias(layer, Role::w2_bias, data.bias, normal);
  return layer;
}

struct Tokens {
  std::vector<std::uint32_t> x;  ///< bf16 codes
  std::vector<std::vector<moe::Slot>> slots;
};

Tokens routed_tokens() {
  Normal normal(11);
  Tokens tokens;
  for (std::int64_t i = 0; i < kTokens * kSize; ++i) tokens.x.push_back(normal.bf16(1));
  for (std::int64_t token = 0; token < kTokens; ++token) {
    std::vector<std::uint32_t> logits;
    for (std::int64_t expert = 0; expert < kExperts; ++expert) logits.push_back(normal.f32(1));
    tokens.slots.push_back(moe::route_logits<moe::F32Arithmetic>(moe::router_named("gpt-oss"), {.top_k = kTopK}, logits, {}));
  }
  return tokens;
}

families::PackedLayer packed_for(const BackendRow& backend, CanonicalLayer layer) {
  const families::BackendLayout& layout = families::backend_layout_named(backend.backend, backend.format, deployment::kVllm2026_05);
  const layout::Sizes sizes = sizes_of(backend);
  families::Setting setting{.sizes = sizes, .padded = sizes, .form = form_of(backend), .engine = deployment::kVllm2026_05};
  setting.arch = backend.arch;
  return families::convert(std::move(layer), layout, setting);
}

std::vector<float> executed(const BackendRow& backend, const families::PackedLayer& packed) {
  // No kernel has these for its own: what is not passed on is missed.
  constexpr moe::ActivationConstants kOai{0x3FA00000U, f32::kOne, 0x40A00000U, 0};  // alpha 1.25, beta 1, limit 5
  const families::ExecutionRow& row = families::execution_of(backend.format, backend.backend);
  const moe::ActivationConstants constants = backend.activation == "SILU" ? moe::ActivationConstants{} : kOai;
  const sim::Execution execution =
      sim::execution_on(row, families::operation_of(packed.setting), {}, {std::string(backend.activation), constants}, {f32::kOne, f32::kOne});
  const sim::Weights weights = sim::Weights::of_packed(packed, row, sim::kernel_order(row, execution.activation));
  const Tokens tokens = routed_tokens();
  sim::Activations input = sim::quantized(*execution.first, tokens.x, kSize, execution.scales.first);
  if (row.by == families::QuantizedBy::prepare && row.scales == families::ScaleMemory::tile_128x4) input = sim::swizzled(std::move(input));
  std::vector<sim::SlotWork> work;
  for (std::int64_t token = 0; token < kTokens; ++token) {
    for (const moe::Slot& slot : tokens.slots[static_cast<std::size_t>(token)]) work.push_back({token, slot.expert});
  }
  const std::vector<sim::SlotStages> stages = sim::run_slots(execution, weights, input, work, {});
  std::vector<float> out;
  std::size_t next = 0;
  for (const std::vector<moe::Slot>& token : tokens.slots) {
    std::vector<sim::WeighedSlot> slots;
    for (const moe::Slot& slot : token) {
      const sim::SlotStages& made = stages[next++];
      slots.push_back({slot.expert, made.weight(slot.weight), made.down, slots.size()});
    }
    for (const std::uint32_t bits : sim::combined(execution, std::move(slots), token.size(), static_cast<std::size_t>(kSize))) {
      out.push_back(std::bit_cast<float>(bits));
    }
  }
  return out;
}

}  // namespace

std::span<const DataRow> data_rows() { return kData; }

std::vector<Outputs> layer_outputs(Fault fault, FaultySide side) {
  std::vector<Outputs> all;
  for (const BackendRow& backend : kBackends) {
    for (const DataRow& data : kData) {
      if (!is_mxfp4(backend) && data.weights != 0) continue;
      fault::set_active(Fault::none);
      CanonicalLayer layer = layer_of(backend, data);
      try {
        fault::set_active(side == FaultySide::conversion ? fault : Fault::none);
        const families::PackedLayer packed = packed_for(backend, std::move(layer));
        fault::set_active(side == FaultySide::execution ? fault : Fault::none);
        all.push_back({name_of(backend), std::string(data.name), executed(backend, packed)});
      } catch (const std::exception&) {
        continue;  // what throws nobody overlooks
      }
    }
  }
  fault::set_active(Fault::none);
  return all;
}

}  // namespace mx::tests
