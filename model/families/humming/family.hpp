#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include <optional>
#include <string_view>

#include "model/families/family.hpp"

namespace mx::families {

struct Setting;

/// Releases of humming-kernels whose conversions differ. Source: inclusionAI/humming,
/// humming/include/humming/kernel, releases 0.1.0, 0.1.12 and 0.1.19; golden/witness/layouts-rows and layouts-humming.
enum class Humming {
  v0_1_0,   ///< vllm@2026-05 asks for it
  v0_1_12,  ///< vllm@2026-08 asks for it
  v0_1_19,  ///< as 0.1.12, but for activations in groups of 128
};
std::string_view name_of(Humming release);  ///< "0.1.12"
/// Throws Error(unsupported) for a release that no row knows, naming those that are known.
Humming humming_named(std::string_view release);

struct HummingParameters {
  std::optional<Humming> release = std::nullopt;  ///< none: the release that the engine's version asks for
  bool group_128 = false;                         ///< 8-bit activations with a scale for every 128 of K instead of one for a token
};

/// The release that applies. Source: vllm requirements/cuda.txt: 0.1.0 at 7e1b45a09, 0.1.12 at 7ca49fbe4.
Humming humming_of(const Setting& setting);

extern const std::span<const BackendLayout> kHummingLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kHummingBlocks;      ///< building_blocks.cpp
extern const std::span<const ValueBlock> kHummingValueBlocks;    ///< values.cpp
extern const std::span<const NeedTable> kHummingNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kHummingClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kHummingExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kHummingSettingKeys;    ///< family.cpp

extern const Family kHummingFamily;

}  // namespace mx::families
