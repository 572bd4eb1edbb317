// Layouts as address generators: where an element goes, and what lies at an address.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "golden/vectors/arithmetic_ops.hpp"
#include "model/error.hpp"
#include "model/families/building_block.hpp"
#include "support/quote.hpp"

namespace mx::golden {
namespace {

constexpr std::string_view kFamily = "layout";
constexpr std::string_view kAddress = "address_";
constexpr std::string_view kElement = "element_";
constexpr std::array<std::string_view, 2> kTaken{"shape", "version"};
constexpr std::int64_t kMostRows = 1 << 16;
constexpr std::int64_t kMostElements = 1 << 22;
constexpr std::int64_t kMostDirected = 1 << 13;
constexpr int kByte = 8;

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};

Shape shape_of(std::string_view text) {
  const auto number = [&](std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > kMostRows) {
      throw Error(ErrorCode::usage, fmt::format("--shape: {} is not ROWSxCOLUMNS with 1 to {} each", support::in_quotes(text), kMostRows));
    }
    return value;
  };
  const std::size_t middle = text.find('x');
  if (middle == std::string_view::npos) number({});
  const Shape shape{number(text.substr(0, middle)), number(text.substr(middle + 1))};
  if (shape.rows * shape.columns > kMostElements)
    throw Error(ErrorCode::usage, fmt::format("--shape {}: more than {} elements", text, kMostElements));
  return shape;
}

/// Rows and columns of a matrix, which are all axes but a batch of one and those that a layout explodes units into.
std::optional<std::int64_t> address_of(const layout::Layout& layout, std::int64_t row, std::int64_t column) {
  layout::Coord coord(layout.logical().size(), 0);
  coord[1] = row;
  coord[2] = column;
  return layout.at(coord);
}

struct LayoutSubject {
  std::string name;
  layout::Layout layout;
  Shape shape;

  std::uint32_t address(std::uint32_t row, std::uint32_t column) const {
    if (row >= shape.rows || column >= shape.columns) {
      throw Error(ErrorCode::usage, fmt::format("row {}, column {} is not in a matrix of {}x{}", row, column, shape.rows, shape.columns));
    }
    return static_cast<std::uint32_t>(address_of(layout, row, column).value_or(0));
  }
};

std::uint32_t product(Shape shape) { return static_cast<std::uint32_t>(shape.rows * shape.columns); }

/// Bins of one axis of the matrix: the ends, and the largest power of two that divides an index inside, which is the stride that it begins.
std::vector<std::string> index_bins(std::string_view axis, std::int64_t extent) {
  std::vector<std::string> names{fmt::format("first {}", axis), fmt::format("last {}", axis)};
  for (std::int64_t step = 1; step < extent; step *= 2) names.push_back(fmt::format("{} at an odd multiple of {}", axis, step));
  return names;
}

std::uint8_t index_bin(std::int64_t index, std::int64_t extent) {
  if (index == 0) return 1;
  if (index + 1 == extent) return 2;
  std::uint8_t bin = 3;
  for (; (index & 1) == 0; index >>= 1U) ++bin;
  return bin;
}

class AddressOp final : public VectorOp {
 public:
  AddressOp(std::string name, LayoutSubject subject, std::vector<OpSetting> settings, Edition edition)
      : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    operands_ = {{"row", 1, 16}, {"column", 1, 16}};
    results_ = {{"address", 1, 32}};
    settings_ = std::move(settings);
    axes_ = {{"row", index_bins("row", subject_.shape.rows)}, {"column", index_bins("column", subject_.shape.columns)}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { results[0] = subject_.address(operands[0], operands[1]); }

  void bins(Lanes operands, Lanes /*results*/, std::span<std::uint8_t> bins) const override {
    bins[0] = index_bin(operands[0], subject_.shape.rows);
    bins[1] = index_bin(operands[1], subject_.shape.columns);
  }

  std::string why_unreachable(std::size_t axis, std::size_t /*bin*/) const override {
    return fmt::format("a matrix of {}x{} has no such {}", subject_.shape.rows, subject_.shape.columns, axes_[axis].name);
  }

  std::uint64_t exhaustive_count() const override { return product(subject_.shape); }
  void exhaustive(std::uint64_t index, MutableLanes operands) const override {
    const auto columns = static_cast<std::uint64_t>(subject_.shape.columns);
    operands[0] = static_cast<std::uint32_t>(index / columns);
    operands[1] = static_cast<std::uint32_t>(index % columns);
  }

  /// All of a small matrix; of a large one all rows in some columns and all columns in some rows.
  void directed(const std::function<void(Lanes)>& sink) const override {
    const Shape shape = subject_.shape;
    const bool all = shape.rows * shape.columns <= kMostDirected;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t column = 0; column < shape.columns; ++column) {
        const auto is_edge = [](std::int64_t index, std::int64_t extent) { return index < 2 || index + 2 >= extent; };
        if (all || is_edge(row, shape.rows) || is_edge(column, shape.columns))
          sink(std::array{static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column)});
      }
    }
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override { exhaustive(random.next() % exhaustive_count(), operands); }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    if (operands[0] == 0 || operands[0] + 1 == subject_.shape.rows) return operands[0] == 0 ? "first row" : "last row";
    if (operands[1] == 0 || operands[1] + 1 == subject_.shape.columns) return operands[1] == 0 ? "first column" : "last column";
    return "inside";
  }

  std::vector<WrongRule> wrong_rules() const override;

 private:
  LayoutSubject subject_;
};

std::vector<WrongRule> AddressOp::wrong_rules() const {
  std::vector<WrongRule> rules;
  const auto add = [&](std::string name, const auto& rule) {
    rules.push_back({FaultClass::address, std::move(name), [subject = subject_, rule](Lanes operands, Lanes right, MutableLanes answer) {
                       answer[0] = rule(subject, operands[0], operands[1], right[0]);
                     }});
  };
  using U32 = std::uint32_t;
  add("row-major, not permuted", [](const LayoutSubject& s, U32 row, U32 column, U32) { return row * static_cast<U32>(s.shape.columns) + column; });
  add("column-major, not permuted", [](const LayoutSubject& s, U32 row, U32 column, U32) { return column * static_cast<U32>(s.shape.rows) + row; });
  add("addresses one too high", [](const LayoutSubject&, U32, U32, U32 right) { return right + 1U; });
  add("addresses one too low", [](const LayoutSubject&, U32, U32, U32 right) { return right - 1U; });
  add("rows one too high",
      [](const LayoutSubject& s, U32 row, U32 column, U32) { return s.address((row + 1U) % static_cast<U32>(s.shape.rows), column); });
  add("columns one too high",
      [](const LayoutSubject& s, U32 row, U32 column, U32) { return s.address(row, (column + 1U) % static_cast<U32>(s.shape.columns)); });
  add("neighbouring rows swapped",
      [](const LayoutSubject& s, U32 row, U32 column, U32) { return s.address((row ^ 1U) % static_cast<U32>(s.shape.rows), column); });
  add("neighbouring columns swapped",
      [](const LayoutSubject& s, U32 row, U32 column, U32) { return s.address(row, (column ^ 1U) % static_cast<U32>(s.shape.columns)); });
  for (const families::BuildingBlock& block : families::all_building_blocks()) {
    if (block.name == subject_.name || (block.unit_bits != 0 && block.unit_bits != subject_.layout.unit_bits())) continue;
    const families::BlockRequest request{{}, 1, subject_.shape.rows, subject_.shape.columns, subject_.layout.unit_bits(), {}};
    try {
      rules.push_back({FaultClass::address, fmt::format("layout {}", block.name),
                       [other = families::block_layout(block, request)](Lanes operands, Lanes, MutableLanes answer) {
                         answer[0] = static_cast<U32>(address_of(other, operands[0], operands[1]).value_or(0));
                       }});
    } catch (const Error&) {
      continue;  // that layout does not take this matrix, so no device can have followed it
    }
  }
  return rules;
}

class ElementOp final : public VectorOp {
 public:
  ElementOp(std::string name, LayoutSubject subject, std::vector<OpSetting> settings, Edition edition)
      : VectorOp(std::move(name), kFamily, edition), subject_(std::move(subject)) {
    operands_ = {{"address", 1, 32}};
    results_ = {{"row", 1, 16}, {"column", 1, 16}, {"padding", 1, 1}};
    settings_ = std::move(settings);
    axes_ = {{"address", index_bins("address", subject_.layout.cosize())}, {"holds", {"an element", "padding"}}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override {
    const layout::Place place = subject_.layout.inverse(operands[0]);
    results[0] = place.coord ? static_cast<std::uint32_t>((*place.coord)[1]) : 0U;
    results[1] = place.coord ? static_cast<std::uint32_t>((*place.coord)[2]) : 0U;
    results[2] = place.coord ? 0U : 1U;
  }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = index_bin(operands[0], subject_.layout.cosize());
    bins[1] = static_cast<std::uint8_t>(results[2] + 1U);
  }

  std::string why_unreachable(std::size_t axis, std::size_t /*bin*/) const override {
    return axis == 1 ? "the sizes need no padding" : fmt::format("there are {} addresses", subject_.layout.cosize());
  }

  std::uint64_t exhaustive_count() const override { return static_cast<std::uint64_t>(subject_.layout.cosize()); }
  void exhaustive(std::uint64_t index, MutableLanes operands) const override { operands[0] = static_cast<std::uint32_t>(index); }

  void directed(const std::function<void(Lanes)>& sink) const override {
    const auto count = static_cast<std::uint32_t>(subject_.layout.cosize());
    const std::uint32_t step = count <= kMostDirected ? 1U : count / static_cast<std::uint32_t>(kMostDirected) | 1U;
    for (std::uint32_t address = 0; address < count; address += step) sink(std::array{address});
    if ((count - 1U) % step != 0) sink(std::array{count - 1U});
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override { exhaustive(random.next() % exhaustive_count(), operands); }
  std::string_view kind(Lanes /*operands*/, Lanes right) const override { return right[2] != 0 ? "padding" : "element"; }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (const auto& [name, step] : {std::pair{"addresses one too high", 1U}, std::pair{"addresses one too low", ~0U}}) {
      rules.push_back({FaultClass::address, name, [step, layout = subject_.layout](Lanes operands, Lanes, MutableLanes answer) {
                         const layout::Place place = layout.inverse((operands[0] + step) % static_cast<std::uint32_t>(layout.cosize()));
                         answer[0] = place.coord ? static_cast<std::uint32_t>((*place.coord)[1]) : 0U;
                         answer[1] = place.coord ? static_cast<std::uint32_t>((*place.coord)[2]) : 0U;
                         answer[2] = place.coord ? 0U : 1U;
                       }});
    }
    rules.push_back({FaultClass::address, "row and column exchanged", [](Lanes, Lanes right, MutableLanes answer) {
                       answer[0] = right[1];
                       answer[1] = right[0];
                       answer[2] = right[2];
                     }});
    return rules;
  }

 private:
  LayoutSubject subject_;
};

}  // namespace

std::vector<std::string> layout_names() {
  std::vector<std::string> names;
  for (const std::string_view prefix : {kAddress, kElement}) {
    for (const families::BuildingBlock& block : families::all_building_blocks()) names.push_back(fmt::format("{}{}", prefix, block.name));
  }
  return names;
}

std::unique_ptr<VectorOp> make_layout(std::string_view name, const OpOptions& options) {
  const bool address = name.starts_with(kAddress);
  if (!address && !name.starts_with(kElement)) return nullptr;
  require_taken(name, options, kTaken);
  const families::BuildingBlock& block = families::building_block_named(name.substr(kAddress.size()));
  const std::string text = options.get_or("shape", "256x8");
  const Shape shape = shape_of(text);
  const std::string version = options.get_or("version", block.versions.front());
  const int unit_bits = block.unit_bits == 0 ? kByte : block.unit_bits;
  LayoutSubject subject{std::string(block.name), families::block_layout(block, {version, 1, shape.rows, shape.columns, unit_bits, {}}), shape};
  if (subject.layout.repeats()) throw Error(ErrorCode::usage, fmt::format("{} gives an element several addresses", block.name));
  std::vector<OpSetting> settings{
      {"shape", text}, {"version", version}, {"unit-bits", std::to_string(unit_bits)}, {"grain-bits", std::to_string(subject.layout.grain_bits())}};
  const std::string canonical = fmt::format("{}{}", address ? kAddress : kElement, block.name);
  if (address) return std::make_unique<AddressOp>(canonical, std::move(subject), std::move(settings), options.edition());
  return std::make_unique<ElementOp>(canonical, std::move(subject), std::move(settings), options.edition());
}

}  // namespace mx::golden
