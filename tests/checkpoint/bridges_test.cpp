// A copy in 16 bits of a checkpoint in FP8 blocks, experts and a dense layer: what happened on the way is named, and a sound copy is one.

#include "checkpoint/compare/bridges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "checkpoint/compare/compare_checkpoints.hpp"
#include "checkpoint/maker/made_by.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

constexpr std::int64_t kHidden = 256, kIntermediate = 192;
constexpr const char* kWeights = "model.safetensors";

/// OFP8 1.0, table 1.
double e4m3(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double number = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return (code & 0x80) != 0 ? -number : number;
}
/// The upper half of fp32's bits, to nearest even.
std::uint16_t bf16(double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// A matrix of N rows and K columns, and the scales of its blocks.
struct Grid {
  std::int64_t n, k;
  std::vector<float> scales;
  std::int64_t down() const { return (n + 127) / 128; }
  std::int64_t across() const { return (k + 127) / 128; }
  double at(std::int64_t row, std::int64_t column) const { return static_cast<double>(scales[static_cast<std::size_t>(row * across() + column)]); }
};
using Scale = std::function<double(const Grid& grid, std::int64_t row, std::int64_t column)>;
double right(const Grid& grid, std::int64_t row, std::int64_t column) { return grid.at(row / 128, column / 128); }

void add_matrix(const std::string& name, std::int64_t n, std::int64_t k, support::SplitMix64& random, const Scale& scale, Draft& coded, Draft& copy) {
  Grid grid{n, k, {}};
  support::TensorData weight{name + ".weight", "F8_E4M3", {n, k}, {}}, scales{name + ".weight_scale_inv", "F32", {grid.down(), grid.across()}, {}},
      plain{name + ".weight", "BF16", {n, k}, {}};
  for (std::int64_t i = 0; i < grid.down() * grid.across(); ++i) {
    grid.scales.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(0x39000000U + random.next() % 0x1000000U)));
    const auto bits = std::bit_cast<std::uint32_t>(grid.scales.back());
    for (unsigned byte = 0; byte < 4; ++byte) scales.bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * byte));
  }
  for (std::int64_t i = 0; i < n * k; ++i) {
    const auto code = static_cast<std::uint8_t>(random.next() % 256);
    weight.bytes.push_back((code & 0x7FU) == 0x7F ? std::uint8_t{0} : code);
    const auto word = bf16(e4m3(weight.bytes.back()) * scale(grid, i / k, i % k));
    plain.bytes.push_back(static_cast<std::uint8_t>(word));
    plain.bytes.push_back(static_cast<std::uint8_t>(word >> 8));
  }
  coded.shards[kWeights].push_back(std::move(weight));
  coded.shards[kWeights].push_back(std::move(scales));
  copy.shards[kWeights].push_back(std::move(plain));
}

struct Two {
  Draft coded, copy;
};
Two two(const Scale& scale) {
  support::SplitMix64 random(11);
  Two made;
  made.coded.has_index = made.copy.has_index = false;
  made.coded.config = R"({"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}})";
  const std::string layer = "model.layers.0.";
  add_matrix(layer + "mlp.experts.0.gate_proj", kIntermediate, kHidden, random, scale, made.coded, made.copy);
  add_matrix(layer + "mlp.experts.0.up_proj", kIntermediate, kHidden, random, scale, made.coded, made.copy);
  add_matrix(layer + "mlp.experts.0.down_proj", kHidden, kIntermediate, random, scale, made.coded, made.copy);
  add_matrix(layer + "self_attn.q_proj", kIntermediate, kHidden, random, scale, made.coded, made.copy);
  return made;
}
checkpoint::CheckpointComparison compared(const Two& made) {
  const TemporaryDirectory first, second;
  made.coded.write(first.path());
  made.copy.write(second.path());
  return checkpoint::compare_checkpoints(first.path(), second.path(), {});
}

}  // namespace

TEST_CASE("what a copy in 16 bits was made by is named, of experts and of dense layers in FP8") {
  struct Row {
    std::string text;
    Scale scale;
  };
  const std::vector<Row> rows{
      {"one is the other, rounded to the numbers of its file", right},
      {"blocks cut at rows / ceil(rows / 128) and columns / ceil(columns / 128) instead of 128, rounded to bf16: transformers 5.24 without a GPU "
       "(finegrained_fp8.py _dequantize_one)",
       [](const Grid& g, std::int64_t r, std::int64_t c) { return g.at(r / (g.n / g.down()), c / (g.k / g.across())); }},
      {"scales of other blocks: rows and columns of the scales are exchanged, rounded to bf16",
       [](const Grid& g, std::int64_t r, std::int64_t c) { return g.at(c / 128, r / 128); }},
      {"scales of other blocks: those of the next columns, rounded to bf16",
       [](const Grid& g, std::int64_t r, std::int64_t c) { return g.at(r / 128, 1 - c / 128); }},
      {"scales of other blocks: those of the next rows, rounded to bf16",
       [](const Grid& g, std::int64_t r, std::int64_t c) { return g.at(1 - r / 128, c / 128); }},
      {"the scale of the first block counts for all, rounded to bf16", [](const Grid& g, std::int64_t, std::int64_t) { return g.at(0, 0); }},
      {"the codes without their scales, rounded to bf16", [](const Grid&, std::int64_t, std::int64_t) { return 1.0; }},
      {"divided by each scale instead of multiplied, rounded to bf16",
       [](const Grid& g, std::int64_t r, std::int64_t c) { return 1 / right(g, r, c); }},
      {"", [](const Grid& g, std::int64_t r, std::int64_t c) { return right(g, r, c) * (1 + 0.1 * static_cast<double>((r + c) % 3)); }},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const checkpoint::CheckpointComparison found = compared(two(row.scale));
    CHECK(found.omitted.size() == 1);  // the dense layer's scales are the first's alone
    REQUIRE(found.differences.size() == 4);
    for (const checkpoint::TensorDifference& one : found.differences) {
      INFO(one.name);
      CHECK(one.cause == row.text);
    }
    CHECK(found.differences.back().name == "model.layers.0.self_attn.q_proj.weight");
  }
}

TEST_CASE("what is left beside a rounding is counted, with its place") {
  for (const std::string name : {"model.layers.0.mlp.experts.0.up_proj.weight", "model.layers.0.self_attn.q_proj.weight"}) {
    Two made = two(right);
    made.copy.tensor(name).bytes[2 * (100 * kHidden + 7)] ^= 1;
    const checkpoint::CheckpointComparison found = compared(made);
    int told = 0;
    for (const checkpoint::TensorDifference& one : found.differences) {
      CHECK(one.cause == (one.name == name ? "the same numbers, rounded to those of the file, but for 1, the first at [100, 7]"
                                           : "one is the other, rounded to the numbers of its file"));
      told += one.name == name ? 1 : 0;
    }
    CHECK(told == 1);
  }
}

TEST_CASE("a factor of all scales that a tool is known for is named with it") {
  const Draft first = two(right).coded;
  const auto with_scales = [&](float factor) {
    Draft made = first;
    for (support::TensorData& tensor : made.shards[kWeights]) {
      if (!tensor.name.ends_with("weight_scale_inv")) continue;
      // Powers of two of one number: a factor leaves no rounding between them.
      for (std::size_t i = 0; i < tensor.bytes.size() / 4; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(std::ldexp(factor, static_cast<int>(i % 3)));
        for (unsigned byte = 0; byte < 4; ++byte) tensor.bytes[4 * i + byte] = static_cast<std::uint8_t>(bits >> 8 * byte);
      }
    }
    return made;
  };
  const Draft one = with_scales(1), known = with_scales(448.0F / 127.0F), other = with_scales(3);
  const std::string words = "448 / 127: an int8 scale taken for one of FP8";
  struct Row {
    const Draft& first;
    const Draft& second;
    std::string end;
  };
  for (const Row& row : {Row{one, known, " times that of the first, " + words},
                         Row{known, one, " times that of the first, the reciprocal of " + words}, Row{one, other, "is 3 times that of the first"}}) {
    const checkpoint::CheckpointComparison found = compared({row.first, row.second});
    REQUIRE(found.differences.size() == 5);  // the dense layer's scales too
    for (const checkpoint::TensorDifference& difference : found.differences) {
      INFO(difference.name << ": " << difference.cause);
      CHECK(difference.cause.ends_with(row.end));
    }
  }
}

TEST_CASE("an FP8 scale that was made of one of int8 is named: by its exporter, and one that was calibrated by its factor") {
  support::SplitMix64 random(3);
  std::vector<float> base;
  float amax = 0;
  for (int i = 0; i < 32 * 64; ++i) {
    base.push_back(std::ldexp(static_cast<float>(static_cast<int>(random.next() % 2001) - 1000), -10));
    amax = std::max(amax, std::abs(base.back()));
  }
  const auto made_with = [&](float scale) {
    checkpoint::CodedRows all;
    for (const float x : base) {
      const auto bits = std::bit_cast<std::uint32_t>(x);
      for (unsigned byte = 0; byte < 4; ++byte) all.base.push_back(static_cast<std::byte>(bits >> 8 * byte));
      // The nearest of all codes.
      int nearest = 0;
      for (int code = 0; code < 0x7F; ++code) {
        const double distance = std::abs(e4m3(code) - std::abs(static_cast<double>(x / scale)));
        if (distance < std::abs(e4m3(nearest) - std::abs(static_cast<double>(x / scale)))) nearest = code;
      }
      all.codes.push_back(static_cast<std::uint8_t>(nearest | (x < 0 ? 0x80 : 0)));
    }
    checkpoint::CodedMatrix matrix{32, 64, &kF32, &kE4m3fn, &kF32, 0, 0, checkpoint::StoredNumber{std::bit_cast<std::uint32_t>(scale), false}, {}};
    matrix.read = [all](std::int64_t first, std::int64_t count) {
      checkpoint::CodedRows rows;
      rows.base.assign(all.base.begin() + first * 64 * 4, all.base.begin() + (first + count) * 64 * 4);
      rows.codes.assign(all.codes.begin() + first * 64, all.codes.begin() + (first + count) * 64);
      return rows;
    };
    return checkpoint::made_by(matrix, {});
  };
  const float scale = amax / 127.0F * 448.0F / 127.0F;
  const checkpoint::MadeBy exactly = made_with(scale);
  REQUIRE(exactly.is_exact());
  CHECK(exactly.exact.front().profile == "modelopt-onnx-fp8");
  CHECK(exactly.cause.empty());
  const checkpoint::MadeBy nearly = made_with(std::nextafter(scale, 1.0F));
  INFO(nearly.nearest.profile << ", " << nearly.counts.differing << ", " << nearly.cause);
  CHECK(nearly.given);
  CHECK(nearly.cause ==
        "the scale is that of the largest magnitude times (448 / 127)^2, an int8 scale times 448 / 127: nvidia-modelopt 0.47.0 onnx (fp8.py)");
}

TEST_CASE("every known bridge has a name of its own and says what it does") {
  std::vector<std::string_view> ids;
  for (const checkpoint::KnownBridge& bridge : checkpoint::known_bridges()) {
    CHECK(std::ranges::find(ids, bridge.id) == ids.end());
    ids.push_back(bridge.id);
    CHECK_FALSE(bridge.text.empty());
  }
}

}  // namespace mx::tests
