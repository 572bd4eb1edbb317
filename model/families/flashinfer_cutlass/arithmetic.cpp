// How FlashInfer CUTLASS computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/flashinfer_cutlass/family.hpp"

namespace mx::families {
namespace {

using layout::SourceOrder;
using layout::WeightFormat;

constexpr std::array kMixedInputDifferences{KnownDifference{on_sm90, "44 to 99 % of sums that nearly cancel", kElsewhere}};

/// FlashInfer CUTLASS: constants are always passed, so every activation is SwigluBias (spec engine 1.1).
constexpr ExecutionRow mxfp4(std::string_view backend, std::string_view activations, ScaleMemory scales) {
  ExecutionRow row =
      mxfp4_row(backend, Grounds::read, "E/flashinfer_cutlass_moe.py; fi csrc/fused_moe/cutlass_backend/cutlass_fused_moe_kernels.cuh (read)");
  row.unit = activations == "none" ? MatrixUnit::bf16 : MatrixUnit::block_scaled;
  row.first = activations;
  row.second = activations;
  row.scales = scales;
  row.rounds_h13 = false;
  row.swiglu_oai = takes("swiglu_oai_flashinfer", false, false, true);
  row.silu = row.swiglu_oai;
  row.address = ExpertAddress::offset;
  return row;
}

/// The constants of SwiGLU-OAI are never passed: the layer becomes plain SwiGLU on halves.
constexpr ExecutionRow nvfp4() {
  ExecutionRow cutlass = nvfp4_row("FLASHINFER_CUTLASS", ScaleMemory::tile_128x4, ExpertAddress::offset, Grounds::read,
                                   "E/flashinfer_cutlass_moe.py; fi csrc/fused_moe/cutlass_backend (read)");
  cutlass.swiglu_oai = kSilu;
  cutlass.oai_order = SourceOrder::standard;
  cutlass.silu = kLimitedSilu;
  cutlass.others = kSquaredRelu;
  return cutlass;
}

/// Its SwiGLU-OAI is plain SwiGLU: the constants are not passed.
constexpr ExecutionRow fp8(WeightFormat format) {
  ExecutionRow cutlass =
      fp8_row(format, "FLASHINFER_CUTLASS", "FLASHINFER_CUTLASS", Grounds::read, "E/flashinfer_cutlass_moe.py; fi cutlass_backend (read)");
  cutlass.rounds_h13 = false;
  cutlass.swiglu_oai = kSilu;
  cutlass.oai_order = SourceOrder::standard;
  cutlass.silu = kLimitedSilu;
  cutlass.others = kSquaredRelu;
  cutlass.address = ExpertAddress::offset;
  if (format == WeightFormat::fp8_block) {
    cutlass.by = QuantizedBy::kernel;
    cutlass.first = cutlass.second = "fp8-group128-inside";
  }
  return cutlass;
}

/// 16-bit activations by FP4 weights; nobody recorded its sums.
constexpr ExecutionRow mixed() {
  ExecutionRow row = with_differences(mxfp4("FLASHINFER_CUTLASS_MXFP4_BF16", "none", ScaleMemory::row_major), kMixedInputDifferences);
  row.grounds = Grounds::assumed;
  return row;
}

constexpr std::array kRows{
    mxfp4("FLASHINFER_CUTLASS_MXFP4_MXFP8", "mxfp8", ScaleMemory::tile_128x4),
    mixed(),
    nvfp4(),
    fp8(WeightFormat::fp8_tensor),
    fp8(WeightFormat::fp8_block),
};

}  // namespace

constinit const std::span<const ExecutionRow> kFlashinferCutlassExecutions{kRows};

}  // namespace mx::families
