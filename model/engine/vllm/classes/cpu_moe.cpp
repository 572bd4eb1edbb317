// What the expert classes of vllm fused_moe/experts/cpu_moe.py and cpu_int4_moe.py accept. Since 2026-11 most are no longer monolithic.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr Mask kCpuRoutings = set_of(Routing::standard, Routing::renormalize, Routing::renormalize_naive);
constexpr Where kCpu{bit(PlatformKind::cpu), kAnyCapability, {}};
constexpr std::array kCpuDevices = {DeviceRule{kCpu}};
constexpr std::array kAmxDevices = {DeviceRule{.where = on_arch("x86"), .trait = &Hardware::amx}};
constexpr std::array kArmDevices = {DeviceRule{on_arch("arm")}};
constexpr std::array kPowerDevices = {DeviceRule{on_arch("power")}};
constexpr std::array kArmInt8Devices = {DeviceRule{on_arch("arm"), &Software::cpu_fused_moe_int8_op}};
constexpr std::array kCpuInt8Pairs = {KeyPairs{bit(Key::int8_static_channel), bit(Key::int8_dynamic_token)}};
constexpr std::array kCpuInt8Quant = {QuantRule{kCpuInt8Pairs}};
constexpr std::array kCpuInt4Pairs = {KeyPairs{bit(Key::int4_static), bit(Key::none)}};
constexpr std::array kCpuInt4Quant = {QuantRule{kCpuInt4Pairs}};
constexpr std::array kW4a8Int8Pairs = {
    KeyPairs{set_of(Key::int4_w4a8_group_128, Key::int4_w4a8_group_64, Key::int4_w4a8_group_32, Key::int4_w4a8_group, Key::int8_static_channel),
             bit(Key::none)}};
constexpr std::array kW4a8Int8Quant = {QuantRule{kW4a8Int8Pairs}};
constexpr Mask kCpuActivations = set_of(silu, swigluoai, gelu, gelu_tanh);
constexpr std::array kSizes32 = {sizes_32};
constexpr std::array kPlainCpu = {cpu_plain};
constexpr std::array kPlainX86 = {cpu_plain_x86};
constexpr std::array kPlainArm = {cpu_plain_arm};
constexpr std::array kPlainPower = {cpu_plain_power};
constexpr std::array kCpuInt4Rules = {arm, torch_int4_ops};
constexpr std::array kAmxFp8Devices = {DeviceRule{.where = on_arch("x86"), .probe = &Software::cpu_has_amx_fp8_op, .trait = &Hardware::amx_fp8}};
constexpr std::array kPowerInt8Devices = {DeviceRule{on_arch("power"), &Software::cpu_fused_moe_int8_op}};
constexpr std::array kZenDevices = {DeviceRule{.where = kCpu, .probe = &Software::zentorch_fused_moe_op, .trait = &Hardware::zen_cpu}};
constexpr std::array kZenInt4Devices = {DeviceRule{
    .where = kCpu, .probe = &Software::zentorch_fused_moe_op, .also = &Software::zentorch_woq_repack_weight_op, .trait = &Hardware::zen_cpu}};
constexpr std::array kHidden32 = {hidden_32};
constexpr std::array kPowerInt8Rules = {f32_or_bfloat16_dtype, sizes_16};
constexpr std::array kZenInt4Rules = {bfloat16_dtype, two_experts_per_token};

constexpr KernelClass plain(std::string_view name, std::span<const DeviceRule> devices, std::span<const LayerRule> rules) {
  return {.name = name,
          .first = kVllm2026_08,
          .monolithic = true,
          .devices = devices,
          .activations = kCpuActivations,
          .quant = kUnquantized,
          .rules_after = rules};
}
constexpr ClassChange kModular{.since = kVllm2026_11, .monolithic = false};

constexpr auto kClasses = joined(
    history(KernelClass{.name = "CPUExpertsMxfp4",
                        .monolithic = true,
                        .devices = kCpuDevices,
                        .activations = kSiluAndOai,
                        .quant = kMxfp4OnBf16,
                        .routings = kCpuRoutings},
            ClassChange{.since = kVllm2026_08, .devices = kAmxDevices},
            ClassChange{
                .since = kVllm2026_11, .monolithic = false, .activations = kCpuActivations, .routings = kCpuRoutings | bit(Routing::deepseek_v4)}),
    history(KernelClass{.name = "CPUExpertsFp8",
                        .monolithic = true,
                        .devices = kCpuDevices,
                        .activations = bit(silu),
                        .quant = kFp8BlockQuant,
                        .routings = kCpuRoutings},
            ClassChange{.since = kVllm2026_08, .devices = kAmxDevices},
            ClassChange{.since = kVllm2026_11,
                        .monolithic = false,
                        .activations = set_of(silu, gelu, gelu_tanh),
                        .routings = kCpuRoutings | set_of(Routing::deepseek_v3, Routing::deepseek_v4)}),
    history(plain("X86CPUUnquantizedExperts", kAmxDevices, kPlainX86), kModular),
    history(plain("ArmCPUUnquantizedExperts", kArmDevices, kPlainArm), kModular),
    history(plain("PowerCPUUnquantizedExperts", kPowerDevices, kPlainPower), kModular),
    history(plain("CPUUnquantizedExperts", kCpuDevices, kPlainCpu), kModular),
    history(KernelClass{.name = "CPUExpertsInt8",
                        .first = kVllm2026_08,
                        .monolithic = true,
                        .devices = kAmxDevices,
                        .activations = bit(silu),
                        .quant = kCpuInt8Quant,
                        .routings = kCpuRoutings,
                        .rules_after = kSizes32},
            ClassChange{.since = kVllm2026_11, .monolithic = false, .activations = set_of(silu, gelu_tanh), .rules_after = kHidden32}),
    history(KernelClass{.name = "ArmCPUExpertsInt8",
                        .first = kVllm2026_08,
                        .monolithic = true,
                        .devices = kArmInt8Devices,
                        .activations = kCpuActivations,
                        .quant = kCpuInt8Quant,
                        .refused_parallel = bit(ParallelFact::use_ep),
                        .routings = kCpuRoutings,
                        .rules_after = kSizes32},
            ClassChange{.since = kVllm2026_11, .monolithic = false}),
    history(KernelClass{.name = "CPUExpertsInt4",
                        .first = kVllm2026_08,
                        .monolithic = true,
                        .devices = kAmxDevices,
                        .activations = bit(silu),
                        .quant = kCpuInt4Quant,
                        .routings = kCpuRoutings},
            ClassChange{.since = kVllm2026_11, .monolithic = false, .activations = set_of(silu, gelu_tanh)}),
    history(KernelClass{.name = "CPUExpertsFp8W8A8",
                        .first = kVllm2026_11,
                        .devices = kAmxFp8Devices,
                        .activations = set_of(silu, gelu_tanh),
                        .quant = kFp8BlockQuant,
                        .routings = kCpuRoutings | set_of(Routing::deepseek_v3, Routing::deepseek_v4)}),
    history(KernelClass{.name = "PowerCPUExpertsInt8",
                        .first = kVllm2026_11,
                        .devices = kPowerInt8Devices,
                        .activations = kCpuActivations,
                        .quant = kCpuInt8Quant,
                        .refused_parallel = bit(ParallelFact::use_ep),
                        .routings = kCpuRoutings,
                        .rules_after = kPowerInt8Rules}),
    history(KernelClass{.name = "ZenCPUExpertsInt8",
                        .first = kVllm2026_11,
                        .devices = kZenDevices,
                        .activations = kCpuActivations,
                        .quant = kCpuInt8Quant,
                        .refused_parallel = bit(ParallelFact::use_ep),
                        .routings = kCpuRoutings}),
    history(KernelClass{.name = "ZentorchExpertsInt4",
                        .first = kVllm2026_11,
                        .monolithic = true,
                        .devices = kZenInt4Devices,
                        .activations = kCpuActivations,
                        .quant = kXpuInt4Quant,
                        .refused_parallel = bit(ParallelFact::use_ep),
                        .routings = kCpuRoutings | bit(Routing::custom),
                        .rules_after = kZenInt4Rules}));

constexpr std::array kInt4Classes = {
    KernelClass{.name = "CPUExpertsInt4",
                .first = kVllm2026_08,
                .monolithic = true,
                .devices = kCpuDevices,
                .activations = set_of(silu, swigluoai, swiglustep),
                .quant = kW4a8Int8Quant,
                .refused_parallel = bit(ParallelFact::ep_above_one),
                .routings = kCpuRoutings,
                .rules_before = kCpuInt4Rules},
};

}  // namespace

std::span<const KernelClass> cpu_moe_classes() { return kClasses; }
std::span<const KernelClass> cpu_int4_classes() { return kInt4Classes; }

}  // namespace mx::engine
