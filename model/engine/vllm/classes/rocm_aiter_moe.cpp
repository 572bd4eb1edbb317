// What the expert classes of vllm fused_moe/experts/rocm_aiter_moe.py and aiter_*_moe.py accept. A failed check appends a hint when fused-MoE AITER
// is off, which is the device check itself.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array<Names, 2> kMi3xx = {"gfx942", "gfx950"};
constexpr std::array<Names, 1> kGfx950 = {"gfx950"};
constexpr std::array kAiterOn = {EnvVariable::rocm_use_aiter};
constexpr std::array kFusedMoeAiterOn = {EnvVariable::rocm_use_aiter, EnvVariable::rocm_use_aiter_moe};
constexpr std::array kAiterDevices = {DeviceRule{on_rocm(kMi3xx), &Software::aiter_found, kFusedMoeAiterOn}};
// The MOE variable is not consulted here.
constexpr std::array kAiterW4a8Devices = {DeviceRule{on_rocm(kGfx950), &Software::aiter_found, kAiterOn}};
constexpr std::array kAiterPairs = {kUnquantizedPair, kFp8BlockPair, kFp8TensorPairs, kFp8ChannelPair};
constexpr std::array kAiterGfx950Pairs = {KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic)}};
constexpr std::array kAiterW4a8Pairs = {KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_static_tensor)}};
constexpr std::array kAiterQuant = {QuantRule{kAiterPairs}, QuantRule{kAiterGfx950Pairs, on_rocm(kGfx950)}};
constexpr std::array kAiterW4a8Quant = {QuantRule{kAiterW4a8Pairs}};
constexpr std::array<Names, 2> kGfx950And1250 = {"gfx950", "gfx1250"};
constexpr std::array<Names, 3> kAiterGfx = {"gfx942", "gfx950", "gfx1250"};
constexpr std::array kAiterFusedDevices = {DeviceRule{on_rocm(kAiterGfx), &Software::aiter_found, kFusedMoeAiterOn}};
constexpr std::array kAiterW4Devices = {DeviceRule{on_rocm(kGfx950And1250), &Software::aiter_found, kAiterOn}};
constexpr std::array kAiterMxfp8Rules = {triton_experts, LayerRule::aiter_mxfp8, uninterleaved, oai_alpha_beta};
constexpr std::array<Names, 1> kGfx1250 = {"gfx1250"};
constexpr std::array<Names, 1> kGfx942 = {"gfx942"};
constexpr std::array kAiterW4A16Devices = {DeviceRule{on_rocm(kAiterGfx), &Software::aiter_found, kAiterOn}};
constexpr std::array kAiterW4A4Devices = {DeviceRule{on_rocm(kGfx1250), &Software::aiter_found, kAiterOn}};
constexpr std::array kAiterMxfp8Devices = {DeviceRule{on_rocm(kMxRocm), &Software::aiter_found, kFusedMoeAiterOn, &Software::aiter_gate_mode}};
constexpr std::array kAiterTensorPairs = {kFp8TensorPairs};
constexpr std::array kAiterTensorQuant = {QuantRule{kAiterTensorPairs}};
constexpr std::array kAiterChannelPairs = {kFp8ChannelPair};
constexpr std::array kAiterChannelQuant = {QuantRule{kAiterChannelPairs}};
constexpr std::array kAiterMxfp4Quant = {QuantRule{kAiterGfx950Pairs, on_rocm(kGfx950)}, QuantRule{kMxint4Pairs, on_rocm(kGfx942)}};
constexpr Mask kAiterRoutings = kSoftmaxOverChosen | set_of(Routing::deepseek_v4, Routing::deepseek_v3);
constexpr Mask kAiterActivations = set_of(silu, gelu, situ) | kOaiBoth;
constexpr std::array kAiterMxfp8RulesWithSilu = {triton_experts, silu_or_uninterleaved, uninterleaved_alpha_beta};

constexpr KernelClass one_scheme(std::string_view name, std::span<const QuantRule> quant) {
  return {.name = name,
          .first = kVllm2026_11,
          .devices = kAiterFusedDevices,
          .activations = kAiterActivations,
          .quant = quant,
          .refused_parallel = kFlashinferNvlink,
          .device_code = "device+aiter_hint"};
}

constexpr auto kClasses = joined(
    history(KernelClass{.name = "AiterExperts",
                        .devices = kAiterDevices,
                        .activations = kCutlassActivations,
                        .quant = kAiterQuant,
                        .refused_parallel = kFlashinferNvlink,
                        .device_code = "device+aiter_hint"},
            ClassChange{.since = kVllm2026_08, .end = kVllm2026_11, .devices = kAiterFusedDevices, .activations = kAiterActivations}),
    history(KernelClass{.name = "AiterW4A8ExpertsMonolithic",
                        .monolithic = true,
                        .devices = kAiterW4a8Devices,
                        .activations = bit(swigluoai),
                        .quant = kAiterW4a8Quant,
                        .refused_parallel = kNotOneDispatch,
                        .routings = kSoftmaxOverChosen},
            ClassChange{.since = kVllm2026_08, .devices = kAiterW4Devices},
            ClassChange{.since = kVllm2026_11, .refused_parallel = set_of(ParallelFact::use_ep, ParallelFact::eplb, ParallelFact::dp_above_one)}),
    history(KernelClass{.name = "AiterW4A16ExpertsMonolithic",
                        .first = kVllm2026_08,
                        .monolithic = true,
                        .devices = kAiterW4Devices,
                        .activations = kSiluAndOai,
                        .quant = kMxfp4OnBf16,
                        .refused_parallel = kNotOneDispatch,
                        .routings = kSoftmaxOverChosen | bit(Routing::deepseek_v4)},
            ClassChange{.since = kVllm2026_11, .devices = kAiterW4A16Devices, .routings = kAiterRoutings, .hash_routing = true}),
    history(KernelClass{.name = "AiterMxfp8Experts",
                        .first = kVllm2026_08,
                        .devices = kMxDevices,
                        .takes_no_act_and_mul = true,
                        .activations = kEveryApplied,
                        .quant = kMxfp8Quant,
                        .batch_invariant = true,
                        .lora = true,
                        .rules_after = kAiterMxfp8Rules},
            ClassChange{.since = kVllm2026_11, .devices = kAiterMxfp8Devices, .batch_invariant = false, .rules_after = kAiterMxfp8RulesWithSilu}),
    // What took AiterExperts' place.
    history(one_scheme("AiterFp8BlockExperts", kFp8BlockQuant)), history(one_scheme("AiterFp8TensorExperts", kAiterTensorQuant)),
    history(one_scheme("AiterFp8ChannelExperts", kAiterChannelQuant)), history(one_scheme("AiterUnquantizedExperts", kUnquantized)),
    history(one_scheme("AiterMxfp4Experts", kAiterMxfp4Quant)),
    history(KernelClass{.name = "AiterW4A4ExpertsMonolithic",
                        .first = kVllm2026_11,
                        .monolithic = true,
                        .devices = kAiterW4A4Devices,
                        .activations = bit(silu) | kOaiBoth,
                        .quant = kMxfp4OnMxfp4Quant,
                        .refused_parallel = kNotOneDispatch,
                        .routings = kAiterRoutings | bit(Routing::minimax2),
                        .hash_routing = true}));

}  // namespace

std::span<const KernelClass> rocm_aiter_moe_classes() { return kClasses; }

}  // namespace mx::engine
