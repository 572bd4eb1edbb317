// The layouts of triton_kernels against their index arithmetic, every element of shapes around the tiles.

#include "model/families/stage.hpp"
#include "tests/catch.hpp"
#include "tests/families/fp4word.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::layout::PadContent;
using mx::layout::stage_layout;
using mx::layout::stage_named;
using mx::layout::StageParams;
using mx::test::Map;
using mx::test::Matrix;
using mx::test::refuses;
using mx::test::round_up;

constexpr std::string_view k35 = "triton_kernels-3.5";
constexpr std::string_view k37 = "triton_kernels-3.7";
constexpr std::string_view k2608 = "triton_kernels-2026-08";

struct Shape {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t cols;
};

Layout laid_out(std::string_view name, std::string_view version, const Shape& shape, StageParams params = {}) {
  return stage_layout(
      stage_named(name),
      {.version = version, .batch = shape.batch, .rows = shape.rows, .cols = shape.cols, .unit_bits = 8, .params = std::move(params)});
}

/// Every address holds what the formula says, and every element is where the layout puts it.
void check(const Layout& layout, const Map& one, const Shape& shape) {
  const std::int64_t units_per_byte = 8 / layout.grain_bits();
  const Map expected = mx::test::repeated(one, shape.batch, shape.rows * shape.cols * units_per_byte);
  CAPTURE(shape.batch, shape.rows, shape.cols);
  REQUIRE(layout.cosize() == static_cast<std::int64_t>(expected.size()));
  CHECK(layout.gather() == expected);
  for (std::int64_t address = 0; address < layout.cosize(); address += 37) {
    const mx::layout::Place place = layout.inverse(address);
    if (place.coord) CHECK(layout.at(*place.coord) == address);
    CHECK(place.coord.has_value() == (expected[static_cast<std::size_t>(address)] >= 0));
  }
}

/// Bits of the Hopper value storage; `row_multiple` and `byte_multiple` are the paddings.
Map hopper_value(const Shape& shape, std::int64_t mma, std::int64_t row_multiple, std::int64_t byte_multiple) {
  const Matrix src{shape.rows, shape.cols};
  const std::int64_t rows = round_up(shape.rows, row_multiple);
  const std::int64_t bytes = round_up(shape.cols, byte_multiple);
  Map bits;
  for (std::int64_t line = 0; line < rows / 4; ++line) {
    for (std::int64_t q = 0; q < bytes; ++q) {
      const std::int64_t row = 16 * (line / 4) + 2 * (line % 4) + q / 16 % 2;
      const std::int64_t t1 = q / 4 % 4;
      const std::int64_t y = q % 4;
      std::array<std::int64_t, 4> word{};
      for (std::int64_t j = 0; j < 4; ++j) {
        word[static_cast<std::size_t>(j)] = mma == 3 ? src.at(row + 8 * (j % 2), 32 * (q / 32) + 8 * y + 4 * (j / 2) + t1)
                                                     : src.at(row + 8 * (y % 2), 32 * (q / 32) + 16 * (y / 2) + 4 * t1 + j);
      }
      mx::test::append_fp4word(bits, word);
    }
  }
  return bits;
}

TEST_CASE("Hopper's values for both mma versions and every release's padding") {
  for (std::int64_t mma : {2, 3}) {
    const StageParams params{{"mma_version", mma}};
    for (const Shape& shape : {Shape{1, 16, 32}, Shape{2, 32, 64}, Shape{1, 17, 33}, Shape{1, 2, 1}, Shape{1, 30, 96}}) {
      check(laid_out("triton.HopperMXValueLayout", k35, shape, params), hopper_value(shape, mma, 16, 32), shape);
    }
    for (const Shape& shape : {Shape{1, 64, 64}, Shape{2, 66, 32}, Shape{1, 62, 65}}) {
      check(laid_out("triton.HopperMXValueLayout", k37, shape, params), hopper_value(shape, mma, 64, 64), shape);
      check(laid_out("triton.HopperMXValueLayout", k2608, shape, params), hopper_value(shape, mma, 256, 64), shape);
    }
  }
}

/// The 32-bit word at a place of the storage of a 16 x 32 byte matrix in which one byte is set.
std::uint32_t word_with(std::int64_t row, std::int64_t col, std::uint8_t byte, std::size_t word) {
  std::vector<std::uint8_t> bytes(16 * 32);
  bytes[static_cast<std::size_t>(row * 32 + col)] = byte;
  const Layout layout = laid_out("triton.HopperMXValueLayout", k35, {1, 16, 32});
  Layout source({{"batch", 1}, {"rows", 16}, {"cols", 32}}, 8);
  source.explode(1, "bit").split("bit", 4, "nibble", "bit");
  const std::vector<std::uint8_t> packed = mx::layout::apply(source, bytes, layout);
  std::uint32_t value = 0;
  for (std::size_t b = 4; b-- > 0;) value = value << 8 | packed[4 * word + b];
  return value;
}

TEST_CASE("bits of a word: the document's examples") {
  CHECK(word_with(0, 0, 0x0F, 0) == 0x000081C0U);
  CHECK(word_with(8, 4, 0x0F, 0) == 0x00006C00U);
  CHECK(word_with(8, 0, 0xF0, 0) == 0x10380000U);
  // Word (0,1) opens with byte (0,8), word (0,16) with (1,0), word (1,0) with (2,0).
  CHECK(word_with(0, 8, 0x0F, 1) == 0x000081C0U);
  CHECK(word_with(1, 0, 0x0F, 16) == 0x000081C0U);
  CHECK(word_with(2, 0, 0x0F, 32) == 0x000081C0U);
}

Map hopper_scale(const Shape& shape, std::int64_t warps) {
  const Matrix src{shape.rows, shape.cols};
  const std::int64_t rows = round_up(shape.rows, 32 * warps);
  const std::int64_t line_bytes = 32 * round_up(shape.cols, 2);
  return mx::test::mapped(rows / 32 * line_bytes, [&](std::int64_t address) {
    const std::int64_t line = address / line_bytes;
    const std::int64_t c = address % line_bytes;
    const std::int64_t row = 32 * warps * (line / warps) + 16 * warps * (c / 32 % 2) + 16 * (line % warps) + 8 * (c % 2) + c / 4 % 8;
    return src.at(row, 2 * (c / 64) + c / 2 % 2);
  });
}

TEST_CASE("Hopper's scales for any power of two of warps") {
  for (std::int64_t warps : {1, 2, 4, 8, 16}) {
    for (const Shape& shape : {Shape{1, 32 * warps, 2}, Shape{2, 32 * warps + 1, 3}, Shape{1, 5, 1}, Shape{1, 96, 6}}) {
      check(laid_out("triton.HopperMXScaleLayout", k35, shape, {{"num_warps", warps}}), hopper_scale(shape, warps), shape);
    }
  }
  CHECK(refuses(ErrorCode::usage, "num_warps = 6", [] { laid_out("triton.HopperMXScaleLayout", k35, {1, 32, 2}, {{"num_warps", 6}}); }));
}

TEST_CASE("Blackwell's scales are the 128x4 tile of 8 columns") {
  for (const Shape& shape : {Shape{1, 128, 8}, Shape{2, 129, 9}, Shape{1, 100, 12}, Shape{3, 7, 1}}) {
    const std::int64_t rows = round_up(shape.rows, 128);
    const std::int64_t groups = round_up(shape.cols, 8);
    Map one(static_cast<std::size_t>(rows * groups), Layout::kPadZero);
    for (std::int64_t n = 0; n < shape.rows; ++n) {
      for (std::int64_t g = 0; g < shape.cols; ++g) {
        const std::int64_t offset = (n / 128 * (groups / 4) + g / 4) * 512 + n % 32 * 16 + n % 128 / 32 * 4 + g % 4;
        one[static_cast<std::size_t>(offset)] = n * shape.cols + g;
      }
    }
    for (std::string_view version : {k35, k37, k2608}) check(laid_out("triton.BlackwellMXScaleLayout", version, shape), one, shape);
  }
}

Map row_major(const Shape& shape, std::int64_t bytes, std::int64_t pad) {
  const Matrix src{shape.rows, shape.cols, pad};
  return mx::test::mapped(shape.rows * bytes, [&](std::int64_t address) { return src.at(address / bytes, address % bytes); });
}

TEST_CASE("Blackwell's values are rows of whole 128-byte lines") {
  for (const Shape& shape : {Shape{1, 2, 128}, Shape{2, 4, 96}, Shape{1, 6, 129}, Shape{1, 2, 1}}) {
    const std::int64_t bytes = round_up(shape.cols, 128);
    check(laid_out("triton.BlackwellMXValueLayout", k35, shape), row_major(shape, bytes, Layout::kPadZero), shape);
    check(laid_out("triton.BlackwellMXValueLayout", k37, shape), row_major(shape, bytes, Layout::kPadUnwritten), shape);
  }
}

TEST_CASE("Blackwell's shuffled values are whole tiles") {
  struct Tile {
    std::int64_t block_k;
    std::int64_t block_n;
  };
  for (const Tile& tile : {Tile{128, 64}, Tile{256, 16}, Tile{384, 8}}) {
    for (const Shape& shape : {Shape{1, 64, 128}, Shape{2, 66, 130}, Shape{1, 2, 1}}) {
      const std::int64_t tile_bytes = tile.block_k / 2;
      // Lines of 128 bytes in whole tiles: 192-byte tiles need 384 bytes.
      const std::int64_t bytes = round_up(shape.cols, tile.block_k == 384 ? 384 : 128);
      const std::int64_t rows = round_up(shape.rows, tile.block_n);
      const Matrix src{shape.rows, shape.cols};
      const Map one = mx::test::mapped(rows * bytes, [&](std::int64_t address) {
        const std::int64_t in_tile = address % (tile.block_n * tile_bytes);
        const std::int64_t row_tile = address / (tile.block_n * tile_bytes) % (rows / tile.block_n);
        const std::int64_t col_tile = address / (rows * tile_bytes);
        return src.at(row_tile * tile.block_n + in_tile / tile_bytes, col_tile * tile_bytes + in_tile % tile_bytes);
      });
      check(laid_out("triton.BlackwellMX4ValueShuffledLayout", k37, shape, {{"block_k", tile.block_k}, {"block_n", tile.block_n}}), one, shape);
    }
  }
}

Map cdna4(const Shape& shape) {
  const Matrix src{shape.rows, shape.cols};
  const std::int64_t line_bytes = 32 * round_up(shape.cols, 8);
  return mx::test::mapped(round_up(shape.rows, 32) / 32 * line_bytes, [&](std::int64_t address) {
    const std::int64_t c = address % line_bytes;
    return src.at(32 * (address / line_bytes) + 16 * (c % 2) + c / 4 % 16, 8 * (c / 256) + 4 * (c / 2 % 2) + c / 64 % 4);
  });
}

TEST_CASE("gfx950's scales: padded by later releases, refused by 3.5") {
  for (const Shape& shape : {Shape{1, 32, 8}, Shape{2, 64, 16}}) check(laid_out("triton.CDNA4MXScaleLayout", k35, shape), cdna4(shape), shape);
  for (const Shape& shape : {Shape{1, 32, 8}, Shape{2, 33, 9}, Shape{1, 1, 1}, Shape{1, 48, 15}}) {
    check(laid_out("triton.CDNA4MXScaleLayout", k37, shape), cdna4(shape), shape);
  }
  CHECK(refuses(ErrorCode::usage, "rows = 48 is not a multiple of 32", [] { laid_out("triton.CDNA4MXScaleLayout", k35, {1, 48, 8}); }));
  CHECK(refuses(ErrorCode::usage, "groups = 12 is not a multiple of 8", [] { laid_out("triton.CDNA4MXScaleLayout", k35, {1, 64, 12}); }));
}

TEST_CASE("gfx1250's scales") {
  for (const Shape& shape : {Shape{1, 128, 4}, Shape{2, 256, 8}, Shape{1, 129, 5}, Shape{1, 3, 3}, Shape{2, 100, 1}}) {
    const std::int64_t width = shape.cols > 4 ? 4 : shape.cols;
    const Matrix src{shape.rows, shape.cols};
    const std::int64_t line_bytes = 128 * round_up(shape.cols, width);
    const Map one = mx::test::mapped(round_up(shape.rows, 128) / 128 * line_bytes, [&](std::int64_t address) {
      const std::int64_t c = address % line_bytes;
      const std::int64_t row = 128 * (address / line_bytes) + 32 * (c / width % 4) + c / (4 * width) % 32;
      return src.at(row, width * (c / (128 * width)) + c % width);
    });
    check(laid_out("triton.GFX1250MXScaleLayout", k37, shape), one, shape);
  }
  CHECK(refuses(ErrorCode::usage, "converter version", [] { laid_out("triton.GFX1250MXScaleLayout", k35, {1, 128, 4}); }));
}

TEST_CASE("strided values: as loaded, later by way of pairs of rows") {
  const Shape shape{2, 6, 5};
  check(laid_out("triton.StridedLayout", k35, shape), row_major(shape, 5, Layout::kPadZero), shape);
  // Element k of row n, nibble n*10 + k, is nibble k*6 + n of the packed form.
  const Map packed = mx::test::mapped(6 * 10, [](std::int64_t nibble) { return nibble % 6 * 10 + nibble / 6; });
  check(laid_out("triton.StridedLayout", k37, shape), packed, shape);
  for (std::string_view name : {"triton.StridedLayout", "triton.HopperMXValueLayout", "triton.BlackwellMXValueLayout"}) {
    CHECK(refuses(ErrorCode::usage, "rows = 7 is not a multiple of 2", [&] { laid_out(name, k37, {1, 7, 32}); }));
    CHECK_NOTHROW(laid_out(name, k35, {1, 7, 32}));
  }
}

TEST_CASE("hazard: Hopper's value padding grew between releases") {
  // Rows of gpt-oss, 2880 elements in 1440 bytes, are whole in 3.5 and become 1472 bytes later; 5760 rows are whole until 2026-08.
  const Shape w13{1, 5760, 1440};
  CHECK(laid_out("triton.HopperMXValueLayout", k35, w13).bytes() == 5760 * 1440);
  CHECK(laid_out("triton.HopperMXValueLayout", k37, w13).bytes() == 5760 * 1472);
  CHECK(laid_out("triton.HopperMXValueLayout", k2608, w13).bytes() == 5888 * 1472);
}

TEST_CASE("hazard: Blackwell's value padding is unwritten memory in later releases") {
  const Shape shape{1, 2, 96};
  CHECK(laid_out("triton.BlackwellMXValueLayout", k35, shape).inverse(96).content == PadContent::zero);
  CHECK(laid_out("triton.BlackwellMXValueLayout", k37, shape).inverse(96).content == PadContent::unwritten);
  CHECK(laid_out("triton.BlackwellMXValueLayout", k37, shape).inverse(127).content == PadContent::unwritten);
  CHECK(laid_out("triton.BlackwellMXValueLayout", k37, shape).inverse(128).coord == mx::layout::Coord{0, 1, 0});
}

TEST_CASE("hazard: scales of one group take 1, 2, 4 or 8 columns by their layout") {
  const Shape one{1, 128, 1};
  CHECK(laid_out("triton.GFX1250MXScaleLayout", k37, one).bytes() == 128);
  CHECK(laid_out("triton.HopperMXScaleLayout", k35, one, {{"num_warps", 4}}).bytes() == 128 * 2);
  CHECK(laid_out("sf_128x4", "flashinfer-2026-08", one).bytes() == 128 * 4);
  CHECK(laid_out("triton.BlackwellMXScaleLayout", k35, one).bytes() == 128 * 8);
  CHECK(laid_out("triton.CDNA4MXScaleLayout", k37, one).bytes() == 128 * 8);
}

}  // namespace
