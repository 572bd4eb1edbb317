// How Marlin computes. Sources: vllm at 7e1b45a09 and its libraries, files named in each row.

#include <array>

#include "model/families/arithmetic_rows.hpp"
#include "model/families/marlin/family.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::string_view kSplit = "every layer: k is cut among warps and blocks as the launch says, and the cuts' sums are added in its order";
constexpr std::array kMxfp4Differences{
    KnownDifference{on_nvidia, kSplit, kH100},
    KnownDifference{on_nvidia, "scale bytes 0 and 255: the kernel reads 0 as zero and 255 as infinity", kH100},
};
constexpr std::array kNvfp4Differences{
    KnownDifference{on_nvidia, kSplit, kH100},
    KnownDifference{on_nvidia, "second product: the expert's global scale is multiplied into the routing weight, not into the sum", kH100},
};
constexpr std::array kFp8Differences{
    KnownDifference{on_nvidia, kSplit, kH100},
    KnownDifference{on_nvidia, "scales are rounded to bf16, from 2^8 on infinite; codes 0x7F and 0xFF are 480 and -480, not NaN", kH100},
};
constexpr std::array kMxfp8Differences{KnownDifference{on_nvidia, kSplit, kH100}};

/// Marlin: what leaves a product is bf16 before bias and weight, and so is the sum over at most four slots.
constexpr ExecutionRow mxfp4(std::string_view backend) {
  ExecutionRow row = mxfp4_row(backend, Grounds::read,
                               "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16, moe_align_sum_kernels.cu (read); its split of k is not modelled");
  row.bias = BiasEntry::after_bf16;
  row.silu = kLimitedSilu;
  row.others = kApplied;
  row.slot = SlotRule::rounded_weighted_again;
  row.sum = SlotSum::moe_sum;
  row.differences = kMxfp4Differences;
  return row;
}

constexpr ExecutionRow nvfp4() {
  ExecutionRow marlin = nvfp4_row("MARLIN", ScaleMemory::row_major, ExpertAddress::map, Grounds::read,
                                  "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read); its split of k is not modelled");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.bias = BiasEntry::after_bf16;
  marlin.rounds_h13 = true;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kLimitedSilu;
  marlin.others = kApplied;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::moe_sum;
  marlin.differences = kNvfp4Differences;
  return marlin;
}

constexpr ExecutionRow fp8(WeightFormat format, std::string_view backend = "MARLIN") {
  ExecutionRow marlin =
      fp8_row(format, backend, "MARLIN", Grounds::read, "E/marlin_moe.py; vllm csrc/moe/marlin_moe_wna16 (read); split of k not modelled");
  marlin.unit = MatrixUnit::bf16;
  marlin.first = "none";
  marlin.second = "none";
  marlin.keyed = false;
  marlin.bias = BiasEntry::after_bf16;
  marlin.swiglu_oai = kOaiWired;
  marlin.silu = kLimitedSilu;
  marlin.others = kApplied;
  marlin.slot = SlotRule::rounded_weighted_again;
  marlin.sum = SlotSum::moe_sum;
  marlin.differences = kFp8Differences;
  return marlin;
}

constexpr std::array kRows{
    mxfp4("BATCHED_MARLIN"),
    mxfp4("MARLIN"),
    nvfp4(),
    fp8(WeightFormat::fp8_tensor),
    fp8(WeightFormat::fp8_channel),
    fp8(WeightFormat::fp8_block),
    with_differences(fp8(WeightFormat::mxfp8), kMxfp8Differences),
};

}  // namespace

constinit const std::span<const ExecutionRow> kMarlinExecutions{kRows};

}  // namespace mx::families
