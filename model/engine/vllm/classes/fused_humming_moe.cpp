// What the expert classes of vllm fused_moe/experts/fused_humming_moe.py accept. In 2026-05 the GEMM type alone is looked at, with the format; since
// then it comes behind the checks of all classes. Nothing prefers the masked one.

#include <array>

#include "model/engine/vllm/classes/rows.hpp"

namespace mx::engine {
namespace {

using namespace class_rows;

constexpr std::array kHummingDevices = {DeviceRule{on_cuda(cap_at_least(75)), &Software::humming_installed}};
constexpr Mask kUnsignedGroups = set_of(Key::int4_static_32, Key::int4_static_32_asym, Key::built_unsigned_groups, Key::mxfp4_dynamic);
constexpr Mask kOrToken = set_of(Key::none, Key::fp8_dynamic_token);
constexpr std::array kHummingPairs = {
    KeyPairs{bit(Key::mxfp4_static), set_of(Key::none, Key::mxfp4_dynamic, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{bit(Key::nvfp4_static), set_of(Key::none, Key::nvfp4_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{bit(Key::mxfp8_static), set_of(Key::none, Key::mxfp8_dynamic, Key::fp8_dynamic_token)},
    KeyPairs{set_of(Key::fp8_static_channel, Key::fp8_static_tensor), kOrToken | set_of(Key::fp8_static_tensor, Key::fp8_dynamic_128)},
    KeyPairs{bit(Key::fp8_static_128_block), kOrToken | bit(Key::fp8_dynamic_128)},
    KeyPairs{set_of(Key::int4_static, Key::int8_static), kOrToken},
    KeyPairs{bit(Key::int8_static_channel), set_of(Key::none, Key::int8_dynamic_token)},
    KeyPairs{kUnsignedGroups, kOrToken},
};
constexpr std::array kHummingQuant = {QuantRule{kHummingPairs}};
constexpr std::array kHummingRules = {humming_gemm};
constexpr std::array kHummingMorePairs = {
    KeyPairs{bit(Key::mxfp4_static), bit(Key::fp8_dynamic_128)},
    KeyPairs{bit(Key::nvfp4_static), bit(Key::nvfp4_dynamic_token)},
    KeyPairs{set_of(Key::int4_static, Key::int8_static, Key::int4_static_32, Key::int4_static_32_asym, Key::built_unsigned_groups),
             bit(Key::int8_dynamic_token)},
};
constexpr std::array kHummingQuantWithInt8 = {QuantRule{kHummingPairs}, QuantRule{kHummingMorePairs}};

constexpr ClassChange kChecked{.since = kVllm2026_08,
                               .devices = kHummingDevices,
                               .takes_no_act_and_mul = true,
                               .activations = kEveryApplied,
                               .quant = kHummingQuant,
                               .batch_invariant = true,
                               .humming_alone = false,
                               .rules_after = kHummingRules};
constexpr ClassChange kWithInt8{.since = kVllm2026_11, .quant = kHummingQuantWithInt8};

constexpr KernelClass humming(std::string_view name, HummingGemm gemm, ActivationFormat format = ActivationFormat::standard) {
  return {.name = name, .format = format, .humming = gemm, .humming_alone = true};
}
constexpr auto kClasses = joined(history(humming("BatchedHummingGroupedExperts", HummingGemm::grouped_masked, kBatched), kChecked, kWithInt8),
                                 history(humming("HummingGroupedExperts", HummingGemm::grouped_contiguous), kChecked, kWithInt8),
                                 history(humming("HummingIndexedExperts", HummingGemm::indexed), kChecked, kWithInt8));

}  // namespace

std::span<const KernelClass> fused_humming_moe_classes() { return kClasses; }

}  // namespace mx::engine
