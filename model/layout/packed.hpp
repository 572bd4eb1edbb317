#pragma once
// A converted layer: tensors that carry their layout. A consumer states which layout it needs; a mismatch is an error, never a reinterpretation.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/families/memory.hpp"

namespace mx::layout {

/// The expert tensors of one layer as a checkpoint holds them. Biases may be absent (empty).
struct CanonicalLayer {
  Sizes sizes;
  Form form;
  std::array<std::vector<std::uint8_t>, kRoleCount> tensors;  ///< indexed by Role

  const std::vector<std::uint8_t>& operator[](Role role) const { return tensors[static_cast<std::size_t>(role)]; }
  std::vector<std::uint8_t>& operator[](Role role) { return tensors[static_cast<std::size_t>(role)]; }
  bool has_bias() const { return !(*this)[Role::w13_bias].empty() && !(*this)[Role::w2_bias].empty(); }
};

struct PackedTensor {
  Role role;
  Layout layout;
  const Cast* cast;
  std::vector<std::uint8_t> bytes;
};

/// One layer in a backend's form.
struct PackedLayer {
  std::string backend;
  Setting setting;
  std::vector<PackedTensor> tensors;
  std::vector<Loss> losses;  ///< what cannot be restored; empty for a bijection

  const PackedTensor* find(Role role) const;
  /// Throws Error(usage) unless this layer was packed for `wanted`.
  void require(std::string_view wanted) const;
};

/// Who moves the units of a tensor between layouts of its logical axes. All of them make the same bytes and refuse the same.
struct Mover {
  std::string_view name;
  /// `source` in `from`, which holds every unit, through the cast into the other layout; what it drops is gone, unwritten bytes become 0.
  std::vector<std::uint8_t> (*place)(const Layout& from, std::span<const std::uint8_t> source, const TensorPlan& to);
  /// The way back: dropped units become 0, of units that the cast made equal the smallest is taken. Throws Error(input) for a value that the cast
  /// never makes, and when copies of a unit differ.
  std::vector<std::uint8_t> (*take)(const TensorPlan& from, std::span<const std::uint8_t> memory, const Layout& to);
};
/// The model's own, unit by unit: what every other one is held to.
extern const Mover kMoveByUnits;

/// Checkpoint form -> backend form. `setting`'s sizes, form and has_bias are taken from the layer. Throws Error(usage) when the backend refuses the
/// setting or the form, Error(input) when a tensor's bytes do not fit the sizes or a tensor is missing. Absent biases stay absent. A layer that is
/// moved in gives its tensors up one by one, so that memory holds little more than the layer and its largest tensor.
PackedLayer convert(CanonicalLayer layer, const BackendLayout& backend, Setting setting, const Mover& mover = kMoveByUnits);
/// The same with nothing but sizes to say, by the first version of the engine that converts the form.
PackedLayer convert(CanonicalLayer layer, const BackendLayout& backend, const Sizes& padded);

/// What restore does where the conversion lost something.
enum class OnLoss {
  refuse,  ///< Error(usage) naming the first loss
  mark,    ///< units cut off become 0, of units that cannot be told apart the smallest is taken; PackedLayer::losses says which
};

/// Backend form -> checkpoint form. Throws Error(input) when a tensor's bytes do not fit its layout or hold what no conversion makes, Error(usage)
/// as `on_loss` says and always when the values are not determined at all. Memory as for convert.
CanonicalLayer restore(PackedLayer packed, OnLoss on_loss = OnLoss::refuse, const Mover& mover = kMoveByUnits);

/// The units of a layer as the backend's layouts place them: in logical row-major order, after the coupled transforms, before the casts.
LayerUnits placed_units(CanonicalLayer layer, const BackendLayout& backend, const Setting& setting, std::vector<Loss>& losses,
                        const Mover& mover = kMoveByUnits);

/// Position of a difference, in both views.
struct Mismatch {
  Role role;
  std::vector<Axis> axes;      ///< of the tensor
  std::optional<Coord> coord;  ///< logical index; none for padding
  std::int64_t byte_address;   ///< of the unit's lowest bit in the packed tensor
  int bit;                     ///< of that byte where the unit begins: 4 for a high nibble
  std::uint64_t expected;      ///< the unit's bits
  std::uint64_t found;
  std::string text() const;  ///< one line: tensor, logical index, physical address, both values
};

struct Comparison {
  std::int64_t compared = 0;  ///< units compared, padding included
  std::int64_t differing = 0;
  std::int64_t unwritten = 0;  ///< positions that may hold anything
  std::optional<Mismatch> first;
};

/// Holds a packed tensor against the checkpoint: every logical unit must be where the layout says, every padded one must hold its content.
/// A cast's value is
/// compared after the cast. For backends without coupled values. Throws Error(input) when the packed bytes or the checkpoint's do not fit their
/// layout.
Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer);
/// The same against units already at hand: placed_units()[role].
Comparison compare(const PackedTensor& packed, const Units& expected);

}  // namespace mx::layout
