#include "golden/witness/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "golden/witness/relation.hpp"
#include "model/numerics/value.hpp"
#include "support/json.hpp"

namespace mx::golden {

namespace {

// A digest of sweep_digest covers 2^24 inputs and cannot be excused: no row names that operation.
// Source of the first two rows: amd_hip_fp8.h as of ROCm clr f9f995c, compiled for x86-64 by g++ 12.2 -O1, and the codes recorded from it in
// numerics/encode32: 0x10 is the largest with three mantissa bits, 0x08 with two. Of the others: matmul_ogs of triton_kernels 7064a3b on an H200,
// where out of 27,648 activations one and out of 6,912 combined outputs one are not those of IEEE arithmetic.
constexpr std::string_view kHipShift =
    "the header shifts by 64 bits and more, which C++ leaves undefined; this build then returns codes up to twice the smallest normal instead of "
    "zero";
constexpr LedgerRow kLedger[] = {
    {"hip_header", "cpu", "software-path", "encode", {{}, "codes", -48, 16, 0}, kHipShift},
    {"hip_header", "cpu", "software-path", "encode_stochastic", {{}, "codes", -48, 16, 0}, kHipShift},
    {"triton_kernels",
     "sm90",
     "matmul-ogs",
     "moe_stage",
     {{"stage", "gemm1_swiglu"}, "act", {}, 1, 4096},
     "the device's approximate exp moves an activation across a rounding boundary of bf16"},
    {"triton_kernels",
     "sm90",
     "matmul-ogs",
     "moe_stage",
     {{"stage", "gemm2_combine"}, "out", {}, 2, 4096},
     "one slot is rounded to the neighbouring bf16, which is up to two steps of the sum"},
};

/// A device's instructions are those of its architecture.
struct OfArchitecture {
  std::string_view device;
  std::string_view architecture;
};
constexpr OfArchitecture kArchitectures[] = {{"h100", "sm90"}, {"h200", "sm90"}, {"NVIDIA H100 80GB HBM3", "sm90"}, {"NVIDIA H200", "sm90"}};

bool runs_on(const LedgerRow& row, std::string_view device) {
  return row.device == device ||
         std::ranges::any_of(kArchitectures, [&](const OfArchitecture& one) { return one.device == device && one.architecture == row.device; });
}

bool has_param(const Json& params, const ParamIs& param) {
  if (param.key.empty()) return true;
  const auto found = params.find(std::string(param.key));
  return found != nullptr && *found == std::string(param.word);
}

bool applies(const LedgerRow& row, const Entry& entry, const std::string& output) {
  const RunProfile& who = entry.profile;
  return row.implementation == who.implementation && runs_on(row, who.device) && row.build == who.build && (row.op.empty() || row.op == entry.op) &&
         row.condition.output == output && has_param(entry.params, row.condition.param);
}

std::vector<bool> tiny_inputs(const Tensor& x, std::int64_t pow2) {
  std::vector<bool> tiny(static_cast<std::size_t>(x.size()), false);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Value value = decode(*x.dtype->format, static_cast<std::uint32_t>(x.word(i)));
    tiny[static_cast<std::size_t>(i)] = value.cls != ValueClass::zero && below_pow2(value, pow2);
  }
  return tiny;
}

}  // namespace

std::span<const LedgerRow> ledger() { return kLedger; }

std::string condition_text(const LedgerRow& row) {
  const LedgerCondition& condition = row.condition;
  std::string text(row.op.empty() ? "any operation" : row.op);
  if (!condition.param.key.empty()) text += fmt::format(" with {} {}", condition.param.key, condition.param.word);
  text += fmt::format(", {}: ", condition.output);
  if (condition.x_abs_below_pow2) text += fmt::format("0 < |x| < 2^{}, ", *condition.x_abs_below_pow2);
  text += fmt::format("at most {} {} apart", condition.at_most, condition.at_most == 1 ? "code" : "codes");
  if (condition.share > 0) text += fmt::format(", at most one value in {} of an entry", condition.share);
  return text;
}

std::vector<Excuse> excuses_for(const Entry& entry, const std::string& output, const std::function<Tensor()>& input_x) {
  std::vector<Excuse> excuses;
  for (const LedgerRow& row : kLedger) {
    if (!applies(row, entry, output)) continue;
    Excuse excuse{&row, {}};
    if (row.condition.x_abs_below_pow2) {
      const auto spec = entry.inputs.find("x");
      // Without a number at the same index the condition cannot hold.
      if (spec == entry.inputs.end() || spec->second.shape != entry.outputs.at(output).shape || spec->second.dtype->format == nullptr) continue;
      excuse.inputs = tiny_inputs(input_x(), *row.condition.x_abs_below_pow2);
    }
    excuses.push_back(std::move(excuse));
  }
  return excuses;
}

bool covers(const Excuse& excuse, std::int64_t i, std::uint64_t distance) {
  return distance <= static_cast<std::uint64_t>(excuse.row->condition.at_most) &&
         (excuse.inputs.empty() || excuse.inputs[static_cast<std::size_t>(i)]);
}

std::int64_t most_excused(const LedgerRow& row, std::int64_t compared) {
  return row.condition.share == 0 ? std::numeric_limits<std::int64_t>::max() : compared / row.condition.share;
}

}  // namespace mx::golden
