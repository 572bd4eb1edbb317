// What the expert classes of vllm fused_moe/experts/trtllm_bf16_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr Mask kBf16Modular = set_of(ParallelFact::eplb, ParallelFact::no_all2all_kernels, ParallelFact::ag_rs, ParallelFact::deepep_ht);
constexpr Mask kBf16Routings =
    set_of(Routing::deepseek_v3, Routing::llama4, Routing::renormalize, Routing::renormalize_naive, Routing::sigmoid_renorm, Routing::sigmoid);

constexpr auto kClasses = joined(history(KernelClass{.name = "TrtLlmBf16ExpertsMonolithic",
                                                     .first = kVllm2026_08,
                                                     .monolithic = true,
                                                     .devices = kTrtllmDevices,
                                                     .takes_no_act_and_mul = true,
                                                     .activations = set_of(silu, relu2_no_mul),
                                                     .quant = kUnquantized,
                                                     .refused_parallel = kRoutedExchange,
                                                     .routings = kBf16Routings,
                                                     .rules_after = kExpertRules},
                                         ClassChange{.since = kVllm2026_11, .routings = kBf16Routings | bit(Routing::minimax2)}),
                                 history(KernelClass{.name = "TrtLlmBf16ExpertsModular",
                                                     .first = kVllm2026_08,
                                                     .devices = kTrtllmDevices,
                                                     .takes_no_act_and_mul = true,
                                                     .activations = set_of(silu, relu2_no_mul),
                                                     .quant = kUnquantized,
                                                     .refused_parallel = kBf16Modular,
                                                     .rules_after = kExpertRules}));

}  // namespace

std::span<const KernelClass> trtllm_bf16_moe_classes() { return kClasses; }

}  // namespace mx::engine
