// What Marlin needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"

namespace mx::oracle {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

namespace mxfp4 {

constexpr std::array<Names, 2> kMarlin = {"MarlinExperts", "BatchedMarlinExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kMarlin, {}, kernel, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need("sizes", kMarlin, {}, kernel, error, read, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I",
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need("dtype", kMarlin, {}, kernel, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
};

}  // namespace mxfp4

namespace nvfp4 {

constexpr std::array<Names, 1> kMarlin = {"MarlinExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kMarlin, {}, kernel, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need("sizes", kMarlin, {}, kernel, error, run, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I; nothing pads",
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack"),
    need("dtype", kMarlin, {}, kernel, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
};

}  // namespace nvfp4

namespace fp8 {

constexpr std::array<Names, 1> kMarlin = {"MarlinExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kMarlin, {}, kernel, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need(
        "fn_codes", kMarlin, {}, kernel_class, error, read, "weights in e4m3fn, not in the fnuz form of gfx94x", "NotImplementedError",
        [](const Placement& p) { return !arch_is(p, {"gfx94"}); }, "E/marlin_moe.py"),
    need("sizes", kMarlin, {}, kernel, error, run, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I; nothing pads",
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack"),
    need("dtype", kMarlin, {}, kernel, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"MarlinExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"BatchedMarlinExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds},
                                NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

std::span<const NeedTable> marlin_needs() { return kTables; }
std::span<const KernelClassFacts> marlin_classes() { return kClasses; }

}  // namespace mx::oracle
