// What the expert classes of vllm fused_moe/experts/rdna3_wna16_moe.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array<Names, 1> kGfx1100 = {"gfx1100"};
constexpr std::array kRdna3Devices = {DeviceRule{on_rocm(kGfx1100), &Software::moe_gptq_gemm_rdna3_op}};
constexpr std::array kRdna3Quant = {QuantRule{kXpuInt4Pairs}};

constexpr auto kClasses = joined(history(KernelClass{.name = "Rdna3WNA16Experts",
                                                     .first = kVllm2026_11,
                                                     .devices = kRdna3Devices,
                                                     .takes_no_act_and_mul = true,
                                                     .activations = kEveryApplied,
                                                     .quant = kRdna3Quant,
                                                     .refused_parallel = kFlashinferNvlink}));

}  // namespace

std::span<const KernelClass> rdna3_wna16_moe_classes() { return kClasses; }

}  // namespace mx::engine
