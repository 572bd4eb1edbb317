#include "model/families/memory.hpp"

#include "model/families/building_block.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::BackendLayout;
using mx::families::find_backend_layout;
using mx::layout::Coord;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::tests::refuses;

TEST_CASE("the table of backends") {
  // The engine's own names, for MXFP4; each engine version finds its own row, and no row is out of reach.
  for (const BackendLayout& row : mx::families::all_backend_layouts()) {
    INFO(row.backend << " " << mx::layout::name_of(row.format));
    CHECK(row.source.commit.size() == 40U);
    CHECK((row.engines.has(mx::deployment::kVllm2026_05) || row.engines.has(mx::deployment::kVllm2026_08)));
    for (mx::deployment::Engine engine : mx::families::kConversionEngines) {
      CHECK((find_backend_layout(row.backend, row.format, engine) == &row) == row.engines.has(engine));
    }
  }
  for (const char* backend :
       {"FLASHINFER_TRTLLM_MXFP4_BF16", "FLASHINFER_TRTLLM_MXFP4_MXFP8", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "XPU", "EMULATION"}) {
    CHECK(find_backend_layout(backend) != nullptr);
  }
  CHECK(find_backend_layout("NONE") == nullptr);
}

TEST_CASE("no row answers for a version whose conversions are not known, however open its end") {
  using mx::layout::WeightFormat;
  for (const BackendLayout& row : mx::families::all_backend_layouts()) {
    INFO(row.backend << " " << mx::layout::name_of(row.format));
    CHECK(find_backend_layout(row.backend, row.format, mx::deployment::kVllm2026_11) == nullptr);
    CHECK_FALSE(row.converts({row.format, SourceOrder::standard}, mx::deployment::kVllm2026_11));
    CHECK(refuses(ErrorCode::unsupported, "vllm@2026-11 has no tables of conversions; vllm@2026-05, vllm@2026-08 have",
                  [&] { mx::families::backend_layout_named(row.backend, row.format, mx::deployment::kVllm2026_11); }));
  }
}

TEST_CASE("XPU and EMULATION keep the loaded buffers") {
  const Sizes sizes{1, 32, 64};
  const Sizes padded{1, 64, 96};
  for (const char* backend : {"XPU", "EMULATION"}) {
    const BackendLayout& row = *find_backend_layout(backend);
    const Layout interleaved = row.build(Role::w13_bias, {.sizes = sizes, .padded = padded, .form = SourceOrder::gpt_oss}).layout;
    CHECK(interleaved.at(Coord{0, 1, 31}) == 63);
    CHECK(interleaved.is_padding(64));
    // Halves are padded each at its own end.
    const Layout halves = row.build(Role::w13_bias, {.sizes = sizes, .padded = padded, .form = SourceOrder::standard}).layout;
    CHECK(halves.at(Coord{0, 0, 31}) == 31);
    CHECK(halves.is_padding(32));
    CHECK(halves.at(Coord{0, 1, 0}) == 64);
    CHECK(row.build(Role::w2_weight, {.sizes = sizes, .padded = padded, .form = SourceOrder::standard}).layout.bytes() == 96 * 64 / 2);
  }
}

TEST_CASE("converters refuse what their source refuses") {
  struct Row {
    std::string_view backend;
    Sizes sizes;
    std::string_view quantity;  // empty: accepted
  };
  const std::vector<Row> rows{
      {"FLASHINFER_TRTLLM_MXFP4_BF16", {1, 128, 128}, ""},
      {"FLASHINFER_TRTLLM_MXFP4_BF16", {1, 64, 128}, "I/group"},
      {"FLASHINFER_TRTLLM_MXFP4_BF16", {1, 96, 128}, "2I"},
      {"FLASHINFER_TRTLLM_MXFP4_BF16", {1, 128, 96}, "H"},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", {4, 2944, 3072}, ""},
      {"FLASHINFER_TRTLLM_MXFP4_MXFP8", {4, 2880, 2880}, "H"},
      {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {1, 64, 128}, "I/group"},
      {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {1, 32, 128}, "2I"},
      {"FLASHINFER_CUTLASS_MXFP4_MXFP8", {1, 2944, 2944}, ""},
      {"XPU", {1, 32, 32}, ""},
      {"EMULATION", {3, 96, 160}, ""},
  };
  for (const Row& row : rows) {
    INFO(row.backend << " I " << row.sizes.intermediate << " H " << row.sizes.hidden);
    const BackendLayout& backend = *find_backend_layout(row.backend);
    const auto broken = mx::families::broken_needs(backend, {.sizes = row.sizes, .padded = row.sizes, .form = SourceOrder::gpt_oss});
    CHECK((broken.empty() ? "" : mx::families::symbol_of(broken.front().need.quantity)) == row.quantity);
    const auto check = [&] { mx::families::check_needs(backend, {.sizes = row.sizes, .padded = row.sizes, .form = SourceOrder::gpt_oss}); };
    CHECK(mx::tests::thrown_by(check).has_value() != row.quantity.empty());
    if (!row.quantity.empty()) CHECK(refuses(ErrorCode::usage, std::string(row.quantity) + " = ", check));
  }
}

TEST_CASE("biases are demanded of gpt-oss checkpoints where the converter asserts them") {
  const Sizes sizes{1, 256, 256};
  for (const BackendLayout& row : mx::families::all_backend_layouts()) {
    INFO(row.backend);
    if (row.format != mx::layout::WeightFormat::mxfp4) continue;
    const bool demanded = row.family == "trtllm" || row.family == "flashinfer_cutlass";
    mx::families::Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss};
    CHECK_NOTHROW(mx::families::check_needs(row, setting));
    setting.has_bias = false;
    CHECK(refuses(ErrorCode::usage, "biases are missing", [&] { mx::families::check_needs(row, setting); }) == demanded);
    setting.form = SourceOrder::standard;
    CHECK_NOTHROW(mx::families::check_needs(row, setting));
  }
}

TEST_CASE("roles, orders and sizes by name and number") {
  for (Role role : mx::layout::kRoles) CHECK(mx::layout::role_named(mx::layout::name_of(role)) == role);
  CHECK(mx::layout::source_order_named("gpt-oss") == SourceOrder::gpt_oss);
  CHECK(refuses(ErrorCode::usage, "did you mean w2_weight", [] { mx::layout::role_named("w2_wieght"); }));
  CHECK(refuses(ErrorCode::usage, "source order", [] { mx::layout::source_order_named("interleaved"); }));
  CHECK(refuses(ErrorCode::usage, "weight format", [] { mx::layout::weight_format_named("mxfp5"); }));
  for (const Sizes& none : {Sizes{0, 32, 32}, Sizes{1, 0, 32}, Sizes{1, 32, 0}, Sizes{1, 32, 32, 0}, Sizes{-1, 32, 32}}) {
    CHECK(refuses(ErrorCode::usage, "must be positive", [&] { mx::layout::logical_axes(Role::w2_bias, none); }));
  }
  CHECK(refuses(ErrorCode::usage, "4611686018427387904 is above", [] {
    const Sizes huge{1, std::int64_t{1} << 62, 32};
    find_backend_layout("XPU")->build(Role::w2_bias, {.sizes = huge, .padded = huge, .form = SourceOrder::gpt_oss});
  }));
  CHECK(refuses(ErrorCode::usage, "must be positive", [] {
    const Sizes none{1, 128, 128, 0};
    mx::families::broken_needs(*find_backend_layout("FLASHINFER_TRTLLM_MXFP4_BF16"), {.sizes = none, .padded = none, .form = SourceOrder::gpt_oss});
  }));
  CHECK(refuses(ErrorCode::usage, "without axes", [] { mx::layout::Layout({}, 8); }));
  CHECK(refuses(ErrorCode::usage, "epilogue_tile_m = 0 is not in", [] {
    mx::families::block_layout("trtllm.shuffle_matrix_a", 1, 32, 4, 8, {{"epilogue_tile_m", 0}});
  }));
  CHECK(refuses(ErrorCode::usage, "multiples of the group of 32", [] { mx::layout::logical_axes(Role::w2_bias, {1, 40, 32}); }));
  CHECK(refuses(ErrorCode::usage, "multiples of the group of 32", [] { mx::layout::logical_axes(Role::w2_bias, {1, 32, 40}); }));
  for (const Sizes& padded : {Sizes{1, 32, 64}, Sizes{2, 64, 64}, Sizes{1, 64, 32}, Sizes{1, 64, 64, 16}}) {
    CHECK(refuses(ErrorCode::usage, "do not hold", [&] { mx::layout::loaded(Role::w2_bias, {1, 64, 64}, padded, SourceOrder::gpt_oss); }));
  }
}

TEST_CASE("canonical memory") {
  const Sizes sizes{2, 32, 64};
  // gpt-oss row 2i + half, standard row 32 half + i; 64 nibbles a row.
  CHECK(mx::layout::canonical(Role::w13_weight, sizes, SourceOrder::gpt_oss).at(Coord{1, 1, 3, 5}) == (64 + 7) * 64 + 5);
  CHECK(mx::layout::canonical(Role::w13_weight, sizes, SourceOrder::standard).at(Coord{1, 1, 3, 5}) == (64 + 35) * 64 + 5);
  CHECK(mx::layout::canonical(Role::w13_weight_scale, sizes, SourceOrder::gpt_oss).bytes() == 2 * 64 * 2);
  CHECK(mx::layout::canonical(Role::w13_bias, sizes, SourceOrder::gpt_oss).bytes() == 2 * 64 * 2);
  CHECK(mx::layout::canonical(Role::w2_weight, sizes, SourceOrder::gpt_oss).at(Coord{1, 3, 5}) == (64 + 3) * 32 + 5);
}

TEST_CASE("preconditions read as text") {
  using mx::families::Need;
  using mx::families::Quantity;
  using mx::families::Rule;
  struct Row {
    Need need;
    std::string_view text;
  };
  const std::vector<Row> rows{
      {{Quantity::w13_rows, Rule::multiple_of, 128, "why"}, "2I a multiple of 128: why"},
      {{Quantity::scale_byte, Rule::at_most, 142, "why"}, "largest scale byte at most 142: why"},
      {{Quantity::activation_dtype, Rule::at_most, 1, "why"}, "activation dtype at most float8_e4m3fn: why"},
      {{Quantity::activation_dtype, Rule::equals, 0, "why"}, "activation dtype: why"},
      {{Quantity::padding, Rule::equals, 0, "why"}, "padding = 0: why"},
      {{Quantity::has_bias, Rule::equals, 1, "why"}, "biases: why"},
      {{Quantity::has_input_scale, Rule::equals, 1, "why"}, "input scales: why"},
      {{Quantity::deepgemm_device, Rule::equals, 1, "why"}, "device: why"},
      {{Quantity::num_warps, Rule::power_of_two, 0, "why"}, "num_warps a power of two: why"},
  };
  for (const Row& row : rows) CHECK(mx::families::text_of(row.need) == row.text);
  // No power of two is zero or negative.
  mx::families::Setting setting{.sizes = {1, 64, 64}, .padded = {1, 64, 64}, .form = SourceOrder::gpt_oss};
  const Need& warps = rows.back().need;
  for (const int count : {-4, 0, 6}) {
    setting.of<mx::families::TritonParameters>().num_warps = count;
    CHECK_FALSE(mx::families::holds(warps, setting));
    CHECK(mx::families::BrokenNeed{warps, count}.text() == "num_warps = " + std::to_string(count) + " is not a power of two: why");
  }
  setting.of<mx::families::TritonParameters>().num_warps = 4;
  CHECK(mx::families::holds(warps, setting));
}

TEST_CASE("a backend of another format or version says what it converts") {
  using mx::deployment::Engine;
  using mx::families::backend_layout_named;
  using mx::layout::WeightFormat;
  CHECK(refuses(ErrorCode::usage, "XPU converts mxfp4 of engine",
                [] { backend_layout_named("XPU", WeightFormat::int4, mx::deployment::kVllm2026_08); }));
  CHECK(
      refuses(ErrorCode::usage, "int4, engine vllm@2026-08", [] { backend_layout_named("xpu", WeightFormat::int4, mx::deployment::kVllm2026_08); }));
  CHECK(refuses(ErrorCode::usage, "unknown backend", [] { backend_layout_named("XPUU", WeightFormat::mxfp4, mx::deployment::kVllm2026_05); }));
}

}  // namespace
