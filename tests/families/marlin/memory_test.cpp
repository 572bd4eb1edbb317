// Marlin's conversions of whole layers, both ways and in both versions of the engine.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include "model/families/building_block.hpp"
#include "tests/catch.hpp"
#include "tests/families/marlin/marlin_layers.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::deployment::Engine;
using mx::families::backend_layout_named;
using mx::families::InputDtype;
using mx::families::OnLoss;
using mx::families::PackedLayer;
using mx::families::ParamsDtype;
using mx::families::Setting;
using mx::layout::CanonicalLayer;
using mx::layout::Coord;
using mx::layout::Form;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::layout::WeightFormat;
using mx::tests::any_byte;
using mx::tests::Bytes;
using mx::tests::bytes_of;
using mx::tests::converted;
using mx::tests::f32_bits;
using mx::tests::filled;
using mx::tests::refuses;
using mx::tests::setting_for;

std::uint8_t normal_e4m3(std::mt19937& engine) { return static_cast<std::uint8_t>(8 + engine() % 119); }
std::uint8_t fp16_power(std::mt19937& engine) { return static_cast<std::uint8_t>(103 + engine() % 40); }
std::uint8_t below_250(std::mt19937& engine) { return static_cast<std::uint8_t>(engine() % 250); }

TEST_CASE("MXFP4 with 8-bit activations") {
  CanonicalLayer layer = filled({1, 64, 64}, SourceOrder::gpt_oss, false, below_250);
  Setting setting = setting_for(layer);
  setting.input_dtype = InputDtype::float8_e4m3fn;
  const PackedLayer packed = converted(layer, setting);
  CHECK(mx::families::restore(packed).tensors == layer.tensors);
  Bytes more = layer[Role::w2_weight_scale];
  for (std::uint8_t& byte : more) byte = static_cast<std::uint8_t>(byte + 6);
  Bytes found = packed.find(Role::w2_weight_scale)->bytes;
  std::ranges::sort(more);
  std::ranges::sort(found);
  CHECK(found == more);

  layer[Role::w13_weight_scale].back() = 250;
  CHECK(refuses(ErrorCode::usage, "largest scale byte = 250 is above 249", [&] { converted(layer, setting); }));
  setting.params_dtype = ParamsDtype::fp16;
  CHECK(refuses(ErrorCode::usage, "largest scale byte = 250 is above 142", [&] { converted(layer, setting); }));
  setting.input_dtype = InputDtype::int8;
  CHECK(refuses(ErrorCode::usage, "activation dtype int8: int8 activations are not supported", [&] { converted(layer, setting); }));
  CHECK(refuses(ErrorCode::usage, "H = 96 is not a multiple of 64", [&] {
    const CanonicalLayer narrow = filled({1, 64, 96}, SourceOrder::gpt_oss, false, any_byte);
    converted(narrow, setting_for(narrow));
  }));
}

TEST_CASE("what fp16 parameters lose of MXFP4") {
  CanonicalLayer layer = filled({1, 64, 64}, SourceOrder::gpt_oss, false, fp16_power);
  Setting setting = setting_for(layer);
  setting.params_dtype = ParamsDtype::fp16;
  CHECK(mx::families::restore(converted(layer, setting)).tensors == layer.tensors);

  layer[Role::w13_weight_scale][3] = 102;
  layer[Role::w13_weight_scale][5] = 143;
  layer[Role::w13_weight_scale][7] = 0;
  const PackedLayer packed = converted(layer, setting);
  REQUIRE(packed.losses.size() == 1U);
  CHECK(packed.losses[0].role == Role::w13_weight_scale);
  CHECK(packed.losses[0].units == 3);  // a packed 0 may have been any of 0..102
  CHECK(refuses(ErrorCode::usage, "codes 1..102 become 0, 143..254 become 255", [&] { mx::families::restore(packed); }));
  const CanonicalLayer back = mx::families::restore(packed, OnLoss::mark);
  CHECK(back[Role::w13_weight_scale][3] == 0);
  CHECK(back[Role::w13_weight_scale][5] == 143);
  CHECK(back[Role::w2_weight_scale] == layer[Role::w2_weight_scale]);

  // Biases are rounded: 1 stays, 2^-25 and 2^16 do not.
  CanonicalLayer biased = filled({1, 64, 64}, SourceOrder::gpt_oss, true, fp16_power);
  for (Role role : {Role::w13_bias, Role::w2_bias}) {
    for (std::size_t i = 0; i < biased[role].size(); ++i) biased[role][i] = i % 2 == 0 ? 0x80 : 0x3F;
  }
  CHECK(mx::families::restore(converted(biased, setting)).tensors == biased.tensors);
  biased[Role::w2_bias][1] = 0x33;
  biased[Role::w2_bias][3] = 0x47;
  const PackedLayer rounded = converted(biased, setting);
  REQUIRE(rounded.losses.size() == 1U);
  CHECK(rounded.losses[0].role == Role::w2_bias);
  CHECK(rounded.losses[0].units == 2);
}

TEST_CASE("hazard: repeated block scales run over the end of gate where its last block is not whole") {
  const Form form{WeightFormat::fp8_block, SourceOrder::standard};
  for (const Engine engine : mx::families::kConversionEngines) {
    // I = 64: one block of gate and one of up for 2I = 128 rows. Gate's scale is repeated 128 times, up's cut off.
    const Setting ragged{.sizes = {1, 64, 128, 1}, .padded = {1, 64, 128, 1}, .form = form, .engine = engine};
    const auto& row = backend_layout_named("MARLIN", WeightFormat::fp8_block, engine);
    const Layout scales = row.build(Role::w13_weight_scale, ragged).layout;
    CHECK(scales.at(Coord{0, 0, 0, 0}).has_value());
    CHECK_FALSE(scales.at(Coord{0, 1, 0, 0}).has_value());
    const std::vector<std::int64_t> held = scales.gather();
    CHECK(std::ranges::count(held, 0) == 128);
    // The conversion says so: up's one scale has no place.
    const PackedLayer packed = converted(filled(ragged.sizes, form, false, any_byte), ragged);
    const auto cut = std::ranges::find_if(packed.losses, [](const auto& loss) { return loss.units == 1 && loss.role == Role::w13_weight_scale; });
    REQUIRE(cut != packed.losses.end());
    CHECK(cut->what == "elements beyond the last whole tile are cut off");
    // Whole blocks: each shard has its own.
    const Setting whole{.sizes = {1, 128, 128, 1}, .padded = {1, 128, 128, 1}, .form = form, .engine = engine};
    const std::vector<std::int64_t> of_whole = row.build(Role::w13_weight_scale, whole).layout.gather();
    CHECK(std::ranges::count(of_whole, 0) == 128);
    CHECK(std::ranges::count(of_whole, 1) == 128);
  }
}

TEST_CASE("hazard: Marlin pads gate and up each at its own end") {
  // I = 96 becomes 128. In Marlin's memory gate row 95 and up row 0 are separated by 32 rows of zeros.
  for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp8, WeightFormat::fp8_tensor, WeightFormat::fp8_channel}) {
    INFO(mx::layout::name_of(format));
    const std::int64_t group = std::max(mx::layout::group_of(format), std::int64_t{1});
    const Form form{format, SourceOrder::standard};
    const Setting setting{.sizes = {1, 96, 128, group}, .padded = {1, 96, 128, group}, .form = form, .engine = mx::deployment::kVllm2026_08};
    const auto& row = backend_layout_named("MARLIN", format, mx::deployment::kVllm2026_08);
    const Layout weight = row.build(Role::w13_weight, setting).layout;
    CHECK(weight.cosize() == 256 * 128);
    const int bits = mx::layout::unit_bits(Role::w13_weight, format);
    const Layout block = mx::families::block_layout(bits == 4 ? "marlin.repack.w4a16" : "marlin.repack.w8a16", 1, 256, 128, bits);
    CHECK(weight.at(Coord{0, 0, 95, 7}) == block.at(Coord{0, 95, 7}));
    CHECK(weight.at(Coord{0, 1, 0, 7}) == block.at(Coord{0, 128, 7}));
    CHECK(weight.is_padding(*block.at(Coord{0, 96, 7})));
    CHECK(weight.is_padding(*block.at(Coord{0, 128 + 96, 7})));
    // Columns of w2.
    const Layout down = row.build(Role::w2_weight, setting).layout;
    CHECK(down.cosize() == 128 * 128);
    const Layout down_block = mx::families::block_layout(bits == 4 ? "marlin.repack.w4a16" : "marlin.repack.w8a16", 1, 128, 128, bits);
    CHECK(down.at(Coord{0, 100, 95}) == down_block.at(Coord{0, 100, 95}));
    CHECK(down.is_padding(*down_block.at(Coord{0, 100, 96})));

    // The engine of 2026-05 pads nothing: 2I = 192 is three tiles as it is.
    Setting older = setting;
    older.engine = mx::deployment::kVllm2026_05;
    CHECK(backend_layout_named("MARLIN", format, mx::deployment::kVllm2026_05).build(Role::w13_weight, older).layout.cosize() == 192 * 128);
  }
}

TEST_CASE("padding of I by the other sizes") {
  const auto padded_rows = [](WeightFormat format, std::int64_t intermediate, std::int64_t hidden, bool gated) {
    const std::int64_t group = std::max(mx::layout::group_of(format), std::int64_t{1});
    const Sizes sizes{1, intermediate, hidden, group};
    const Setting setting{.sizes = sizes, .padded = sizes, .form = {format, SourceOrder::standard, gated}, .engine = mx::deployment::kVllm2026_08};
    return backend_layout_named("MARLIN", format, mx::deployment::kVllm2026_08).build(Role::w13_weight, setting).layout.cosize() / hidden;
  };
  CHECK(padded_rows(WeightFormat::nvfp4, 144, 128, true) == 2 * 192);
  CHECK(padded_rows(WeightFormat::nvfp4, 144, 64, true) == 2 * 256);  // H no multiple of 128: I to 128
  CHECK(padded_rows(WeightFormat::nvfp4, 144, 128, false) == 192);
  CHECK(padded_rows(WeightFormat::fp8_tensor, 40, 64, true) == 2 * 64);
  CHECK(padded_rows(WeightFormat::fp8_block, 192, 128, true) == 2 * 256);  // lcm(64, 128)
  CHECK(padded_rows(WeightFormat::mxfp8, 32, 64, true) == 2 * 64);
}

TEST_CASE("Marlin's preconditions in both versions of the engine") {
  struct Row {
    WeightFormat format;
    Engine engine;
    std::int64_t intermediate;
    std::int64_t hidden;
    InputDtype activations;
    bool gated;
    std::string_view quantity;  // the first that is broken; empty: accepted
  };
  const std::vector<Row> rows{
      {WeightFormat::mxfp4, mx::deployment::kVllm2026_05, 32, 64, InputDtype::none, true, ""},
      {WeightFormat::mxfp4, mx::deployment::kVllm2026_08, 32, 96, InputDtype::none, true, "w2_rows"},
      {WeightFormat::mxfp4, mx::deployment::kVllm2026_08, 32, 96, InputDtype::int8, true, "activation_dtype"},
      {WeightFormat::mxfp4, mx::deployment::kVllm2026_08, 32, 64, InputDtype::float8_e4m3fn, true, ""},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_08, 48, 64, InputDtype::none, true, ""},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_08, 48, 96, InputDtype::none, true, "hidden"},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_08, 48, 96, InputDtype::float8_e4m3fn, true, "activation_dtype"},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_05, 48, 64, InputDtype::none, true, "w13_rows"},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_05, 96, 64, InputDtype::none, true, ""},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_05, 96, 64, InputDtype::none, false, "w13_rows"},
      {WeightFormat::nvfp4, mx::deployment::kVllm2026_08, 96, 64, InputDtype::none, false, ""},
      {WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08, 40, 64, InputDtype::none, true, ""},
      {WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08, 40, 64, InputDtype::none, false, "intermediate"},
      {WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08, 64, 64, InputDtype::none, false, ""},
      {WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08, 64, 72, InputDtype::none, true, "hidden"},
      {WeightFormat::fp8_tensor, mx::deployment::kVllm2026_08, 64, 80, InputDtype::none, true, "w2_rows"},
      {WeightFormat::fp8_channel, mx::deployment::kVllm2026_05, 40, 64, InputDtype::none, true, "w13_rows"},
      {WeightFormat::fp8_channel, mx::deployment::kVllm2026_05, 32, 64, InputDtype::none, true, ""},
      {WeightFormat::fp8_block, mx::deployment::kVllm2026_08, 192, 64, InputDtype::none, false, "intermediate"},
      {WeightFormat::fp8_block, mx::deployment::kVllm2026_08, 192, 64, InputDtype::int8, true, "activation_dtype"},
      {WeightFormat::mxfp8, mx::deployment::kVllm2026_05, 32, 64, InputDtype::none, false, "w13_rows"},
      {WeightFormat::mxfp8, mx::deployment::kVllm2026_08, 96, 96, InputDtype::none, true, "w2_rows"},
  };
  for (const Row& row : rows) {
    INFO(mx::layout::name_of(row.format) << " " << mx::deployment::name_of(row.engine) << " I " << row.intermediate << " H " << row.hidden);
    const Sizes sizes{1, row.intermediate, row.hidden, std::max(mx::layout::group_of(row.format), std::int64_t{1})};
    const Setting setting{.sizes = sizes,
                          .padded = sizes,
                          .form = {row.format, SourceOrder::standard, row.gated},
                          .engine = row.engine,
                          .input_dtype = row.activations};
    const auto broken = mx::families::broken_needs(backend_layout_named("MARLIN", row.format, row.engine), setting);
    CHECK((broken.empty() ? "" : mx::families::name_of(broken.front().need.quantity)) == row.quantity);
  }
}

TEST_CASE("what Marlin loses of NVFP4") {
  CanonicalLayer layer = filled({1, 96, 128, 16}, {WeightFormat::nvfp4, SourceOrder::standard}, false, normal_e4m3);
  layer[Role::w13_weight_scale].assign(layer[Role::w13_weight_scale].size(), 95);  // 30: the factor is 8
  layer[Role::w2_weight_scale][0] = 126;
  layer[Role::w2_weight_scale][1] = 7;
  layer[Role::w2_weight_scale][2] = 0x80;
  const PackedLayer packed = converted(layer, setting_for(layer));
  REQUIRE(packed.losses.size() == 3U);
  CHECK(packed.losses[0].role == Role::w13_weight_scale);
  CHECK(packed.losses[0].units == 192 * 8);
  CHECK(packed.losses[1].role == Role::w13_global_scale);
  CHECK(packed.losses[2].role == Role::w2_weight_scale);
  CHECK(packed.losses[2].units == 2);
  CHECK(refuses(ErrorCode::usage, "the factor 2^3", [&] { mx::families::restore(packed); }));
  // Scales times 8 and global scales divided by it: the same products.
  const CanonicalLayer back = mx::families::restore(packed, OnLoss::mark);
  CHECK(back[Role::w13_weight_scale] == Bytes(layer[Role::w13_weight_scale].size(), 95 + 3 * 8));
  CHECK(back[Role::w2_weight_scale][1] == 0);
  CHECK(back[Role::w2_weight_scale][2] == 0);
  CHECK(back[Role::w2_global_scale] == layer[Role::w2_global_scale]);
  // What is lost once is lost for good: converting the result again gives the same bytes.
  const PackedLayer again = converted(back, setting_for(back));
  for (std::size_t i = 0; i < again.tensors.size(); ++i) CHECK(again.tensors[i].bytes == packed.tensors[i].bytes);
}

TEST_CASE("what Marlin loses of fp32 scales, and copies that differ") {
  CanonicalLayer layer = filled({1, 64, 128, 1}, {WeightFormat::fp8_tensor, SourceOrder::standard}, false, any_byte);
  layer[Role::w2_weight_scale] = bytes_of({f32_bits(0.01F)});
  const PackedLayer packed = converted(layer, setting_for(layer));
  REQUIRE(packed.losses.size() == 1U);
  CHECK(packed.losses[0].units == 1);
  CHECK(packed.find(Role::w2_weight_scale)->bytes.size() == 2U * 128);
  CHECK(mx::families::restore(packed, OnLoss::mark)[Role::w2_weight_scale] == bytes_of({0x3C240000}));

  PackedLayer torn = packed;
  for (auto& tensor : torn.tensors) {
    if (tensor.role == Role::w2_weight_scale) tensor.bytes[77] ^= 1;
  }
  CHECK(refuses(ErrorCode::input, "the copies of element 0 differ", [&] { mx::families::restore(torn, OnLoss::mark); }));
}

}  // namespace
