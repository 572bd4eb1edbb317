// What the expert classes of vllm fused_moe/experts/trtllm_fp8_moe.py accept. Allgather and reduce-scatter are fine even for the kernel that routes
// by itself.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kTrtllmFp8MonolithicPairs = {kFp8BlockPair, kFp8StaticPair, kMxfp8Pair};
constexpr std::array kTrtllmFp8Pairs = {kFp8BlockPair, kMxfp8Pair};
constexpr std::array kTrtllmFp8MonolithicQuant = {QuantRule{kTrtllmFp8MonolithicPairs}};
constexpr std::array kTrtllmFp8Quant = {QuantRule{kTrtllmFp8Pairs}};
constexpr std::array kLlama4PerTensor = {RoutingRule{kFp8StaticPair, bit(Routing::llama4)}};
constexpr std::array kTrtllmFp8Rules = {trtllm_fp8_constants, experts_2048};

constexpr auto kClasses =
    joined(history(KernelClass{.name = "TrtLlmFp8ExpertsMonolithic",
                               .monolithic = true,
                               .devices = kTrtllmDevices,
                               .takes_no_act_and_mul = true,
                               .activations = set_of(silu, relu2_no_mul),
                               .quant = kTrtllmFp8MonolithicQuant,
                               .refused_parallel = set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs),
                               .routings = kTrtllmRoutings,
                               .more_routings = kLlama4PerTensor},
                   ClassChange{.since = kVllm2026_08,
                               .activations = set_of(silu, swigluoai_uninterleave, relu2_no_mul),
                               .refused_parallel = kRoutedExchange | bit(ParallelFact::sp_above_one),
                               .routings = kTrtllmRoutingsWithSigmoid,
                               .router_logits = kBfloat16Logits | kFloat32Logits,
                               .rules_after = kExpertRules},
                   ClassChange{.since = kVllm2026_11, .routings = kTrtllmRoutingsWithSigmoid & kNoSimulated, .rules_after = kTrtllmFp8Rules}),
           history(KernelClass{.name = "TrtLlmFp8ExpertsModular",
                               .devices = kTrtllmDevices,
                               .takes_no_act_and_mul = true,
                               .activations = set_of(silu, relu2_no_mul),
                               .quant = kTrtllmFp8Quant,
                               .refused_parallel = set_of(ParallelFact::eplb, ParallelFact::all2all_other_than_ag_rs)},
                   ClassChange{.since = kVllm2026_08,
                               .activations = set_of(silu, swigluoai_uninterleave, relu2_no_mul),
                               .refused_parallel = set_of(ParallelFact::eplb, ParallelFact::all2all_without_trtllm_fp8),
                               .rules_after = kExpertRules},
                   ClassChange{.since = kVllm2026_11, .rules_after = kTrtllmFp8Rules}));

}  // namespace

std::span<const KernelClass> trtllm_fp8_moe_classes() { return kClasses; }

}  // namespace mx::engine
