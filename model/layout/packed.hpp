#pragma once
// A converted layer: tensors that carry their layout. A consumer states which layout it needs; a mismatch is an error, never a reinterpretation.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/layout/plan.hpp"

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

/// What `work` does, with the tensor's name on errors.
template <class Work>
auto named(Role role, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), std::string(name_of(role)));
  }
}

/// Throws Error(input) when the bytes do not fit their layout.
void check_fit(Role role, const Layout& layout, std::span<const std::uint8_t> bytes);

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
  std::int64_t units = 0;     ///< in memory, padding included
  std::int64_t compared = 0;  ///< of them
  std::int64_t differing = 0;
  std::int64_t unwritten = 0;  ///< positions that may hold anything
  std::optional<Mismatch> first;
};

/// Holds a packed tensor against the checkpoint: every logical unit must be where the layout says, every padded one must hold its content.
/// A cast's value is
/// compared after the cast. For backends without coupled values. Throws Error(input) when the packed bytes or the checkpoint's do not fit their
/// layout.
Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer);
/// The part of a tensor's memory that is looked at: of the pieces of kComparedPiece addresses number `from`, from + every, ...
struct Pieces {
  std::int64_t every = 1;
  std::int64_t from = 0;
};
inline constexpr std::int64_t kComparedPiece = 4096;

/// The same against units already at hand: placed_units()[role].
Comparison compare(const PackedTensor& packed, const Units& expected, const Pieces& pieces = {});

}  // namespace mx::layout
