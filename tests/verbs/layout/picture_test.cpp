#include "verbs/draw/picture.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "support/svg.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/verbs/layout/formulas.hpp"
#include "verbs/draw/colours.hpp"
#include "verbs/draw/grid.hpp"

namespace {

using namespace mx::verbs;
using namespace mx::support;
using mx::ErrorCode;
using mx::tests::refuses;

Subject subject(const std::string& text) { return resolve(query_from(text, {})); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// The widths of all boxes of paths together: "h20v10h-20z" is 20 wide and 10 high.
std::size_t box_widths(const std::string& text) {
  std::size_t widths = 0;
  for (std::size_t at = text.find("v10h-"); at != std::string::npos; at = text.find("v10h-", at + 1)) widths += std::stoul(text.substr(at + 5, 6));
  return widths;
}

/// Every tag closed in order, every '&' an entity: what a reader of XML needs.
bool is_well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /"));
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty();
}

Subject of_layout(mx::layout::Layout layout) {
  Subject any = subject("sf_128x4,shape=4x4");
  any.layout = std::move(layout);
  return any;
}

}  // namespace

TEST_CASE("the tensor's cells say the address, by number and by colour") {
  const Grid grid = logical_grid(subject("sf_128x4,shape=128x8"), std::nullopt, true);
  REQUIRE(grid.rows == 128);
  REQUIRE(grid.columns == 8);
  CHECK(grid.places == 1024);
  for (std::int64_t row = 0; row < 128; ++row) {
    for (std::int64_t col = 0; col < 8; ++col) {
      const GridCell& cell = grid.cells[static_cast<std::size_t>(row * 8 + col)];
      const std::int64_t address = mx::tests::offset_128x4(row, col, 8);
      REQUIRE(cell.kind == CellKind::element);
      REQUIRE(cell.place == address);
      REQUIRE(cell.label[0] == std::to_string(address));
    }
  }
}

TEST_CASE("memory's cells say the element, and padding is padding") {
  const Grid grid = memory_grid(subject("sf_128x4,shape=100x6"), std::nullopt, 16, true);
  CHECK(grid.columns == 16);
  CHECK(grid.rows == 64);
  std::vector<GridCell> expected(1024, {CellKind::zero, 0, {}, {}});
  for (std::int64_t row = 0; row < 100; ++row) {
    for (std::int64_t col = 0; col < 6; ++col) {
      expected[static_cast<std::size_t>(mx::tests::offset_128x4(row, col, 6))] = {
          CellKind::element, row * 6 + col, {std::to_string(row), std::to_string(col)}, {}};
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(grid.cells[i].kind == expected[i].kind);
    REQUIRE(grid.cells[i].place == expected[i].place);
    REQUIRE(grid.cells[i].label == expected[i].label);
  }
}

TEST_CASE("borders lie at the edges of tiles") {
  const Subject tiles = subject("sf_128x4,shape=256x8");
  const Grid grid = logical_grid(tiles, tiles_of(tiles), false);
  const auto rows_of = [](const std::vector<Edge>& edges, int strength) {
    std::vector<std::int64_t> rows;
    for (const Edge& edge : edges) {
      if (edge.strength == strength) rows.push_back(edge.before);
    }
    return rows;
  };
  CHECK(rows_of(grid.row_edges, 2) == std::vector<std::int64_t>{128});
  CHECK(rows_of(grid.row_edges, 1) == std::vector<std::int64_t>{32, 64, 96, 160, 192, 224});
  CHECK(rows_of(grid.column_edges, 2) == std::vector<std::int64_t>{4});
}

TEST_CASE("every kind of cell has its mark in the picture and in the legend") {
  using mx::layout::PadContent;
  mx::layout::Layout layout({{"row", 4}, {"col", 4}}, 8);
  layout.slice("col", 0, 3).pad("row", 5, PadContent::zero).pad("col", 4, PadContent::neutral).pad("row", 6, PadContent::unwritten);
  const std::string picture = as_file(draw(of_layout(layout), {}));
  CHECK(is_well_formed(picture));
  // The pads follow each other: the zeros are 3 cells of row 4, the neutral column 5 cells, the last row 4; 4 elements are cut off; one swatch each.
  CHECK(count(picture, "fill=\"url(#zero)\"") == 3 + 1);
  CHECK(count(picture, "fill=\"url(#neutral)\"") == 5 + 1);
  CHECK(count(picture, "fill=\"url(#unwritten)\"") == 4 + 1);
  CHECK(count(picture, "fill=\"url(#cut)\"") == 4 + 1);
  for (const char* word : {"padding, zero", "padding, 0x7f", "padding, never written", "element without an address"})
    CHECK(count(picture, word) >= 1);
}

TEST_CASE("pictures of 32x64 and of 128x128 are whole, with title, shape and source, for light and dark") {
  for (const char* text : {"trtllm.shuffle_matrix_a,shape=32x64", "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w2_weight,shape=128x128,padded=128x128"}) {
    INFO(text);
    const Subject one = subject(text);
    const std::string picture = as_file(draw(one, {}));
    CHECK(is_well_formed(picture));
    CHECK(picture.find("<title>" + name_of(one.choice) + "</title>") != std::string::npos);
    CHECK(picture.find("prefers-color-scheme:dark") != std::string::npos);
    CHECK(picture.find(source_of(one.choice).repository) != std::string::npos);
    // Every address once in each of the two grids: in a box of a path, cells of 10 pixels, or as a rectangle of its own.
    const std::size_t cells = picture.find("<path class=\"pad\"") != std::string::npos ? box_widths(picture) / 10 : count(picture, "<title>") - 1;
    CHECK(cells == 2 * static_cast<std::size_t>(one.layout.cosize()));
  }
}

TEST_CASE("the tensor's colours run to the last address that holds an element, not through the padding behind it") {
  // Row 31, column 63 lies in the last tile: 15 * 512 + 31 * 16 + 3.
  const Grid grid = logical_grid(subject("sf_128x4,shape=32x64"), std::nullopt, false);
  CHECK(grid.places == 8180);
  CHECK(grid.places_text == "tensor: address 0 .. 8179");
  // Rows and columns are rounded up to 256: 16384 of the 131072 addresses are in rows that hold elements.
  CHECK(logical_grid(subject("FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w13_weight,shape=32x64"), std::nullopt, false).places == 63 * 256 + 64);
}

TEST_CASE("one panel alone, in lines of a chosen length") {
  const Subject one = subject("sf_128x4,shape=128x4");
  CHECK(as_file(draw(one, {.panels = Panels::logical})).find(">memory,") == std::string::npos);
  CHECK(as_file(draw(one, {.panels = Panels::memory})).find(">tensor [") == std::string::npos);
  CHECK(memory_grid(one, std::nullopt, 100, false).rows == 6);
  CHECK(memory_grid(one, std::nullopt, 100, false).cells.back().kind == CellKind::outside);
  CHECK(panels_named("Memory") == Panels::memory);
  CHECK(refuses(ErrorCode::usage, "did you mean memory", [] { panels_named("memroy"); }));
}

TEST_CASE("what could not be seen is refused") {
  CHECK(refuses(ErrorCode::usage, "1048576 addresses are too many for a picture: at most 262144",
                [] { draw(subject("sf_128x4,shape=1024x1024"), {}); }));
}

TEST_CASE("colours go from dark to light, and names cannot break the file") {
  CHECK(colour_of(0) == "#440154");
  CHECK(colour_of(kShades - 1) == "#fde725");
  CHECK(shade_of(0, 1) == 0);
  CHECK(shade_of(9, 10) == kShades - 1);
  CHECK_FALSE(is_light(0));
  CHECK(is_light(kShades - 1));
  CHECK(escaped("a<b>&\"c\"\n") == "a&lt;b&gt;&amp;&quot;c&quot;\xEF\xBF\xBD");
}

TEST_CASE("a part of a tensor that is too large is drawn alone") {
  const Subject large = subject("MARLIN,format=mxfp4,tensor=w13_weight,platform=sm90,shape=8x512x512");
  CHECK(refuses(ErrorCode::usage, "draw a part", [&] { draw(large, {}); }));
  CHECK(refuses(ErrorCode::usage, "draw a part", [&] { draw(large, {.of = "E=3"}); }));
  const TensorPart part = part_from("E=3,half=up", "17-20", large.layout);
  const Grid grid = part_grid(large, part);
  CHECK(grid.rows == 4);
  CHECK(grid.columns == 512);
  CHECK(grid.row_ticks.front().text == "17");
  // Colours run over the part's own addresses.
  std::int64_t lowest = large.layout.cosize();
  for (std::int64_t row = 17; row < 21; ++row) {
    for (std::int64_t k = 0; k < 512; ++k) lowest = std::min(lowest, *large.layout.at(std::vector<std::int64_t>{3, 1, row, k}));
  }
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t k = 0; k < 512; ++k)
      REQUIRE(grid.cells[static_cast<std::size_t>(row * 512 + k)].place + lowest == *large.layout.at(std::vector<std::int64_t>{3, 1, 17 + row, k}));
  }
  CHECK(is_well_formed(as_file(draw(large, {.of = "E=3,half=gate", .rows = "0-127"}))));
  const auto refused = [&](const std::string& text, const PictureOptions& options) {
    return refuses(ErrorCode::usage, text, [&] { draw(large, options); });
  };
  CHECK(refused("--by logical", {.panels = Panels::memory, .of = "E=3,half=up", .rows = "0-3"}));
  CHECK(refused("axis K is that of the columns", {.of = "K=3"}));
  CHECK(refused("both say I", {.of = "I=3", .rows = "0-3"}));
  CHECK(refused("'512' is not a whole number in 0..511", {.rows = "512"}));
  CHECK(refused("'2' is not a whole number in 3..511", {.rows = "3-2"}));
}
