// What the expert classes of vllm fused_moe/experts/flashinfer_moe_ep.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kMoeEpDevices = {DeviceRule{on_cuda(cap_exactly(100))}, DeviceRule{on_cuda(cap_exactly(103))}};
constexpr std::array kMoeEpPairs = {KeyPairs{set_of(Key::nvfp4_static, Key::mxfp4_static), kEverything}};
constexpr std::array kMoeEpQuant = {QuantRule{kMoeEpPairs}};
constexpr std::array kMoeEpRules = {moe_ep};

constexpr auto kClasses = joined(history(KernelClass{.name = "FlashInferMoeEpExperts",
                                                     .first = kVllm2026_11,
                                                     .devices = kMoeEpDevices,
                                                     .activations = bit(silu),
                                                     .quant = kMoeEpQuant,
                                                     .refused_parallel = set_of(ParallelFact::no_ep, ParallelFact::batched_format),
                                                     .rules_after = kMoeEpRules}));

}  // namespace

std::span<const KernelClass> flashinfer_moe_ep_classes() { return kClasses; }

}  // namespace mx::engine
