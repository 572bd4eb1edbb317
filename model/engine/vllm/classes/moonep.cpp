// What the expert classes of vllm fused_moe/experts/moonep.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kCudaDevices = {DeviceRule{on_cuda()}};

constexpr auto kClasses = joined(history(KernelClass{.name = "MoonEPExperts",
                                                     .first = kVllm2026_11,
                                                     .devices = kCudaDevices,
                                                     .activations = bit(silu),
                                                     .quant = kUnquantized,
                                                     .refused_parallel = set_of(ParallelFact::no_moonep, ParallelFact::eplb)}));

}  // namespace

std::span<const KernelClass> moonep_classes() { return kClasses; }

}  // namespace mx::engine
