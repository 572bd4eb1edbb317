#pragma once
// Conversions to try a plan on: every row of backends and of building blocks, at sizes around the edges of tiles.

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"

namespace mx::tests {

struct RelayoutCase {
  std::string name;
  layout::Layout from;
  layout::Layout to;
};

/// Calls visit for each of them; the same at each run.
void for_each_backend_case(const std::function<void(const RelayoutCase&)>& visit);
void for_each_block_case(const std::function<void(const RelayoutCase&)>& visit);

/// A tensor whose values change on the way.
struct ValueCase {
  std::string name;
  layout::Layout from;
  layout::TensorPlan to;
};
void for_each_value_case(const std::function<void(const ValueCase&)>& visit);

std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint32_t seed);

/// What the model makes of a source: the target's memory.
std::vector<std::uint8_t> by_model(const layout::Layout& from, const std::vector<std::uint8_t>& source, const layout::Layout& to);

}  // namespace mx::tests
