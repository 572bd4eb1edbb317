// What the expert classes of vllm fused_moe/experts/hpc_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kHpcDevices = {DeviceRule{on_cuda(cap_exactly(90)), &Software::has_hpc}};
constexpr std::array kHpcPairs = {kFp8StaticPair, kFp8BlockPair};
constexpr std::array kHpcQuant = {QuantRule{kHpcPairs}};

constexpr auto kClasses = joined(history(KernelClass{
    .name = "HPCExperts", .first = kVllm2026_08, .devices = kHpcDevices, .activations = bit(silu), .quant = kHpcQuant, .hidden_multiple = 128}));

}  // namespace

std::span<const KernelClass> hpc_moe_classes() { return kClasses; }

}  // namespace mx::engine
