// What Marlin needs: the kernels, their converters and the engine's classes around them. E/ is vllm fused_moe/experts/ at 7e1b45a09, fi is
// flashinfer-ai/flashinfer at 41e5aa29a.

#include <array>

#include "model/families/facts.hpp"
#include "model/families/marlin/family.hpp"

namespace mx::families {
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
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack", {},
         deployment::before(deployment::kVllm2026_08)),
    need("sizes", kMarlin, {}, kernel, error, run, "H a multiple of 64: the converter pads I of each shard to 64, where H is none of 128 to 128",
         "an assertion, or an error in the repacking or in the kernel", converter_takes,
         "vllm quantization/utils/marlin_utils_fp4.py prepare_nvfp4_moe_layer_for_marlin at 7ca49fbe4", {},
         deployment::since(deployment::kVllm2026_08)),
    need("dtype", kMarlin, {}, kernel, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
};

}  // namespace nvfp4

namespace fp8 {

/// Source: vllm quantization/utils/marlin_utils.py marlin_moe_padded_intermediate: to 64, and to whole groups.
bool takes_padded(const Placement& p) {
  const std::int64_t multiple = is_block(p) ? 128 : 64;
  const std::int64_t padded = (p.intermediate + multiple - 1) / multiple * multiple;
  return converter_takes(p) && marlin_takes((is_gated(p) ? 2 : 1) * padded, p.hidden) && marlin_takes(p.hidden, padded);
}

constexpr std::array<Names, 1> kMarlin = {"MarlinExperts"};

constexpr std::array kNeeds = {
    need(
        "device", kMarlin, {}, kernel, error, read, "cuda from capability 75 on", "no such kernel",
        [](const Placement& p) { return cuda_in(p, 75, 1000); }, "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need(
        "fn_codes", kMarlin, {}, kernel_class, error, read, "weights in e4m3fn, not in the fnuz form of gfx94x", "NotImplementedError",
        [](const Placement& p) { return !arch_is(p, {"gfx94"}); }, "E/marlin_moe.py"),
    need("sizes", kMarlin, {}, kernel, error, run, "a thread configuration divides both GEMMs: N = 2I, K = H and N = H, K = I; nothing pads",
         "an error in the repacking or in the kernel", marlin_takes_both, "vllm csrc/moe/marlin_moe_wna16/ops.cu; gptq_marlin_repack", {},
         deployment::before(deployment::kVllm2026_08)),
    need("sizes", kMarlin, {}, kernel, error, run,
         "a thread configuration divides both GEMMs of I padded by shard to 64, with block scales to 128; without a gate nothing pads",
         "an assertion, or an error in the repacking or in the kernel", takes_padded,
         "vllm quantization/utils/marlin_utils_fp8.py prepare_fp8_moe_layer_for_marlin at 7ca49fbe4; csrc/moe/marlin_moe_wna16", {},
         deployment::since(deployment::kVllm2026_08)),
    need("dtype", kMarlin, {}, kernel, error, read, "float16 or bfloat16; float16 alone at capability 75", "no such kernel", marlin_takes_dtype,
         "vllm csrc/moe/marlin_moe_wna16/ops.cu"),
    need("nan_codes", kMarlin, {}, kernel, silent, run, "no NaN among the codes", "0x7F and 0xFF are 480 and -480", nullptr,
         "vllm csrc/quantization/marlin/dequant.h moves codes into bf16: outputs of an H100"),
};

}  // namespace fp8

constexpr std::array kClasses = {
    KernelClassFacts{"MarlinExperts", ClassKind::plain, ExpertIds::other, WeightOnInput::twice},
    KernelClassFacts{"BatchedMarlinExperts", ClassKind::batched, ExpertIds::other, WeightOnInput::heeded},
};

constexpr std::array kTables = {NeedTable{kMxfp4Oracles, false, mxfp4::kNeeds}, NeedTable{kNvfp4Oracles, false, nvfp4::kNeeds},
                                NeedTable{kFp8Oracles, false, fp8::kNeeds}};

}  // namespace

constinit const std::span<const NeedTable> kMarlinNeeds{kTables};
constinit const std::span<const KernelClassFacts> kMarlinClasses{kClasses};

}  // namespace mx::families
