// Whether a token's result depends on its batch: the emulations.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

using layout::WeightFormat;

constexpr std::array kFormats{WeightFormat::mxfp4, WeightFormat::nvfp4};
constexpr std::array kRows{
    invariant_row("EMULATION", kFormats, in_hopper_batches, kAnyVersion,
                  "on TritonExperts (read), whose products of 16-bit weights are one chain of k whatever the tile: outputs of an H100",
                  Grounds::read),
};

}  // namespace

constinit const std::span<const BatchRow> kEmulationBatches{kRows};

}  // namespace mx::families
