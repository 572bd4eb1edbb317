// How Humming computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"

namespace mx::sim {
namespace {

constexpr ExecutionRow humming() {
  ExecutionRow row = mxfp4_row("HUMMING", Grounds::assumed, "E/fused_humming_moe.py (read) with a 16-bit input schema; sums taken as Marlin's");
  row.slot = SlotRule::rounded_weighted_again;
  return row;
}

constexpr std::array kRows{humming()};

}  // namespace

std::span<const ExecutionRow> humming_executions() { return kRows; }

}  // namespace mx::sim
