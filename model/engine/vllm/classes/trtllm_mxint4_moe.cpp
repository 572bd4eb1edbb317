// What the expert classes of vllm fused_moe/experts/trtllm_mxint4_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kMxint4On = {EnvVariable::use_flashinfer_moe_int4};
constexpr std::array kMxint4Devices = {DeviceRule{kBlackwell, &Software::has_flashinfer_trtllm_fused_moe, kMxint4On}};
constexpr std::array kMxint4Quant = {QuantRule{kMxint4Pairs}};

constexpr auto kClasses =
    joined(history(KernelClass{.name = "TrtLlmMxint4ExpertsMonolithic",
                               .first = kVllm2026_08,
                               .monolithic = true,
                               .devices = kMxint4Devices,
                               .activations = kSiluAndOai,
                               .quant = kMxint4Quant,
                               .refused_parallel = kRoutedExchange,
                               .routings = kSoftmaxOverChosen | set_of(Routing::deepseek_v3, Routing::llama4, Routing::simulated),
                               .f32_logits_routings = set_of(Routing::deepseek_v3, Routing::simulated)},
                   ClassChange{.since = kVllm2026_11,
                               .routings = kSoftmaxOverChosen | set_of(Routing::deepseek_v3, Routing::llama4),
                               .f32_logits_routings = bit(Routing::deepseek_v3)}));

}  // namespace

std::span<const KernelClass> trtllm_mxint4_moe_classes() { return kClasses; }

}  // namespace mx::engine
