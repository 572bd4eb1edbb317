#pragma once
// Shapes as people type them: "8x128x64", "128x64" or "E=8,I=128,H=64".

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mx::verbs {

/// A name of one of a shape's numbers, its other names, and its largest value; the first may be left out and is then 1.
struct ShapePart {
  std::string_view name;
  std::string_view long_name;
  std::int64_t most;
};
using ShapeParts = std::array<ShapePart, 3>;
/// E, I, H of a layer; batch, rows, cols of a matrix.
extern const ShapeParts kLayerShape;
extern const ShapeParts kMatrixShape;

/// Throws Error(usage) naming the text, the part and the rule.
std::array<std::int64_t, 3> shape_from(std::string_view text, const ShapeParts& parts);

}  // namespace mx::verbs
