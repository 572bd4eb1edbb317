// What the expert classes of vllm fused_moe/experts/*_emulation_moe.py and mxfp8_native_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kEveryPair = {KeyPairs{kEverything, kEverything}};
constexpr std::array kAnyQuant = {QuantRule{kEveryPair}};
constexpr std::array kEverywhere = {DeviceRule{kAnywhere}};
constexpr std::array kCudaOrRocmDevices = {DeviceRule{kCudaOrRocm}};
constexpr std::array kInt4Pairs = {KeyPairs{kInt4Weights, bit(Key::none)}};
constexpr std::array kInt4Quant = {QuantRule{kInt4Pairs}};
constexpr std::array kQuarkRules = {quark};
constexpr std::array kNvfp4EmulationRules = {no_lora, no_bias};

constexpr KernelClass emulation(std::string_view name, std::span<const DeviceRule> devices, std::span<const QuantRule> quant) {
  return {.name = name,
          .devices = devices,
          .takes_no_act_and_mul = true,
          .activations = kTritonActivations,
          .quant = quant,
          .refused_parallel = kFlashinferNvlink,
          .batch_invariant = true,
          .lora = true};
}
constexpr KernelClass since_august(KernelClass row) {
  return changed(row, {.since = kVllm2026_08, .activations = kEveryApplied, .rules_after = kTritonRules});
}

constexpr auto kClasses = joined(
    history(emulation("OCP_MXQuantizationEmulationTritonExperts", kTritonDevices, kAnyQuant),
            ClassChange{.since = kVllm2026_08, .activations = kEveryApplied, .rules_before = kQuarkRules, .rules_after = kTritonRules}),
    history(
        emulation("Nvfp4QuantizationEmulationTritonExperts", kTritonDevices, kNvfp4Quant),
        ClassChange{
            .since = kVllm2026_08, .activations = kEveryApplied, .lora = false, .rules_before = kNvfp4EmulationRules, .rules_after = kTritonRules}),
    history(since_august(emulation("Mxfp8NativeTritonExperts", kMxDevices, kMxfp8Quant))),
    history(since_august(emulation("Mxfp8EmulationTritonExperts", kEverywhere, kMxfp8Quant))),
    history(since_august(emulation("Int4EmulationTritonExperts", kCudaOrRocmDevices, kInt4Quant))));

}  // namespace

std::span<const KernelClass> emulation_moe_classes() { return kClasses; }

}  // namespace mx::engine
