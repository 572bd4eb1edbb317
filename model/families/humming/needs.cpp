// What Humming needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 3> kHumming = {"BatchedHummingGroupedExperts", "HummingGroupedExperts", "HummingIndexedExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kHumming, {}, kernel_class, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "E/fused_humming_moe.py _supports_current_device, which selection never asks"),
    need("kernel_sizes", kHumming, {}, kernel_class, error, assumed, "sizes for which some block configuration fits", "ValueError", nullptr,
         "E/fused_humming_moe.py: computed from the layer's metadata"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"BatchedHummingGroupedExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::refused},
    KernelClassFacts{"HummingGroupedExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::refused},
    KernelClassFacts{"HummingIndexedExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::refused},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, kNeeds}};

}  // namespace

std::span<const NeedTable> humming_needs() { return kTables; }
std::span<const KernelClassFacts> humming_classes() { return kClasses; }

}  // namespace mx::oracle
