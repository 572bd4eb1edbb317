#pragma once
// What the engine rounds sizes up to, said a second time as the if-chains of its two versions. Source: specification of layouts, section 9.

#include <span>
#include <string>
#include <string_view>

#include "model/layout/rounding.hpp"

namespace mx::props {

struct Multiples {
  std::int64_t hidden;
  std::int64_t intermediate;
};
Multiples restated_rounding(std::string_view backend, const layout::Setting& setting);

/// The first of every backend, engine, device and activation for which the model's table (or what stands in for it) rounds a size otherwise than the
/// restatement; "" where none does.
std::string wrong_rounding();

/// The first for which these rows round otherwise than the table's own; "" where none does.
std::string different_rounding(std::span<const layout::RoundingRow> rows);

}  // namespace mx::props
