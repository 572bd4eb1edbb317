#include "verbs/layout/identify/identify.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "support/file.hpp"
#include "support/safetensors.hpp"
#include "tests/catch.hpp"
#include "tests/layout/errors.hpp"
#include "tests/sim/verify/scratch.hpp"
#include "tests/verbs/layout/formulas.hpp"
#include "verbs/layout/identify/tensor_file.hpp"

namespace {

using namespace mx::verbs;
using mx::ErrorCode;
using mx::tests::Bytes;
using mx::tests::noise;
using mx::tests::refuses;

Identification identified(const Bytes& canonical, const Bytes& packed, const std::string& shape, int unit_bits = 0) {
  return identify(canonical, matrices_of({}, 0, canonical.size(), shape, unit_bits), packed, [](double) {});
}

bool names(const std::vector<Match>& group, const std::string& part) {
  return std::ranges::any_of(group, [&](const Match& match) { return spec_of(match.choice).find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a tiled scale is identified under each of its names, padding and all") {
  const Bytes scales = noise(200 * 10, 1);
  const Identification found = identified(scales, mx::tests::tiled_128x4(scales, 200, 10), "200x10", 8);
  REQUIRE(found.groups.size() == 1);
  CHECK_FALSE(found.is_ambiguous());
  CHECK(names(found.groups[0], "sf_128x4,shape=1x200x10"));
  CHECK(names(found.groups[0], "sf_128x4.cutlass_atom"));
  CHECK_FALSE(names(found.groups[0], "shuffle_matrix_sf_a"));
}

TEST_CASE("a backend's weights are identified from the checkpoint's row order") {
  const Bytes checkpoint = noise(512 * 128, 2);
  const Identification found = identified(checkpoint, mx::tests::trtllm_w13(checkpoint, 512, 128), "1x512x128");
  REQUIRE(found.groups.size() == 1);
  CHECK(names(found.groups[0], "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w13_weight,shape=1x256x256,padded=256x256,format=mxfp4,source-order=gpt_oss"));
  CHECK_FALSE(names(found.groups[0], "source-order=standard"));
}

TEST_CASE("parameters are found") {
  // Rows in blocks of 16: row r <- 16 * (r / 16) + 2 * (r % 8) + (r % 16) / 8.
  const Bytes matrix = noise(48 * 24, 3);
  Bytes packed(matrix.size());
  for (std::size_t r = 0; r < 48; ++r) {
    const std::size_t from = r / 16 * 16 + r % 8 * 2 + r % 16 / 8;
    std::copy_n(matrix.begin() + static_cast<std::ptrdiff_t>(from * 24), 24, packed.begin() + static_cast<std::ptrdiff_t>(r * 24));
  }
  const Identification found = identified(matrix, packed, "48x24", 8);
  REQUIRE(found.groups.size() == 1);
  CHECK(names(found.groups[0], "trtllm.shuffle_matrix_a,shape=1x48x24,unit-bits=8,version=flashinfer-2026-08,epilogue_tile_m="));
}

TEST_CASE("a bias is identified through the change of its values") {
  const Bytes bias = noise(256 * 2, 4);
  Bytes packed(256 * 4);
  for (std::size_t r = 0; r < 256; ++r) {
    const auto from = static_cast<std::size_t>(mx::tests::shuffled_from(static_cast<std::int64_t>(r)));
    packed[4 * r + 2] = bias[2 * from];  // bf16 is the upper half of fp32
    packed[4 * r + 3] = bias[2 * from + 1];
  }
  const Identification found = identified(bias, packed, "1x256x1", 16);
  REQUIRE(found.groups.size() == 1);
  CHECK(names(found.groups[0], "FLASHINFER_TRTLLM_MXFP4_BF16,tensor=w2_bias"));
}

TEST_CASE("data that cannot tell layouts apart say so") {
  const Bytes zeros(200 * 10, 0);
  const Identification constant = identified(zeros, mx::tests::tiled_128x4(zeros, 200, 10), "200x10", 8);
  CHECK(constant.constant);
  CHECK(constant.is_exact());
  CHECK(constant.is_ambiguous());
  // Every row the same: whatever moves whole rows is right.
  Bytes rows = noise(16, 9);
  for (int doubled = 0; doubled < 7; ++doubled) rows.insert(rows.end(), rows.begin(), rows.end());
  const Identification repeated = identified(rows, rows, "128x16", 8);
  CHECK_FALSE(repeated.constant);
  CHECK(repeated.is_ambiguous());
  CHECK(std::ranges::any_of(repeated.groups, [](const std::vector<Match>& group) { return names(group, "trtllm.shuffle_matrix_a,"); }));
}

TEST_CASE("one wrong unit leaves no match and the best partial one") {
  const Bytes scales = noise(200 * 10, 5);
  Bytes packed = mx::tests::tiled_128x4(scales, 200, 10);
  packed[5] ^= 1;
  const Identification found = identified(scales, packed, "200x10", 8);
  CHECK(found.groups.empty());
  REQUIRE_FALSE(found.partial.empty());
  CHECK(spec_of(found.partial[0].choice).starts_with("sf_128x4"));
  CHECK(found.partial[0].compared == static_cast<std::int64_t>(packed.size()));
  CHECK(found.partial[0].equal == found.partial[0].compared - 1);
}

TEST_CASE("a buffer of another size matches nothing") {
  const Bytes scales = noise(200 * 10, 6);
  const Identification found = identified(scales, Bytes(17), "200x10", 8);
  CHECK(found.known > 0);
  CHECK(found.tried == 0);
  CHECK(found.groups.empty());
  CHECK(found.partial.empty());
}

TEST_CASE("large buffers are sampled first and compared whole before they count as equal") {
  constexpr std::int64_t kRows = 2048;
  constexpr std::int64_t kCols = 512;
  const Bytes scales = noise(static_cast<std::size_t>(kRows * kCols), 7);
  Bytes packed = mx::tests::tiled_128x4(scales, kRows, kCols);
  CHECK(identified(scales, packed, "2048x512", 8).groups.size() == 1);
  packed[5000] ^= 0x80;  // in the second of the 256 chunks, which the sample skips
  const Identification found = identified(scales, packed, "2048x512", 8);
  CHECK(found.groups.empty());
  REQUIRE_FALSE(found.partial.empty());
  CHECK(found.partial[0].equal == kRows * kCols - 1);
}

TEST_CASE("shapes come from the tensor, or from the caller and the size") {
  CHECK(matrices_of(std::vector<std::int64_t>{4, 16, 8, 2}, 8, 1024, "", 0) == std::vector<MatrixShape>{{4, 16, 16, 8}, {4, 16, 32, 4}});
  CHECK(matrices_of(std::vector<std::int64_t>{6}, 16, 12, "", 0) == std::vector<MatrixShape>{{1, 6, 1, 16}, {6, 1, 1, 16}});
  CHECK(matrices_of({}, 0, 16, "4x8", 0) == std::vector<MatrixShape>{{1, 4, 8, 4}});
  CHECK(refuses(ErrorCode::usage, "raw bytes have no shape", [] { matrices_of({}, 0, 16, "", 0); }));
  CHECK(refuses(ErrorCode::usage, "16 bytes are no 1x5x5 units of whole bits", [] { matrices_of({}, 0, 16, "5x5", 0); }));
  CHECK(refuses(ErrorCode::usage, "units of 4 bits, not of 8", [] { matrices_of({}, 0, 16, "4x8", 8); }));
}

TEST_CASE("tensors are read from raw files and from safetensors by name") {
  const mx::tests::ScratchDirectory scratch;
  const std::string raw = (scratch.path() / "a.bin").string();
  const std::string container = (scratch.path() / "a.safetensors").string();
  const Bytes bytes = noise(24, 8);
  mx::support::write_file(raw, bytes, false);
  mx::support::write_file(
      container, mx::support::safetensors_bytes(std::vector<mx::support::TensorData>{{"w", "U8", {4, 6}, bytes}, {"v", "BF16", {12}, bytes}}, {}),
      false);
  const TensorFile whole = open_tensor(raw);
  CHECK(Bytes(whole.bytes.begin(), whole.bytes.end()) == bytes);
  CHECK(open_tensor(raw).shape.empty());
  CHECK(open_tensor(container + ":w").shape == std::vector<std::int64_t>{4, 6});
  CHECK(open_tensor(container + ":v").element_bits == 16);
  CHECK(refuses(ErrorCode::input, "2 tensors, say which", [&] { open_tensor(container); }));
  CHECK(refuses(ErrorCode::input, "unknown tensor 'x'", [&] { open_tensor(container + ":x"); }));
  CHECK(refuses(ErrorCode::input, "none.bin", [&] { open_tensor((scratch.path() / "none.bin").string()); }));
  const std::string empty = (scratch.path() / "empty").string();
  mx::support::write_file(empty, Bytes{}, false);
  CHECK(refuses(ErrorCode::input, "it has no bytes", [&] { open_tensor(empty); }));
}

namespace {

/// Rows behind one another at a distance, in a buffer of some rows, filled up with one byte.
Bytes padded(const Bytes& canonical, std::size_t rows, std::size_t row_bytes, std::size_t all_rows, std::size_t stride, std::uint8_t fill) {
  Bytes buffer(all_rows * stride, fill);
  for (std::size_t row = 0; row < rows; ++row)
    std::copy_n(canonical.begin() + static_cast<std::ptrdiff_t>(row * row_bytes), row_bytes,
                buffer.begin() + static_cast<std::ptrdiff_t>(row * stride));
  return buffer;
}

std::optional<PlainOrder> plain(const Bytes& canonical, const Bytes& packed, const std::string& shape, int unit_bits = 0) {
  return plain_order(canonical, matrices_of({}, 0, canonical.size(), shape, unit_bits), packed);
}

Bytes reversed_words(Bytes bytes, std::size_t word) {
  for (std::size_t i = 0; i < bytes.size(); i += word)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(i + word));
  return bytes;
}

}  // namespace

TEST_CASE("a tensor in its own order is said to be, before any known layout: padded, rows further apart, bytes of words reversed") {
  const Bytes scales = noise(200 * 5, 11);
  // torchao#4929: scales padded to 256 x 8 whose swizzle was left out.
  const Identification swizzle = identified(scales, padded(scales, 200, 5, 256, 8, 0), "200x5");
  REQUIRE(swizzle.plain);
  CHECK(swizzle.plain->text() == "row-major, rows of 5 bytes padded to 8, 56 rows of padding behind 200, padding zero: nothing is swizzled");
  CHECK_FALSE(swizzle.is_exact());
  CHECK(swizzle.partial.empty());
  const auto filled = plain(scales, padded(scales, 200, 5, 200, 16, 0x7F), "200x5");
  REQUIRE(filled);
  CHECK(filled->text() == "row-major, rows of 5 bytes padded to 16, padding 0x7f: nothing is swizzled");
  const auto below = plain(scales, padded(scales, 200, 5, 203, 5, 0), "200x5");
  REQUIRE(below);
  CHECK(below->rows == 203);
  CHECK(below->row_bytes == 5);
  // Each matrix of a batch has its own rows behind it.
  const Bytes first(scales.begin(), scales.begin() + 500), second(scales.begin() + 500, scales.end());
  Bytes both = padded(first, 100, 5, 128, 8, 0);
  const Bytes behind = padded(second, 100, 5, 128, 8, 0);
  both.insert(both.end(), behind.begin(), behind.end());
  const auto batch = plain(scales, both, "2x100x5");
  REQUIRE(batch);
  CHECK(batch->rows == 128);
  const Bytes weights = noise(48 * 64, 12);
  for (const std::size_t word : {std::size_t{2}, std::size_t{4}, std::size_t{8}, std::size_t{16}}) {
    const auto found = plain(weights, reversed_words(weights, word), "48x64", 8);
    INFO(word);
    REQUIRE(found);
    CHECK(found->word == static_cast<int>(word));
    CHECK(found->text() == "row-major, the bytes of every word of " + std::to_string(word) + " reversed: nothing is swizzled");
    const auto wider = plain(weights, reversed_words(padded(weights, 48, 64, 48, 80, 0), word), "48x64", 8);
    REQUIRE(wider);
    CHECK(wider->row_bytes == 80);
  }
  Bytes exchanged = weights;
  for (std::uint8_t& byte : exchanged) byte = static_cast<std::uint8_t>(byte << 4U | byte >> 4U);
  const auto units = plain(weights, exchanged, "48x128", 4);
  REQUIRE(units);
  CHECK(units->swapped);
}

TEST_CASE("what is in no plain order is not said to be: one byte wrong, a swizzle, the tensor itself, bytes that are all alike") {
  const Bytes scales = noise(200 * 5, 11);
  Bytes wrong = padded(scales, 200, 5, 256, 8, 0);
  wrong[199 * 8 + 4] ^= 1U;
  const Identification broken = identified(scales, wrong, "200x5");
  CHECK_FALSE(broken.plain);
  CHECK_FALSE(broken.partial.empty());
  CHECK_FALSE(plain(scales, mx::tests::tiled_128x4(scales, 200, 5), "200x5", 8));
  CHECK_FALSE(plain(scales, scales, "200x5"));
  CHECK_FALSE(plain(Bytes(1000, 7), padded(Bytes(1000, 7), 200, 5, 256, 8, 0), "200x5"));
}
