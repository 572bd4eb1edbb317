// How W4A8's CUTLASS kernel computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"

namespace mx::sim {
namespace {

using layout::WeightFormat;

/// int4 codes choose among the eight multiples of each group's e4m3 scale that the conversion stored.
constexpr ExecutionRow w4a8() {
  ExecutionRow w4a8 = fp8_row(WeightFormat::int4, "CUTLASS", "CUTLASS", Grounds::published,
                              "E/cutlass_moe.py CutlassExpertsW4A8Fp8; vllm csrc/quantization/cutlass_w4a8 (read)");
  w4a8.keyed = false;
  w4a8.epilogue = EpilogueScale::weight_first;
  w4a8.swiglu_oai = kOaiWired;
  return w4a8;
}

constexpr std::array kRows{w4a8()};

}  // namespace

std::span<const ExecutionRow> cutlass_w4a8_executions() { return kRows; }

}  // namespace mx::sim
