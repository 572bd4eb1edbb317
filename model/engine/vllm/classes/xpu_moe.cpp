// What the expert classes of vllm fused_moe/experts/xpu_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr Mask kXpuActivations = set_of(silu, gelu, swigluoai, relu2_no_mul);
constexpr std::array kXpuDevices = {DeviceRule{kXpu}};
constexpr std::array kXpuFp8Pairs = {KeyPairs{bit(Key::fp8_static_tensor), set_of(Key::none, Key::fp8_dynamic_tensor)}};
constexpr std::array kXpuMxfp8Pairs = {KeyPairs{bit(Key::mxfp8_static), set_of(Key::none, Key::mxfp8_dynamic)}};
constexpr std::array kXpuFp8Quant = {QuantRule{kXpuFp8Pairs}};
constexpr std::array kXpuMxfp8Quant = {QuantRule{kXpuMxfp8Pairs}};
constexpr std::array kXpuPlainPairs = {kUnquantizedPair, kXpuFp8Pairs[0]};
constexpr std::array kXpuPlainQuant = {QuantRule{kXpuPlainPairs}};
constexpr std::array kXpuMxfp4Pairs = {KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic)}};
constexpr std::array kXpuMxfp4Quant = {QuantRule{kXpuMxfp4Pairs}};
constexpr Mask kXpuActivationsWithTanh = kXpuActivations | bit(gelu_tanh);

constexpr KernelClass xpu(std::string_view name, std::span<const QuantRule> quant) {
  return {.name = name, .devices = kXpuDevices, .takes_no_act_and_mul = true, .activations = kXpuActivations, .quant = quant};
}
constexpr KernelClass until_august(KernelClass row) {
  row.end = kVllm2026_08;
  return row;
}
constexpr ClassChange kWithTanh{.since = kVllm2026_08, .activations = kXpuActivationsWithTanh};
constexpr KernelClass since_august(std::string_view name, std::span<const QuantRule> quant) { return changed(xpu(name, quant), kWithTanh); }

constexpr auto kClasses =
    joined(history(xpu("XPUExpertsFp8", kXpuFp8Quant), kWithTanh),
           // Renamed in 2026-08.
           history(until_august(xpu("XPUExpertsMXFp4", kMxfp4OnBf16))), history(since_august("XPUExpertsMxFp4", kXpuMxfp4Quant)),
           history(until_august(xpu("XPUExpertsMxfp8", kXpuMxfp8Quant))), history(since_august("XPUExpertsMxFp8", kXpuMxfp8Quant)),
           history(since_august("XPUExperts", kXpuPlainQuant)), history(since_august("XPUExpertsBlockFp8", kFp8BlockQuant)),
           history(since_august("XPUExpertsWNA16", kXpuInt4Quant)));

}  // namespace

std::span<const KernelClass> xpu_moe_classes() { return kClasses; }

}  // namespace mx::engine
