#include <map>
#include <numeric>

#include "model/families/building_block.hpp"
#include "model/families/casts.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/grains.hpp"
#include "model/layout/layout.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Coord;
using mx::layout::Digit;
using mx::layout::Layout;
using mx::layout::PadContent;
using mx::tests::refuses;

using Map = std::vector<std::int64_t>;

constexpr std::int64_t kZero = Layout::kPadZero;
constexpr std::int64_t kNeutral = Layout::kPadNeutral;
constexpr std::int64_t kUnwritten = Layout::kPadUnwritten;

TEST_CASE("a layout without steps is row-major") {
  const Layout layout({{"a", 2}, {"b", 3}}, 16);
  CHECK(layout.gather() == Map{0, 1, 2, 3, 4, 5});
  CHECK(layout.size() == 6);
  CHECK(layout.cosize() == 6);
  CHECK(layout.bytes() == 12);
  CHECK(layout.at(Coord{1, 2}) == 5);
  CHECK(layout.inverse(4).coord == Coord{1, 1});
  CHECK(layout.digits() == std::vector<Digit>{{1, 3, 1, 1, false}, {0, 2, 1, 3, false}});
}

TEST_CASE("each step moves elements as it says") {
  struct Row {
    std::string name;
    std::function<void(Layout&)> steps;
    Map gather;
  };
  // The tensor is [2, 4]: element 4*a + b.
  const std::vector<Row> rows{
      {"permute",
       [](Layout& l) {
         l.permute({"b", "a"});
       },
       {0, 4, 1, 5, 2, 6, 3, 7}},
      {"flip", [](Layout& l) { l.flip("b"); }, {3, 2, 1, 0, 7, 6, 5, 4}},
      {"flip of the outer axis", [](Layout& l) { l.flip("a"); }, {4, 5, 6, 7, 0, 1, 2, 3}},
      {"split and permute",
       [](Layout& l) {
         l.split("b", 2, "h", "l").permute({"h", "a", "l"});
       },
       {0, 1, 4, 5, 2, 3, 6, 7}},
      {"merge and split elsewhere",
       [](Layout& l) {
         l.merge({"a", "b"}, "n").split("n", 2, "o", "i").permute({"i", "o"});
       },
       {0, 2, 4, 6, 1, 3, 5, 7}},
      {"pad", [](Layout& l) { l.pad("b", 5, PadContent::zero); }, {0, 1, 2, 3, kZero, 4, 5, 6, 7, kZero}},
      {"pad neutral", [](Layout& l) { l.pad("a", 3, PadContent::neutral); }, {0, 1, 2, 3, 4, 5, 6, 7, kNeutral, kNeutral, kNeutral, kNeutral}},
      {"slice", [](Layout& l) { l.slice("b", 1, 2); }, {1, 2, 5, 6}},
      {"table",
       [](Layout& l) {
         l.table("b", {2, 0, 3, 1});
       },
       {2, 0, 3, 1, 6, 4, 7, 5}},
      {"repeat", [](Layout& l) { l.slice("b", 0, 2).repeat("b", 2); }, {0, 0, 1, 1, 4, 4, 5, 5}},
      {"the later of two pads decides the corner",
       [](Layout& l) { l.slice("b", 0, 2).pad("a", 3, PadContent::unwritten).pad("b", 3, PadContent::zero); },
       {0, 1, kZero, 4, 5, kZero, kUnwritten, kUnwritten, kZero}},
      {"pad in mid-chain",
       [](Layout& l) {
         l.merge({"a", "b"}, "n").pad("n", 9, PadContent::zero).split("n", 3, "o", "i").permute({"i", "o"});
       },
       {0, 3, 6, 1, 4, 7, 2, 5, kZero}},
      {"a pack moves whole units",
       [](Layout& l) {
         l.split("b", 2, "u", "x").pack().permute({"u", "a"});
       },
       {0, 1, 4, 5, 2, 3, 6, 7}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    Layout layout({{"a", 2}, {"b", 4}}, 8);
    row.steps(layout);
    CHECK(layout.gather() == row.gather);
    CHECK(layout.cosize() == static_cast<std::int64_t>(row.gather.size()));
  }
}

TEST_CASE("a repeated element has several places") {
  Layout layout({{"a", 2}}, 8);
  CHECK_FALSE(layout.repeats());
  layout.repeat("a", 3);
  CHECK(layout.repeats());
  CHECK(layout.at(Coord{1}) == 3);
  CHECK(layout.inverse(5).coord == Coord{1});
  CHECK_FALSE(layout.digits().has_value());
  CHECK(layout.describe().find("repeat each index of a 3 times") != std::string::npos);
  const Layout one({{"a", 2}}, 8);
  const std::vector<std::uint8_t> bytes{7, 9};
  const std::vector<std::uint8_t> copies{7, 7, 7, 9, 9, 9};
  CHECK(mx::layout::apply(one, bytes, layout) == copies);
  CHECK(mx::layout::apply(layout, copies, one) == bytes);
  CHECK(refuses(ErrorCode::input, "the copies of element 1 differ: see address 4", [&] {
    mx::layout::apply(layout, std::vector<std::uint8_t>{7, 7, 7, 9, 8, 9}, one);
  }));
  CHECK(refuses(ErrorCode::usage, "axis a cannot be there 0 times", [] { Layout({{"a", 2}}, 8).repeat("a", 0); }));
}

TEST_CASE("explode and pack reach the bits of a unit") {
  // Two bytes; their nibbles change places, then the high nibbles come first.
  Layout layout({{"n", 2}}, 8);
  layout.explode(4, "nibble").permute({"nibble", "n"}).flip("nibble");
  CHECK(layout.unit_bits() == 8);
  CHECK(layout.grain_bits() == 4);
  CHECK(layout.logical() == std::vector<mx::layout::Axis>{{"n", 2}, {"nibble", 2}});
  CHECK(layout.gather() == Map{1, 3, 0, 2});
  CHECK(layout.bytes() == 2);
  CHECK(layout.inverse(1).coord == Coord{1, 1});
  CHECK(layout.at(Coord{1, 1}) == 1);
  const std::vector<std::uint8_t> bytes{0x21, 0x43};
  Layout identity({{"n", 2}}, 8);
  identity.explode(4, "nibble");
  CHECK(mx::layout::apply(identity, bytes, layout) == std::vector<std::uint8_t>{0x42, 0x31});

  SECTION("twice") {
    Layout bits({{"n", 1}}, 8);
    bits.explode(4, "nibble").explode(1, "bit").permute({"n", "bit", "nibble"});
    CHECK(bits.gather() == Map{0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(bits.at(Coord{0, 1, 2}) == 5);
    CHECK(bits.inverse(5).coord == Coord{0, 1, 2});
    CHECK(bits.pack().view().size() == 2U);
    CHECK(bits.gather() == Map{0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(bits.at(Coord{0, 1, 2}) == 5);
    CHECK(bits.inverse(5).coord == Coord{0, 1, 2});
    CHECK(bits.digits().has_value());
    CHECK(bits.describe().find("pack the last axis into the unit") != std::string::npos);
  }
}

TEST_CASE("a sliced element has no address") {
  Layout layout({{"a", 4}}, 8);
  layout.slice("a", 1, 2);
  CHECK_FALSE(layout.at(Coord{0}).has_value());
  CHECK(layout.at(Coord{2}) == 1);
  CHECK_FALSE(layout.at(Coord{3}).has_value());
  CHECK_FALSE(layout.digits().has_value());
  const Layout whole({{"a", 4}}, 8);
  CHECK(refuses(ErrorCode::usage, "2 of 4 elements", [&] { mx::layout::apply(layout, std::vector<std::uint8_t>{1, 2}, whole); }));
  CHECK(mx::layout::apply(whole, std::vector<std::uint8_t>{1, 2, 3, 4}, layout) == std::vector<std::uint8_t>{2, 3});
}

TEST_CASE("the digits of the 128x4 scale tile") {
  // 384 x 12: three row tiles and three column tiles, five digits.
  Layout layout({{"n", 384}, {"g", 12}}, 8);
  layout.split("n", 128, "t", "m").split("m", 32, "q", "r").split("g", 4, "c", "b").permute({"t", "c", "r", "q", "b"});
  const std::vector<Digit> expected{
      {1, 4, 1, 1, false}, {0, 4, 32, 4, false}, {0, 32, 1, 16, false}, {1, 3, 4, 512, false}, {0, 3, 128, 1536, false}};
  REQUIRE(layout.digits().has_value());
  CHECK(*layout.digits() == expected);
  CHECK(mx::layout::is_bijection(expected));

  std::vector<Digit> wrong = expected;
  std::swap(wrong[1].stride, wrong[2].stride);
  CHECK_FALSE(mx::layout::is_bijection(wrong));
  wrong = expected;
  wrong[4].weight = 64;
  CHECK_FALSE(mx::layout::is_bijection(wrong));
  wrong = expected;
  wrong[4].stride = 1537;
  CHECK_FALSE(mx::layout::is_bijection(wrong));
  wrong[4] = {0, 0, 128, 1536, false};
  CHECK_FALSE(mx::layout::is_bijection(wrong));
}

TEST_CASE("which programs have a digit normal form") {
  struct Row {
    std::string name;
    std::function<void(Layout&)> steps;
    bool digits;
  };
  const std::vector<Row> rows{
      {"a split that cuts a digit evenly", [](Layout& l) { l.split("b", 4, "o", "i"); }, true},
      {"a split along merged digits",
       [](Layout& l) {
         l.merge({"a", "b"}, "n").split("n", 12, "o", "i");
       },
       true},
      {"a split into the outer digit",
       [](Layout& l) {
         l.merge({"a", "b"}, "n").split("n", 36, "o", "i");
       },
       true},
      {"a split across digits carries",
       [](Layout& l) {
         l.merge({"a", "b"}, "n").split("n", 8, "o", "i");
       },
       false},
      {"flips", [](Layout& l) { l.flip("a").split("b", 3, "o", "i").flip("o"); }, true},
      {"a pad", [](Layout& l) { l.pad("a", 7, PadContent::zero); }, false},
      {"a pad to the same extent", [](Layout& l) { l.pad("a", 6, PadContent::zero); }, true},
      {"a slice", [](Layout& l) { l.slice("a", 0, 5); }, false},
      {"a slice of everything", [](Layout& l) { l.slice("a", 0, 6); }, true},
      {"a table",
       [](Layout& l) {
         l.table("a", {1, 0, 2, 3, 4, 5});
       },
       false},
      {"a table that is the identity",
       [](Layout& l) {
         l.table("a", {0, 1, 2, 3, 4, 5});
       },
       true},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    Layout layout({{"a", 6}, {"b", 12}}, 8);
    row.steps(layout);
    CHECK(layout.digits().has_value() == row.digits);
  }
}

TEST_CASE("steps refuse what is outside their domain") {
  Layout layout({{"a", 6}, {"b", 4}}, 8);
  CHECK(refuses(ErrorCode::usage, "no axis c", [&] { layout.flip("c"); }));
  CHECK(refuses(ErrorCode::usage, "axis a of 6 is not a multiple of 4", [&] { layout.split("a", 4, "x", "y"); }));
  CHECK(refuses(ErrorCode::usage, "not a multiple of 0", [&] { layout.split("a", 0, "x", "y"); }));
  CHECK(refuses(ErrorCode::usage, "named b", [&] { layout.split("a", 2, "b", "y"); }));
  CHECK(refuses(ErrorCode::usage, "does not follow", [&] { layout.merge({"b", "a"}, "n"); }));
  CHECK(refuses(ErrorCode::usage, "names 1 of the axes", [&] { layout.permute({"b"}); }));
  CHECK(refuses(ErrorCode::usage, "two axes are named b", [&] { layout.permute({"b", "b"}); }));
  CHECK(refuses(ErrorCode::usage, "axis a of 6 cannot become 5", [&] { layout.pad("a", 5, PadContent::zero); }));
  CHECK(refuses(ErrorCode::usage, "2^62", [&] { layout.pad("a", std::int64_t{1} << 61, PadContent::zero); }));
  CHECK(refuses(ErrorCode::usage, "no 3 positions from 4", [&] { layout.slice("a", 4, 3); }));
  CHECK(refuses(ErrorCode::usage, "3 bits do not divide", [&] { layout.explode(3, "x"); }));
  CHECK(refuses(ErrorCode::usage, "5 entries for axis a of 6", [&] { layout.table("a", {0, 1, 2, 3, 4}); }));
  CHECK(refuses(ErrorCode::usage, "entry 0 at 5", [&] { layout.table("a", {0, 1, 2, 3, 4, 0}); }));
  CHECK(refuses(ErrorCode::usage, "entry 6 at 5", [&] { layout.table("a", {0, 1, 2, 3, 4, 6}); }));
  CHECK(refuses(ErrorCode::usage, "index 6 of axis a", [&] { layout.at(Coord{6, 0}); }));
  CHECK(refuses(ErrorCode::usage, "2 indexes", [&] { Layout({{"a", 6}}, 8).at(Coord{0, 0}); }));
  CHECK(refuses(ErrorCode::usage, "address 24", [&] { layout.inverse(24); }));
  CHECK(refuses(ErrorCode::usage, "extent 0", [] { Layout({{"a", 0}}, 8); }));
  CHECK(refuses(ErrorCode::usage, "2^62", [] { Layout({{"a", std::int64_t{1} << 31}, {"b", std::int64_t{1} << 31}}, 8); }));
  CHECK(refuses(ErrorCode::usage, "65 bits", [] { Layout({{"a", 1}}, 65); }));
  CHECK(refuses(ErrorCode::usage, "12 bits", [] { Layout({{"a", 3}}, 4).bytes(); }));
  CHECK(refuses(ErrorCode::usage, "no axis to spare", [] { Layout({{"a", 3}}, 4).pack(); }));
  CHECK(refuses(ErrorCode::usage, "packed already", [] { Layout({{"a", 3}, {"b", 2}}, 4).pack().explode(1, "x"); }));
  CHECK(refuses(ErrorCode::usage, "units of 8 bits, not 4", [] { Layout({{"a", 3}}, 4).pad("a", 4, PadContent::neutral); }));
  CHECK(refuses(ErrorCode::usage, "whole byte", [] { Layout({{"a", 3}}, 8).pad("a", 4, PadContent::neutral).explode(4, "x"); }));
  CHECK(refuses(ErrorCode::usage, "different tensors", [&] { mx::layout::apply(layout, std::vector<std::uint8_t>(24), Layout({{"a", 24}}, 8)); }));
  CHECK(refuses(ErrorCode::usage, "23 bytes", [&] { mx::layout::apply(layout, std::vector<std::uint8_t>(23), layout); }));
  CHECK(
      refuses(ErrorCode::usage, "different tensors", [&] { mx::layout::apply(layout, std::vector<std::uint8_t>(24), Layout(layout.logical(), 4)); }));
  CHECK(refuses(ErrorCode::input, "23 bytes where the layout has 24", [&] { mx::layout::to_row_major(layout, std::vector<std::uint8_t>(23)); }));
  CHECK(refuses(ErrorCode::usage, "merge: no axes", [&] { layout.merge(std::span<const std::string_view>{}, "n"); }));
  CHECK(refuses(ErrorCode::usage, "no 1 positions from -1", [&] { layout.slice("a", -1, 1); }));
  CHECK(refuses(ErrorCode::usage, "no 0 positions from 2", [&] { layout.slice("a", 2, 0); }));
  CHECK(refuses(ErrorCode::usage, "no 1 positions from 7", [&] { layout.slice("a", 7, 1); }));
  CHECK(refuses(ErrorCode::usage, "0 bits do not divide", [&] { layout.explode(0, "x"); }));
  CHECK(refuses(ErrorCode::usage, "entry -1 at 5", [&] { layout.table("a", {0, 1, 2, 3, 4, -1}); }));
  CHECK(refuses(ErrorCode::usage, "cannot be there 0 times", [&] { layout.repeat("a", 0); }));
  CHECK(refuses(ErrorCode::usage, "index -1 of axis b", [&] { layout.at(Coord{0, -1}); }));
  CHECK(refuses(ErrorCode::usage, "address -1", [&] { layout.inverse(-1); }));
  CHECK(refuses(ErrorCode::usage, "units of 0 bits", [] { Layout({{"a", 1}}, 0); }));
  CHECK(refuses(ErrorCode::usage, "2^60 bytes", [] { Layout({{"a", std::int64_t{1} << 60}}, 64).bytes(); }));
  CHECK(refuses(ErrorCode::usage, "no axis c", [&] { mx::families::blocks::extent_of(layout, "c"); }));
  CHECK(refuses(ErrorCode::usage, "units of 16 bits, 4-bit elements", [] {
    Layout words({{"a", 4}}, 16);
    mx::families::blocks::explode_bytes(words, "a");
  }));
  CHECK(refuses(ErrorCode::usage, "32 entries for axis word_bit of 8", [] {
    Layout bits({{"a", 2}, {"b", 4}}, 1);
    mx::families::blocks::fp4word(bits);
  }));
  // A step that was refused leaves the layout as it was.
  CHECK(layout.steps().empty());
  CHECK(layout.view() == layout.logical());
}

TEST_CASE("a program reads as text") {
  Layout layout({{"a", 6}, {"b", 4}}, 8);
  layout.split("a", 2, "o", "i").permute({"i", "o", "b"}).flip("i").merge({"o", "b"}, "n").pad("n", 16, PadContent::neutral).slice("n", 0, 15);
  layout.table("i", {1, 0});
  CHECK(layout.describe() ==
        "tensor [a 6, b 4] of 8-bit units\n"
        "split a by 2\n"
        "permute to i o b\n"
        "flip i\n"
        "merge o b\n"
        "pad n from 12 to 16 with 0x7F\n"
        "slice n to 0..14\n"
        "table of 2 indexes on i\n"
        "memory [i 2, n 15] of 8-bit units");
}

TEST_CASE("apply fills padding with its content and leaves poison in what is unwritten") {
  const Layout from({{"a", 3}}, 8);
  Layout to = from;
  to.pad("a", 4, PadContent::unwritten).pad("a", 5, PadContent::neutral).pad("a", 6, PadContent::zero);
  CHECK(mx::layout::apply(from, std::vector<std::uint8_t>{1, 2, 3}, to, 0xAB) == std::vector<std::uint8_t>{1, 2, 3, 0xAB, 0x7F, 0});

  Layout nibbles({{"a", 3}}, 4);
  nibbles.pad("a", 4, PadContent::unwritten);
  Layout reversed = nibbles;
  reversed.flip("a");
  CHECK(mx::layout::apply(nibbles, std::vector<std::uint8_t>{0x21, 0xF3}, reversed, 0xAB) == std::vector<std::uint8_t>{0x3B, 0x12});
}

TEST_CASE("units of odd widths move whole") {
  // Four 6-bit units in three bytes: 1, 2, 3, 4, lowest bits first.
  const std::vector<std::uint8_t> bytes{0x81, 0x30, 0x10};
  const Layout from({{"a", 4}}, 6);
  Layout to = from;
  to.flip("a");
  CHECK(mx::layout::apply(from, bytes, to) == std::vector<std::uint8_t>{0xC4, 0x20, 0x04});
  const Layout words({{"a", 2}}, 32);
  Layout swapped = words;
  swapped.flip("a");
  CHECK(mx::layout::apply(words, std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}, swapped) == std::vector<std::uint8_t>{5, 6, 7, 8, 1, 2, 3, 4});
}

TEST_CASE("an address map refuses what is not there") {
  const Layout layout({{"a", 4}}, 8);
  const mx::layout::AddressMap map(layout);
  Map out(3);
  map.read(1, out);
  CHECK(out == Map{1, 2, 3});
  CHECK(refuses(ErrorCode::usage, "addresses 2", [&] { map.read(2, out); }));
  CHECK(refuses(ErrorCode::usage, "addresses -1", [&] { map.read(-1, out); }));
}

TEST_CASE("the way back through a cast finds the smallest unit, and says which units are alone") {
  for (const mx::layout::Cast& cast : mx::families::all_casts()) {
    INFO(cast.name);
    CHECK(&mx::families::cast_named(cast.name) == &cast);
    const mx::layout::Uncast back(cast);
    if (cast.keeps()) {
      CHECK(back(0x12345678U) == 0x12345678U);
      CHECK(back.is_recoverable(7));
      CHECK(back.is_lossless());
      continue;
    }
    std::map<std::uint64_t, std::vector<std::uint64_t>> units;  // that become a value, in ascending order
    for (std::uint64_t unit = 0; unit < std::uint64_t{1} << cast.from_bits; ++unit) units[cast.make(unit)].push_back(unit);
    std::size_t wrong = 0;
    for (const auto& [value, becoming] : units) {
      wrong += back(value) == becoming.front() ? 0U : 1U;
      wrong += units.contains(value + 1) || back(value + 1) == std::nullopt ? 0U : 1U;
      for (const std::uint64_t unit : becoming) wrong += back.is_recoverable(unit) == (becoming.size() == 1) ? 0U : 1U;
    }
    CHECK(wrong == 0U);
    CHECK(back.is_lossless() == (units.size() == std::size_t{1} << cast.from_bits));
  }
}

}  // namespace
