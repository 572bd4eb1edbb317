#pragma once
// Where a rule of the engine holds: platforms, capabilities, architectures.

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/deployment/deployment.hpp"
#include "model/deployment/vocabulary.hpp"

namespace mx::deployment {

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

/// All fields must hold. The engine asks whether the architecture's name contains a word, so "gfx11" is every gfx11xx.
struct Where {
  Mask platforms = kEverything;  ///< of PlatformKind
  CapRange capability = kAnyCapability;
  std::span<const std::string_view> gcn_contains_any = {};  ///< empty: any
  std::string_view gcn_lacks = {};                          ///< a word that the name must not hold; empty: any
  std::string_view cpu_arch = {};                           ///< empty: any
};
inline constexpr Where kAnywhere{};

constexpr Where on_cuda(CapRange capability = kAnyCapability) { return {bit(PlatformKind::cuda), capability, {}}; }
constexpr Where on_rocm(std::span<const std::string_view> gcn_contains_any = {}) {  ///< architectures whose name holds one of these parts
  return {bit(PlatformKind::rocm), kAnyCapability, gcn_contains_any};
}

bool holds(const Where& where, const Hardware& hardware);  ///< true on a device of the condition
/// "cuda capability >= 90 and < 110", "rocm gfx942|gfx950", "any platform".
std::string text_of(const Where& where);

}  // namespace mx::deployment
