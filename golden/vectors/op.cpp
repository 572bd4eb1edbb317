#include "golden/vectors/op.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::array<std::string_view, 10> kFaultClasses{"rounding", "saturation", "nan",     "subnormal", "sign",
                                                         "scale",    "order",      "address", "dialect",   "value"};

std::uint32_t lane_mask(int bits) { return bits == 32 ? 0xFFFFFFFFU : (1U << bits) - 1U; }

/// A rule that changes each lane of the right answer in the same way; `change` gets the lane and its column.
WrongRule lanewise(FaultClass cls, std::string name, const std::vector<Column>& columns, std::uint32_t (*change)(std::uint32_t, const Column&)) {
  return {cls, std::move(name), [columns, change](Lanes /*operands*/, Lanes right, MutableLanes answer) {
            std::size_t lane = 0;
            for (const Column& column : columns) {
              for (int i = 0; i < column.lanes; ++i, ++lane)
                answer[lane] = column.flags ? right[lane] : change(right[lane], column) & lane_mask(column.bits);
            }
          }};
}

/// A rule that moves the lanes of each column; `source` says which lane comes to lane i of n.
WrongRule moved(FaultClass cls, std::string name, const std::vector<Column>& columns, int (*source)(int i, int n)) {
  return {cls, std::move(name), [columns, source](Lanes /*operands*/, Lanes right, MutableLanes answer) {
            std::size_t first = 0;
            for (const Column& column : columns) {
              for (int i = 0; i < column.lanes; ++i) {
                answer[first + static_cast<std::size_t>(i)] = right[first + static_cast<std::size_t>(source(i, column.lanes))];
              }
              first += static_cast<std::size_t>(column.lanes);
            }
          }};
}

bool any_column(const std::vector<Column>& columns, bool (*property)(const Column&)) { return std::ranges::any_of(columns, property); }

std::uint32_t sign_of(const Column& column) { return column.format != nullptr && column.format->has_sign ? 1U << (column.bits - 1) : 0U; }

std::uint32_t swapped_nibbles(std::uint32_t code, const Column& column) { return column.bits == 8 ? (code << 4U) | (code >> 4U) : code; }

std::uint32_t swapped_bytes(std::uint32_t code, const Column& column) {
  if (column.bits == 16) return (code << 8U) | (code >> 8U);
  if (column.bits == 32) return __builtin_bswap32(code);
  return code;
}

}  // namespace

std::size_t lane_count(std::span<const Column> columns) {
  return std::accumulate(columns.begin(), columns.end(), std::size_t{0},
                         [](std::size_t sum, const Column& column) { return sum + static_cast<std::size_t>(column.lanes); });
}

std::string_view name_of(FaultClass cls) { return kFaultClasses[static_cast<std::size_t>(cls)]; }

void VectorOp::mask(Lanes /*operands*/, Lanes /*results*/, MutableLanes masks) const {
  std::size_t lane = 0;
  for (const Column& column : results_) {
    for (int i = 0; i < column.lanes; ++i) masks[lane++] = lane_mask(column.bits);
  }
}

std::optional<Value> VectorOp::exact(Lanes /*operands*/, Lanes /*right*/, std::size_t /*lane*/) const { return std::nullopt; }

std::vector<Composition> VectorOp::compositions(std::span<const WrongAnswer> /*wrong*/) const { return {}; }

std::uint64_t VectorOp::exhaustive_count() const {
  const int bits = std::accumulate(operands_.begin(), operands_.end(), 0, [](int sum, const Column& column) { return sum + column.width(); });
  return bits <= 24 ? std::uint64_t{1} << bits : 0;
}

void VectorOp::exhaustive(std::uint64_t index, MutableLanes operands) const {
  std::size_t lane = operands.size();
  for (auto column = operands_.rbegin(); column != operands_.rend(); ++column) {
    for (int i = 0; i < column->lanes; ++i) {
      operands[--lane] = static_cast<std::uint32_t>(index) & lane_mask(column->bits);
      index >>= column->bits;
    }
  }
}

std::vector<WrongRule> common_wrong_rules(const std::vector<Column>& results) {
  std::vector<WrongRule> rules;
  const bool lanes = any_column(results, [](const Column& column) { return column.lanes > 1; });
  if (lanes) {
    const bool nibbles = any_column(results, [](const Column& column) { return column.lanes > 1 && column.bits == 4; });
    rules.push_back(moved(FaultClass::order,
                          nibbles ? "nibbles swapped: the even element in the high half of a byte" : "neighbouring elements swapped", results,
                          [](int i, int n) { return (i ^ 1) < n ? i ^ 1 : i; }));
    rules.push_back(moved(FaultClass::order, "elements in descending order", results, [](int i, int n) { return n - 1 - i; }));
    rules.push_back(moved(FaultClass::order, "elements late by one", results, [](int i, int n) { return (i + n - 1) % n; }));
  }
  if (any_column(results, [](const Column& column) { return column.bits == 8 && !column.flags; })) {
    rules.push_back(lanewise(FaultClass::order, "nibbles of each byte swapped", results, swapped_nibbles));
  }
  if (any_column(results, [](const Column& column) { return column.bits == 16 || column.bits == 32; })) {
    rules.push_back(lanewise(FaultClass::order, "bytes in the other order", results, swapped_bytes));
  }
  if (any_column(results, [](const Column& column) { return sign_of(column) != 0; })) {
    rules.push_back(
        lanewise(FaultClass::sign, "sign inverted", results, [](std::uint32_t code, const Column& column) { return code ^ sign_of(column); }));
    rules.push_back(
        lanewise(FaultClass::sign, "sign dropped", results, [](std::uint32_t code, const Column& column) { return code & ~sign_of(column); }));
    rules.push_back(lanewise(FaultClass::sign, "sign of zeros dropped", results, [](std::uint32_t code, const Column& column) {
      return sign_of(column) != 0 && code == sign_of(column) && !nan_is_negative_zero(*column.format) ? 0U : code;
    }));
    rules.push_back(lanewise(FaultClass::nan, "sign of NaNs dropped", results, [](std::uint32_t code, const Column& column) {
      const std::uint32_t sign = sign_of(column);
      return sign != 0 && is_nan_code(*column.format, code) && is_nan_code(*column.format, code & ~sign) ? code & ~sign : code;
    }));
  }
  rules.push_back(lanewise(FaultClass::value, "stuck at zero", results, [](std::uint32_t, const Column&) { return 0U; }));
  return rules;
}

}  // namespace mx::golden
