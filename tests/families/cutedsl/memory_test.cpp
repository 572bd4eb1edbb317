// CuteDSL with NVFP4, and its building block.

#include "model/families/convert.hpp"
#include "model/families/stage.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/families/nvfp4_rows.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::check_nvfp4;
using mx::test::check_nvfp4_one_shard;
using mx::test::halves_swapped;
using mx::test::in_order;
using mx::test::Map;
using mx::test::nvfp4_setting;
using mx::test::refuses;
using mx::test::reordered;
using mx::test::RowOf;

TEST_CASE("NVFP4 for CuteDSL: blocks of 64 rows, SWIGLUOAI means interleaved rows to the later engine only") {
  const Sizes sizes{2, 128, 256, 16};
  const auto blocks = [](std::int64_t r) { return r % 128 / 64 * 128 + 64 * (r / 128) + r % 64; };
  const RowOf kept = in_order(256, 256);
  const RowOf w2 = in_order(256, 256);
  const RowOf halves = reordered(halves_swapped(kept), blocks);
  check_nvfp4("FLASHINFER_CUTEDSL", nvfp4_setting(sizes, true), {halves, w2, 256, 128});
  check_nvfp4("FLASHINFER_CUTEDSL", nvfp4_setting(sizes, true, mx::kVllm2026_05), {halves, w2, 256, 128});

  Setting interleaved = nvfp4_setting(sizes, true, mx::kVllm2026_08, SourceOrder::gpt_oss);
  interleaved.activation = ConverterActivation::swigluoai;
  const RowOf up_first = reordered(kept, [](std::int64_t r) { return r < 128 ? 2 * r + 1 : 2 * (r - 128); });
  check_nvfp4("FLASHINFER_CUTEDSL", interleaved, {reordered(up_first, blocks), w2, 256, 128});
  Setting older = nvfp4_setting(sizes, true, mx::kVllm2026_05);
  older.activation = ConverterActivation::swigluoai;
  check_nvfp4("FLASHINFER_CUTEDSL", older, {halves, w2, 256, 128});
  CHECK_FALSE(backend_layout_named("FLASHINFER_CUTEDSL", WeightFormat::nvfp4, mx::kVllm2026_05)
                  .converts(Form(WeightFormat::nvfp4, SourceOrder::standard, false), mx::kVllm2026_05));
  check_nvfp4_one_shard("FLASHINFER_CUTEDSL");
}

TEST_CASE("NVFP4 for the batched CuteDSL kernel: rows as loaded") {
  for (const mx::Engine engine : kConversionEngines) {
    check_nvfp4("FLASHINFER_CUTEDSL_BATCHED", nvfp4_setting({2, 64, 144, 16}, true, engine), {in_order(128, 128), in_order(144, 144), 144, 64});
  }
  check_nvfp4_one_shard("FLASHINFER_CUTEDSL_BATCHED");
}

TEST_CASE("the interleave of CuteDSL as a block") {
  const Map map = stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 2, 256, 1, 32).gather();
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t r = 0; r < 256; ++r) {
      CHECK(map[static_cast<std::size_t>(e * 256 + r)] == e * 256 + r % 128 / 64 * 128 + 64 * (r / 128) + r % 64);
    }
  }
  CHECK(stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 8, 1, 8, {{"group_rows", 2}}).gather() == Map{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(refuses(ErrorCode::usage, "rows = 96 is not a multiple of 128", [] { stage_layout("nvfp4_moe.FLASHINFER_CUTEDSL", 1, 96, 4, 32); }));
}

}  // namespace
