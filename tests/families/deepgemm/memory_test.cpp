#include "model/families/memory.hpp"

#include <array>

#include "model/families/building_block.hpp"
#include "model/families/convert.hpp"
#include "model/families/setting_keys.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"
#include "tests/layout/formula.hpp"

namespace {

using mx::ErrorCode;
using mx::deployment::Engine;
using mx::families::Arch;
using mx::families::backend_layout_named;
using mx::families::BackendLayout;
using mx::families::block_layout;
using mx::families::PackedLayer;
using mx::families::Setting;
using mx::layout::CanonicalLayer;
using mx::layout::Form;
using mx::layout::Layout;
using mx::layout::PadContent;
using mx::layout::Role;
using mx::layout::SourceOrder;
using mx::layout::WeightFormat;
using mx::tests::Map;
using mx::tests::refuses;
using mx::tests::round_up;

/// Bytes of the packed scales of a batch; `tail` lies beyond the rows.
Map packed(std::int64_t batch, std::int64_t mn, std::int64_t k, std::int64_t tail) {
  const std::int64_t aligned = round_up(mn, 4);
  const std::int64_t words = round_up(k, 4) / 4;
  return mx::tests::mapped(batch * words * aligned * 4, [=](std::int64_t address) {
    const std::int64_t row = address / 4 % aligned;
    const std::int64_t col = address / (4 * aligned) % words * 4 + address % 4;
    if (row >= mn) return tail;
    return col < k ? (address / (4 * aligned * words) * mn + row) * k + col : Layout::kPadZero;
  });
}

TEST_CASE("DeepGEMM's packed scales") {
  constexpr std::int64_t kTail = Layout::kPadUnwritten;
  CHECK(block_layout("deepgemm.sf_packed_ue8m0", 1, 128, 4, 8).gather() == packed(1, 128, 4, kTail));
  CHECK(block_layout("deepgemm.sf_packed_ue8m0", 1, 100, 5, 8).gather() == packed(1, 100, 5, kTail));
  CHECK(block_layout("deepgemm.sf_packed_ue8m0", 1, 3, 7, 8).gather() == packed(1, 3, 7, kTail));
  CHECK(block_layout("deepgemm.sf_packed_ue8m0", 2, 6, 8, 8).gather() == packed(2, 6, 8, kTail));
  CHECK(refuses(ErrorCode::usage, "dtype = 16", [] { block_layout("deepgemm.sf_packed_ue8m0", 1, 4, 4, 16); }));
}

TEST_CASE("packed scales of fp32 keep the exponent") {
  const Layout bytes = block_layout("deepgemm.sf_packed_ue8m0", 1, 3, 5, 8);
  const Layout floats = block_layout("deepgemm.sf_packed_ue8m0", 1, 3, 5, 32);
  CHECK(floats.bytes() == bytes.bytes());
  const Map from_bytes = bytes.gather();
  const Map from_floats = floats.gather();
  for (std::size_t bit = 0; bit < from_floats.size(); ++bit) {
    const std::int64_t scale = from_bytes[bit / 8];
    CHECK(from_floats[bit] == (scale < 0 ? scale : 32 * scale + 23 + static_cast<std::int64_t>(bit % 8)));
  }
  CHECK_FALSE(floats.at(mx::layout::Coord{0, 0, 0, 22}).has_value());
  CHECK_FALSE(floats.at(mx::layout::Coord{0, 0, 0, 31}).has_value());
}

TEST_CASE("DeepGEMM's fp32 scales lie column by column") {
  for (std::int64_t mn : {100, 101, 4, 1}) {
    const std::int64_t aligned = round_up(mn, 4);
    const Map expected = mx::tests::mapped(2 * 5 * aligned, [=](std::int64_t address) {
      const std::int64_t row = address % aligned;
      return row < mn ? (address / (5 * aligned) * mn + row) * 5 + address / aligned % 5 : Layout::kPadUnwritten;
    });
    CHECK(block_layout("deepgemm.sf_mn_major_fp32", 2, mn, 5, 32).gather() == expected);
  }
}

TEST_CASE("hazard: DeepGEMM leaves the rows beyond the matrix unwritten") {
  const Layout layout = block_layout("deepgemm.sf_packed_ue8m0", 1, 3, 4, 8);
  CHECK(layout.inverse(11).coord == mx::layout::Coord{0, 2, 3});
  for (std::int64_t address = 12; address < 16; ++address) CHECK(layout.inverse(address).content == PadContent::unwritten);
  // Several experts of odd size take a path that starts from zeros: 2 x 3 x 5 is no whole number of words an expert.
  CHECK(block_layout("deepgemm.sf_packed_ue8m0", 2, 3, 5, 8).gather() == packed(2, 3, 5, Layout::kPadZero));
}

TEST_CASE("hazard: DeepGEMM's upcast makes e8m0 code 0 zero and 255 infinite") {
  mx::families::BlockTensor codes{8, {256}, {}};
  for (int code = 0; code < 256; ++code) codes.bytes.push_back(static_cast<std::uint8_t>(code));
  const auto out = mx::families::run_block(mx::families::value_block_named("deepgemm.e8m0_to_fp32"), {{"scale", codes}}, {}).at("scale");
  CHECK(out.bits == 32);
  CHECK(out.shape == codes.shape);
  const auto bits = [&](std::size_t code) {
    std::uint32_t value = 0;
    for (std::size_t b = 4; b-- > 0;) value = value << 8 | out.bytes[4 * code + b];
    return value;
  };
  CHECK(bits(0) == 0x00000000U);  // 2^-127 as fp32 is 0x00400000
  CHECK(bits(1) == 0x00800000U);
  CHECK(bits(127) == 0x3F800000U);
  CHECK(bits(254) == 0x7F000000U);
  CHECK(bits(255) == 0x7F800000U);  // not a NaN
  CHECK(refuses(ErrorCode::usage, "elements of 16 bits", [] {
    mx::families::run_block(mx::families::value_block_named("deepgemm.e8m0_to_fp32"), {{"scale", {16, {1}, {0, 0}}}}, {});
  }));
}

mx::layout::TensorPlan planned(Engine engine, Role role) {
  const mx::layout::Sizes sizes{2, 96, 160};
  const auto& row = mx::families::backend_layout_named("DEEPGEMM_MXFP4", mx::layout::WeightFormat::mxfp4, engine);
  return row.build(role, {.sizes = sizes, .padded = sizes, .form = mx::layout::SourceOrder::gpt_oss, .engine = engine});
}

TEST_CASE("the engine's versions hand DeepGEMM fp32 scales, later packed ones") {
  const auto upcast = planned(mx::deployment::kVllm2026_05, Role::w13_weight_scale);
  CHECK(upcast.layout.bytes() == 2 * 192 * 5 * 4);
  CHECK(upcast.cast->make(200) == std::uint64_t{200} << 23);
  // Row 2i + half, 5 scales a row.
  CHECK(upcast.layout.at(mx::layout::Coord{1, 1, 7, 3}) == (192 + 15) * 5 + 3);

  const auto words = planned(mx::deployment::kVllm2026_08, Role::w13_weight_scale);
  CHECK(words.cast->keeps());
  CHECK(words.layout.bytes() == 2 * 192 * 8);
  CHECK(words.layout.at(mx::layout::Coord{1, 1, 7, 3}) == 2 * 192 * 4 + 15 * 4 + 3);
  CHECK(words.layout.at(mx::layout::Coord{1, 1, 7, 4}) == 2 * 192 * 4 + 192 * 4 + 15 * 4);
  CHECK(words.layout.inverse(192 * 4 + 1).content == PadContent::zero);

  for (Engine engine : mx::families::kConversionEngines) {
    CHECK(planned(engine, Role::w13_weight).layout.at(mx::layout::Coord{0, 1, 7, 9}) == 15 * 160 + 9);
    CHECK(planned(engine, Role::w2_bias).cast->keeps());
  }
}

TEST_CASE("DeepGEMM's layers come back") {
  const mx::layout::Sizes sizes{2, 32, 160};
  for (Engine engine : mx::families::kConversionEngines) {
    mx::layout::CanonicalLayer layer{sizes, mx::layout::SourceOrder::standard, {}};
    std::uint8_t next = 0;
    for (Role role : mx::layout::kRoles) {
      layer[role].resize(static_cast<std::size_t>(mx::layout::canonical(role, sizes, layer.form).bytes()));
      for (std::uint8_t& byte : layer[role]) byte = next++;
    }
    const auto& row = mx::families::backend_layout_named("DEEPGEMM_MXFP4", mx::layout::WeightFormat::mxfp4, engine);
    const auto packed_layer = mx::families::convert(layer, row, {.sizes = sizes, .padded = {2, 64, 192}, .form = layer.form, .engine = engine});
    CHECK(packed_layer.losses.empty());
    CHECK(mx::families::restore(packed_layer).tensors == layer.tensors);
  }
}

// Blocks whose largest code is above 224 and whose scale is a power of two stay as they are.
CanonicalLayer layer_of_powers() {
  CanonicalLayer layer{{1, 128, 640, 1}, Form(WeightFormat::fp8_block, SourceOrder::standard), {}};
  layer[Role::w13_weight].assign(256 * 640, 0x7E);
  layer[Role::w2_weight].assign(640 * 128, 0x7E);
  const auto power = [](std::vector<std::uint8_t>& scales, std::uint32_t exponent) {
    const std::uint32_t bits = exponent << 23;
    for (unsigned shift = 0; shift < 32; shift += 8) scales.push_back(static_cast<std::uint8_t>(bits >> shift));
  };
  for (std::uint32_t i = 0; i < 10; ++i) power(layer[Role::w13_weight_scale], 110 + i);
  for (std::uint32_t i = 0; i < 5; ++i) power(layer[Role::w2_weight_scale], 120 + i);
  return layer;
}

TEST_CASE("DeepGEMM keeps block scales on sm90 and packs those of every row on sm100") {
  const CanonicalLayer layer = layer_of_powers();
  Setting setting = mx::tests::standard_setting(WeightFormat::fp8_block, layer.sizes);
  for (const char* backend : {"DEEPGEMM", "BATCHED_DEEPGEMM"}) {
    const BackendLayout& row = backend_layout_named(backend, WeightFormat::fp8_block, mx::deployment::kVllm2026_08);
    setting.arch = Arch::sm90;
    CHECK(mx::families::convert(layer, row, setting).find(Role::w13_weight_scale)->bytes == layer[Role::w13_weight_scale]);

    setting.arch = Arch::sm100;
    const PackedLayer packed = mx::families::convert(layer, row, setting);
    // Word (p, i) at 256 p + i holds the exponents of columns 4p .. 4p+3 of row i; five columns are two words.
    const std::vector<std::uint8_t>& words = packed.find(Role::w13_weight_scale)->bytes;
    REQUIRE(words.size() == 2U * 256 * 4);
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t i = 0; i < 256; ++i) {
        for (std::size_t j = 0; j < 4; ++j) REQUIRE(words[(p * 256 + i) * 4 + j] == (4 * p + j < 5 ? 110 + i / 128 * 5 + 4 * p + j : 0));
      }
    }
    CHECK(packed.losses.empty());
    CHECK(mx::families::restore(packed).tensors == layer.tensors);
    setting.arch = Arch::gfx950;
    CHECK(refuses(ErrorCode::usage, "another device: DeepGEMM has FP8 kernels", [&] { mx::families::check_needs(row, setting); }));
  }
}

// s' = 2^ceil(log2(max(amax, 1e-4) / 448)) by hand.
TEST_CASE("DeepGEMM's blocks are quantized anew for powers of two, and the loss is told") {
  const BackendLayout& row = backend_layout_named("DEEPGEMM", WeightFormat::fp8_block, mx::deployment::kVllm2026_05);
  CanonicalLayer layer = layer_of_powers();
  Setting setting = mx::tests::standard_setting(WeightFormat::fp8_block, layer.sizes);
  setting.engine = mx::deployment::kVllm2026_05;
  setting.arch = Arch::sm90;
  const auto set_scale = [&](std::size_t at, std::uint32_t bits) {
    for (std::size_t b = 0; b < 4; ++b) layer[Role::w2_weight_scale][4 * at + b] = static_cast<std::uint8_t>(bits >> (8 * b));
  };
  const auto block = [&](std::size_t at) { return layer[Role::w2_weight].begin() + static_cast<std::ptrdiff_t>(at * 128 * 128); };
  set_scale(0, 0x3FC00000);                // 1.5 * 448 = 672: s' = 2, 448 becomes 336
  std::fill_n(block(1), 128 * 128, 0x38);  // ones times 2^-6, amax 2^-6: s' = 2^-14, codes 2^8
  std::fill_n(block(2), 128 * 128, 0x80);  // zeros of either sign: amax is taken as 1e-4, s' = 2^-22
  set_scale(3, 0x3C800001);                // the next number above 2^-6, whose logarithm in fp32 is -6
  const PackedLayer packed = mx::families::convert(layer, row, setting);
  const std::vector<std::uint8_t>& codes = packed.find(Role::w2_weight)->bytes;
  const std::vector<std::uint8_t>& scales = packed.find(Role::w2_weight_scale)->bytes;
  const auto scale = [&](std::size_t at) { return scales[4 * at + 3] << 8 | scales[4 * at + 2]; };
  CHECK(codes[0] == 0x7A);  // 320 of 320, 336 and 352: a tie goes to the even code
  CHECK(scale(0) == 0x4000);
  CHECK(codes[128 * 128] == 0x78);
  CHECK(scale(1) == 0x3880);
  CHECK(codes[2 * 128 * 128] == 0x80);
  CHECK(scale(2) == 0x3480);
  CHECK(scale(3) == 0x3C80);
  CHECK(codes[3 * 128 * 128] == 0x7E);
  CHECK(scale(4) == 124 << 7);
  REQUIRE(packed.losses.size() == 2);
  CHECK(packed.losses[0].role == Role::w2_weight);
  CHECK(packed.losses[0].units == 2 * 128 * 128);
  CHECK(packed.losses[1].units == 4);
  CHECK(refuses(ErrorCode::usage, "quantized anew", [&] { mx::families::restore(packed); }));

  setting.of<mx::families::DeepgemmParameters>().e8m0 = false;
  for (const Arch arch : {Arch::sm90, Arch::sm100}) {
    setting.arch = arch;
    const PackedLayer kept = mx::families::convert(layer, row, setting);
    CHECK(kept.losses.empty());
    CHECK(kept.find(Role::w2_weight)->bytes == layer[Role::w2_weight]);
    CHECK(kept.find(Role::w2_weight_scale)->bytes == layer[Role::w2_weight_scale]);
  }
  setting.of<mx::families::DeepgemmParameters>().e8m0 = true;
  *block(4) = 0x7F;
  CHECK(refuses(ErrorCode::unsupported, "block 4 has a NaN or an infinity: its scale is 0x7fc00000",
                [&] { mx::families::convert(layer, row, setting); }));
}

}  // namespace

TEST_CASE("the engine's variable for DeepGEMM's scales decides the converter's switch, as Python reads it") {
  Setting setting{.sizes = {1, 128, 128, 1}, .padded = {1, 128, 128, 1}, .form = {}};
  for (const auto& [text, on] : {std::pair{"0", false}, {"1", true}, {"00", false}, {"2", true}, {"-1", true}}) {
    CHECK(mx::families::set_by_variable(setting, "VLLM_USE_DEEP_GEMM_E8M0", text));
    CHECK(setting.of<mx::families::DeepgemmParameters>().e8m0 == on);
  }
  CHECK_FALSE(mx::families::set_by_variable(setting, "VLLM_USE_DEEP_GEMM", "0"));
  CHECK(refuses(ErrorCode::usage, "'yes' is no integer", [&] { mx::families::set_by_variable(setting, "VLLM_USE_DEEP_GEMM_E8M0", "yes"); }));
}

// e8m0 in the checkpoint: nothing is quantized anew, and codes 0 and 255 become the fp32 numbers that their exponents stand for.
TEST_CASE("scales of blocks that are e8m0 already are moved, or packed, and come back") {
  const BackendLayout& row = backend_layout_named("DEEPGEMM", WeightFormat::fp8_block_e8m0, mx::deployment::kVllm2026_05);
  CanonicalLayer layer{{1, 128, 256, 1}, Form(WeightFormat::fp8_block_e8m0, SourceOrder::standard), {}};
  layer[Role::w13_weight].assign(2 * 128 * 256, 0x7E);
  layer[Role::w13_weight_scale] = {0, 1, 254, 255};  // gate: two blocks; up: two blocks
  layer[Role::w2_weight].assign(256 * 128, 0x38);
  layer[Role::w2_weight_scale] = {127, 128};
  for (const Arch arch : {Arch::sm90, Arch::sm100}) {
    Setting setting{.sizes = layer.sizes, .padded = layer.sizes, .form = layer.form, .arch = arch, .has_bias = false};
    const PackedLayer packed = convert(layer, row, setting);
    CHECK(packed.losses.empty());
    CHECK(packed.find(Role::w13_weight)->bytes == layer[Role::w13_weight]);
    const std::vector<std::uint8_t>& scales = packed.find(Role::w13_weight_scale)->bytes;
    if (arch == Arch::sm90) {
      CHECK(scales == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0x7F, 0, 0, 0x80, 0x7F});
    } else {
      REQUIRE(scales.size() == 256 * 4);  // a word of four for each row, two of them there
      CHECK(std::vector<std::uint8_t>(scales.begin(), scales.begin() + 4) == std::vector<std::uint8_t>{0, 1, 0, 0});
      CHECK(std::vector<std::uint8_t>(scales.end() - 4, scales.end()) == std::vector<std::uint8_t>{254, 255, 0, 0});
    }
    CHECK(restore(packed, mx::families::OnLoss::refuse)[Role::w13_weight_scale] == layer[Role::w13_weight_scale]);
  }
}
