// Checkpoints for a device whose FP8 is e4m3fnuz: what the engine's method makes of codes and scales, and the way back.

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "checkpoint/convert.hpp"
#include "checkpoint/requantize.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using checkpoint::Fp8Codes;
using layout::Role;

/// What vllm 0.33.0's normalize_e4m3fn_to_e4m3fnuz and then process_fp8_weight_tensor_strategy_moe made of all codes, run on a CPU;
/// scaled_fp8_quant ran as a stand-in (times the reciprocal, clamp at 224, nearest even).
struct RecordedCodes {
  float from;
  float to;
  std::string hex;
};
const std::array<RecordedCodes, 3> kRecordedCodes{{
    {0.0078125F, 0.009765625F,
     "0001020203040506060708090a0a0b0c0d0e101112121314151618191a1a1b1c1d1e202122222324252628292a2a2b2c2d2e303132323334353638393a3a3b3c"
     "3d3e404142424344454648494a4a4b4c4d4e505152525354555658595a5a5b5c5d5e606162626364656668696a6a6b6c6d6e707172727374757678797a7a7b7c"
     "0081828283848586868788898a8a8b8c8d8e909192929394959698999a9a9b9c9d9ea0a1a2a2a3a4a5a6a8a9aaaaabacadaeb0b1b2b2b3b4b5b6b8b9bababbbc"
     "bdbec0c1c2c2c3c4c5c6c8c9cacacbcccdced0d1d2d2d3d4d5d6d8d9dadadbdcdddee0e1e2e2e3e4e5e6e8e9eaeaebecedeef0f1f2f2f3f4f5f6f8f9fafafbfc"},
    {0.25F, 0.25F,
     "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
     "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7e"
     "008182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
     "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfefe"},
    {6.103515625e-05F, 0.001953125F,
     "00000000000000000000000000000000000101010101010101010101020202020202020303030404040405060606070808090a0b0c0d0e0f1011121314151617"
     "18191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f5051525354555657"
     "00000000000000000000000000000000008181818181818181818181828282828282828383838484848485868686878888898a8b8c8d8e8f9091929394959697"
     "98999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7"},
}};

/// Converts and restores a checkpoint on a device; gives the packed layer's file.
struct OnDevice {
  TemporaryDirectory directory = {};
  checkpoint::ConvertReport report = {};

  OnDevice(const Draft& draft, const std::string& backend, families::Arch arch) {
    fs::create_directory(source());
    draft.write(source());
    checkpoint::ConvertOptions options{.backend = backend, .setting = {}};
    options.setting.engine = deployment::kVllm2026_08;
    options.setting.arch = arch;
    report = checkpoint::convert_checkpoint(source(), packed(), options);
  }
  fs::path source() const { return directory.path() / "source"; }
  fs::path packed() const { return directory.path() / "packed"; }
  std::vector<std::uint8_t> tensor(const std::string& name) const {
    const support::SafetensorsFile file(packed() / kFirstLayer);
    return file.read(*file.find(name));
  }
};

const std::string kW13 = "model.layers.0.mlp.experts.w13_weight", kW13Scale = "model.layers.0.mlp.experts.w13_weight_scale";

}  // namespace

TEST_CASE("codes that are quantized again as e4m3fnuz are those that the engine's functions made") {
  for (const RecordedCodes& recorded : kRecordedCodes) {
    const auto made =
        checkpoint::requantized_codes(std::bit_cast<std::uint32_t>(recorded.from), std::bit_cast<std::uint32_t>(recorded.to), Fp8Codes::e4m3fnuz);
    for (std::size_t code = 0; code < made.size(); ++code) {
      INFO(recorded.from << " to " << recorded.to << ", code " << code);
      CHECK(int{made[code]} == std::stoi(recorded.hex.substr(2 * code, 2), nullptr, 16));
    }
  }
}

TEST_CASE("a checkpoint for a device whose FP8 is e4m3fnuz has what the method makes, and comes back") {
  for (const char* const id : {"fp8-block-weight_scale", "ct-fp8-channel", "fp8-static"}) {
    INFO(id);
    const PublishedForm& form = published_form(id);
    const Draft draft = published_draft(form);
    const OnDevice there(draft, "TRITON", families::Arch::gfx942), elsewhere(draft, "TRITON", families::Arch::gfx950);
    CHECK(there.report.losses.empty());
    CHECK(there.tensor(kW13) == elsewhere.tensor(kW13));
    const std::vector<std::uint8_t> twice = there.tensor(kW13Scale), once = elsewhere.tensor(kW13Scale);
    REQUIRE(twice.size() == once.size());
    // Numbers of no extreme size: an exponent one higher, which begins at bit 23.
    for (std::size_t i = 0; i < once.size(); i += 4) {
      const int before = (once[i + 3] & 0x7F) << 1 | once[i + 2] >> 7, after = (twice[i + 3] & 0x7F) << 1 | twice[i + 2] >> 7;
      CHECK(after == before + 1);
    }
    CHECK(file_differences(there.source(), restored_from({there.packed()}, there.directory.path() / "restored")) == "");
  }
}

TEST_CASE("ModelOpt's method leaves codes and scales as they are") {
  const Draft draft = published_draft(published_form("modelopt-pb-wo"));
  const OnDevice there(draft, "TRITON", families::Arch::gfx942), elsewhere(draft, "TRITON", families::Arch::gfx950);
  CHECK(there.tensor(kW13Scale) == elsewhere.tensor(kW13Scale));
  CHECK(there.report.converted.front().setting.leaves_e4m3fn);
}

TEST_CASE("a code of -0 is a loss that keeps its number, by parts and as a whole") {
  Draft draft = published_draft(published_form("fp8-block-weight_scale"));
  draft.tensor("model.layers.0.mlp.experts.1.down_proj.weight").bytes[7] = 0x80;
  const OnDevice there(draft, "TRITON", families::Arch::gfx942);
  REQUIRE(there.report.losses.size() == 1);
  CHECK(there.report.losses[0].loss.role == Role::w2_weight);
  CHECK(there.report.losses[0].loss.units == 1);
  CHECK(there.report.losses[0].loss.destroyed() == 0);
  CHECK_FALSE(there.report.losses[0].loss.replaced);
}

TEST_CASE("unlike scales of gate and up double before their codes are quantized again") {
  Draft draft = published_draft(published_form("fp8-static"));
  draft.tensor("model.layers.0.mlp.experts.1.gate_proj.weight_scale").bytes = {0, 0, 0, 0x3C};   // 2^-7
  draft.tensor("model.layers.0.mlp.experts.1.up_proj.weight_scale").bytes = {0, 0, 0x80, 0x3C};  // 2^-6
  std::vector<std::uint8_t>& codes = draft.tensor("model.layers.0.mlp.experts.1.gate_proj.weight").bytes;
  codes[0] = 0x80;
  codes[1] = 0x7F;  // 240 as e4m3fnuz, and half of it with the doubled scale
  const OnDevice there(draft, "TRITON", families::Arch::gfx942);
  const std::vector<std::uint8_t> packed = there.tensor(kW13);
  const auto gate = packed.begin() + static_cast<std::ptrdiff_t>(2 * codes.size());
  CHECK(int{gate[0]} == 0);
  CHECK(int{gate[1]} == 0x77);
  for (std::size_t i = 2; i < codes.size(); ++i) REQUIRE(int{gate[static_cast<std::ptrdiff_t>(i)]} == codes[i] - 8);
  CHECK(there.tensor(kW13Scale)[7] == 0x3D);  // 2^-5 has the exponent 122
}

/// What `verify` shows of TRITON on a device.
sim::ConversionResult verified(const sim::VerifyReport& report, std::string_view platform) {
  const auto cell =
      std::ranges::find_if(report.cells, [&](const sim::Cell& one) { return one.platform == platform && one.backend == "TRITON" && one.conversion; });
  REQUIRE(cell != report.cells.end());
  return report.conversions[*cell->conversion];
}

TEST_CASE("verify converts, compares and executes what the method makes for the device") {
  for (const char* const id : {"fp8-block-weight_scale", "ct-fp8-channel", "fp8-static"}) {
    INFO(id);
    Draft draft = published_draft(published_form(id));
    const bool unlike = std::string_view(id) == "fp8-static";
    if (unlike) draft.tensor("model.layers.0.mlp.experts.1.up_proj.weight_scale").bytes = {0, 0, 0x80, 0x3C};
    const TemporaryDirectory directory;
    draft.write(directory.path());
    sim::VerifyOptions options;
    options.platforms = {"gfx942", "gfx950"};
    options.tp = {1};
    const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), options);
    const sim::ConversionResult there = verified(report, "gfx942"), elsewhere = verified(report, "gfx950");
    CHECK(there.verdict == sim::Verdict::passed);
    CHECK(elsewhere.verdict == sim::Verdict::passed);
    CHECK(there.arch == families::Arch::gfx942);
    CHECK(elsewhere.arch == families::Arch::gfx950);
    CHECK(there.execution.find("in e4m3fnuz") != std::string::npos);
    CHECK(elsewhere.execution.find("e4m3fnuz") == std::string::npos);
    CHECK(there.units_differing == 0);
    CHECK(there.outputs_compared == elsewhere.outputs_compared);
    CHECK(there.losses.empty() != unlike);
  }
}

TEST_CASE("e4m3fn weights that ModelOpt's method leaves are not said to be multiplied as the device does") {
  for (const char* const id : {"modelopt-fp8-bf16", "modelopt-fp8-1x1"}) {
    INFO(id);
    const TemporaryDirectory directory;
    published_draft(published_form(id)).write(directory.path());
    sim::VerifyOptions options;
    options.platforms = {"gfx942", "gfx950"};
    options.tp = {1};
    const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path()), options);
    const sim::ConversionResult there = verified(report, "gfx942"), elsewhere = verified(report, "gfx950");
    CHECK(elsewhere.verdict == sim::Verdict::passed);
    CHECK(there.verdict == sim::Verdict::not_modelled);
    CHECK(there.detail.find("its weights stay e4m3fn, as the method leaves them, and the activations are e4m3fnuz") != std::string::npos);
    CHECK(there.outputs_compared == 0);
    CHECK(there.units_compared == elsewhere.units_compared);
    CHECK(there.units_differing == 0);
  }
}

}  // namespace mx::tests
