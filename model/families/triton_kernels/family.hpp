#pragma once
// What this family's converters may look at besides what every converter sees, its tables, each in a file of its own, and the record that lists them.

#include <optional>
#include <string_view>

#include "model/families/family.hpp"

namespace mx::families {

/// Releases of triton_kernels whose layouts differ. Source: triton-lang/triton.
enum class TritonKernels {
  v3_5,     ///< abce3c88f05e8dba40bfacf68acf0ee3869afb5e
  v3_7,     ///< 9d9a2d7ac0b8b22d1888cb95056c94a64a4beed4; 3.6 is taken to be the same
  v2026_08  ///< 000df03e481fdd68099e4807feac102b9d7dd0de
};
std::string_view name_of(TritonKernels version);  ///< "triton_kernels-3.5"
/// "triton_kernels-3.5" or "3.5". Throws Error(unsupported) for a release that no row knows, naming those that are known.
TritonKernels triton_kernels_named(std::string_view name);

struct TritonParameters {
  std::optional<TritonKernels> release = std::nullopt;  ///< none: the release that the engine is built against on the device
  bool torch_before_2_8_1 = false;                      ///< on sm90
  int num_warps = 8;                                    ///< on sm90: of the scale layout
  bool before_swizzle = false;                          ///< stop before the layout of triton_kernels
};

extern const std::span<const BackendLayout> kTritonKernelsLayouts;     ///< memory.cpp
extern const std::span<const BuildingBlock> kTritonKernelsBlocks;      ///< building_blocks.cpp
extern const std::span<const NeedTable> kTritonKernelsNeeds;           ///< needs.cpp
extern const std::span<const KernelClassFacts> kTritonKernelsClasses;  ///< needs.cpp
extern const std::span<const ExecutionRow> kTritonKernelsExecutions;   ///< arithmetic.cpp
extern const std::span<const SettingKey> kTritonKernelsSettingKeys;    ///< family.cpp

extern const Family kTritonKernelsFamily;

}  // namespace mx::families
