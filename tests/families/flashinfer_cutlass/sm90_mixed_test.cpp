// Mixed-input weights on Hopper: refusals, and what FlashInfer's releases change.

#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/families/setting.hpp"
#include "model/families/setting_keys.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::block_layout;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using Map = std::vector<std::int64_t>;
using mx::tests::refuses;

TEST_CASE("mixed-input weights and folded scales refuse what their source refuses") {
  for (const char* name : {"cutlass_sm90_mixed.weight.fp4", "cutlass_sm90_mixed.weight.int4", "cutlass_sm90_mixed.weight.fp4_fp8"}) {
    CHECK(refuses(ErrorCode::usage, "rows = 8 is not a multiple of 16", [&] { block_layout(name, 1, 8, 32, 8); }));
    CHECK(refuses(ErrorCode::usage, "K = 96 is not a multiple of 64", [&] { block_layout(name, 1, 16, 48, 8); }));
  }
  const auto refused = [](const std::string& text, std::int64_t rows, std::int64_t groups, int bits, mx::families::BlockParams params = {}) {
    return refuses(ErrorCode::usage, text, [&] { block_layout("cutlass_sm90_mixed.scale", 1, rows, groups, bits, std::move(params)); });
  };
  CHECK(refused("rows = 96 is not a multiple of 64", 96, 4, 8));
  CHECK(refused("groups = 90 is not a multiple of 4", 64, 90, 8));  // K = 2880 unpadded
  CHECK(refused("group_size = 48", 64, 4, 8, {{"group_size", 48}}));
  // 16 groups of 8 in a line of 128 elements, which holds 2 units of 64 bits.
  CHECK(refused("group_size = ", 64, 16, 64, {{"group_size", 8}}));
  CHECK(refused("dtype = 12", 64, 4, 12));
}

TEST_CASE("FLASHINFER_CUTLASS_MXFP4_BF16 refuses what does not fold") {
  const auto first_broken = [](const Sizes& sizes) -> std::string {
    const auto& row = *mx::families::find_backend_layout("FLASHINFER_CUTLASS_MXFP4_BF16");
    mx::families::Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss};
    setting.of<mx::families::FlashinferParameters>().release = mx::families::Flashinfer::v0_6_18;
    const auto broken = mx::families::broken_needs(row, setting);
    return broken.empty() ? "" : std::string(mx::families::name_of(broken.front().need.quantity));
  };
  CHECK(first_broken({1, 128, 128}).empty());
  CHECK(first_broken({1, 2944, 2944}).empty());
  CHECK(first_broken({1, 2880, 2880}) == "w13_groups");
  CHECK(first_broken({1, 96, 128}) == "w2_groups");
  CHECK(first_broken({1, 128, 96}) == "w13_groups");
}

// By hand from the kernel of 0.6.17: byte column 0 of rows 0 and 8 fills bytes 0 and 1 of row 0, byte column 8 those of row 8.
TEST_CASE("before FlashInfer 0.6.18 elements of rows 8 apart share a byte, and scales lie by 128 elements") {
  const Sizes sizes{1, 128, 128};
  const auto& row = *mx::families::find_backend_layout("FLASHINFER_CUTLASS_MXFP4_BF16");
  const mx::families::Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::standard};
  const Map weight = row.build(Role::w2_weight, setting).layout.gather();
  CHECK(Map(weight.begin(), weight.begin() + 8) == Map{0, 8 * 128, 1, 8 * 128 + 1, 8, 8 * 128 + 8, 9, 8 * 128 + 9});
  CHECK(weight[8 * 128] == 16);
  const Map scale = row.build(Role::w2_weight_scale, setting).layout.gather();
  CHECK(Map(scale.begin(), scale.begin() + 6) == Map{0, 1, 2, 3, 4, 5});
  const Sizes wide{1, 256, 128};
  const Map two = row.build(Role::w2_weight_scale, {.sizes = wide, .padded = wide, .form = SourceOrder::standard}).layout.gather();
  CHECK(Map(two.begin() + 3, two.begin() + 6) == Map{3, 8, 9});
  CHECK(two[128 * 4] == 4);
}

TEST_CASE("a release of the engine that asks for a later FlashInfer says so with its name") {
  const auto release_by = [](const char* engine) {
    mx::families::Setting setting{.sizes = {1, 128, 128}, .padded = {1, 128, 128}, .form = SourceOrder::standard};
    mx::families::find_setting_key("engine")->set(setting, engine);
    CHECK(setting.engine == mx::deployment::kVllm2026_08);
    return mx::families::flashinfer_of(setting);
  };
  CHECK(release_by("vllm==0.29.0") == mx::families::Flashinfer::v0_6_18);
  CHECK(release_by("98dff2a81") == mx::families::Flashinfer::v0_6_18);
  CHECK(release_by("vllm@2026-08") == mx::families::Flashinfer::v0_6_11);
  CHECK(release_by("7ca49fbe4") == mx::families::Flashinfer::v0_6_11);
}

TEST_CASE("releases of FlashInfer by name") {
  using mx::families::Flashinfer;
  using mx::families::flashinfer_named;
  for (const char* release : {"0.6.11.post2", "0.6.16.post3", "0.6.17"}) CHECK(flashinfer_named(release) == Flashinfer::v0_6_11);
  for (const char* release : {"0.6.18", "0.7.0.post1", "0.7.2.post1"}) CHECK(flashinfer_named(release) == Flashinfer::v0_6_18);
  CHECK(refuses(ErrorCode::unsupported, "release 0.6.10 of FlashInfer is not known: 0.6.11.post2 to 0.6.17, 0.6.18 to 0.7.2.post1 are",
                [] { flashinfer_named("0.6.10"); }));
  CHECK(refuses(ErrorCode::unsupported, "release 0.8.0", [] { flashinfer_named("0.8.0"); }));
  CHECK(refuses(ErrorCode::usage, "'newest' is no release", [] { flashinfer_named("newest"); }));
}

}  // namespace
