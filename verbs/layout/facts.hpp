#pragma once
// What can be said of a layout without a shape: units, padding, whether there is a way back.

#include <string>
#include <vector>

#include "verbs/layout/subject.hpp"

namespace mx::verbs {

struct LayoutFacts {
  int unit_bits = 0;     ///< of an element
  int memory_bits = 0;   ///< of an address
  std::string padding;   ///< "none", "zero", "zero, never written": what a tensor of awkward sizes gets
  std::string way_back;  ///< "bijection", "elements are cut off", "bf16_to_f32, every code comes back", "e8m0_to_e4m3, some codes do not come back"
};

/// Of a building block, by laying out awkward sizes that it takes.
LayoutFacts facts_of(const families::BuildingBlock& block);
/// Of a backend's tensor, likewise, on the first device that its converter takes.
LayoutFacts facts_of(const families::BackendLayout& row, layout::Role role);

/// Tensors that a backend's conversion of its format has.
std::vector<layout::Role> roles_of(const families::BackendLayout& row);

/// "2026-05, 2026-08"
std::string engines_text(const deployment::Versions& engines);

}  // namespace mx::verbs
