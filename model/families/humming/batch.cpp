// Whether a token's result depends on its batch: Humming.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::array kFormats{WeightFormat::mxfp4, WeightFormat::nvfp4, WeightFormat::mxfp8, WeightFormat::fp8_block, WeightFormat::fp8_channel};
constexpr std::array kRows{
    BatchRow{"HUMMING", kFormats, in_hopper_batches, kAnyVersion, Batch::changes, 0, kBeside, Steady::by_whole_tiles, 0,
             "where k is cut in four and more", Grounds::run,
             "outputs of an H100 (humming-kernels 0.1.19) and an H200 (0.1.20): the grid cuts k, four parts and more are added by atomics"},
};

}  // namespace

constinit const std::span<const BatchRow> kHummingBatches{kRows};

}  // namespace mx::families
