// FP8 with one scale for gate and one for up: both are quantized again with the larger one, also where they are alike.

#include "checkpoint/requantize.hpp"

#include <array>
#include <bit>
#include <string>

#include "checkpoint/layer_reader.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::Role;

using checkpoint::Fp8Codes;

TEST_CASE("FP8 codes whose gate and up have unlike scales are quantized again with the larger one, and what that costs is told") {
  Draft draft = published_draft(published_form("fp8-static"));
  const std::string up = "model.layers.0.mlp.experts.1.up_proj.weight_scale", gate = "model.layers.0.mlp.experts.1.gate_proj.weight_scale";
  draft.tensor(gate).bytes = {0, 0, 0, 0x3C};   // 2^-7
  draft.tensor(up).bytes = {0, 0, 0x80, 0x3C};  // 2^-6
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed";
  fs::create_directory(source);
  draft.write(source);
  const checkpoint::MoeLayer layer = checkpoint::Checkpoint(source).layer(0);
  CHECK(std::vector<std::uint8_t>(layer.experts[Role::w13_weight_scale].begin() + 4, layer.experts[Role::w13_weight_scale].end()) ==
        draft.tensor(up).bytes);
  // Normal numbers of magnitude 2^-4 to 4: half of each has its code 8 lower; up stays.
  const std::vector<std::uint8_t>& codes = draft.tensor("model.layers.0.mlp.experts.1.gate_proj.weight").bytes;
  for (std::size_t i = 0; i < codes.size(); ++i) REQUIRE(layer.experts[Role::w13_weight][2 * codes.size() + i] == codes[i] - 8);
  const std::vector<layout::Loss> lost =
      checkpoint::LayerReader(checkpoint::Checkpoint(source), 0, layer.experts.sizes.experts, Fp8Codes::e4m3fn).requantization_losses();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].units == static_cast<std::int64_t>(codes.size()));
  CHECK(lost[0].destroyed() == 0);
  const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed, {.backend = "TRITON", .setting = {}});
  REQUIRE(report.losses.size() == 1);
  CHECK(report.losses[0].loss.units == static_cast<std::int64_t>(codes.size()));
  CHECK(report.losses[0].loss.replaced);
  for (const bool accept : {false, true}) {
    checkpoint::RestoreOptions options;
    options.accept_losses = accept;
    const std::optional<Error> error = error_of([&] { checkpoint::restore_checkpoint({packed}, directory.path() / "restored", options); });
    REQUIRE(error);
    CHECK((std::string(error->what()).find("does not determine the checkpoint") != std::string::npos) == accept);
  }
}

/// In 2^-9.
std::int64_t number_of(int code) { return (code >> 3) == 0 ? std::int64_t{code & 7} : std::int64_t{8 + (code & 7)} << ((code >> 3) - 1); }

/// What becomes of a code where both scales are 2^-18, by exact integers: fp16 has 2^-24, so that of n * 2^-9 times the scale n / 8 is left, a whole
/// number; the nearest code is that of 8 times it. NaN is clamped to the largest number.
int at_two_to_the_minus_18(int code) {
  if ((code & 0x7F) == 0x7F) return 0x7E;
  const std::int64_t n = number_of(code & 0x7F), rest = n % 8, left = 8 * (n / 8 + (rest > 4 || (rest == 4 && n / 8 % 2 == 1) ? 1 : 0));
  int best = 0;
  for (int other = 1; other < 0x7F; ++other) {
    const std::int64_t now = std::abs(number_of(best) - left), next = std::abs(number_of(other) - left);
    if (next < now || (next == now && (other & 1) == 0)) best = other;
  }
  return best | (code & 0x80);
}

// By exact integers: code m * 2^e times 5/4 or 4/5, to the nearest of e4m3, ties to even; the products are exact in fp16 and fp32.
TEST_CASE("codes that are quantized again are the nearest ones") {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const std::array<std::uint8_t, 256> four_fifths = checkpoint::requantized_codes(bits(0.0078125F), bits(0.009765625F), Fp8Codes::e4m3fn);
  for (int code = 0; code < 0x7F; ++code) {
    // Distances times 5, to 4 * number.
    int best = 0;
    for (int other = 1; other < 0x7F; ++other) {
      const std::int64_t now = std::abs(5 * number_of(best) - 4 * number_of(code)), next = std::abs(5 * number_of(other) - 4 * number_of(code));
      if (next < now || (next == now && (other & 1) == 0)) best = other;
    }
    INFO(code);
    CHECK(int{four_fifths[static_cast<std::size_t>(code)]} == best);
    CHECK(int{four_fifths[static_cast<std::size_t>(code + 0x80)]} == best + 0x80);
  }
  const std::array<std::uint8_t, 256> alike = checkpoint::requantized_codes(bits(0x1p-18F), bits(0x1p-18F), Fp8Codes::e4m3fn);
  for (int code = 0; code < 256; ++code) {
    INFO(code);
    CHECK(int{alike[static_cast<std::size_t>(code)]} == at_two_to_the_minus_18(code));
  }
  // NaN is clamped to the largest number; 2^-26 is below half of fp16's smallest one, so that the engine's product is 0.
  CHECK(int{four_fifths[0x7F]} == 0x7E);
  // No number stays of NaN, though 448 * 15 is 480 * 14, and 480 what its bits would be.
  const checkpoint::RequantizedCount count =
      checkpoint::count_requantized({0, 0, bits(14 * 0x1p-10F), bits(15 * 0x1p-10F)}, std::vector<std::uint8_t>{0x7F, 0}, Fp8Codes::e4m3fn);
  CHECK(count.changed == 1);
  CHECK(count.kept == 0);
  CHECK(int{checkpoint::requantized_codes(bits(0x1p-26F), bits(0x1p-20F), Fp8Codes::e4m3fn)[0x40]} == 0);
}

/// Every scale of the draft becomes that number.
void put_scales(Draft& draft, std::uint32_t f32) {
  for (support::TensorData& tensor : draft.shards.begin()->second) {
    if (tensor.name.find("scale") == std::string::npos || tensor.name.find("input") != std::string::npos) continue;
    REQUIRE(tensor.dtype == "F32");
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i) tensor.bytes[i] = static_cast<std::uint8_t>(f32 >> 8 * (i % 4));
  }
}

TEST_CASE("gate and up are quantized again also where their scales are alike, however the experts lie in the file") {
  for (const char* const id : {"fp8-static", "modelopt-fp8-1x1", "mistral4", "llama4-fp8"}) {
    INFO(id);
    Draft draft = published_draft(published_form(id));
    const TemporaryDirectory directory;
    const auto layer_with = [&](const std::string& name, float scale) {
      put_scales(draft, std::bit_cast<std::uint32_t>(scale));
      draft.write(directory.path() / name);
      return checkpoint::Checkpoint(directory.path() / name).layer(0).experts;
    };
    fs::create_directory(directory.path() / "one");
    fs::create_directory(directory.path() / "small");
    const layout::CanonicalLayer one = layer_with("one", 1.0F), small = layer_with("small", 0x1p-18F);
    std::int64_t changed = 0;
    for (std::size_t i = 0; i < one[Role::w13_weight].size(); ++i) {
      const int before = one[Role::w13_weight][i];
      REQUIRE(int{small[Role::w13_weight][i]} == at_two_to_the_minus_18(before));
      changed += at_two_to_the_minus_18(before) == before ? 0 : 1;
    }
    CHECK(changed > 0);
    CHECK(one[Role::w2_weight] == small[Role::w2_weight]);
    // What convert says of it, and verify.
    const checkpoint::ConvertReport report =
        checkpoint::convert_checkpoint(directory.path() / "small", directory.path() / "packed", {.backend = "TRITON", .setting = {}});
    REQUIRE(report.losses.size() == 1);
    CHECK(report.losses[0].loss.units == changed);
    CHECK_FALSE(report.losses[0].loss.replaced);
    CHECK(packed_difference(directory.path() / "packed" / kFirstLayer, small, "TRITON", report.converted.front().setting) == "");
    sim::VerifyOptions options;
    options.platforms = {"SM90"};
    options.backends = {"TRITON"};
    options.tp = {1};
    options.executes = false;  // products of such small weights are all zero
    const sim::VerifyReport verified = sim::verify(checkpoint::Checkpoint(directory.path() / "small"), options);
    REQUIRE(verified.conversions.size() == 1);
    CHECK(verified.conversions[0].verdict == sim::Verdict::passed);
    REQUIRE(verified.conversions[0].losses.size() == 1);
    CHECK(verified.conversions[0].losses[0].units == changed);
  }
}

TEST_CASE("scales of static activations are joined to the largest of all experts, doubled where the codes are e4m3fnuz") {
  Draft draft = published_draft(published_form("fp8-static"));
  // 2^-4 but for one projection of w13 and one of w2.
  for (support::TensorData& tensor : draft.shards.begin()->second) {
    if (tensor.name.ends_with("input_scale")) tensor.bytes = {0, 0, 0x80, 0x3D};
  }
  draft.tensor("model.layers.0.mlp.experts.1.up_proj.input_scale").bytes = {0, 0, 0xA0, 0x3D};
  draft.tensor("model.layers.0.mlp.experts.0.down_proj.input_scale").bytes = {0, 0, 0, 0x3E};
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "source");
  draft.write(directory.path() / "source");
  struct Case {
    families::Arch arch;
    std::uint32_t w13, w2;
  };
  for (const Case& c : {Case{families::Arch::sm90, 0x3DA00000, 0x3E000000}, Case{families::Arch::gfx942, 0x3E200000, 0x3E800000}}) {
    checkpoint::ConvertOptions options{.backend = "TRITON", .setting = {}};
    options.setting.arch = c.arch;
    const fs::path packed = directory.path() / std::string(families::name_of(c.arch));
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(directory.path() / "source", packed, options);
    REQUIRE(report.inputs.size() == 1);
    CHECK(report.inputs[0].scales.w13 == c.w13);
    CHECK(report.inputs[0].scales.w2 == c.w2);
    const std::string text = support::SafetensorsFile(packed / kFirstLayer).metadata().at(std::string(checkpoint::kLayerTagsKey));
    const checkpoint::LayerTags tags = checkpoint::read_layer_tags(text, "tags");
    REQUIRE(tags.inputs);
    CHECK(tags.inputs->w13 == c.w13);
    CHECK(tags.inputs->w2 == c.w2);
    CHECK(checkpoint::text_of(tags) == text);
  }
  for (const char* const id : {"fp8-scale-inv", "ct-fp8-channel", "fp8-block-weight_scale"}) {
    const TemporaryDirectory other;
    published_draft(published_form(id)).write(other.path());
    CHECK_FALSE(checkpoint::Checkpoint(other.path()).input_scales(0));
  }
}

}  // namespace
}  // namespace mx::tests
