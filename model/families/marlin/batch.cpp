// Whether a token's result depends on its batch: Marlin.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::int64_t kSortedByAtomics = 1024;
constexpr std::string_view kGrid = "with the tokens beside it and the multiprocessors";
constexpr std::array kFormats{WeightFormat::mxfp4,       WeightFormat::nvfp4,      WeightFormat::mxfp8,
                              WeightFormat::fp8_channel, WeightFormat::fp8_tensor, WeightFormat::fp8_block};
constexpr std::array kRows{
    BatchRow{"MARLIN",
             kFormats,
             in_hopper_batches,
             kAnyVersion,
             Batch::changes,
             0,
             kGrid,
             Steady::by_nothing,
             kSortedByAtomics,
             {},
             Grounds::run,
             "outputs of an H100: k is cut by the grid, and moe_align_block_size sorts 1024 slots and more by atomics"},
    BatchRow{"BATCHED_MARLIN",
             kOfMxfp4,
             in_hopper_batches,
             kAnyVersion,
             Batch::changes,
             0,
             kGrid,
             Steady::by_nothing,
             0,
             {},
             Grounds::read,
             "vllm fused_moe/fused_marlin_moe.py batched_fused_marlin_moe: the kernel of MARLIN, whose grid cuts k (read)"},
};

}  // namespace

constinit const std::span<const BatchRow> kMarlinBatches{kRows};

}  // namespace mx::families
