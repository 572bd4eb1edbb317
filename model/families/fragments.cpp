#include "model/families/fragments.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "model/fault.hpp"

namespace mx::families {
namespace blocks {
namespace {

/// How many of the axes above a thread's run of neighbours are interleaved in one 32-bit word.
std::size_t interleaved_axes(const Fragments& fragments) {
  const int runs_in_word = fragments.activation_bits / fragments.weight_bits;
  return runs_in_word == 4 ? 2 : runs_in_word == 2 ? 1 : 0;
}

/// Splits `axis` by `inner` and leaves the inner part the axis's name.
void split_off(layout::Layout& layout, const std::string& axis, std::int64_t inner, const std::string& outer) {
  layout.split(axis, inner, outer, axis);
}

}  // namespace

std::int64_t fragment_columns(const Fragments& fragments) { return 256 / fragments.activation_bits; }

layout::Layout& fragment_order(layout::Layout& layout, std::string_view rows, std::string_view cols, const Fragments& fragments) {
  const std::string n(rows);
  const std::string k(cols);
  const int bits = fragments.activation_bits;
  std::vector<std::string> order;
  for (const layout::Axis& axis : layout.view()) {
    if (axis.name != n && axis.name != k) order.push_back(axis.name);
  }
  split_off(layout, n, kFragmentRows, n + ".tile");
  split_off(layout, n, std::int64_t{4} * bits, n + ".part");
  split_off(layout, n, 16, n + ".pair");
  split_off(layout, n, 8, n + ".half");
  split_off(layout, k, fragment_columns(fragments), k + ".tile");
  split_off(layout, k, 128 / bits, k + ".half");
  split_off(layout, k, 32 / bits, k + ".quad");

  std::array<std::string, 3> above{n + ".pair", n + ".half", k + ".half"};
  if (fragments.transposed != fault::planted(fault::Fault::fragment_halves_exchanged)) std::swap(above[1], above[2]);
  const std::size_t words = above.size() - interleaved_axes(fragments);
  order.insert(order.end(), {k + ".tile", n + ".tile", n + ".part", n, k + ".quad"});
  order.insert(order.end(), above.begin(), above.begin() + static_cast<std::ptrdiff_t>(words));
  order.push_back(k);
  order.insert(order.end(), above.begin() + static_cast<std::ptrdiff_t>(words), above.end());
  return layout.permute(std::vector<std::string_view>(order.begin(), order.end()));
}

layout::Layout& scale_blocks_of_64(layout::Layout& layout, std::string_view axis) {
  const std::string name(axis);
  layout.split(name, 64, name + ".block", name).split(name, 8, name + ".eighth", name);
  const std::array from{name + ".eighth", name};
  rearrange(layout, from, std::array{from[1], from[0]});
  const std::string block = name + ".block";
  return layout.merge({block, from[1], from[0]}, name);
}

layout::Layout& scale_blocks_of_32(layout::Layout& layout, std::string_view axis) {
  const std::string name(axis);
  layout.split(name, 32, name + ".block", name).split(name, 8, name + ".quarter", name).split(name, 2, name + ".pair", name);
  const std::array from{name + ".quarter", name + ".pair"};
  rearrange(layout, from, std::array{from[1], from[0]});
  const std::string block = name + ".block";
  return layout.merge({block, from[1], from[0], name}, name);
}

layout::Layout& swap_middle_of_four(layout::Layout& layout, std::string_view axis) {
  if (fault::planted(fault::Fault::scale_fours_kept)) return layout;
  const std::string name(axis);
  layout.split(name, 4, name + ".four", name).split(name, 2, name + ".high", name);
  const std::array from{name + ".high", name};
  rearrange(layout, from, std::array{from[1], from[0]});
  const std::string four = name + ".four";
  return layout.merge({four, from[1], from[0]}, name);
}

}  // namespace blocks

MatrixSize marlin_padded_nk(const MatrixSize& size, std::int64_t group) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 24;  // far above any layer, and n * k cannot overflow
  for (const std::int64_t extent : {size.n, size.k, std::max(group, std::int64_t{1})}) {
    if (extent < 1 || extent > kLargest) {
      throw Error(ErrorCode::usage, std::to_string(extent) + " is no size: N, K and the group are 1 to " + std::to_string(kLargest),
                  "marlin_padded_nk");
    }
  }
  const std::int64_t whole = std::max(group, std::int64_t{1});
  const auto up = [](std::int64_t extent, std::int64_t multiple) { return (extent + multiple - 1) / multiple * multiple; };
  const MatrixSize deep{up(size.n, 64), up(size.k, std::lcm(std::int64_t{128}, whole))};
  const MatrixSize wide{up(size.n, 128), up(size.k, std::lcm(std::int64_t{64}, whole))};
  const auto cost = [](const MatrixSize& padded) { return std::pair(padded.n * padded.k, padded.n + padded.k); };
  return cost(wide) < cost(deep) ? wide : deep;
}

}  // namespace mx::families
