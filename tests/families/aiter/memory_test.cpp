// AITER: what its building blocks and backends refuse, and what is surprising about them.

#include "model/families/building_block.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;    // NOLINT(google-build-using-namespace): the test speaks of nothing else
using namespace mx::families;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::tests::checkpoint_addresses;
using mx::tests::refuses;

Setting setting_of(const Sizes& sizes, const Form& form, mx::deployment::Engine engine) {
  return {.sizes = sizes, .padded = sizes, .form = form, .engine = engine, .arch = Arch::gfx950, .activation = ConverterActivation::silu};
}

TEST_CASE("hazard: AITER pads scales with the neutral byte 0x7F where others pad with zero") {
  const Layout odd = block_layout("aiter.shuffle_scale_a16w4", 1, 32, 4, 8);
  CHECK(apply(Layout(odd.logical(), 8), std::vector<std::uint8_t>(32 * 4, 0), odd)[2] == 0x7F);
  CHECK(block_layout("sf_128x4", 1, 32, 5, 8).inverse(4 * 128 + 1).content == PadContent::zero);
  const Layout rows = block_layout("aiter.tiles.mx_scale", 1, 33, 4, 8);
  CHECK(rows.cosize() == 64 * 4);
  CHECK(apply(Layout(rows.logical(), 8), std::vector<std::uint8_t>(33 * 4, 0), rows)[33 * 4] == 0x7F);
}

TEST_CASE("hazard: e8m0_shuffle stacks the experts and never writes its padding") {
  const Layout stacked = block_layout("aiter.e8m0_shuffle", 3, 40, 5, 8);
  // What the memory held before stays there.
  const std::vector<std::uint8_t> scales(3 * 40 * 5, 1);
  const std::vector<std::uint8_t> packed = apply(Layout(stacked.logical(), 8), scales, stacked, 0xAB);
  CHECK(std::ranges::count(packed, 0xAB) == 256 * 8 - 3 * 40 * 5);
}

TEST_CASE("AITER's blocks refuse what their views refuse") {
  const auto refused = [](const std::string& text, std::string_view block, std::int64_t rows, std::int64_t cols, const BlockParams& params = {}) {
    return refuses(ErrorCode::usage, text, [&] { block_layout(block, 1, rows, cols, 8, params); });
  };
  CHECK(refused("rows = 24 is not a multiple of 16", "aiter.shuffle_weight", 24, 32));
  CHECK(refused("columns = 48 is not a multiple of 32", "aiter.shuffle_weight", 32, 48));
  CHECK(refused("rows = 48 is not a multiple of 32", "aiter.shuffle_weight_a16w4", 48, 64, {{"gate_up", 1}}));
  CHECK(refused("row_bytes = 96 is not a multiple of 64", "aiter.shuffle_weight_a16w4", 48, 96));
  CHECK(refused("rows = 48 is not a multiple of 32", "aiter.shuffle_scale_a16w4", 48, 8));
  CHECK(refused("experts_given = 0", "aiter.shuffle_scale_a16w4", 64, 8, {{"experts_given", 0}}));
  CHECK(refused("rows = 48 is not a multiple of 32", "aiter.shuffle_scale_n32k4", 48, 4));
  CHECK(refused("groups = 6 is not a multiple of 4", "aiter.shuffle_scale_n32k4", 32, 6));
  CHECK(refused("n_lane = 32 is not in 16..16", "aiter.shuffle_weight_a16w4", 32, 64, {{"n_lane", 32}}));
  CHECK(refuses(ErrorCode::usage, "rank = 3", [] { block_layout("aiter.shuffle_weight_gfx1250", 2, 32, 64, 8); }));
}

TEST_CASE("hazard: AITER_MXFP4_BF16 separates pairs of rows, the older engine also where there are none") {
  struct Case {
    SourceOrder order;
    mx::deployment::Engine engine;
    bool pairs;
  };
  for (const Case& c :
       {Case{SourceOrder::gpt_oss, mx::deployment::kVllm2026_05, true}, Case{SourceOrder::gpt_oss, mx::deployment::kVllm2026_08, true},
        Case{SourceOrder::standard, mx::deployment::kVllm2026_05, true}, Case{SourceOrder::standard, mx::deployment::kVllm2026_08, false}}) {
    const BackendLayout& row = backend_layout_named("AITER_MXFP4_BF16", WeightFormat::mxfp4, c.engine);
    const mx::tests::Map bias = checkpoint_addresses(row, Role::w13_bias, setting_of({1, 256, 256}, c.order, c.engine));
    REQUIRE(bias.size() == 512U);
    for (std::int64_t r = 0; r < 512; ++r) CHECK(bias[static_cast<std::size_t>(r)] == (c.pairs ? 2 * r % 512 + r / 256 : r));
  }
}

TEST_CASE("AITER_MXFP4_MXFP4 shuffles the scales of all experts as one matrix") {
  const BackendLayout& row = backend_layout_named("AITER_MXFP4_MXFP4", WeightFormat::mxfp4, mx::deployment::kVllm2026_08);
  const Setting setting = setting_of({2, 128, 192}, SourceOrder::gpt_oss, mx::deployment::kVllm2026_08);
  // 2 * 192 rows become 512: 512 * 8 bytes are no whole bytes for each of 384 rows.
  CHECK(broken_needs(row, setting).size() == 1U);
  CHECK(broken_needs(row, setting).front().text() == "rest of the scales of w2 = 256 is not 0: the shuffled scales are viewed as experts by rows");
  // 384 rows become 512, and their 8 bytes become 16 in 256 rows: the last axis holds what was never written.
  const Setting grown = setting_of({1, 128, 128}, SourceOrder::gpt_oss, mx::deployment::kVllm2026_08);
  CHECK(broken_needs(row, grown).empty());
  CHECK(row.build(Role::w2_weight_scale, grown).layout.bytes() == 256 * 8);
  CHECK_FALSE(backend_layout_named("AITER_MXFP4_MXFP4", WeightFormat::mxfp4, mx::deployment::kVllm2026_05)
                  .converts(SourceOrder::standard, mx::deployment::kVllm2026_05));
}

}  // namespace
