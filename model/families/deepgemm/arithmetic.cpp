// How DeepGEMM computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/between.hpp"
#include "model/families/deepgemm/family.hpp"
#include "model/families/launch.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr ExecutionRow mxfp4() {
  ExecutionRow row = mxfp4_row("DEEPGEMM_MXFP4", Grounds::read, "E/deep_gemm_moe.py DeepGemmFP4Experts, deepgemm_unpermute_and_reduce (read)");
  row.unit = MatrixUnit::block_scaled;
  row.first = "fp8-group128-ue8m0";
  row.second = "fp8-group128-ue8m0";
  row.bias = BiasEntry::dropped;
  row.swiglu_oai = kRefused;
  row.silu = kLimitedSilu;
  return row;
}

constexpr std::array kRuns{Recording{"golden/witness/hardware/fp8_products_h100", "deepgemm"},
                           Recording{"golden/witness/hardware/fp8_quant_h100", "silu_group.triton"},
                           Recording{"golden/witness/hardware/fp8_quant_h100", "group128.cuda"},
                           Recording{"golden/witness/hardware/activations_h200", "colmajor.0.29.0"},
                           Recording{"golden/witness/hardware/fp8_requant_h100"},
                           Recording{"golden/witness/hardware/slot_sum_h100", "layer.deepgemm"}};
constexpr std::array kHeld{HeldOn{on_sm90, Grounds::run_by_parts, kRuns}};

/// One kernel for SiLU and the quantizer behind it; on Blackwell with scales that are powers of two it packs them. No tile changes a bit.
void launch(const LaunchFacts& facts, Launched& made) {
  if (!runs_deep_gemm(facts)) return;
  made.between_powers = uses_e8m0(facts);
  const bool packs = made.between_powers && facts.operation.arch != Arch::sm90;
  made.between = &between_named(packs ? "silu_mul_quant_fp8_packed" : "silu_mul_per_token_group_quant_fp8_colmajor");
}

/// The batched class has a kernel of its own, whose quantizer computes in bf16. No tile changes a bit.
void batched_launch(const LaunchFacts& facts, Launched& made) {
  if (!runs_deep_gemm(facts)) return;
  made.between = &between_named("persistent_masked_m_silu_mul_quant");
  made.between_powers = uses_e8m0(facts);
}

constexpr ExecutionRow fp8(std::string_view backend, const ActivationUse& silu) {
  ExecutionRow deepgemm = fp8_row(WeightFormat::fp8_block, backend, "DEEPGEMM", Grounds::read, "E/deep_gemm_moe.py, batched_deep_gemm_moe.py (read)");
  deepgemm.silu = silu;
  return deepgemm;
}

constexpr ExecutionRow contiguous() {
  ExecutionRow row = fp8("DEEPGEMM", kLimitedSilu);
  row.launch = launch;
  row.changes = kAppliedChanges;
  row.held = kHeld;
  return row;
}

constexpr ExecutionRow batched() {
  ExecutionRow row = fp8("BATCHED_DEEPGEMM", kSilu);
  row.launch = batched_launch;
  return row;
}

constexpr std::array kRows{
    mxfp4(),
    contiguous(),
    batched(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kDeepgemmExecutions{kRows};

}  // namespace mx::families
