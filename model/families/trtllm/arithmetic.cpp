// How TRT-LLM gen computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/trtllm/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

/// TRT-LLM gen: everything of the model is passed on, the experts of a rank are a range, weights leave the routing kernel as bf16.
constexpr ExecutionRow mxfp4(std::string_view backend, std::string_view activations) {
  ExecutionRow row = mxfp4_row(backend, Grounds::assumed,
                               "E/trtllm_mxfp4_moe.py; fi csrc/trtllm_fused_moe_kernel_launcher.cu (read); activation and rounding lie in cubins");
  row.unit = activations == "none" ? MatrixUnit::bf16 : MatrixUnit::block_scaled;
  row.first = activations;
  row.second = activations;
  row.rounds_h13 = false;
  row.swiglu_oai = takes("swiglu_oai", true, true, true);
  row.silu = kLimitedSilu;
  row.bf16_weights = true;
  row.address = ExpertAddress::offset;
  return row;
}

constexpr ExecutionRow nvfp4() {
  ExecutionRow trtllm = nvfp4_row("FLASHINFER_TRTLLM", ScaleMemory::row_major, ExpertAddress::offset, Grounds::assumed,
                                  "E/trtllm_nvfp4_moe.py; fi FP4BlockScaleLauncher (read); rounding lies in cubins");
  trtllm.bf16_weights = true;
  trtllm.silu = kLimitedSilu;
  trtllm.others = kCubins;
  return trtllm;
}

constexpr ExecutionRow fp8(WeightFormat format) {
  ExecutionRow trtllm = fp8_row(format, "FLASHINFER_TRTLLM", "FLASHINFER_TRTLLM", Grounds::assumed,
                                "E/trtllm_fp8_moe.py; fi FP8 launchers (read); rounding lies in cubins");
  trtllm.rounds_h13 = false;
  if (format != WeightFormat::fp8_tensor) trtllm.silu = kLimitedSilu;
  if (format == WeightFormat::fp8_block) trtllm.second = "fp8-group128-inside";
  trtllm.bf16_weights = true;
  trtllm.address = ExpertAddress::offset;
  return trtllm;
}

constexpr std::array kRows{
    mxfp4("FLASHINFER_TRTLLM_MXFP4_MXFP8", "mxfp8"),
    mxfp4("FLASHINFER_TRTLLM_MXFP4_BF16", "none"),
    nvfp4(),
    fp8(WeightFormat::fp8_tensor),
    fp8(WeightFormat::fp8_block),
    fp8(WeightFormat::mxfp8),
};

}  // namespace

constinit const std::span<const ExecutionRow> kTrtllmExecutions{kRows};

}  // namespace mx::families
