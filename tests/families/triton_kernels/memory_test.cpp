// What the engine does around triton_kernels: row orders, devices, versions.

#include "model/families/memory.hpp"

#include "model/families/convert.hpp"
#include "model/families/triton_kernels/memory.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::deployment::Engine;
using mx::families::Arch;
using mx::families::backend_layout_named;
using mx::families::BackendLayout;
using mx::families::Setting;
using mx::layout::Coord;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::layout::WeightFormat;
using mx::tests::refuses;

constexpr Sizes kSizes{2, 96, 160};

Setting setting_of(Arch arch, Engine engine, const Sizes& sizes = kSizes, SourceOrder order = SourceOrder::gpt_oss) {
  return {.sizes = sizes, .padded = sizes, .form = order, .engine = engine, .arch = arch};
}

const BackendLayout& row_of(std::string_view backend, Engine engine) { return backend_layout_named(backend, WeightFormat::mxfp4, engine); }

Layout built(std::string_view backend, Role role, const Setting& setting) { return row_of(backend, setting.engine).build(role, setting).layout; }

TEST_CASE("the older engine's release refuses gfx950's uneven scales") {
  // It does not pad them: H/32 of w13 is 5, I/32 of w2 is 3.
  const auto first_broken = [](const Setting& setting) {
    const auto broken = mx::families::broken_needs(row_of("AITER_MXFP4_FP8", setting.engine), setting);
    return broken.empty() ? std::string_view() : mx::families::name_of(broken.front().need.quantity);
  };
  CHECK(first_broken(setting_of(Arch::gfx950, mx::deployment::kVllm2026_05)) == "w13_groups");
  CHECK(first_broken(setting_of(Arch::gfx950, mx::deployment::kVllm2026_05, {1, 96, 256})) == "w2_groups");
  CHECK(first_broken(setting_of(Arch::gfx950, mx::deployment::kVllm2026_08)).empty());
  CHECK(first_broken(setting_of(Arch::gfx942, mx::deployment::kVllm2026_05)).empty());
}

TEST_CASE("the later engine pads Hopper's scales to 4 groups first") {
  const Sizes sizes{1, 160, 256};
  CHECK(built("TRITON", Role::w2_weight_scale, setting_of(Arch::sm90, mx::deployment::kVllm2026_05, sizes)).bytes() == 256 * 6);
  CHECK(built("TRITON", Role::w2_weight_scale, setting_of(Arch::sm90, mx::deployment::kVllm2026_08, sizes)).bytes() == 256 * 8);
  Setting unswizzled = setting_of(Arch::sm90, mx::deployment::kVllm2026_08, sizes);
  unswizzled.of<mx::families::TritonParameters>().torch_before_2_8_1 = true;
  CHECK(built("TRITON", Role::w2_weight_scale, unswizzled).bytes() == 256 * 8);
}

TEST_CASE("rows of w13 stay as loaded") {
  for (std::string_view backend : {"TRITON", "TRITON_UNFUSED", "AITER_MXFP4_FP8"}) {
    Setting setting = setting_of(Arch::gfx942, mx::deployment::kVllm2026_08);
    // gpt-oss row 2i + half; 160 elements or 5 scales a row.
    CHECK(built(backend, Role::w13_weight, setting).at(Coord{1, 1, 7, 9}) == (192 + 15) * 160 + 9);
    CHECK(built(backend, Role::w13_weight_scale, setting).at(Coord{1, 1, 7, 3}) == (192 + 15) * 5 + 3);
    CHECK(built(backend, Role::w13_bias, setting).at(Coord{1, 1, 7}) == 192 + 15);
    CHECK(built(backend, Role::w13_bias, setting).bytes() == 2 * 192 * 4);
  }
  for (std::string_view backend : {"TRITON_UNFUSED", "AITER_MXFP4_FP8"}) {
    Setting setting = setting_of(Arch::gfx942, mx::deployment::kVllm2026_08, kSizes, SourceOrder::standard);
    CHECK(built(backend, Role::w13_weight, setting).at(Coord{1, 1, 7, 9}) == (192 + 96 + 7) * 160 + 9);
    CHECK(built(backend, Role::w13_bias, setting).at(Coord{1, 1, 7}) == 192 + 96 + 7);
  }
}

TEST_CASE("hazard: TRITON interleaves the packed columns of standard weights and scales, not their rows") {
  const Sizes sizes{1, 64, 128};
  const Setting setting = setting_of(Arch::gfx942, mx::deployment::kVllm2026_05, sizes, SourceOrder::standard);
  const Layout weight = built("TRITON", Role::w13_weight, setting);
  const Layout scale = built("TRITON", Role::w13_weight_scale, setting);
  const Layout bias = built("TRITON", Role::w13_bias, setting);
  // Byte c of a row of 64 bytes comes from byte (c%2)*32 + c/2; row 3 of up stays row 67.
  for (std::int64_t byte = 0; byte < 64; ++byte) {
    const std::int64_t from = byte % 2 * 32 + byte / 2;
    CHECK(weight.inverse(67 * 128 + 2 * byte).coord == Coord{0, 1, 3, 2 * from});
    CHECK(weight.inverse(67 * 128 + 2 * byte + 1).coord == Coord{0, 1, 3, 2 * from + 1});
  }
  for (std::int64_t group = 0; group < 4; ++group) CHECK(scale.inverse(67 * 4 + group).coord == Coord{0, 1, 3, group % 2 * 2 + group / 2});
  // The bias's last axis is its rows: gate and up alternate, so that it no longer belongs to the rows of the weight.
  for (std::int64_t row = 0; row < 128; ++row) CHECK(bias.inverse(row).coord == Coord{0, row % 2, row / 2});
  // w2 is left alone.
  CHECK(built("TRITON", Role::w2_weight, setting).inverse(3 * 64 + 5).coord == Coord{0, 3, 5});

  const Setting odd = setting_of(Arch::gfx942, mx::deployment::kVllm2026_05, {1, 64, 96}, SourceOrder::standard);
  CHECK(refuses(ErrorCode::usage, "H/group = 3 is not a multiple of 2", [&] { mx::families::check_needs(row_of("TRITON", odd.engine), odd); }));
  CHECK_NOTHROW(mx::families::check_needs(row_of("TRITON_UNFUSED", odd.engine), odd));
  CHECK_NOTHROW(mx::families::check_needs(row_of("TRITON", odd.engine), setting_of(Arch::gfx942, mx::deployment::kVllm2026_05, {1, 64, 96})));
}

TEST_CASE("which engine converts which order for triton_kernels") {
  using mx::layout::Form;
  for (Engine engine : mx::families::kConversionEngines) {
    for (std::string_view backend : {"TRITON", "TRITON_UNFUSED", "AITER_MXFP4_FP8"}) {
      CHECK(row_of(backend, engine).converts(Form(SourceOrder::gpt_oss), engine));
      CHECK_FALSE(row_of(backend, engine).converts(Form(WeightFormat::mxfp4, SourceOrder::gpt_oss, false), engine));
      const bool standard = backend != "AITER_MXFP4_FP8" || engine == mx::deployment::kVllm2026_08;
      CHECK(row_of(backend, engine).converts(Form(SourceOrder::standard), engine) == standard);
    }
  }
}

TEST_CASE("AITER_MXFP4_FP8 needs input scales, Hopper's scales a power of two of warps") {
  Setting setting = setting_of(Arch::gfx942, mx::deployment::kVllm2026_08);
  setting.has_input_scale = false;
  CHECK(
      refuses(ErrorCode::usage, "input scales are missing", [&] { mx::families::check_needs(row_of("AITER_MXFP4_FP8", setting.engine), setting); }));
  CHECK_NOTHROW(mx::families::check_needs(row_of("TRITON", setting.engine), setting));
  Setting hopper = setting_of(Arch::sm90, mx::deployment::kVllm2026_08);
  hopper.of<mx::families::TritonParameters>().num_warps = 6;
  CHECK(
      refuses(ErrorCode::usage, "num_warps = 6 is not a power of two", [&] { mx::families::check_needs(row_of("TRITON", hopper.engine), hopper); }));
  hopper.of<mx::families::TritonParameters>().before_swizzle = true;
  CHECK_NOTHROW(mx::families::check_needs(row_of("TRITON", hopper.engine), hopper));
}

TEST_CASE("the way to triton_kernels for backends that take it in part") {
  const Setting setting = setting_of(Arch::gfx1250, mx::deployment::kVllm2026_08, kSizes, SourceOrder::standard);
  const auto plan = mx::families::triton_plan(Role::w13_bias, setting, mx::families::LastAxis::kept);
  CHECK(plan.cast->to_bits == 32);
  CHECK(plan.layout.at(Coord{1, 1, 7}) == 192 + 96 + 7);
}

}  // namespace
