// Tables of addresses against the layouts that they are made of.

#include "model/layout/element_map.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::layout::Coord;
using mx::layout::ElementMap;
using mx::layout::Layout;
using mx::layout::PadContent;
using mx::tests::refuses;

/// Every element's address by the tables is that of the layout; returns how many elements there were.
std::int64_t check_all(const Layout& layout) {
  const ElementMap map(layout);
  const std::vector<mx::layout::Axis>& axes = layout.logical();
  Coord coord(axes.size(), 0);
  std::int64_t wrong = 0;
  const std::int64_t count = layout.size();
  for (std::int64_t i = 0; i < count; ++i) {
    wrong += map.at(coord) != layout.at(coord).value_or(ElementMap::kDropped);
    for (std::size_t axis = axes.size(); axis-- > 0 && ++coord[axis] == axes[axis].extent;) coord[axis] = 0;
  }
  CHECK(wrong == 0);
  return count;
}

}  // namespace

TEST_CASE("an element map says what the layout says, step by step") {
  const Layout plain({{"a", 12}, {"b", 6}}, 8);
  const auto with = [&](auto step) {
    Layout layout = plain;
    step(layout);
    return layout;
  };
  const std::vector<Layout> layouts{
      plain,
      with([](Layout& l) {
        l.split("a", 4, "o", "i").permute({"i", "o", "b"}).merge({"i", "o"}, "a").flip("a");
      }),
      with([](Layout& l) {
        l.pad("a", 16, PadContent::zero).split("a", 8, "o", "i").flip("o").permute({"b", "i", "o"});
      }),
      with([](Layout& l) { l.slice("a", 2, 7).slice("b", 0, 4); }),
      with([](Layout& l) {
        l.table("b", {3, 1, 5, 0, 2, 4}).repeat("b", 3);
      }),
      with([](Layout& l) {
        l.explode(4, "nibble").permute({"nibble", "b", "a"});
      }),
      with([](Layout& l) { l.explode(4, "nibble").pack().flip("b"); }),
  };
  for (const Layout& layout : layouts) {
    CHECK(ElementMap(layout).has_tables());
    check_all(layout);
  }
  // 72 elements in a row, cut into tens: the rows carry into each other.
  const Layout carries = with([](Layout& l) {
    l.merge({"a", "b"}, "all").pad("all", 80, PadContent::zero).split("all", 10, "o", "i").permute({"i", "o"});
  });
  CHECK_FALSE(ElementMap(carries).has_tables());
  check_all(carries);
  const ElementMap map(plain);
  CHECK(refuses(mx::ErrorCode::usage, "index 12 of axis a", [&] { return map.at(Coord{12, 0}); }));
  CHECK(refuses(mx::ErrorCode::usage, "a coordinate of 1 indexes", [&] { return map.at(Coord{1}); }));
}

TEST_CASE("an element map says what every building block and every backend's tensor says") {
  std::int64_t elements = 0;
  for (const mx::families::BuildingBlock& block : mx::families::all_building_blocks()) {
    for (const auto& [rows, columns] : {std::pair{128, 64}, std::pair{96, 20}, std::pair{256, 128}}) {
      const mx::families::BlockRequest request{block.versions.front(), 2, rows, columns, block.unit_bits == 0 ? 8 : block.unit_bits, {}};
      try {
        elements += check_all(mx::families::block_layout(block, request));
      } catch (const mx::Error&) {
      }
    }
  }
  CHECK(elements > 500'000);
  std::int64_t of_backends = 0;
  for (const mx::families::BackendLayout& row : mx::families::all_backend_layouts()) {
    const mx::layout::Sizes sizes{1, 256, 128, std::max<std::int64_t>(mx::layout::group_of(row.format), 1)};
    for (const mx::deployment::Engine engine : mx::deployment::known_engines()) {
      for (const auto order : {mx::layout::SourceOrder::gpt_oss, mx::layout::SourceOrder::standard}) {
        mx::families::Setting setting{.sizes = sizes, .padded = sizes, .form = {row.format, order}};
        setting.engine = engine;
        if (!row.engines.has(engine) || !row.converts(setting.form, engine) || !mx::families::broken_needs(row, setting).empty()) continue;
        for (const mx::layout::Role role : {mx::layout::Role::w13_weight, mx::layout::Role::w13_weight_scale, mx::layout::Role::w2_weight_scale}) {
          if (mx::layout::has_role(row.format, role)) of_backends += check_all(row.build(role, setting).layout);
        }
      }
    }
  }
  CHECK(of_backends > 2'000'000);
}
