// What vLLM's CUTLASS kernels need: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09,
// fi is flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/vllm_cutlass/family.hpp"

namespace mx::families {
namespace {

using namespace facts;
using enum Effect;
using enum Grounds;
using enum NeedOf;

namespace mxfp4 {

constexpr std::array<Names, 1> kCutlass = {"CutlassExpertsMxfp4"};

constexpr std::array kNeeds = {
    need(
        "device", kCutlass, {}, kernel_class, error, read, "SM major 10", "no such kernel", [](const Placement& p) { return cuda_in(p, 100, 109); },
        "E/cutlass_moe.py", {}, deployment::before(deployment::kVllm2026_08)),
    need(
        "device", kCutlass, {}, kernel, error, read, "capability 100 to 119", "No compiled MXFP4 experts quant kernel",
        [](const Placement& p) { return cuda_in(p, 100, 119); },
        "vllm csrc/libtorch_stable/quantization/fp4/mxfp4_experts_quant.cu mxfp4_experts_quant_sm_supported at 7ca49fbe4", {},
        deployment::since(deployment::kVllm2026_08)),
    need(
        "sizes", kCutlass, {}, kernel_class, error, read, "rows and scale columns in whole tiles of 128 x 4: nothing pads", "a reshape error",
        [](const Placement& p) {
          return divides(128, {w13_rows(p), p.hidden, p.intermediate});
        },
        "E/cutlass_moe.py; vllm compressed_tensors_moe_w4a4_mxfp4.py: torch.empty, no rounding"),
    need(
        "one_rank", kCutlass, {}, kernel_class, error, read, "no expert parallelism, which the class refuses since 2026-08", "a shape error",
        [](const Placement& p) { return !has_ep(p); }, "E/cutlass_moe.py; CutlassExpertsMxfp4._supports_parallel_config at 7ca49fbe4", {},
        deployment::before(deployment::kVllm2026_11)),
    need(
        "gathered", kCutlass, {}, kernel_class, error, read,
        "no exchange by DeepEP high throughput or FlashInfer: ranks map their experts themselves", "a shape error",
        [](const Placement& p) {
          return !exchange_is(p, {"deepep_high_throughput", "flashinfer_all2allv", "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"});
        },
        "E/cutlass_moe.py CutlassExpertsMxfp4._supports_parallel_config of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
};

}  // namespace mxfp4

namespace nvfp4 {

constexpr std::array<Names, 1> kCutlass = {"CutlassExpertsFp4"};

constexpr std::array kNeeds = {
    need(
        "device", kCutlass, {}, kernel, error, read, "capability 100 to 129", "NOT_IMPLEMENTED",
        [](const Placement& p) { return cuda_in(p, 100, 129); }, "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu"),
    need(
        "sizes", kCutlass, {}, kernel, error, read, "H and I multiples of 32, rows of w13 and w2 multiples of 8", "an error in the kernel",
        [](const Placement& p) {
          return both_divide(p, 32) && divides(8, {w13_rows(p), p.hidden});
        },
        "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu AlignmentA, AlignmentB"),
    need(
        "dtype", kCutlass, {}, kernel, error, read, "float16 or bfloat16; at capability 120 to 129 the output is bfloat16 only",
        "an error in the kernel", [](const Placement& p) { return is_bfloat16(p) || (dtype_is(p, {"float16"}) && !cuda_in(p, 120, 129)); },
        "vllm csrc/libtorch_stable/quantization/fp4/nvfp4_blockwise_moe_kernel.cu"),
    need(
        "one_rank", kCutlass, {}, kernel_class, error, read, "no expert parallelism", "a shape error", [](const Placement& p) { return !has_ep(p); },
        "E/cutlass_moe.py CutlassExpertsFp4._supports_parallel_config, the same at 7ca49fbe4", {}, deployment::before(deployment::kVllm2026_11)),
    need(
        "gathered", kCutlass, {}, kernel_class, error, read,
        "no exchange by DeepEP high throughput or FlashInfer: ranks map their experts themselves", "a shape error",
        [](const Placement& p) {
          return !exchange_is(p, {"deepep_high_throughput", "flashinfer_all2allv", "flashinfer_nvlink_two_sided", "flashinfer_nvlink_one_sided"});
        },
        "E/cutlass_moe.py CutlassExpertsFp4._supports_parallel_config of 0.33.0", {}, deployment::since(deployment::kVllm2026_11)),
    need("gate_order", kCutlass, {}, kernel_class, silent, assumed,
         "the row order of a SWIGLUOAI checkpoint in NVFP4: the activation reads alternating columns", "not known", nullptr,
         "E/cutlass_moe.py; vllm fused_moe/activation.py"),
    need("scale_rows", kCutlass, {}, converter, error, run, "rows of w13 in whole tiles of 128 when gated",
         "NotImplementedError: padding for w1 and w3", converter_takes,
         "vllm quantization/utils/flashinfer_fp4_moe.py prepare_nvfp4_moe_layer_for_fi_or_cutlass"),
};

}  // namespace nvfp4

namespace fp8 {

constexpr std::array<Names, 2> kCutlass = {"TritonOrCutlassExperts", "CutlassBatchedExpertsFp8"};

constexpr std::array kNeeds = {
    need(
        "device", kCutlass, {}, kernel, error, read, "cuda, capability 90 to 109", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 90, 109); }, "vllm csrc/quantization/w8a8/cutlass/moe/"),
    need(
        "sizes", kCutlass, {}, kernel, error, read, "H and I multiples of 16, rows of w13 and w2 multiples of 8", "an error in the kernel",
        [](const Placement& p) {
          return both_divide(p, 16) && divides(8, {w13_rows(p), p.hidden});
        },
        "vllm csrc/quantization/w8a8/cutlass/moe/"),
    need("gated", kCutlass, {}, kernel_class, error, read, "a gated layer", "an assertion", is_gated, "E/cutlass_moe.py"),
    need("dtype", kCutlass, {}, kernel_class, error, read, "float16 or bfloat16", "an error in the kernel", is_16_bit, "E/cutlass_moe.py"),
    need("cuda_version", kCutlass, {}, kernel, error, read, "CUDA 12.3 at capability 90, 12.8 from 100 on: the toolkit is no part of a deployment",
         "no such kernel", nullptr, "vllm csrc/quantization/w8a8/cutlass/scaled_mm_entry.cu"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"CutlassExpertsMxfp4", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"CutlassExpertsFp4", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"TritonOrCutlassExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"CutlassExpertsFp8", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"CutlassBatchedExpertsFp8", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds},
                                NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kVllmCutlassNeeds{kTables};
constinit const std::span<const KernelClassFacts> kVllmCutlassClasses{kClasses};

}  // namespace mx::families
