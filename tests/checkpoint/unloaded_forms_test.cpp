// Forms that no layout takes: their numbers, by the definitions of the formats, and why they are not converted.

#include <bit>
#include <cmath>
#include <functional>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/compare/compare_checkpoints.hpp"
#include "checkpoint/inspect/inspect.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::int64_t kHidden = 64, kIntermediate = 32;

/// A number of so many bits of exponent and mantissa: OCP MX 1.0 section 5.3, no Inf and no NaN.
double small_float(std::uint32_t code, int exponent_bits, int mantissa_bits, int bias) {
  const auto exponent = static_cast<int>(code >> mantissa_bits & ((1U << exponent_bits) - 1)),
             mantissa = static_cast<int>(code & ((1U << mantissa_bits) - 1));
  const double one = std::ldexp(1.0, -mantissa_bits);
  const double number = exponent == 0 ? std::ldexp(mantissa * one, 1 - bias) : std::ldexp(1 + mantissa * one, exponent - bias);
  return (code >> (exponent_bits + mantissa_bits) & 1U) != 0 ? -number : number;
}
double e2m1(std::uint32_t code) { return small_float(code, 2, 1, 1); }
double e2m3(std::uint32_t code) { return small_float(code, 2, 3, 1); }
double e3m2(std::uint32_t code) { return small_float(code, 3, 2, 3); }
double e4m3(std::uint32_t code) { return small_float(code, 4, 3, 7); }
double int8(std::uint32_t code) { return static_cast<double>(code) - (code > 127 ? 256 : 0); }
double power(std::uint32_t code) { return std::ldexp(1.0, static_cast<int>(code) - 127); }

struct Row {
  const char* title;
  const char* config;
  const char* weight;
  const char* dtype;
  unsigned bits;
  double (*number)(std::uint32_t);
  std::int64_t group;  ///< 0: a row
  const char* scale_dtype;
  double (*scale)(std::uint32_t);
  std::uint32_t from, to;  ///< codes of scales
  double global;           ///< 0: none
  const char* missing;
};

void add_f32(Bytes& bytes, double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  for (unsigned byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::uint8_t>(bits >> 8 * byte));
}

/// A matrix in both drafts: codes, one behind the other in a stream of bits, the lowest first; and its numbers.
void add_matrix(const Row& row, const std::string& name, std::int64_t n, std::int64_t k, support::SplitMix64& random, Draft& coded, Draft& plain) {
  const std::int64_t group = row.group == 0 ? k : row.group;
  support::TensorData weight{name + row.weight, row.dtype, {n, k * row.bits / 8}, Bytes(static_cast<std::size_t>(n * k * row.bits / 8))},
      scales{name + ".weight_scale", row.scale_dtype, {n, k / group}, {}}, numbers{name + ".weight", "F32", {n, k}, {}};
  std::size_t bit = 0;
  for (std::int64_t i = 0; i < n * k; i += group) {
    const auto scale = static_cast<std::uint32_t>(row.from + random.next() % (row.to - row.from + 1));
    const bool wide = std::string(row.scale_dtype) == "F32";
    if (wide) add_f32(scales.bytes, power(scale));
    if (!wide) scales.bytes.push_back(static_cast<std::uint8_t>(scale));
    for (std::int64_t j = 0; j < group; ++j, bit += row.bits) {
      const auto code = static_cast<std::uint32_t>(random.next() % (1U << row.bits));
      for (unsigned b = 0; b < row.bits; ++b) weight.bytes[(bit + b) / 8] |= static_cast<std::uint8_t>((code >> b & 1U) << (bit + b) % 8);
      add_f32(numbers.bytes, row.number(code) * row.scale(scale) * (row.global == 0 ? 1 : row.global));
    }
  }
  coded.shards["model.safetensors"].push_back(std::move(weight));
  coded.shards["model.safetensors"].push_back(std::move(scales));
  plain.shards["model.safetensors"].push_back(std::move(numbers));
  if (row.global == 0) return;
  for (const auto& [suffix, number] : {std::pair(".weight_scale_2", row.global), std::pair(".input_scale", 0.0078125)}) {
    support::TensorData one{name + suffix, "F32", {}, {}};
    add_f32(one.bytes, number);
    coded.shards["model.safetensors"].push_back(std::move(one));
  }
}

std::string modelopt(const std::string& algorithm) {
  return R"("quantization_config": {"quant_method": "modelopt", "quant_algo": ")" + algorithm + R"(", "group_size": 32})";
}
std::string quark(const std::string& dtype, const std::string& scheme) {
  return R"("quantization_config": {"quant_method": "quark", "exclude": [], "global_quant_config": {"weight": {"dtype": ")" + dtype + R"(", )" +
         scheme + "}}}";
}

}  // namespace

TEST_CASE("forms that no layout takes are their own numbers, sound, and not converted for their reason") {
  const std::string in_32 = R"("qscheme": "per_group", "group_size": 32, "scale_format": "e8m0")";
  const std::string mxfp4 = modelopt("mxfp4"), w4a8 = modelopt("W4A8_MXFP4_FP8"), nvfp4 = modelopt("W4A8_NVFP4_FP8"),
                    three = quark("fp6_e3m2", in_32), two = quark("fp6_e2m3", in_32), whole = quark("int8", R"("qscheme": "per_channel")");
  const std::string compressed =
      R"("quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp6-pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"],
         "weights": {"num_bits": 6, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true}, "input_activations": )";
  const std::string alone = compressed + "null}}}",
                    eight = compressed +
                            R"({"num_bits": 8, "type": "float", "strategy": "group", "group_size": 32, "symmetric": true, "dynamic": true}}}})";
  const char* const modelopts = "vLLM's ModelOptQuantConfigBase raises ValueError";
  const std::vector<Row> rows{
      {"ModelOpt MXFP4", mxfp4.c_str(), ".weight", "U8", 4, e2m1, 32, "U8", power, 110, 130, 0, modelopts},
      {"ModelOpt W4A8_MXFP4_FP8", w4a8.c_str(), ".weight", "U8", 4, e2m1, 32, "U8", power, 110, 130, 0, modelopts},
      {"ModelOpt W4A8_NVFP4_FP8", nvfp4.c_str(), ".weight", "U8", 4, e2m1, 32, "F8_E4M3", e4m3, 0x30, 0x6A, 0x1p-12, modelopts},
      {"compressed-tensors MXFP6", alone.c_str(), ".weight_packed", "U8", 6, e2m3, 32, "U8", power, 110, 130, 0, "mxfp6-pack-quantized"},
      {"compressed-tensors MXFP6", eight.c_str(), ".weight_packed", "U8", 6, e2m3, 32, "U8", power, 110, 130, 0, "mxfp6-pack-quantized"},
      {"Quark MXFP6 E3M2", three.c_str(), ".weight", "U8", 6, e3m2, 32, "U8", power, 110, 130, 0, "a layout of FP6 codes"},
      {"Quark MXFP6 E2M3", two.c_str(), ".weight", "U8", 6, e2m3, 32, "U8", power, 110, 130, 0, "a layout of FP6 codes"},
      {"Quark INT8 channel", whole.c_str(), ".weight", "I8", 8, int8, 0, "F32", power, 110, 118, 0, "a layout of INT8 codes"},
  };
  for (const Row& row : rows) {
    INFO(row.title);
    support::SplitMix64 random(7);
    Draft coded, plain;
    coded.has_index = plain.has_index = false;
    coded.config = "{" + std::string(row.config) + "}";
    for (const char* const expert : {"0", "1"}) {
      const std::string name = std::string("model.layers.0.mlp.experts.") + expert;
      add_matrix(row, name + ".gate_proj", kIntermediate, kHidden, random, coded, plain);
      add_matrix(row, name + ".up_proj", kIntermediate, kHidden, random, coded, plain);
      add_matrix(row, name + ".down_proj", kHidden, kIntermediate, random, coded, plain);
    }
    const TemporaryDirectory first, second;
    coded.write(first.path());
    plain.write(second.path());
    const checkpoint::CheckpointComparison found = checkpoint::compare_checkpoints(first.path(), second.path(), {});
    CHECK(found.first_form == row.title);
    CHECK(found.differences.empty());
    CHECK(found.equal == 6);
    for (const checkpoint::Depth depth : {checkpoint::Depth::scales, checkpoint::Depth::weights}) {
      const checkpoint::Inspection inspection = checkpoint::inspect_checkpoint(first.path(), {.depth = depth});
      CHECK(inspection.groups.front().form == row.title);
      for (const checkpoint::InspectedFault& one : inspection.faults) INFO(one.fault.text());
      CHECK(inspection.sound());
    }
    const auto refused = error_of([&] { checkpoint::Checkpoint(first.path()).require_convertible(); });
    REQUIRE(refused);
    CHECK(refused->code() == ErrorCode::unsupported);
    CHECK(std::string(refused->what()).find(std::string(row.title) + ", for which mxact lacks") != std::string::npos);
    CHECK(std::string(refused->what()).find(row.missing) != std::string::npos);
    // One code more or less is seen.
    coded.shards["model.safetensors"].front().bytes[5] ^= 1;
    const TemporaryDirectory changed;
    coded.write(changed.path());
    const checkpoint::CheckpointComparison other = checkpoint::compare_checkpoints(changed.path(), second.path(), {});
    REQUIRE(other.differences.size() == 1);
    CHECK(other.differences.front().differing == 1);
  }
}

}  // namespace mx::tests
