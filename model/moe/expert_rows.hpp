#pragma once
// Rows of a checkpoint's expert matrices as codes and scales, for contracts that take the two apart.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/layout/packed.hpp"
#include "model/moe/weight_facts.hpp"
#include "model/numerics/dot.hpp"

namespace mx::moe {

/// Elements along K with the scales of their blocks.
struct ScaledRow {
  std::vector<Value> elements;
  std::vector<Value> scales;  ///< one for each `block` elements; empty: none
  const Format* format;       ///< of the elements
  int block = 0;

  Operand operand() const { return {.elements = elements, .format = format, .scales = scales, .block = block}; }
};

/// The matrices of a layer in logical order: rows of gate, then of up.
class ExpertRows {
 public:
  /// Throws Error(unsupported) for int4 weights, Error(usage) when a weight or scale is missing, Error(input) when one does not fit the sizes.
  explicit ExpertRows(const layout::CanonicalLayer& layer);

  const layout::Sizes& sizes() const { return sizes_; }
  bool gated() const { return form_.gated; }

  /// `half` 0 is gate or the only one, 1 is up. A scale of a row or of an expert is one of a block as long as the row; the scales of NVFP4's blocks
  /// are theirs times the expert's, exactly.
  ScaledRow w13(std::int64_t expert, std::int64_t half, std::int64_t i) const;  ///< [hidden]
  ScaledRow w2(std::int64_t expert, std::int64_t n) const;                      ///< [intermediate]

  /// fp32 bits; none where the checkpoint has no biases.
  std::optional<std::uint32_t> w13_bias(std::int64_t expert, std::int64_t half, std::int64_t i) const;
  std::optional<std::uint32_t> w2_bias(std::int64_t expert, std::int64_t n) const;

 private:
  struct Roles {
    layout::Role weight, scale, global;
  };

  ScaledRow row(const Roles& roles, const RowPlace& place) const;
  std::uint32_t unit(layout::Role role, std::int64_t index) const;
  std::optional<std::uint32_t> bias(layout::Role role, std::int64_t index) const;

  layout::Sizes sizes_;
  layout::Form form_;
  std::array<std::vector<std::uint8_t>, layout::kRoleCount> units_;
};

}  // namespace mx::moe
