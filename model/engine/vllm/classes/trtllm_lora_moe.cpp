// What the expert classes of vllm fused_moe/experts/trtllm_lora_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr auto kClasses = joined(history(KernelClass{.name = "TrtLlmBf16LoRAExperts",
                                                     .first = kVllm2026_08,
                                                     .devices = kTrtllmDevices,
                                                     .activations = bit(silu),
                                                     .quant = kUnquantized,
                                                     .refused_parallel = kRoutedExchange,
                                                     .routings = kSoftmaxOverChosen | set_of(Routing::deepseek_v3, Routing::llama4),
                                                     .lora = true,
                                                     .asked_as_standard = true}),
                                 history(KernelClass{.name = "TrtLlmMxfp4LoRAExperts",
                                                     .first = kVllm2026_11,
                                                     .devices = kTrtllmDevices,
                                                     .activations = kSiluAndOai,
                                                     .quant = kMxfp4OnBf16,
                                                     .refused_parallel = kNotOneDispatch,
                                                     .lora = true}));

}  // namespace

std::span<const KernelClass> trtllm_lora_moe_classes() { return kClasses; }

}  // namespace mx::engine
