// Humming's building blocks against the formulas of the specification, and its conversion of a layer.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include "model/families/building_block.hpp"
#include "model/families/convert.hpp"
#include "model/families/humming/values.hpp"
#include "model/families/value_block.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::families::backend_layout_named;
using mx::families::block_layout;
using mx::families::PackedLayer;
using mx::families::Setting;
using mx::layout::CanonicalLayer;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::WeightFormat;
using mx::tests::refuses;

using Map = std::vector<std::int64_t>;

struct Variant {
  const char* block;
  std::int64_t weight;
  std::int64_t activation;
};
constexpr std::array<Variant, 5> kVariants{{{"humming.repack.w4a16", 4, 16},
                                            {"humming.repack.w4a8", 4, 8},
                                            {"humming.repack.w4a4", 4, 4},
                                            {"humming.repack.w8a16", 8, 16},
                                            {"humming.repack.w8a8", 8, 8}}};

/// One expert of [rows, columns] by the formula of spec layouts 8.3, scattered: every value to its word and unit.
Map repacked(const Variant& v, bool transposed, std::int64_t rows, std::int64_t columns, std::int64_t padded_rows, std::int64_t padded_columns) {
  const std::int64_t slab_size = 256 / v.activation;
  const std::int64_t units = 32 / v.weight;
  const std::int64_t run = 32 / v.activation;
  Map map(static_cast<std::size_t>(padded_rows * padded_columns), 12345678);
  for (std::int64_t slab = 0; slab < padded_columns / slab_size; ++slab) {
    for (std::int64_t tile = 0; tile < padded_rows / 64; ++tile) {
      for (std::int64_t th = 0; th < 32; ++th) {
        // The values of a lane in the order in which words take them.
        Map values;
        for (std::int64_t i2 = 0; i2 < 16 / v.activation; ++i2) {
          for (std::int64_t i3 = 0; i3 < v.activation / 4; ++i3) {
            for (std::int64_t slow = 0; slow < 2; ++slow) {
              for (std::int64_t fast = 0; fast < 2; ++fast) {
                for (std::int64_t i6 = 0; i6 < run; ++i6) {
                  const std::int64_t i4 = transposed ? fast : slow;
                  const std::int64_t i5 = transposed ? slow : fast;
                  const std::int64_t n = 64 * tile + 4 * v.activation * i2 + 16 * i3 + 8 * i4 + th / 4;
                  const std::int64_t k = slab_size * slab + 128 / v.activation * i5 + th % 4 * run + i6;
                  values.push_back(n < rows && k < columns ? n * columns + k : Layout::kPadZero);
                }
              }
            }
          }
        }
        for (std::size_t word = 0; word < values.size() / static_cast<std::size_t>(units); ++word) {
          const auto jj = static_cast<std::int64_t>(word) / v.weight;
          const std::int64_t q = static_cast<std::int64_t>(word) % v.weight;
          const std::int64_t slab_words = slab_size * padded_rows * v.weight / 32;
          const std::int64_t at = slab * slab_words + slab_size * 64 * tile * v.weight / 32 + 32 * v.weight * jj + th * v.weight + q;
          for (std::int64_t p = 0; p < units; ++p) {
            const std::int64_t value = p % (units / run) * run + p / (units / run);
            map[static_cast<std::size_t>(at * units + p)] = values[word * static_cast<std::size_t>(units) + static_cast<std::size_t>(value)];
          }
        }
      }
    }
  }
  return map;
}

TEST_CASE("humming.repack by its formula") {
  for (const Variant& v : kVariants) {
    for (std::int64_t transposed : {0, 1}) {
      for (std::int64_t rows : {64, 128}) {
        for (std::int64_t columns : {128, 256}) {
          INFO(v.block << " transposed " << transposed << " N " << rows << " K " << columns);
          const Layout layout = block_layout(v.block, 1, rows, columns, static_cast<int>(v.weight), {{"transpose_mini_block", transposed}});
          CHECK(layout.gather() == repacked(v, transposed != 0, rows, columns, rows, columns));
        }
      }
    }
  }
}

TEST_CASE("humming.repack pads with zero") {
  for (const Variant& v : kVariants) {
    INFO(v.block);
    const Layout layout = block_layout(v.block, 1, 40, 72, static_cast<int>(v.weight), {{"padded_n", 64}, {"padded_k", 128}});
    CHECK(layout.gather() == repacked(v, false, 40, 72, 64, 128));
    CHECK(refuses(ErrorCode::usage, "rows = 40 is not a multiple of 64", [&] { block_layout(v.block, 1, 40, 128, static_cast<int>(v.weight)); }));
    CHECK(refuses(ErrorCode::usage, "K = 72 is not a multiple of", [&] { block_layout(v.block, 1, 64, 72, static_cast<int>(v.weight)); }));
    CHECK(refuses(ErrorCode::usage, "padded_n is below N", [&] {
      block_layout(v.block, 1, 128, 128, static_cast<int>(v.weight), {{"padded_n", 64}});
    }));
  }
}

TEST_CASE("without its option Humming's weights lie as Marlin's") {
  constexpr std::array<std::array<const char*, 2>, 4> kPairs{{{"humming.repack.w4a16", "marlin.repack.w4a16"},
                                                              {"humming.repack.w4a8", "marlin.repack.w4a8"},
                                                              {"humming.repack.w8a16", "marlin.repack.w8a16"},
                                                              {"humming.repack.w8a8", "marlin.repack.w8a8"}}};
  for (const auto& [humming, marlin] : kPairs) {
    INFO(humming);
    const int bits = std::string_view(humming).substr(16, 1) == "4" ? 4 : 8;
    CHECK(block_layout(humming, 2, 128, 128, bits).gather() == block_layout(marlin, 2, 128, 128, bits).gather());
  }
}

TEST_CASE("humming.scale and humming.bias") {
  const auto scale = [](std::int64_t batch, std::int64_t rows, std::int64_t groups, std::int64_t on_c) {
    return block_layout("humming.scale", batch, rows, groups, 8, {{"to_apply_on_c", on_c}}).gather();
  };
  // The transpose [E, G, N] as one list, then its blocks.
  const auto expected = [](std::int64_t batch, std::int64_t rows, std::int64_t groups, bool on_c) {
    constexpr std::array<std::int64_t, 8> kOffsets{0, 1, 8, 9, 16, 17, 24, 25};
    Map map;
    for (std::int64_t p = 0; p < batch * rows * groups; ++p) {
      const std::int64_t from =
          on_c ? p / 32 * 32 + 2 * (p % 32 / 8) + kOffsets[static_cast<std::size_t>(p % 8)] : p / 64 * 64 + p % 64 / 8 + 8 * (p % 8);
      const std::int64_t expert = from / (rows * groups);
      map.push_back((expert * rows + from % rows) * groups + from / rows % groups);
    }
    return map;
  };
  for (std::int64_t on_c : {0, 1}) {
    CHECK(scale(2, 128, 3, on_c) == expected(2, 128, 3, on_c != 0));
    CHECK(scale(1, 48, 4, on_c) == expected(1, 48, 4, on_c != 0));
    CHECK(scale(2, 16, 6, on_c) == expected(2, 16, 6, on_c != 0));
  }
  CHECK(refuses(ErrorCode::usage, "elements = 32 is not a multiple of 64", [&] { scale(1, 32, 1, 0); }));
  CHECK(refuses(ErrorCode::usage, "elements = 48 is not a multiple of 32", [&] { scale(1, 48, 1, 1); }));

  const Map bias = block_layout("humming.bias", 2, 1, 64, 16).gather();
  CHECK(bias == expected(2, 64, 1, true));
  CHECK(block_layout("humming.bias", 2, 64, 1, 16).gather() == bias);
  CHECK(block_layout("humming.bias", 2, 1, 48, 16).gather() == expected(1, 96, 1, true));
  CHECK(refuses(ErrorCode::usage, "elements = 40", [] { block_layout("humming.bias", 1, 1, 40, 16); }));
}

TEST_CASE("codes of a group whose scale is raised") {
  // The table of the specification for the codes 0..7; a negative code becomes the negative of the same.
  constexpr std::array<std::array<std::uint8_t, 8>, 6> kTable{{{0, 1, 2, 3, 4, 5, 6, 7},
                                                               {0, 1, 1, 2, 2, 3, 4, 5},
                                                               {0, 0, 1, 1, 1, 2, 2, 3},
                                                               {0, 0, 0, 0, 1, 1, 1, 2},
                                                               {0, 0, 0, 0, 0, 0, 1, 1},
                                                               {0, 0, 0, 0, 0, 0, 0, 0}}};
  for (int delta = 0; delta <= mx::families::humming::kLargestDelta; ++delta) {
    const auto& row = kTable[static_cast<std::size_t>(std::min(delta, 5))];
    for (std::uint8_t code = 0; code < 8; ++code) {
      INFO("delta " << delta << " code " << int{code});
      CHECK(mx::families::humming::requantized(code, delta) == row[code]);
      CHECK(mx::families::humming::requantized(static_cast<std::uint8_t>(code | 8), delta) == (code == 0 ? 0 : row[code] | 8));
    }
  }
}

TEST_CASE("humming.mxfp4_w4a8") {
  using mx::families::run_block;
  const auto& block = mx::families::value_block_named("humming.mxfp4_w4a8");
  std::vector<std::uint8_t> w(32, 0x7F);  // codes 15 and 7: -6 and 6
  w[0] = 0x81;
  const auto out = run_block(block, {{"w", {8, {2, 16}, w}}, {"delta", {8, {2}, {0, 4}}}}, {});
  std::vector<std::uint8_t> expected(32, 0x7F);
  expected[0] = 0x01;
  for (std::size_t i = 16; i < 32; ++i) expected[i] = 0x19;
  CHECK(out.at("w").bytes == expected);
  CHECK(refuses(ErrorCode::usage, "one byte for each 16", [&] { run_block(block, {{"w", {8, {2, 16}, w}}, {"delta", {8, {1}, {0}}}}, {}); }));
  CHECK(refuses(ErrorCode::usage, "one byte for each 16", [&] { run_block(block, {{"w", {8, {2, 16}, w}}, {"delta", {16, {1}, {0, 4}}}}, {}); }));
  CHECK(refuses(ErrorCode::usage, "delta = 128", [&] { run_block(block, {{"w", {8, {2, 16}, w}}, {"delta", {8, {2}, {0, 128}}}}, {}); }));
}

CanonicalLayer filled(const mx::layout::Sizes& sizes, std::uint8_t lowest_scale, std::uint8_t scales) {
  CanonicalLayer layer{sizes, mx::layout::SourceOrder::gpt_oss, {}};
  std::mt19937 engine(20260502);
  for (Role role : mx::layout::kRoles) {
    layer[role].resize(static_cast<std::size_t>(mx::layout::canonical(role, sizes, layer.form).bytes()));
    for (std::uint8_t& byte : layer[role]) {
      byte = mx::layout::is_scale(role) ? static_cast<std::uint8_t>(lowest_scale + engine() % scales) : static_cast<std::uint8_t>(engine());
    }
  }
  return layer;
}

Setting setting_for(const CanonicalLayer& layer, mx::families::Arch arch, mx::families::InputDtype activations,
                    mx::deployment::Engine engine = mx::deployment::kVllm2026_05) {
  return {.sizes = layer.sizes, .padded = layer.sizes, .form = layer.form, .engine = engine, .arch = arch, .input_dtype = activations};
}

TEST_CASE("a layer for Humming and back") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_05);
  const CanonicalLayer layer = filled({2, 128, 384}, 100, 56);
  for (const Arch arch : {Arch::sm80, Arch::sm90}) {
    const PackedLayer packed = mx::families::convert(layer, humming, setting_for(layer, arch, InputDtype::none));
    CHECK(packed.losses.empty());
    CHECK(mx::families::restore(packed).tensors == layer.tensors);
    // w2 has 384 rows, which are padded to 512: with weights 0 and scales of one.
    CHECK(packed.find(Role::w2_weight)->bytes.size() == 2U * 512 * 128 / 2);
    const auto& scale = packed.find(Role::w2_weight_scale)->bytes;
    CHECK(scale.size() == 2U * 512 * 4);
    CHECK(std::ranges::count(scale, 0x7F) == 2 * 128 * 4 + std::ranges::count(layer[Role::w2_weight_scale], 0x7F));
    // Rows keep their order: the weight is humming.repack of the loaded bytes.
    const bool wgmma = arch == Arch::sm90;
    const Map map = block_layout("humming.repack.w4a16", 2, 256, 384, 4, {{"transpose_mini_block", wgmma ? 1 : 0}}).gather();
    const auto& loaded = layer[Role::w13_weight];
    const auto& made = packed.find(Role::w13_weight)->bytes;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < map.size(); ++i) {
      const auto nibble = [](const std::vector<std::uint8_t>& bytes, std::size_t n) { return bytes[n / 2] >> n % 2 * 4 & 0xF; };
      equal += nibble(made, i) == nibble(loaded, static_cast<std::size_t>(map[i])) ? 1U : 0U;
    }
    CHECK(equal == map.size());
  }
}

TEST_CASE("scales beside a global scale, for 8-bit activations") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  using mx::families::OnLoss;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_05);
  const auto converted = [&](const CanonicalLayer& layer, InputDtype activations) {
    return mx::families::convert(layer, humming, setting_for(layer, Arch::sm90, activations));
  };
  // Scales within the range lose nothing, as long as no code is -0.
  CanonicalLayer near = filled({2, 128, 256}, 120, 4);
  for (Role role : {Role::w13_weight, Role::w2_weight}) {
    for (std::uint8_t& byte : near[role]) byte &= 0x77;
  }
  near[Role::w13_weight_scale][0] = 120;
  for (const InputDtype activations : {InputDtype::float8_e4m3fn, InputDtype::int8}) {
    const PackedLayer packed = converted(near, activations);
    CHECK(packed.losses.empty());
    CHECK(mx::families::restore(packed).tensors == near.tensors);
    // 2^(120 - 127), for int8 half of it.
    const auto& global = packed.find(Role::w13_global_scale)->bytes;
    const std::uint32_t bits = activations == InputDtype::int8 ? 0x3B800000 : 0x3C000000;
    CHECK(global.size() == 8U);
    CHECK((global[0] | global[1] << 8 | global[2] << 16 | global[3] << 24) == static_cast<int>(bits));
  }

  // One group 13 below the largest: its scale is raised by one, its codes are halved.
  CanonicalLayer far = near;
  far[Role::w2_weight_scale].assign(far[Role::w2_weight_scale].size(), 120);
  far[Role::w2_weight_scale][0] = 107;
  for (std::size_t i = 0; i < 16; ++i) far[Role::w2_weight][i] = 0x71;  // 0.5 and 6
  const PackedLayer packed = converted(far, InputDtype::float8_e4m3fn);
  REQUIRE(packed.losses.size() == 2U);
  CHECK(packed.losses[0].role == Role::w2_weight);
  CHECK(packed.losses[0].units == 16);  // 6 becomes 3; 0.5 becomes 0.25, which is rounded up to the code it had
  CHECK(packed.losses[1].units == 1);
  CHECK(refuses(ErrorCode::usage, "codes made anew for a larger scale", [&] { mx::families::restore(packed); }));
  const CanonicalLayer back = mx::families::restore(packed, OnLoss::mark);
  CHECK(back[Role::w2_weight_scale][0] == 108);
  CHECK(back[Role::w2_weight_scale][1] == 120);
  CHECK(back[Role::w2_weight][0] == 0x51);
  CHECK(back[Role::w13_weight] == far[Role::w13_weight]);
  CHECK_FALSE(back.has_bias() != far.has_bias());
}

// Spec layouts 8.3: 320 rows and bytes of 100 to 112.
TEST_CASE("hazard: Humming's padding counts as a scale of one, so that lower scales are raised and their codes vanish") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  CanonicalLayer layer = filled({1, 160, 256}, 100, 13);
  for (Role role : {Role::w13_weight, Role::w2_weight}) layer[role].assign(layer[role].size(), 0x22);
  layer[Role::w13_weight_scale][0] = 100;
  layer[Role::w13_weight_scale][1] = 112;
  const auto converted = [&](mx::deployment::Engine engine, const CanonicalLayer& of) {
    return mx::families::convert(of, backend_layout_named("HUMMING", WeightFormat::mxfp4, engine),
                                 setting_for(of, Arch::sm90, InputDtype::float8_e4m3fn, engine));
  };
  const PackedLayer packed = converted(mx::deployment::kVllm2026_05, layer);
  // The lowest byte is 127 - 12 = 115: a scale of 100 is raised by 15, which no code outlives, one of 112 by 3, after which 1 is 0.125 and 0.
  CHECK(packed.losses[0].units == 320 * 256);
  CHECK(packed.losses[1].units == 320 * 8);
  // In 2026-08 the range is 11 and stored scales count from 1: 115 is 0 before, 116 is 1 now.
  CHECK(packed.find(Role::w13_global_scale)->bytes == std::vector<std::uint8_t>{0, 0, 0x80, 0x39});  // 2^-12
  const PackedLayer later = converted(mx::deployment::kVllm2026_08, layer);
  CHECK(later.find(Role::w13_global_scale)->bytes == std::vector<std::uint8_t>{0, 0, 0x80, 0x39});  // 2^(116 - 127) / 2
  CHECK(std::ranges::min(packed.find(Role::w13_weight_scale)->bytes) == 0);
  CHECK(std::ranges::min(later.find(Role::w13_weight_scale)->bytes) == 1);
  CHECK(std::ranges::max(later.find(Role::w13_weight_scale)->bytes) == 12);
}

TEST_CASE("Humming 0.1.12 has a global scale for each row with int8, and no fused scales on sm120 with e4m3") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  CanonicalLayer layer = filled({1, 128, 256}, 120, 1);
  for (Role role : {Role::w13_weight, Role::w2_weight}) layer[role].assign(layer[role].size(), 0x22);
  // Row 0 of w2 alone has a scale four below its largest.
  layer[Role::w2_weight_scale][0] = 116;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_08);
  const PackedLayer packed = mx::families::convert(layer, humming, setting_for(layer, Arch::sm80, InputDtype::int8, mx::deployment::kVllm2026_08));
  REQUIRE(packed.losses.size() == 2U);
  CHECK(packed.losses[0].units == 32);
  CHECK(packed.losses[1].units == 1);
  // bf16 of 2^(117 - 127) / 2 for row 0, of 2^(120 - 127) / 2 for the others.
  const auto& global = packed.find(Role::w2_global_scale)->bytes;
  REQUIRE(global.size() == 512U);
  CHECK((global[0] | global[1] << 8) == 0x3A00);
  for (std::size_t row = 1; row < 256; ++row) REQUIRE((global[2 * row] | global[2 * row + 1] << 8) == 0x3B80);
  CHECK(mx::families::restore(packed, mx::families::OnLoss::mark)[Role::w2_weight_scale][0] == 117);

  const PackedLayer pairs =
      mx::families::convert(layer, humming, setting_for(layer, Arch::sm120, InputDtype::float8_e4m3fn, mx::deployment::kVllm2026_08));
  CHECK(pairs.losses.empty());
  CHECK(pairs.find(Role::w2_global_scale) == nullptr);
  CHECK(pairs.find(Role::w2_weight_scale)->bytes[0] == 116);
  CHECK(mx::families::restore(pairs).tensors == layer.tensors);
}

TEST_CASE("what no conversion makes is no packed layer of Humming") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_05);
  const CanonicalLayer layer = filled({1, 128, 256}, 200, 1);
  PackedLayer packed = mx::families::convert(layer, humming, setting_for(layer, Arch::sm90, InputDtype::int8));
  const auto refused = [&](Role role, const std::vector<std::uint8_t>& bytes, const std::string& text) {
    PackedLayer changed = packed;
    for (auto& tensor : changed.tensors) {
      if (tensor.role == role) tensor.bytes = bytes;
    }
    return refuses(ErrorCode::input, text, [&] { mx::families::restore(changed, mx::families::OnLoss::mark); });
  };
  // 2 + 2^-22, zero, three times the smallest subnormal, infinity and a NaN.
  const std::vector<std::vector<std::uint8_t>> no_powers{{1, 0, 0, 0x40}, {0, 0, 0, 0}, {3, 0, 0, 0}, {0, 0, 0x80, 0x7F}, {0, 0, 0xC0, 0x7F}};
  for (const auto& bytes : no_powers) CHECK(refused(Role::w13_global_scale, bytes, "is not a power of two"));
  // With a global scale of 2^(200 - 127 - 1), byte s stands for 200 + s; with 2^-149 byte 0 would stand for -21.
  CHECK(refused(Role::w13_weight_scale, std::vector<std::uint8_t>(packed.find(Role::w13_weight_scale)->bytes.size(), 56),
                "scale 56 times 2^72 is none of e8m0"));
  CHECK(refused(Role::w13_global_scale, {1, 0, 0, 0}, "scale 0 times 2^-149 is none of e8m0"));

  packed.setting.sizes.intermediate = packed.setting.padded.intermediate = 256;
  CHECK(refuses(ErrorCode::usage, "not one of these sizes", [&] { mx::families::restore(packed, mx::families::OnLoss::mark); }));
}

TEST_CASE("the least scales have a subnormal global scale") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_05);
  CanonicalLayer layer = filled({1, 128, 256}, 0, 3);
  for (Role role : {Role::w13_weight, Role::w2_weight}) {
    for (std::uint8_t& byte : layer[role]) byte &= 0x77;
  }
  layer[Role::w13_weight_scale][0] = 0;
  for (const InputDtype activations : {InputDtype::float8_e4m3fn, InputDtype::int8}) {
    const PackedLayer packed = mx::families::convert(layer, humming, setting_for(layer, Arch::sm90, activations));
    // 2^-127, for int8 2^-128: bits 22 and 21 of the mantissa.
    const std::uint8_t third = activations == InputDtype::int8 ? 0x20 : 0x40;
    CHECK(packed.find(Role::w13_global_scale)->bytes == std::vector<std::uint8_t>{0, 0, third, 0});
    CHECK(packed.losses.empty());
    CHECK(mx::families::restore(packed).tensors == layer.tensors);
  }
}

TEST_CASE("zeros lose nothing under a raised scale, however far") {
  using mx::families::Arch;
  using mx::families::InputDtype;
  const auto& humming = backend_layout_named("HUMMING", WeightFormat::mxfp4, mx::deployment::kVllm2026_05);
  // The first group lies 3 + d below the largest scale of int8's range; its codes are 0, and one is 6.
  for (const int raised : {1, 4, 7, 8, 40}) {
    INFO("raised by " << raised);
    CanonicalLayer layer = filled({1, 128, 256}, 120, 1);
    for (Role role : {Role::w13_weight, Role::w2_weight}) layer[role].assign(layer[role].size(), 0);
    layer[Role::w2_weight_scale][0] = static_cast<std::uint8_t>(120 - 3 - raised);
    const PackedLayer zeros = mx::families::convert(layer, humming, setting_for(layer, Arch::sm90, InputDtype::int8));
    REQUIRE(zeros.losses.size() == 1U);
    CHECK(zeros.losses[0].role == Role::w2_weight_scale);
    CHECK(zeros.losses[0].units == 1);
    layer[Role::w2_weight][0] = 0x07;
    const PackedLayer packed = mx::families::convert(layer, humming, setting_for(layer, Arch::sm90, InputDtype::int8));
    REQUIRE(packed.losses.size() == 2U);
    CHECK(packed.losses[0].role == Role::w2_weight);
    CHECK(packed.losses[0].units == 1);
  }
}

}  // namespace
