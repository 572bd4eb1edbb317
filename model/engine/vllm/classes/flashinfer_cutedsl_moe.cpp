// What the expert classes of vllm fused_moe/experts/flashinfer_cutedsl_moe.py and flashinfer_cutedsl_batched_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kCuteDslDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_moe_nvfp4}};
constexpr std::array kCuteDslBatchedDevices = {DeviceRule{kBlackwell, &Software::has_flashinfer_cutedsl_grouped_gemm_nt_masked}};

constexpr auto kClasses =
    joined(history(KernelClass{.name = "FlashInferCuteDSLExperts", .devices = kCuteDslDevices, .activations = bit(silu), .quant = kNvfp4Quant},
                   ClassChange{.since = kVllm2026_08, .takes_no_act_and_mul = true, .activations = set_of(silu, relu2_no_mul) | kOaiBoth},
                   ClassChange{.since = kVllm2026_11, .activations = set_of(silu, relu2_no_mul, situ) | kOaiBoth, .quant = kNvfp4TokenQuant}),
           history(KernelClass{.name = "FlashInferCuteDSLBatchedExperts",
                               .format = kBatched,
                               .devices = kCuteDslBatchedDevices,
                               .activations = bit(silu),
                               .quant = kNvfp4Quant}));

}  // namespace

std::span<const KernelClass> flashinfer_cutedsl_moe_classes() { return kClasses; }

}  // namespace mx::engine
