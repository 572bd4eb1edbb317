// Values that a conversion destroys: a warning, and their share in the verdict's line.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/form_drafts.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using sim::VerifyOptions;
using sim::VerifyReport;

std::vector<std::uint8_t> f32_bytes(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8U), static_cast<std::uint8_t>(bits >> 16U),
          static_cast<std::uint8_t>(bits >> 24U)};
}

VerifyReport verified(const Draft& draft) {
  VerifyOptions options;
  options.platforms = {"SM90"};
  options.tp = {1};
  options.tokens = 2;
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return sim::verify(checkpoint::Checkpoint(directory.path()), options);
}

/// The share of w13's codes in "16.7 % of w13_weight, 66.7 % of w13_weight_scale lost": Marlin's scales of 16 bits may be lost too. Empty: none.
std::string lost_codes(const std::string& text) {
  const std::string of_codes = " % of w13_weight";
  const std::size_t at = text.find(of_codes);
  return at == std::string::npos || text[at + of_codes.size()] == '_' ? std::string() : text.substr(0, at);
}

}  // namespace

// vllm modelopt.py requantize_with_max_scale: codes of up are those of the larger scale, gate's. 2^-24 of 448 is below half of e4m3's least number,
// so that none of them stays.
TEST_CASE("a conversion that destroys values is a warning, and the verdict's line has their share") {
  const FormCase& form = form_case("ModelOpt FP8");
  Draft draft = form_draft(form, 1);
  for (const VerifyReport report = verified(draft); const sim::ConversionResult& result : report.conversions)
    CHECK(lost_codes(report.lost_text(result)).empty());
  const int expert = 1, gate = 0, up = 1;
  draft.tensor(form_tensor_name(form, 0, expert, gate, ".weight_scale")).bytes = f32_bytes(0x1p-6F);
  draft.tensor(form_tensor_name(form, 0, expert, up, ".weight_scale")).bytes = f32_bytes(0x1p-30F);
  const std::vector<std::uint8_t>& codes = draft.tensor(form_tensor_name(form, 0, expert, up, ".weight")).bytes;
  const auto lost = std::ranges::count_if(codes, [](std::uint8_t code) { return (code & 0x7FU) != 0; });
  const double share = 100.0 * static_cast<double>(lost) / static_cast<double>(2 * kFormExperts * kFormIntermediate * kFormHidden);
  const VerifyReport report = verified(draft);
  std::int64_t warned = 0;
  for (const sim::ConversionResult& result : report.conversions) {
    INFO(result.backend);
    if (result.verdict != sim::Verdict::passed) continue;
    CHECK(lost_codes(report.lost_text(result)) == fmt::format("{:.3g}", share));
    ++warned;
  }
  CHECK(warned > 0);
  CHECK(report.warnings() >= warned);
  CHECK(report.exit_code() == 0);
}
