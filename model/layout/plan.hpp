#pragma once
// Where a tensor goes, what becomes of its units, and what that loses.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/layout/cast.hpp"
#include "model/layout/layout.hpp"
#include "model/layout/tensor.hpp"

namespace mx::layout {

/// Where one tensor goes and what becomes of its units.
struct TensorPlan {
  Layout layout;  ///< units of memory: after the cast
  const Cast* cast;
};

/// Units of a tensor in logical row-major order; the first unit in the lowest bits of the first byte.
struct Units {
  int bits = 0;
  std::vector<std::uint8_t> bytes;
  bool absent() const { return bytes.empty(); }
};
/// The units of a layer's tensors, indexed by Role.
using LayerUnits = std::array<Units, kRoleCount>;

/// What a conversion loses: per code, or per position.
struct Loss {
  Role role;
  std::string what;       ///< "e8m0 codes 1..102 become 0", "scale columns 40..43 are cut off"
  std::int64_t units;     ///< of this tensor that cannot be restored
  std::int64_t kept = 0;  ///< of them, whose value is kept: only what the way back would need is not stored beside
  bool replaced = false;  ///< other codes stand in their place: what is packed does not determine them, and nothing is restored

  std::int64_t destroyed() const { return units - kept; }
};

}  // namespace mx::layout
