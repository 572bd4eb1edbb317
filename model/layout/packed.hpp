#pragma once
// A converted layer: tensors that carry their layout. A consumer states which layout it needs; a mismatch is an error, never a reinterpretation.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/layout/backend.hpp"

namespace mx::layout {

/// The expert tensors of one layer as a checkpoint holds them. Biases may be absent (empty).
struct CanonicalLayer {
  Sizes sizes;
  SourceOrder order;
  std::array<std::vector<std::uint8_t>, 6> tensors;  ///< indexed by Role

  const std::vector<std::uint8_t>& operator[](Role role) const { return tensors[static_cast<std::size_t>(role)]; }
  std::vector<std::uint8_t>& operator[](Role role) { return tensors[static_cast<std::size_t>(role)]; }
  bool has_bias() const { return !(*this)[Role::w13_bias].empty() && !(*this)[Role::w2_bias].empty(); }
};

struct PackedTensor {
  Role role;
  Layout layout;
  Cast cast;
  std::vector<std::uint8_t> bytes;
};

/// One layer in a backend's form.
struct PackedLayer {
  std::string backend;
  Sizes sizes;
  Sizes padded;
  SourceOrder order;
  std::vector<PackedTensor> tensors;

  const PackedTensor* find(Role role) const;
  /// Throws Error(usage) unless this layer was packed for `wanted`.
  void require(std::string_view wanted) const;
};

/// Checkpoint form -> backend form. Throws Error(usage) when the backend refuses the sizes, the order or a missing bias, Error(input) when a
/// tensor's bytes do not fit the sizes. Absent biases stay absent.
PackedLayer convert(const CanonicalLayer& layer, const BackendLayout& backend, const Sizes& padded);

/// Backend form -> checkpoint form. Throws Error(input) when a tensor's bytes do not fit its layout or hold what no cast makes.
CanonicalLayer restore(const PackedLayer& packed);

/// Position of a difference, in both views.
struct Mismatch {
  Role role;
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
/// A cast's value is compared after the cast. Throws Error(input) when the packed bytes or the checkpoint's do not fit their layout.
Comparison compare(const PackedTensor& packed, const CanonicalLayer& layer);

}  // namespace mx::layout
