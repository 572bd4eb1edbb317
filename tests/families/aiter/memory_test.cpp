// AITER: building blocks against their formulas, element by element; backends against those; what is surprising about them.

#include "model/families/casts.hpp"
#include "model/families/convert.hpp"
#include "model/families/stage.hpp"
#include "model/layout/packed.hpp"
#include "tests/catch.hpp"
#include "tests/families/maps.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using namespace mx::layout;  // NOLINT(google-build-using-namespace): the test speaks of nothing else
using mx::test::checkpoint_addresses;
using mx::test::kNeutral;
using mx::test::kUnwritten;
using mx::test::Map;
using mx::test::refuses;
using mx::test::rounded_up;

/// shuffle_weight of elements of `bytes` bytes: [nb][kb][j][r][x].
Map shuffled_weight(std::int64_t experts, std::int64_t rows, std::int64_t cols, std::int64_t bytes) {
  const std::int64_t c = 16 / bytes;
  Map map;
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t nb = 0; nb < rows / 16; ++nb)
      for (std::int64_t kb = 0; kb < cols / 32; ++kb)
        for (std::int64_t j = 0; j < 32 / c; ++j)
          for (std::int64_t r = 0; r < 16; ++r)
            for (std::int64_t x = 0; x < c; ++x) map.push_back((e * rows + 16 * nb + r) * cols + 32 * kb + c * j + x);
  return map;
}

/// shuffle_weight_a16w4 of bytes: [n0][g][k0][kl][nl][kp].
Map a16w4_weight(std::int64_t experts, std::int64_t rows, std::int64_t row_bytes, bool gate_up) {
  const std::int64_t halves = gate_up ? 2 : 1;
  Map map;
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t n0 = 0; n0 < rows / halves / 16; ++n0)
      for (std::int64_t g = 0; g < halves; ++g)
        for (std::int64_t k0 = 0; k0 < row_bytes / 64; ++k0)
          for (std::int64_t kl = 0; kl < 4; ++kl)
            for (std::int64_t nl = 0; nl < 16; ++nl)
              for (std::int64_t kp = 0; kp < 16; ++kp) map.push_back((e * rows + g * (rows / 2) + 16 * n0 + nl) * row_bytes + 64 * k0 + 16 * kl + kp);
  return map;
}

/// shuffle_scale_a16w4: [n1][k1][kl][nl][kp][p].
Map a16w4_scale(std::int64_t experts, std::int64_t rows, std::int64_t groups, bool gate_up) {
  Map map;
  for (std::int64_t e = 0; e < experts; ++e)
    for (std::int64_t n1 = 0; n1 < rows / 32; ++n1)
      for (std::int64_t k1 = 0; k1 < rounded_up(groups, 8) / 8; ++k1)
        for (std::int64_t kl = 0; kl < 4; ++kl)
          for (std::int64_t nl = 0; nl < 16; ++nl)
            for (std::int64_t kp = 0; kp < 2; ++kp)
              for (std::int64_t p = 0; p < 2; ++p) {
                const std::int64_t n = gate_up ? p * (rows / 2) + 16 * n1 + nl : 32 * n1 + 16 * p + nl;
                const std::int64_t g = 8 * k1 + 4 * kp + kl;
                map.push_back(g < groups ? (e * rows + n) * groups + g : kNeutral);
              }
  return map;
}

/// e8m0_shuffle over a stack of rows: [mb][gb][q][r][j][i].
Map e8m0(std::int64_t rows, std::int64_t groups) {
  Map map;
  for (std::int64_t mb = 0; mb < rounded_up(rows, 256) / 32; ++mb)
    for (std::int64_t gb = 0; gb < rounded_up(groups, 8) / 8; ++gb)
      for (std::int64_t q = 0; q < 4; ++q)
        for (std::int64_t r = 0; r < 16; ++r)
          for (std::int64_t j = 0; j < 2; ++j)
            for (std::int64_t i = 0; i < 2; ++i) {
              const std::int64_t m = 32 * mb + 16 * i + r;
              const std::int64_t g = 8 * gb + 4 * j + q;
              map.push_back(m < rows && g < groups ? m * groups + g : kUnwritten);
            }
  return map;
}

/// Tiles of `height` by `width`, row n of them coming from row_of(n).
template <typename RowOf>
Map in_tiles(std::int64_t rows, std::int64_t cols, std::int64_t height, std::int64_t width, RowOf row_of) {
  Map map;
  for (std::int64_t i = 0; i < rows / height; ++i)
    for (std::int64_t j = 0; j < cols / width; ++j)
      for (std::int64_t r = 0; r < height; ++r)
        for (std::int64_t x = 0; x < width; ++x) map.push_back(row_of(height * i + r) * cols + width * j + x);
  return map;
}

std::int64_t same(std::int64_t row) { return row; }

/// Bytes of a permutation of bytes as nibbles.
Map nibbles_of(const Map& bytes) {
  Map map;
  for (std::int64_t entry : bytes) {
    map.push_back(2 * entry);
    map.push_back(2 * entry + 1);
  }
  return map;
}

Setting setting_of(const Sizes& sizes, const Form& form, mx::Engine engine) {
  return {.sizes = sizes, .padded = sizes, .form = form, .engine = engine, .arch = Arch::gfx950, .activation = ConverterActivation::silu};
}

TEST_CASE("AITER's weight tiles by element size") {
  for (const int bits : {8, 16, 32}) {
    CHECK(stage_layout("aiter.shuffle_weight", 2, 48, 96, bits).gather() == shuffled_weight(2, 48, 96, bits / 8));
  }
  CHECK(stage_layout("aiter.shuffle_weight", 1, 32, 128, 4).gather() == nibbles_of(shuffled_weight(1, 32, 64, 1)));
  CHECK(stage_layout("aiter.shuffle_weight_gfx1250", 1, 32, 64, 8).gather() == shuffled_weight(1, 32, 64, 1));
}

TEST_CASE("AITER's tiles of 16 rows by 64 bytes") {
  for (const bool gate_up : {false, true}) {
    CHECK(stage_layout("aiter.shuffle_weight_a16w4", 3, 96, 128, 8, {{"gate_up", gate_up}}).gather() == a16w4_weight(3, 96, 128, gate_up));
  }
}

TEST_CASE("hazard: AITER pads scales with the neutral byte 0x7F where others pad with zero") {
  for (const bool gate_up : {false, true}) {
    for (const std::int64_t groups : {1, 8, 12, 17}) {
      const Layout layout = stage_layout("aiter.shuffle_scale_a16w4", 2, 64, groups, 8, {{"gate_up", gate_up}});
      CHECK(layout.gather() == a16w4_scale(2, 64, groups, gate_up));
    }
  }
  const Layout odd = stage_layout("aiter.shuffle_scale_a16w4", 1, 32, 4, 8);
  CHECK(apply(Layout(odd.logical(), 8), std::vector<std::uint8_t>(32 * 4, 0), odd)[2] == 0x7F);
  CHECK(stage_layout("sf_128x4", 1, 32, 5, 8).inverse(4 * 128 + 1).content == PadContent::zero);
  const Layout rows = stage_layout("aiter.tiles.mx_scale", 1, 33, 4, 8);
  CHECK(rows.cosize() == 64 * 4);
  CHECK(apply(Layout(rows.logical(), 8), std::vector<std::uint8_t>(33 * 4, 0), rows)[33 * 4] == 0x7F);
}

TEST_CASE("hazard: e8m0_shuffle stacks the experts and never writes its padding") {
  for (const std::int64_t rows : {1, 40, 256, 300}) {
    for (const std::int64_t groups : {1, 8, 13}) CHECK(stage_layout("aiter.e8m0_shuffle", 1, rows, groups, 8).gather() == e8m0(rows, groups));
  }
  const Layout stacked = stage_layout("aiter.e8m0_shuffle", 3, 40, 5, 8);
  CHECK(stacked.gather() == e8m0(120, 5));
  // What the memory held before stays there.
  const std::vector<std::uint8_t> scales(3 * 40 * 5, 1);
  const std::vector<std::uint8_t> packed = apply(Layout(stacked.logical(), 8), scales, stacked, 0xAB);
  CHECK(std::ranges::count(packed, 0xAB) == 256 * 8 - 3 * 40 * 5);
}

TEST_CASE("AITER's blocks for gfx1250") {
  const auto pairs = [](std::int64_t n) { return n % 2 * 32 + n / 2; };
  const StageParams interleaved{{"is_guinterleave", 1}, {"gate_up", 1}};
  CHECK(stage_layout("aiter.shuffle_scale_n32k4", 1, 64, 12, 8).gather() == in_tiles(64, 12, 32, 4, same));
  CHECK(stage_layout("aiter.shuffle_scale_n32k4", 1, 64, 12, 8, interleaved).gather() == in_tiles(64, 12, 32, 4, pairs));
  CHECK(stage_layout("aiter.shuffle_scale_n32k4", 1, 64, 12, 8, {{"is_guinterleave", 1}}).gather() == in_tiles(64, 12, 32, 4, same));
  Map moe = shuffled_weight(1, 64, 32, 1);
  CHECK(stage_layout("aiter.moe_shuffle_weight.gfx1250", 1, 64, 32, 8).gather() == moe);
  for (std::int64_t& entry : moe) entry = pairs(entry / 32) * 32 + entry % 32;
  CHECK(stage_layout("aiter.moe_shuffle_weight.gfx1250", 1, 64, 32, 8, interleaved).gather() == moe);
  CHECK(stage_layout("aiter.tiles.mxfp8_activation", 1, 4, 256, 8).gather() == in_tiles(4, 256, 2, 128, same));
  CHECK(stage_layout("aiter.tiles.weight", 1, 32, 48, 8).gather() == in_tiles(32, 48, 16, 16, same));
  CHECK(stage_layout("aiter.tiles.mx_scale", 1, 64, 8, 8).gather() == in_tiles(64, 8, 32, 4, same));
  CHECK(stage_layout("aiter.tiles.nvfp4_scale", 1, 64, 16, 8).gather() == in_tiles(64, 16, 32, 8, same));
  CHECK(stage_layout("aiter.tiles.mx_scale", 1, 33, 4, 8).inverse(33 * 4).content == PadContent::neutral);
}

TEST_CASE("AITER's blocks refuse what their views refuse") {
  const auto refused = [](const std::string& text, std::string_view stage, std::int64_t rows, std::int64_t cols, const StageParams& params = {}) {
    return refuses(ErrorCode::usage, text, [&] { stage_layout(stage, 1, rows, cols, 8, params); });
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
  CHECK(refuses(ErrorCode::usage, "rank = 3", [] { stage_layout("aiter.shuffle_weight_gfx1250", 2, 32, 64, 8); }));
}

/// Row of the checkpoint that row r of w13 comes from when gate rows come before up rows.
Map with_rows(Map map, std::int64_t row_units, std::int64_t rows, bool pairs) {
  if (!pairs) return map;
  for (std::int64_t& entry : map) {
    if (entry < 0) continue;
    const std::int64_t row = entry / row_units;
    const std::int64_t local = row % rows;
    const std::int64_t from = local < rows / 2 ? 2 * local : 2 * (local - rows / 2) + 1;
    entry = (row - local + from) * row_units + entry % row_units;
  }
  return map;
}

TEST_CASE("hazard: AITER_MXFP4_BF16 separates pairs of rows, the older engine also where there are none") {
  const Sizes sizes{2, 128, 256};
  struct Case {
    SourceOrder order;
    mx::Engine engine;
    bool pairs;
  };
  for (const Case& c : {Case{SourceOrder::gpt_oss, mx::kVllm2026_05, true}, Case{SourceOrder::gpt_oss, mx::kVllm2026_08, true},
                        Case{SourceOrder::standard, mx::kVllm2026_05, true}, Case{SourceOrder::standard, mx::kVllm2026_08, false}}) {
    const BackendLayout& row = backend_layout_named("AITER_MXFP4_BF16", WeightFormat::mxfp4, c.engine);
    const Setting setting = setting_of(sizes, c.order, c.engine);
    REQUIRE(row.converts(setting.form, c.engine));
    const auto built = [&](Role role) { return checkpoint_addresses(row, role, setting); };
    CHECK(built(Role::w13_weight) == nibbles_of(with_rows(a16w4_weight(2, 256, 128, true), 128, 256, c.pairs)));
    CHECK(built(Role::w13_weight_scale) == with_rows(a16w4_scale(2, 256, 8, true), 8, 256, c.pairs));
    CHECK(built(Role::w2_weight) == nibbles_of(a16w4_weight(2, 256, 64, false)));
    CHECK(built(Role::w2_weight_scale) == a16w4_scale(2, 256, 4, false));
    Map bias(512);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<std::int64_t>(i);
    CHECK(built(Role::w13_bias) == with_rows(bias, 1, 256, c.pairs));
    CHECK(row.build(Role::w2_bias, setting).layout.bytes() == 2 * 256 * 4);
  }
}

TEST_CASE("AITER_MXFP4_BF16 with SITU and on gfx1250") {
  const Sizes sizes{1, 128, 256};
  const BackendLayout& row = backend_layout_named("AITER_MXFP4_BF16", WeightFormat::mxfp4, mx::kVllm2026_08);
  Setting setting = setting_of(sizes, SourceOrder::standard, mx::kVllm2026_08);
  setting.activation = ConverterActivation::situ;
  for (const bool a8w4 : {false, true}) {
    setting.aiter.a8w4 = a8w4;
    CHECK(checkpoint_addresses(row, Role::w13_weight, setting) == nibbles_of(a16w4_weight(1, 256, 128, a8w4)));
    CHECK(checkpoint_addresses(row, Role::w13_weight_scale, setting) == a16w4_scale(1, 256, 8, a8w4));
    CHECK(checkpoint_addresses(row, Role::w2_weight_scale, setting) == e8m0(256, 4));
  }
  setting.arch = Arch::gfx1250;
  for (Role role : kRoles) {
    const Layout layout = row.build(role, setting).layout;
    CHECK(layout.gather() == canonical(role, sizes, setting.form).gather());
  }
  CHECK(row.build(Role::w13_bias, setting).layout.grain_bits() == 32);
  // gpt-oss order knows neither.
  setting.form = SourceOrder::gpt_oss;
  CHECK(checkpoint_addresses(row, Role::w2_weight_scale, setting) == a16w4_scale(1, 256, 4, false));
}

TEST_CASE("AITER_MXFP4_MXFP4 shuffles the scales of all experts as one matrix") {
  const BackendLayout& row = backend_layout_named("AITER_MXFP4_MXFP4", WeightFormat::mxfp4, mx::kVllm2026_08);
  const Setting setting = setting_of({2, 128, 192}, SourceOrder::gpt_oss, mx::kVllm2026_08);
  CHECK(checkpoint_addresses(row, Role::w13_weight, setting) == nibbles_of(shuffled_weight(2, 256, 96, 1)));
  CHECK(checkpoint_addresses(row, Role::w13_weight_scale, setting) == e8m0(512, 6));
  CHECK(checkpoint_addresses(row, Role::w2_weight, setting) == nibbles_of(shuffled_weight(2, 192, 64, 1)));
  // 2 * 192 rows become 512: 512 * 8 bytes are no whole bytes for each of 384 rows.
  CHECK(broken_needs(row, setting).size() == 1U);
  CHECK(broken_needs(row, setting).front().text() == "rest of the scales of w2 = 256 is not 0: the shuffled scales are viewed as experts by rows");
  // 384 rows become 512, and their 8 bytes become 16 in 256 rows: the last axis holds what was never written.
  const Setting grown = setting_of({1, 128, 128}, SourceOrder::gpt_oss, mx::kVllm2026_08);
  CHECK(broken_needs(row, grown).empty());
  CHECK(row.build(Role::w2_weight_scale, grown).layout.bytes() == 256 * 8);
  CHECK_FALSE(backend_layout_named("AITER_MXFP4_MXFP4", WeightFormat::mxfp4, mx::kVllm2026_05).converts(SourceOrder::standard, mx::kVllm2026_05));
}

TEST_CASE("AITER fp8 and MXFP8") {
  const Form block(WeightFormat::fp8_block, SourceOrder::standard);
  const Setting setting = setting_of({2, 160, 96, 1}, block, mx::kVllm2026_08);
  const BackendLayout& row = backend_layout_named("AITER", WeightFormat::fp8_block, mx::kVllm2026_08);
  CHECK(checkpoint_addresses(row, Role::w13_weight, setting) == shuffled_weight(2, 320, 96, 1));
  CHECK(checkpoint_addresses(row, Role::w2_weight, setting) == shuffled_weight(2, 96, 160, 1));
  CHECK(checkpoint_addresses(row, Role::w13_weight_scale, setting) == Map{0, 1, 2, 3, 4, 5, 6, 7});

  const Form mx(WeightFormat::mxfp8, SourceOrder::standard);
  const Setting mxfp8 = setting_of({2, 64, 128}, mx, mx::kVllm2026_08);
  const BackendLayout& mx_row = backend_layout_named("AITER_MXFP8", WeightFormat::mxfp8, mx::kVllm2026_08);
  CHECK(checkpoint_addresses(mx_row, Role::w13_weight, mxfp8) == a16w4_weight(2, 128, 128, true));
  CHECK(checkpoint_addresses(mx_row, Role::w13_weight_scale, mxfp8) == a16w4_scale(2, 128, 4, true));
  CHECK(checkpoint_addresses(mx_row, Role::w2_weight, mxfp8) == a16w4_weight(2, 128, 64, false));
  CHECK(checkpoint_addresses(mx_row, Role::w2_weight_scale, mxfp8) == e8m0(256, 2));
}

TEST_CASE("hazard: on gfx942 fp8 codes are read as e4m3fnuz, with doubled scales") {
  const Form form(WeightFormat::fp8_tensor, SourceOrder::standard);
  CanonicalLayer layer{{1, 32, 32, 1}, form, {}};
  layer[Role::w13_weight].assign(64 * 32, 0x38);
  layer[Role::w13_weight][5] = 0x80;  // -0, the NaN of e4m3fnuz
  layer[Role::w2_weight].assign(32 * 32, 0x7E);
  layer[Role::w13_weight_scale] = {0x00, 0x00, 0x80, 0x3F};  // 1.0
  layer[Role::w2_weight_scale] = {0x01, 0x00, 0x00, 0x00};   // the smallest fp32
  const BackendLayout& row = backend_layout_named("AITER", WeightFormat::fp8_tensor, mx::kVllm2026_08);
  const PackedLayer plain = convert(layer, row, setting_of(layer.sizes, form, mx::kVllm2026_08));
  CHECK(plain.losses.empty());
  CHECK(plain.find(Role::w13_weight_scale)->bytes == layer[Role::w13_weight_scale]);

  Setting setting = setting_of(layer.sizes, form, mx::kVllm2026_08);
  setting.arch = Arch::gfx942;
  const PackedLayer packed = convert(layer, row, setting);
  CHECK(packed.find(Role::w13_weight_scale)->bytes == std::vector<std::uint8_t>{0x00, 0x00, 0x00, 0x40});
  CHECK(packed.find(Role::w2_weight_scale)->bytes == std::vector<std::uint8_t>{0x02, 0x00, 0x00, 0x00});
  // Element 5 of row 0 is byte 5 of its tile.
  CHECK(packed.find(Role::w13_weight)->bytes[5] == 0x00);
  REQUIRE(packed.losses.size() == 1U);
  CHECK(packed.losses.front().units == 1);
  CHECK(refuses(ErrorCode::usage, "1 units", [&] { restore(packed); }));
  // A NaN of e4m3fn is 240 there, and nothing changes it.
  CHECK(cast_named("e4m3fn_to_e4m3fnuz").make(0x7F) == 0x7F);
  const CanonicalLayer restored = restore(packed, OnLoss::mark);
  CHECK(restored[Role::w2_weight_scale] == layer[Role::w2_weight_scale]);
  CHECK(restored[Role::w2_weight] == layer[Role::w2_weight]);
  CHECK(restored[Role::w13_weight][5] == 0x00);
}

}  // namespace
