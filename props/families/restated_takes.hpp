#pragma once
// What each converter takes, said a second time: the forms of layers, and the first of its checks that a setting fails, in the converter's order.
// Grounds: spec layouts 1 to 12, each section's preconditions.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/families/memory.hpp"

namespace mx::props {

/// The check that fails first: what it looks at, and the number that it asks for.
struct Refusal {
  families::Quantity quantity;
  std::int64_t operand;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct Takes {
  layout::WeightFormat format;
  std::string_view backend;
  deployment::Versions engines;
  deployment::Versions standard_order;
  deployment::Versions gpt_oss_order;
  bool not_gated;
  bool restores;  ///< whether the checkpoint can be had back from what is packed
  std::optional<Refusal> (*refuses)(const families::Setting& setting);
};

/// Of every family.
std::span<const Takes> all_takes();

}  // namespace mx::props
