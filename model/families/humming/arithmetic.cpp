// How Humming computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/humming/family.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kRelease0119 = "outputs of an H100, humming-kernels 0.1.19, not recorded here";
constexpr std::array kDifferences{
    KnownDifference{on_sm90, "every layer: k is cut among warps and blocks as the launch says, and slices are joined in bf16", kRelease0119},
    KnownDifference{on_sm90, "weights enter as a quarter of their value, rounded to bf16; the sum is rounded before and after times 4", kRelease0119},
    KnownDifference{on_sm90, "the sum of slots: one fp32 fused multiply-add of each slot and its weight", kRelease0119},
};

constexpr ExecutionRow humming() {
  ExecutionRow row = mxfp4_row("HUMMING", Grounds::assumed, "E/fused_humming_moe.py (read) with a 16-bit input schema; sums taken as Marlin's");
  row.silu = kTorchLimitedSilu;
  row.others = kApplied;
  row.slot = SlotRule::rounded_weighted_again;
  row.differences = kDifferences;
  return row;
}

constexpr std::array kRows{humming()};

}  // namespace

constinit const std::span<const ExecutionRow> kHummingExecutions{kRows};

}  // namespace mx::families
