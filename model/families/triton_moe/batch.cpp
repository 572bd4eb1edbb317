// Whether a token's result depends on its batch: vLLM's Triton kernels.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

using deployment::before;
using deployment::kVllm2026_08;
using deployment::since;

constexpr std::int64_t kFewBlocks = 64, kFewRows = 96;
constexpr std::string_view kTiles = "vllm fused_moe.py get_default_config; outputs of an H100 on both sides";
constexpr std::string_view kBatched = "vllm fused_batched_moe.py: the tile follows from the rows of an expert's buffer (read)";
constexpr BatchRow tuned(BatchRow row) {
  row.is_tuned = true;
  return row;
}

constexpr std::array kRows{
    tuned(bounded_row("TRITON", kOfBlocks, in_hopper_blocks, kAnyVersion, kFewBlocks, kTokens, Steady::by_tile, Grounds::run, kTiles)),
    tuned(
        bounded_row("TRITON", kOfRowsAndTensors, in_hopper_batches, before(kVllm2026_08), kFewRows, kTokens, Steady::by_tile, Grounds::run, kTiles)),
    tuned(invariant_row("TRITON", kOfRowsAndTensors, in_hopper_batches, since(kVllm2026_08),
                        "outputs of an H100: of 163,840 fp32 values of 96 and 97 tokens none differs")),
    tuned(bounded_row("BATCHED_TRITON", kOfBlocks, in_hopper_blocks, kAnyVersion, kFewBlocks, kTokens, Steady::by_tile, Grounds::read, kBatched)),
    tuned(bounded_row("BATCHED_TRITON", kOfRowsAndTensors, in_hopper_batches, kAnyVersion, kFewRows, kTokens, Steady::by_tile, Grounds::read,
                      kBatched)),
};

}  // namespace

constinit const std::span<const BatchRow> kTritonMoeBatches{kRows};

}  // namespace mx::families
