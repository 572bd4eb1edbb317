// How DeepGEMM computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/deepgemm/family.hpp"

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

constexpr ExecutionRow fp8(std::string_view backend, const ActivationUse& silu) {
  ExecutionRow deepgemm = fp8_row(WeightFormat::fp8_block, backend, "DEEPGEMM", Grounds::read, "E/deep_gemm_moe.py, batched_deep_gemm_moe.py (read)");
  deepgemm.silu = silu;
  return deepgemm;
}

constexpr std::array kRows{
    mxfp4(),
    fp8("DEEPGEMM", kLimitedSilu),
    fp8("BATCHED_DEEPGEMM", kSilu),
};

}  // namespace

constinit const std::span<const ExecutionRow> kDeepgemmExecutions{kRows};

}  // namespace mx::families
