// Numbers of a checkpoint and of its configuration that are numbers, and none to compute with: limits of 0, scales of activations.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/form_drafts.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using checkpoint::ValueFault;
using sim::Cell;
using sim::ConversionResult;
using sim::Verdict;
using sim::VerifyOptions;
using sim::VerifyReport;
using Kind = FormTensor::Kind;

VerifyReport verified(const Draft& draft, const char* platform) {
  VerifyOptions options;
  options.platforms = {platform};
  options.tp = {1};
  options.tokens = 2;
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return sim::verify(checkpoint::Checkpoint(directory.path()), options);
}

const ConversionResult& result_of(const VerifyReport& report, const std::string& backend) {
  const auto found = std::ranges::find(report.conversions, backend, &ConversionResult::backend);
  REQUIRE(found != report.conversions.end());
  return *found;
}

std::vector<std::uint8_t> f32_bytes(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8U), static_cast<std::uint8_t>(bits >> 16U),
          static_cast<std::uint8_t>(bits >> 24U)};
}

/// Forms with a scale of activations, a platform with backends that quantize and one that does not.
struct Calibrated {
  const char* title;
  const char* platform;
  bool reciprocal;  ///< the file holds its inverse
};
const Calibrated kCalibrated[] = {{"ModelOpt NVFP4", "SM100", false}, {"compressed-tensors NVFP4", "SM100", true}, {"ModelOpt FP8", "SM90", false}};

/// Every scale of activations of the layer is `usual`; those of one expert, or of its up alone, are `other`.
Draft calibrated(const Calibrated& row, float usual, float other, int expert, bool up_alone) {
  const FormCase& form = form_case(row.title);
  const auto input = std::ranges::find(form.tensors, Kind::input, &FormTensor::kind);
  Draft draft = form_draft(form, 1);
  for (int one = 0; one < kFormExperts; ++one) {
    for (int projection = 0; projection < 3; ++projection) {
      const bool is_other = one == expert && (!up_alone || projection == 1);
      const float scale = is_other ? other : usual;
      draft.tensor(form_tensor_name(form, 0, one, projection, input->suffix)).bytes = f32_bytes(row.reciprocal ? 1 / scale : scale);
    }
  }
  return draft;
}

bool has(const VerifyReport& report, ValueFault fault) {
  return std::ranges::any_of(report.values, [&](const checkpoint::LayerValues& one) { return one.fault.fault == fault; });
}

/// DeepSeek-V4's form with a limit of its activation, as text.
Draft limited(const std::string& limit) {
  Draft draft = form_draft(form_case("DeepSeek-V4 MXFP4"), 1);
  draft.config->insert(1, "\"swiglu_limit\": " + limit + ", ");
  return draft;
}

}  // namespace

TEST_CASE("unlike scales of the one input of gate and up take trust from every backend that quantizes activations, and from no other") {
  for (const Calibrated& row : kCalibrated) {
    INFO(row.title);
    const VerifyReport usual = verified(calibrated(row, 0.0078125F, 0.0078125F, 1, false), row.platform);
    CHECK(usual.values.empty());
    CHECK(result_of(usual, "FLASHINFER_CUTLASS").verdict == Verdict::passed);
    const VerifyReport report = verified(calibrated(row, 0.0078125F, 0.125F, 1, true), row.platform);
    REQUIRE(report.values.size() == 1);
    CHECK(report.values[0].fault.fault == ValueFault::unlike_inputs);
    const FormCase& form = form_case(row.title);
    const auto input = std::ranges::find(form.tensors, Kind::input, &FormTensor::kind);
    CHECK(report.values[0].fault.tensor == form_tensor_name(form, 0, 1, 1, input->suffix));
    CHECK(report.exit_code() == 5);
    CHECK(result_of(report, "MARLIN").detail == result_of(usual, "MARLIN").detail);
    CHECK(result_of(report, "MARLIN").verdict == result_of(usual, "MARLIN").verdict);
    CHECK(result_of(report, "FLASHINFER_CUTLASS").verdict == Verdict::mistrusted);
    CHECK(result_of(report, "FLASHINFER_CUTLASS").detail.find("up has another input scale than gate") != std::string::npos);
  }
}

TEST_CASE("an expert's scale that makes 0 of what the others were calibrated with takes trust, from the ratio on at which e4m3 has only 0 left") {
  // The largest activation that a scale s was calibrated with is 448 s (of a block 6 times that). Under a scale S it is the code nearest to
  // 448 s / S, and half of e4m3's smallest number, 2^-10, is a tie that goes to 0: S / s = 448 * 1024.
  constexpr float kEdge = 448 * 1024;
  for (const Calibrated& row : kCalibrated) {
    INFO(row.title);
    const auto faults = [&](float other) { return verified(calibrated(row, 0x1p-10F, other, 1, false), row.platform); };
    CHECK_FALSE(has(faults(0x1p-11F * kEdge), ValueFault::inputs_to_zero));
    const VerifyReport edge = faults(0x1p-9F * kEdge);
    CHECK(has(edge, ValueFault::inputs_to_zero));
    CHECK(edge.exit_code() == 5);
    CHECK(result_of(edge, "MARLIN").detail.find("so far above") == std::string::npos);
    // A scale that makes 0 of every number that fp16 has does so for all of them.
    CHECK(has(verified(calibrated(row, 1e9F, 1e9F, 1, false), row.platform), ValueFault::inputs_to_zero));
  }
  // Between two neighbours of fp32, where nothing is rounded on the way.
  const Calibrated& plain = kCalibrated[0];
  CHECK(has(verified(calibrated(plain, 0x1p-20F, 0x1p-20F * kEdge, 1, false), "SM100"), ValueFault::inputs_to_zero));
  const float below = std::bit_cast<float>(std::bit_cast<std::uint32_t>(0x1p-20F * kEdge) - 1);
  CHECK_FALSE(has(verified(calibrated(plain, 0x1p-20F, below, 1, false), "SM100"), ValueFault::inputs_to_zero));
}

TEST_CASE("a limit of 0 or below it is what each backend makes of it") {
  // vllm at 7ca49fbe4: fused_moe/activation.py hands a limit on where it is not None, and the compiled operation clamps by it;
  // fused_moe/utils.py swiglu_limit_func clamps where it is above 0.
  const VerifyReport usual = verified(limited("10.0"), "SM90");
  CHECK(result_of(usual, "MARLIN").verdict == Verdict::passed);
  const VerifyReport zero = verified(limited("0.0"), "SM90");
  CHECK(result_of(zero, "MARLIN").verdict == Verdict::mistrusted);
  CHECK(result_of(zero, "MARLIN").detail.find("swiglu_limit is 0, by which MARLIN bounds gate and up: every output is 0, whatever the weights are") !=
        std::string::npos);
  CHECK(zero.exit_code() == 5);
  CHECK(result_of(zero, "HUMMING").verdict == Verdict::passed);
  const VerifyReport below = verified(limited("-2"), "SM90");
  CHECK(result_of(below, "MARLIN").verdict == Verdict::mistrusted);
  CHECK(result_of(below, "MARLIN").detail.find("swiglu_limit is -2, by which MARLIN bounds gate and up: up is 2, whatever its weights are") !=
        std::string::npos);
  CHECK(result_of(below, "HUMMING").verdict == Verdict::passed);
  // transformers raises TypeError for a text.
  const std::optional<Error> error = error_of([] { verified(limited("\"10.0\""), "SM90"); });
  CHECK(input_error_defect(error, {"swiglu_limit is the text '10.0', expected a number"}) == "");
}
