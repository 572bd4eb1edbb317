// What the expert classes of vllm fused_moe/experts/trtllm_nvfp4_moe.py accept. Data parallelism without expert parallelism is fine, unlike for
// MXFP4.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr auto kClasses = joined(
    history(KernelClass{.name = "TrtLlmNvFp4ExpertsMonolithic",
                        .monolithic = true,
                        .devices = kTrtllmDevices,
                        .takes_no_act_and_mul = true,
                        .activations = set_of(silu, relu2_no_mul, gelu),
                        .quant = kNvfp4Quant,
                        .refused_parallel = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb),
                        .routings = kTrtllmRoutings | bit(Routing::llama4)},
            ClassChange{.since = kVllm2026_08,
                        .activations = set_of(silu, relu2_no_mul, gelu, gelu_tanh, swigluoai_uninterleave),
                        .refused_parallel = set_of(ParallelFact::all2all_kernels, ParallelFact::eplb),
                        .routings = kTrtllmRoutingsWithSigmoid | bit(Routing::llama4),
                        .situ = &Software::flashinfer_situ,
                        .router_logits = kBfloat16Logits | kFloat32Logits},
            ClassChange{
                .since = kVllm2026_11, .quant = kNvfp4TokenQuant, .routings = (kTrtllmRoutingsWithSigmoid | bit(Routing::llama4)) & kNoSimulated}),
    history(KernelClass{.name = "TrtLlmNvFp4ExpertsModular",
                        .devices = kTrtllmDevices,
                        .takes_no_act_and_mul = true,
                        .activations = set_of(silu, relu2_no_mul, gelu),
                        .quant = kNvfp4Quant},
            ClassChange{.since = kVllm2026_08,
                        .activations = set_of(silu, relu2_no_mul, gelu, gelu_tanh, swigluoai_uninterleave),
                        .situ = &Software::flashinfer_situ},
            ClassChange{.since = kVllm2026_11, .quant = kNvfp4TokenQuant}));

}  // namespace

std::span<const KernelClass> trtllm_nvfp4_moe_classes() { return kClasses; }

}  // namespace mx::engine
