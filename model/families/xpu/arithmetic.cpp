// How Intel's XPU kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/xpu/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr ExecutionRow mxfp4() {
  ExecutionRow row = mxfp4_row("XPU", Grounds::assumed, "E/xpu_moe.py (read); the kernels are in vllm_xpu_kernels, which is not public text");
  row.by = QuantizedBy::kernel;
  row.silu = kLimitedSilu;
  row.address = ExpertAddress::offset;
  return row;
}

constexpr ExecutionRow fp8(WeightFormat format, std::string_view layout) {
  ExecutionRow xpu =
      fp8_row(format, "XPU", layout, Grounds::assumed, "E/xpu_moe.py (read); the kernels are in vllm_xpu_kernels, which is not public text");
  xpu.by = QuantizedBy::kernel;
  xpu.swiglu_oai = kOaiWired;
  xpu.silu = kLimitedSilu;
  xpu.bias = BiasEntry::f32;
  xpu.address = ExpertAddress::offset;
  return xpu;
}

constexpr std::array kRows{
    mxfp4(),
    fp8(WeightFormat::fp8_tensor, "XPU"),
    fp8(WeightFormat::mxfp8, {}),
};

}  // namespace

constinit const std::span<const ExecutionRow> kXpuExecutions{kRows};

}  // namespace mx::families
