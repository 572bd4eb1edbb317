// What the expert classes of vllm fused_moe/experts/b12x.py accept.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kB12xPackage = {DeviceRule{on_cuda(cap_family(120)), &Software::b12x_supported}};
constexpr std::array kB12xPairs = {
    KeyPairs{bit(Key::mxfp4_static), set_of(Key::mxfp8_dynamic, Key::none)},
    KeyPairs{bit(Key::nvfp4_static), set_of(Key::nvfp4_dynamic, Key::mxfp8_dynamic, Key::none)},
};
constexpr std::array kB12xQuant = {QuantRule{kB12xPairs}};
constexpr Mask kB12xRefuses = set_of(ParallelFact::use_ep, ParallelFact::ep_above_one, ParallelFact::all2all_kernels, ParallelFact::eplb);
constexpr std::array kB12xRules = {no_bias,          half_dtype, situ_betas_4_25, plain_uninterleaved, mxfp4_intermediate_32, mxfp4_mxfp8_activations,
                                   mxfp4_mxfp8_sizes};

constexpr auto kClasses = joined(history(KernelClass{.name = "B12xExperts",
                                                     .first = kVllm2026_08,
                                                     .devices = kB12xPackage,
                                                     .takes_no_act_and_mul = true,
                                                     .activations = set_of(silu, situ, swigluoai_uninterleave, relu2_no_mul),
                                                     .quant = kB12xQuant,
                                                     .refused_parallel = kB12xRefuses,
                                                     .rules_before = kB12xRules}));

}  // namespace

std::span<const KernelClass> b12x_classes() { return kClasses; }

}  // namespace mx::engine
