// How The emulations compute. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/emulation/family.hpp"

namespace mx::families {
namespace {

constexpr ExecutionRow mxfp4() {
  ExecutionRow row = mxfp4_row("EMULATION", Grounds::read, "E/ocp_mx_emulation_moe.py on TritonExperts (read)");
  row.first = "mxfp4-emulated";
  row.second = "mxfp4-emulated";
  row.by = QuantizedBy::kernel;
  row.silu = kTorchLimitedSilu;
  row.others = kApplied;
  row.callback = true;
  row.changes = kAppliedChanges;
  row.slot = SlotRule::weighted_rounded;
  row.sum = SlotSum::bf16;
  return row;
}

/// Weights are dequantized whole; the layout table has no row for weights that stay as they are.
constexpr ExecutionRow nvfp4() {
  ExecutionRow emulation = nvfp4_row("EMULATION", ScaleMemory::row_major, ExpertAddress::map, Grounds::read,
                                     "E/nvfp4_emulation_moe.py Nvfp4QuantizationEmulationTritonExperts (read)");
  emulation.layout = {};
  emulation.unit = MatrixUnit::bf16;
  emulation.first = "nvfp4-emulated";
  emulation.second = "nvfp4-emulated";
  emulation.by = QuantizedBy::kernel;
  emulation.global = GlobalScale::operand;
  emulation.bias = BiasEntry::f32;
  emulation.rounds_h13 = true;
  emulation.swiglu_oai = kOaiWired;
  emulation.silu = kTorchLimitedSilu;
  emulation.others = kApplied;
  emulation.callback = true;
  emulation.changes = kAppliedChanges;
  emulation.slot = SlotRule::weighted_rounded;
  emulation.sum = SlotSum::bf16;
  return emulation;
}

constexpr std::array kRows{
    mxfp4(),
    nvfp4(),
};

}  // namespace

constinit const std::span<const ExecutionRow> kEmulationExecutions{kRows};

}  // namespace mx::families
