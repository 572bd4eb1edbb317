// What vLLM's Triton kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi
// is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

constexpr std::array<Names, 2> kTriton = {"TritonExperts", "BatchedTritonExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kTriton, {}, kernel_class, error, read, "cuda, rocm or xpu: Triton", "no Triton",
        [](const Placement& p) { return !is_on(p, PlatformKind::cpu); }, "E/triton_moe.py"),
};

constexpr std::array kClasses = {
    KernelClassFacts{"TritonExperts", ClassKind::plain, ExpertIds::map, WeightOnInput::heeded},
    KernelClassFacts{"BatchedTritonExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kFp8Oracles, false, kNeeds}};

}  // namespace

std::span<const NeedTable> triton_moe_needs() { return kTables; }
std::span<const KernelClassFacts> triton_moe_classes() { return kClasses; }

}  // namespace mx::oracle
