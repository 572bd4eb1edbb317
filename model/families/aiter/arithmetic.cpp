// How AITER computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/aiter/family.hpp"
#include "model/families/arithmetic_rows.hpp"

namespace mx::families {
namespace {

using layout::SourceOrder;
using layout::WeightFormat;

constexpr ExecutionRow bf16() {
  ExecutionRow row = mxfp4_row("AITER_MXFP4_BF16", Grounds::assumed, "E/rocm_aiter_moe.py, aiter swiglu_act_and_mul (read); sums lie in CK kernels");
  row.by = QuantizedBy::kernel;
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_aiter");
  return row;
}

constexpr ExecutionRow w4a8() {
  ExecutionRow row = mxfp4_row("AITER_MXFP4_FP8", Grounds::assumed, "E/aiter_mxfp4_w4a8_moe.py (read): triton kernels with scales of the tensor");
  row.unit = MatrixUnit::block_scaled;
  row.first = "fp8-static";
  row.second = "fp8-static";
  row.by = QuantizedBy::kernel;
  row.rounds_h13 = false;
  row.swiglu_oai = wired("swiglu_oai_triton");
  row.silu = kRefused;
  row.bf16_weights = true;
  row.slot = SlotRule::weighted_rounded;
  row.order = SlotOrder::expert;
  row.address = ExpertAddress::ignored;
  return row;
}

constexpr ExecutionRow mxfp4() {
  ExecutionRow row = bf16();
  row.backend = "AITER_MXFP4_MXFP4";
  row.layout = row.backend;
  row.unit = MatrixUnit::block_scaled_fp4;
  row.first = "mxfp4";
  row.second = "mxfp4";
  row.bias = BiasEntry::dropped;
  return row;
}

constexpr ExecutionRow fp8(WeightFormat format) {
  ExecutionRow aiter = fp8_row(format, "AITER", "AITER", Grounds::assumed, "E/rocm_aiter_moe.py (read); sums lie in CK kernels");
  aiter.by = QuantizedBy::kernel;
  aiter.rounds_h13 = false;
  aiter.swiglu_oai = {"swiglu_oai_aiter", kOai, false, false, false};
  aiter.oai_order = SourceOrder::standard;
  return aiter;
}

constexpr std::array kRows{
    bf16(), w4a8(), mxfp4(), fp8(WeightFormat::fp8_tensor), fp8(WeightFormat::fp8_channel), fp8(WeightFormat::fp8_block),
};

}  // namespace

constinit const std::span<const ExecutionRow> kAiterExecutions{kRows};

}  // namespace mx::families
