// What the expert classes of vllm fused_moe/experts/trtllm_mxfp4_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kTrtllmMxfp4Devices = {DeviceRule{kBlackwell, &Software::has_flashinfer}};
constexpr std::array kTrtllmMxfp4Pairs = {kMxfp4OnBf16Pair, kMxfp4OnMxfp8Pair};
constexpr std::array kTrtllmMxfp4Quant = {QuantRule{kTrtllmMxfp4Pairs}};

constexpr auto kClasses = joined(
    history(KernelClass{.name = "TrtLlmMxfp4ExpertsMonolithic",
                        .monolithic = true,
                        .devices = kTrtllmMxfp4Devices,
                        .activations = kSiluAndOai,
                        .quant = kTrtllmMxfp4Quant,
                        .refused_parallel = kNotOneDispatch,
                        .routings = kSoftmaxOverChosen},
            ClassChange{.since = kVllm2026_08, .routings = kSoftmaxOverChosen | bit(Routing::deepseek_v3), .situ = &Software::flashinfer_situ}),
    history(KernelClass{.name = "TrtLlmMxfp4ExpertsModular", .devices = kTrtllmMxfp4Devices, .activations = kSiluAndOai, .quant = kTrtllmMxfp4Quant},
            ClassChange{.since = kVllm2026_08, .situ = &Software::flashinfer_situ}));

}  // namespace

std::span<const KernelClass> trtllm_mxfp4_moe_classes() { return kClasses; }

}  // namespace mx::engine
