#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include <optional>
#include <string_view>

#include "model/families/family.hpp"

namespace mx::families {

struct Setting;

/// Releases of FlashInfer whose layouts differ: in the interleave for mixed products on sm90. Source: flashinfer-ai/flashinfer.
enum class Flashinfer {
  v0_6_11,  ///< 0.6.11.post2 to 0.6.17
  v0_6_18,  ///< 0.6.18 to 0.7.2.post1
};
std::string_view name_of(Flashinfer release);  ///< "0.6.11", the first release of its kind
/// By a release, "0.6.17". Throws Error(unsupported) for one that no row knows, naming those that are known, Error(usage) for what is no release.
Flashinfer flashinfer_named(std::string_view release);

struct FlashinferParameters {
  std::optional<Flashinfer> release = std::nullopt;  ///< none: the release that the engine's version asks for
};

/// The release that a release of the engine asks for where it is not the one of its month: vllm 0.29.0 asks for 0.6.18 or later.
std::optional<Flashinfer> flashinfer_asked_by(std::string_view engine_release);

/// The release that applies. Source: vllm requirements/cuda.txt: 0.6.11.post2 at 7e1b45a09, 0.6.16.post3 at 017e9f444, 0.6.17 at 7ca49fbe4; 0.29.0
/// and later ask for 0.6.18 or a later one.
Flashinfer flashinfer_of(const Setting& setting);

extern const std::span<const BackendLayout> kFlashinferCutlassLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kFlashinferCutlassBlocks;      ///< sm90_mixed_building_blocks.cpp
extern const std::span<const BlockInput> kFlashinferCutlassInputs;         ///< block_inputs.cpp
extern const std::span<const NeedTable> kFlashinferCutlassNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kFlashinferCutlassClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kFlashinferCutlassExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kFlashinferCutlassSettingKeys;    ///< family.cpp

extern const Family kFlashinferCutlassFamily;

}  // namespace mx::families
