// Whether a token's result depends on its batch: Humming.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

constexpr std::array kRows{
    BatchRow{"HUMMING", kOfMxfp4, in_hopper_batches, kAnyVersion, Batch::changes, 0, kBeside, Steady::by_whole_tiles, 0,
             "where k is cut in four and more", Grounds::run,
             "outputs of an H100, humming-kernels 0.1.19: the grid cuts k, four parts and more are added by atomics"},
};

}  // namespace

constinit const std::span<const BatchRow> kHummingBatches{kRows};

}  // namespace mx::families
