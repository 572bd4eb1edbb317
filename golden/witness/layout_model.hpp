#pragma once
// What the model does with the tensor of a recorded call: where its units go, and which bytes come out.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "golden/witness/layout_call.hpp"
#include "model/families/convert.hpp"
#include "model/layout/cast.hpp"
#include "model/layout/layout.hpp"
#include "model/layout/packed.hpp"

namespace mx::golden {

/// Memory before and after; both have the same logical axes and, unless the cast changes widths, the same grain.
struct LayoutModel {
  layout::Layout source;
  layout::Layout packed;
  const layout::Cast* cast;
  const families::BackendLayout* coupled = nullptr;  ///< a backend that changes values together, beside the cast
};

/// The memory of a call's tensor. Throws Error(usage) when the model refuses the call, Unmodelled when it has no layout for it.
LayoutModel model_of(const LayoutCall& call, const LayoutEntry& entry);

/// For each grain of `packed` the grain of `source` in memory, or the layout's code for padding.
std::vector<std::int64_t> source_grains(const LayoutModel& model);

/// What the model makes of bytes.
struct PackedBytes {
  std::vector<std::uint8_t> bytes;
  std::optional<families::PackedLayer> layer;  ///< of backends that change values together
};
/// Throws Error(usage) when the model refuses.
PackedBytes packed_bytes(const LayoutCall& call, const LayoutModel& model, std::span<const std::uint8_t> input);

/// The way back.
struct RestoredBytes {
  std::vector<std::uint8_t> bytes;
  std::vector<bool> lost;  ///< grains of the source, in memory order, that the output does not determine
};
RestoredBytes restored_bytes(const LayoutCall& call, const LayoutModel& model, const PackedBytes& output);

/// A layer of zeros with one tensor given; biases are there as the setting says.
layout::CanonicalLayer layer_with(const BackendCall& call, std::span<const std::uint8_t> tensor);

}  // namespace mx::golden
