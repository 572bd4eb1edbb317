#include "golden/vectors/integer_vectors.hpp"

#include <fmt/format.h>

#include "golden/vectors/arithmetic_ops.hpp"
#include "golden/vectors/conversion_op.hpp"
#include "golden/vectors/unit_ops.hpp"
#include "model/error.hpp"

namespace mx::golden {
namespace integers {

Column column_of(std::string name, const Integer& integer) {
  constexpr int kLaneBits = 32;
  const int lanes = integer.width <= kLaneBits ? 1 : 2;
  if (integer.width % lanes != 0)
    throw Error(ErrorCode::usage, fmt::format("{} has {} bits: vectors hold up to 32, and even numbers above", text_of(integer), integer.width));
  return {std::move(name), lanes, integer.width / lanes};
}

std::uint64_t joined(Lanes lanes, int bits) { return lanes.size() == 1 ? lanes[0] : static_cast<std::uint64_t>(lanes[1]) << bits | lanes[0]; }

void split(std::uint64_t bits, const Column& column, MutableLanes lanes) {
  for (int i = 0; i < column.lanes; ++i) {
    lanes[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(bits) & unit::lane_mask(column.bits);
    bits >>= static_cast<unsigned>(column.bits);
  }
}

std::vector<std::string> place_bins() {
  std::vector<std::string> names;
  for (const char sign : {'+', '-'}) {
    for (int below = 0; below < kEighths; ++below) {
      for (const std::string_view parity : {"even", "odd"}) names.push_back(fmt::format("{} GRS={:03b} {}", sign, below, parity));
    }
  }
  return names;
}

std::uint8_t place_bin(const Value& value, const Format& grid) {
  if (value.cls != ValueClass::finite) return 0;
  const GridPlace place = place_on_grid(value, grid);
  return static_cast<std::uint8_t>(((value.negative ? kEighths : 0) + place.below) * 2 + static_cast<int>(place.floor & 1U) + 1);
}

std::vector<Value> eighths(std::uint64_t floor, int unit, bool has_sign) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  const bool is_small = floor <= kMost;
  std::vector<Value> values;
  for (std::uint64_t k = 0; k <= kEighths; ++k) {
    const std::uint64_t whole = is_small ? floor * kEighths + k : floor;
    if (whole == 0) continue;
    for (const bool negative : {false, true}) {
      if (has_sign || !negative) values.push_back({whole, is_small ? unit - 3 : unit, ValueClass::finite, negative});
    }
  }
  return values;
}

}  // namespace integers

std::vector<std::string> integer_names() {
  std::vector<std::string> names;
  for (const Format& format : all_formats()) {
    if (!unit::has_arithmetic(format)) continue;
    for (const std::string_view integer : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      names.push_back(fmt::format("{}_to_{}", format.name, integer));
      names.push_back(fmt::format("{}_to_{}", integer, format.name));
    }
  }
  return names;
}

std::unique_ptr<VectorOp> make_integer(std::string_view name, const OpOptions& options) {
  constexpr std::string_view kTo = "_to_";
  const std::size_t middle = name.find(kTo);
  if (middle == std::string_view::npos) return nullptr;
  const std::string_view from = name.substr(0, middle), to = name.substr(middle + kTo.size());
  if (is_integer(to)) return integers::make_to(from, to, options);
  return is_integer(from) ? integers::make_from(from, to, options) : nullptr;
}

}  // namespace mx::golden
