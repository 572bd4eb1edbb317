#include <array>

#include "model/families/memory.hpp"
#include "model/families/setting.hpp"
#include "model/families/setting_keys.hpp"
#include "model/families/stage.hpp"
#include "tests/catch.hpp"
#include "tests/families/fp4word.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::Sizes;
using mx::layout::SourceOrder;
using mx::layout::stage_layout;
using mx::test::Map;
using mx::test::Matrix;
using mx::test::refuses;

struct Shape {
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t bytes;
};
constexpr std::array<Shape, 3> kShapes{{{1, 16, 32}, {2, 32, 64}, {1, 48, 96}}};

Map fp4_bits(const Shape& shape) {
  const Matrix src{shape.rows, shape.bytes};
  Map bits;
  for (std::int64_t n = 0; n < shape.rows; ++n) {
    for (std::int64_t w = 0; w < shape.bytes / 4; ++w) {
      const std::int64_t row = 16 * (n / 16) + n % 8;
      const std::int64_t col = 32 * (w / 8) + 16 * (w % 8 / 4) + 8 * (n % 16 / 8) + w % 4;
      mx::test::append_fp4word(bits, {src.at(row, col), src.at(row + 8, col), src.at(row, col + 4), src.at(row + 8, col + 4)});
    }
  }
  return bits;
}

/// Bytes of the order that int4 weights get.
Map pair_bytes(const Shape& shape) {
  const Matrix src{shape.rows, shape.bytes};
  Map bytes;
  for (std::int64_t n = 0; n < shape.rows; ++n) {
    for (std::int64_t u = 0; u < shape.bytes / 2; ++u) {
      const std::int64_t row = 16 * (n / 16) + n % 8 + 8 * (u % 2);
      const std::int64_t unit = 16 * (u / 16) + 8 * (u % 16 / 8) + 4 * (n % 16 / 8) + u % 8 / 2;
      bytes.push_back(src.at(row, 2 * unit));
      bytes.push_back(src.at(row, 2 * unit + 1));
    }
  }
  return bytes;
}

TEST_CASE("mixed-input weights on Hopper") {
  for (const Shape& shape : kShapes) {
    const auto repeated = [&](const Map& one, std::int64_t units) { return mx::test::repeated(one, shape.batch, shape.rows * shape.bytes * units); };
    const auto laid_out = [&](const char* name) { return stage_layout(name, shape.batch, shape.rows, shape.bytes, 8).gather(); };
    CHECK(laid_out("cutlass_sm90_mixed.weight.fp4") == repeated(fp4_bits(shape), 8));
    const Map pairs = pair_bytes(shape);
    CHECK(laid_out("cutlass_sm90_mixed.weight.int4") == repeated(pairs, 1));

    // The sign bits of each word move, source bit -> destination bit.
    constexpr std::array<std::array<std::size_t, 2>, 8> kSigns{{{3, 7}, {7, 15}, {11, 23}, {15, 31}, {19, 3}, {23, 11}, {27, 19}, {31, 27}}};
    Map bits;
    for (std::int64_t byte : pairs) {
      for (std::int64_t bit = 0; bit < 8; ++bit) bits.push_back(8 * byte + bit);
    }
    Map moved = bits;
    for (std::size_t word = 0; word < bits.size(); word += 32) {
      for (const auto& [from, to] : kSigns) moved[word + to] = bits[word + from];
    }
    CHECK(laid_out("cutlass_sm90_mixed.weight.fp4_fp8") == repeated(moved, 8));
  }
  for (const char* name : {"cutlass_sm90_mixed.weight.fp4", "cutlass_sm90_mixed.weight.int4", "cutlass_sm90_mixed.weight.fp4_fp8"}) {
    CHECK(refuses(ErrorCode::usage, "rows = 8 is not a multiple of 16", [&] { stage_layout(name, 1, 8, 32, 8); }));
    CHECK(refuses(ErrorCode::usage, "K = 96 is not a multiple of 64", [&] { stage_layout(name, 1, 16, 48, 8); }));
  }
}

TEST_CASE("folded scales on Hopper for every group and element size") {
  for (std::int64_t group_size : {8, 16, 32, 64, 128}) {
    for (int bits : {8, 16, 32, 64}) {
      const std::int64_t per_line = 128 / group_size;
      const std::int64_t columns = 128 / bits;
      CAPTURE(group_size, bits);
      if (columns % per_line != 0) {
        CHECK(refuses(ErrorCode::usage, "group_size = ", [&] {
          stage_layout("cutlass_sm90_mixed.scale", 1, 64, per_line, bits, {{"group_size", group_size}});
        }));
        continue;
      }
      const std::int64_t lines = 64 / (columns / per_line);
      const std::int64_t rows = 128;
      const std::int64_t cols = 3 * per_line;
      const Map one = mx::test::mapped(rows * cols, [&](std::int64_t address) {
        const std::int64_t x = address % columns;
        const std::int64_t f = address / columns % lines;
        const std::int64_t kb = address / (columns * lines) % 3;
        const std::int64_t rb = address / (columns * lines * 3);
        return (64 * rb + x / per_line * lines + f) * cols + kb * per_line + x % per_line;
      });
      const Layout layout = stage_layout("cutlass_sm90_mixed.scale", 2, rows, cols, bits, {{"group_size", group_size}});
      CHECK(layout.gather() == mx::test::repeated(one, 2, rows * cols));
    }
  }
  CHECK(refuses(ErrorCode::usage, "rows = 96 is not a multiple of 64", [] { stage_layout("cutlass_sm90_mixed.scale", 1, 96, 4, 8); }));
  // K = 2880 unpadded.
  CHECK(refuses(ErrorCode::usage, "groups = 90 is not a multiple of 4", [] { stage_layout("cutlass_sm90_mixed.scale", 1, 64, 90, 8); }));
  CHECK(refuses(ErrorCode::usage, "group_size = 48", [] { stage_layout("cutlass_sm90_mixed.scale", 1, 64, 4, 8, {{"group_size", 48}}); }));
  CHECK(refuses(ErrorCode::usage, "dtype = 12", [] { stage_layout("cutlass_sm90_mixed.scale", 1, 64, 4, 12); }));
}

TEST_CASE("FLASHINFER_CUTLASS_MXFP4_BF16 packs up before gate") {
  const Sizes sizes{1, 128, 128};
  const auto& row = *mx::layout::find_backend_layout("FLASHINFER_CUTLASS_MXFP4_BF16");
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    mx::layout::Setting setting{.sizes = sizes, .padded = sizes, .form = order};
    setting.flashinfer.release = mx::layout::Flashinfer::v0_6_18;
    const Map weight = row.build(Role::w13_weight, setting).layout.gather();
    const Map scale = row.build(Role::w13_weight_scale, setting).layout.gather();
    // Matrix row r of [up; gate] is logical row (r + 128) % 256 of [gate; up].
    const Map bits = fp4_bits({1, 256, 64});
    Map expected;
    for (std::int64_t bit : bits) expected.push_back((bit + 128 * 512) % (256 * 512));
    CHECK(weight == expected);
    // The first line of scales: rows 0, 16, 32 and 48 of up, four groups each.
    CHECK(Map(scale.begin(), scale.begin() + 6) == Map{128 * 4, 128 * 4 + 1, 128 * 4 + 2, 128 * 4 + 3, 144 * 4, 144 * 4 + 1});
  }
  CHECK(row.build(Role::w2_bias, {.sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss}).cast->keeps());
}

TEST_CASE("FLASHINFER_CUTLASS_MXFP4_BF16 refuses what does not fold") {
  const auto first_broken = [](const Sizes& sizes) -> std::string {
    const auto& row = *mx::layout::find_backend_layout("FLASHINFER_CUTLASS_MXFP4_BF16");
    mx::layout::Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::gpt_oss};
    setting.flashinfer.release = mx::layout::Flashinfer::v0_6_18;
    const auto broken = broken_needs(row, setting);
    return broken.empty() ? "" : std::string(name_of(broken.front().need.quantity));
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
  const auto& row = *mx::layout::find_backend_layout("FLASHINFER_CUTLASS_MXFP4_BF16");
  const mx::layout::Setting setting{.sizes = sizes, .padded = sizes, .form = SourceOrder::standard};
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
    mx::layout::Setting setting{.sizes = {1, 128, 128}, .padded = {1, 128, 128}, .form = SourceOrder::standard};
    mx::layout::find_setting_key("engine")->set(setting, engine);
    CHECK(setting.engine == mx::kVllm2026_08);
    return flashinfer_of(setting);
  };
  CHECK(release_by("vllm==0.29.0") == mx::layout::Flashinfer::v0_6_18);
  CHECK(release_by("98dff2a81") == mx::layout::Flashinfer::v0_6_18);
  CHECK(release_by("vllm@2026-08") == mx::layout::Flashinfer::v0_6_11);
  CHECK(release_by("7ca49fbe4") == mx::layout::Flashinfer::v0_6_11);
}

TEST_CASE("releases of FlashInfer by name") {
  using mx::layout::Flashinfer;
  using mx::layout::flashinfer_named;
  for (const char* release : {"0.6.11.post2", "0.6.16.post3", "0.6.17"}) CHECK(flashinfer_named(release) == Flashinfer::v0_6_11);
  for (const char* release : {"0.6.18", "0.7.0.post1", "0.7.2.post1"}) CHECK(flashinfer_named(release) == Flashinfer::v0_6_18);
  CHECK(refuses(ErrorCode::unsupported, "release 0.6.10 of FlashInfer is not known: 0.6.11.post2 to 0.6.17, 0.6.18 to 0.7.2.post1 are",
                [] { flashinfer_named("0.6.10"); }));
  CHECK(refuses(ErrorCode::unsupported, "release 0.8.0", [] { flashinfer_named("0.8.0"); }));
  CHECK(refuses(ErrorCode::usage, "'newest' is no release", [] { flashinfer_named("newest"); }));
}

}  // namespace
