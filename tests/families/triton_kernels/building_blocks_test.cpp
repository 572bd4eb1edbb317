// The layouts of triton_kernels: the document's examples, refusals, and what is surprising about them.

#include "model/families/building_block.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::layout::PadContent;
using mx::families::block_layout;
using mx::families::building_block_named;
using mx::families::BlockParams;
using mx::tests::refuses;

constexpr std::string_view k35 = "triton_kernels-3.5";
constexpr std::string_view k37 = "triton_kernels-3.7";
constexpr std::string_view k2608 = "triton_kernels-2026-08";

struct Shape {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t cols;
};

Layout laid_out(std::string_view name, std::string_view version, const Shape& shape, BlockParams params = {}) {
  return block_layout(
      building_block_named(name),
      {.version = version, .batch = shape.batch, .rows = shape.rows, .cols = shape.cols, .unit_bits = 8, .params = std::move(params)});
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

TEST_CASE("triton_kernels' layouts refuse what their source refuses") {
  CHECK(refuses(ErrorCode::usage, "num_warps = 6", [] { laid_out("triton.HopperMXScaleLayout", k35, {1, 32, 2}, {{"num_warps", 6}}); }));
  CHECK(refuses(ErrorCode::usage, "rows = 48 is not a multiple of 32", [] { laid_out("triton.CDNA4MXScaleLayout", k35, {1, 48, 8}); }));
  CHECK(refuses(ErrorCode::usage, "groups = 12 is not a multiple of 8", [] { laid_out("triton.CDNA4MXScaleLayout", k35, {1, 64, 12}); }));
  CHECK(refuses(ErrorCode::usage, "converter version", [] { laid_out("triton.GFX1250MXScaleLayout", k35, {1, 128, 4}); }));
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
