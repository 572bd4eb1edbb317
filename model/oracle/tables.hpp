#pragma once
// The data of an oracle: what each kernel class accepts, and how one oracle searches. The interpreters take these as spans, so another
// engine version, or a table with a mistake planted in it, is another value.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "model/oracle/deployment.hpp"
#include "model/oracle/env.hpp"
#include "model/oracle/vocabulary.hpp"

namespace mx::oracle {

/// Capabilities (10 * major + minor) in [low, below). An absent capability is in no range but `kAnyCapability`.
struct CapRange {
  int low;
  int below;
};
inline constexpr CapRange kAnyCapability{std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
constexpr CapRange cap_at_least(int low) { return {low, std::numeric_limits<int>::max()}; }
constexpr CapRange cap_exactly(int cap) { return {cap, cap + 1}; }
/// The engine's is_device_capability_family(n): the same major version.
constexpr CapRange cap_family(int cap) { return {cap / 10 * 10, cap / 10 * 10 + 10}; }
constexpr bool is_any(const CapRange& range) { return range.low == kAnyCapability.low && range.below == kAnyCapability.below; }
constexpr bool in_range(const CapRange& range, const std::optional<int>& capability) {
  return is_any(range) || (capability && *capability >= range.low && *capability < range.below);
}

/// One alternative of a device predicate; all fields must hold. Checked in the order platform, capability, arch, variables, probe.
struct DeviceRule {
  PlatformKind platform;
  CapRange capability = kAnyCapability;
  std::span<const std::string_view> gcn_contains_any = {};  ///< empty: any
  bool Software::*probe = nullptr;                          ///< null: none
  std::span<const EnvVariable> switched_on = {};
};

/// (weight key, activation key) pairs that are accepted where the conditions hold.
struct QuantRule {
  Mask weights;
  Mask activations;
  CapRange capability = kAnyCapability;
  std::span<const std::string_view> gcn_contains_any = {};
};

/// Facts about the parallel configuration that a class may refuse.
enum class ParallelFact : std::uint8_t { fi_nvl_two_sided, fi_nvl_one_sided, all2all_kernels, eplb, dp_above_one };

enum class ActivationFormat : std::uint8_t { standard, batched_experts };

/// The Humming classes replace the whole check by a comparison of GEMM types.
enum class HummingGemm : std::uint8_t { not_humming, indexed, grouped_contiguous, grouped_masked };

/// One expert class of the engine.
struct KernelClass {
  std::string_view name;
  ActivationFormat format;
  bool monolithic;  ///< routing happens inside the kernel
  std::span<const DeviceRule> devices;
  bool takes_no_act_and_mul;
  Mask activations;
  std::span<const QuantRule> quant;
  Mask refused_parallel;
  Mask routings;
  bool batch_invariant;
  bool lora;
  std::string_view device_hint = {};  ///< appended to the code when the device check fails
  HummingGemm humming = HummingGemm::not_humming;
};

/// Every class that an implemented oracle can name. Source: vllm 7e1b45a09 fused_moe/experts/*.py.
std::span<const KernelClass> kernel_classes();

struct BackendRow {
  std::string_view name;
  std::span<const std::string_view> classes;  ///< in the order of trial
  QuantKey own_key;
  bool Software::*module = nullptr;  ///< importing the classes needs this package
  std::string_view module_name = {};
};

/// A value of moe_backend and the backends that it stands for, in order.
struct UserNameRow {
  std::string_view name;
  std::span<const std::string_view> backends;
};

/// What an override asks for on devices of a capability range.
struct OverrideTarget {
  CapRange capability;
  std::string_view backend;
  QuantKey key;  ///< replaces whatever key was requested
};

/// A variable that ends the search when it is on: the first target whose range holds is tried, none is a ValueError.
struct EnvOverrideRow {
  EnvVariable variable;
  std::span<const OverrideTarget> targets;
  std::span<const std::string_view> dropped_when_off;  ///< removed from the priority list when it is set and off
};

/// Tried, with this key, when the priority list found nothing.
struct FallbackRow {
  PlatformKind platform;
  std::string_view backend;
  QuantKey key;
};

struct RewriteRow {
  std::string_view from;
  std::string_view to;
};

/// Sizes go up to these multiples; the first row that matches. No backend names: any.
struct RoundingRow {
  std::span<const std::string_view> backends;
  std::optional<PlatformKind> platform;
  std::int64_t hidden;
  std::int64_t intermediate;
};

/// One oracle.
struct OracleTables {
  QuantKey weight_key;
  std::span<const KernelClass> classes;
  std::span<const BackendRow> backends;
  std::span<const UserNameRow> user_names;
  std::span<const std::string_view> priority;
  std::string_view survives_key_filter;  ///< kept by the activation-key filter whatever its own key
  std::span<const RewriteRow> batched_rewrites;
  std::span<const EnvOverrideRow> env_overrides;
  std::span<const FallbackRow> fallbacks;
  std::span<const RoundingRow> roundings;
};

/// mxfp4 (gpt-oss path), mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8.
std::span<const std::string_view> oracle_names();
/// Throws Error(usage) with the nearest known name.
const OracleTables& tables_of(std::string_view oracle);

/// Source: vllm 7e1b45a09 fused_moe/oracle/mxfp4.py.
const OracleTables& mxfp4_tables();

}  // namespace mx::oracle
