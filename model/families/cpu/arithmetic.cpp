// How The CPU's kernels compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/cpu/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::array kDifferences{KnownDifference{on_cpu, "24 to 30 % of an ordinary layer's outputs", kElsewhere}};

/// SwiGLU-OAI runs when alpha and limit are both given; a limit beside SILU is not looked at.
constexpr ExecutionRow mxfp4() {
  ExecutionRow row = mxfp4_row("CPU", Grounds::assumed, "E/cpu_moe.py; vllm csrc/cpu/sgl-kernels/moe.cpp (read); its sum over slots is not known");
  row.by = QuantizedBy::kernel;
  row.swiglu_oai = takes("swiglu_oai", true, false, true);
  row.address = ExpertAddress::ignored;
  row.differences = kDifferences;
  return row;
}

constexpr ExecutionRow fp8() {
  ExecutionRow cpu =
      fp8_row(WeightFormat::fp8_block, "CPU", "CPU", Grounds::assumed, "E/cpu_moe.py CPUExpertsFp8; vllm csrc/cpu/sgl-kernels/moe_fp8.cpp (read)");
  cpu.unit = MatrixUnit::bf16_blocks;
  cpu.first = "none";
  cpu.second = "none";
  cpu.by = QuantizedBy::kernel;
  cpu.address = ExpertAddress::ignored;
  cpu.differences = kDifferences;
  return cpu;
}

constexpr std::array kRows{
    mxfp4(),
    fp8(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kCpuExecutions{kRows};

}  // namespace mx::families
