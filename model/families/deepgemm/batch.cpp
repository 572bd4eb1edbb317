// Whether a token's result depends on its batch: DeepGEMM.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kNoTile = "outputs of an H100, contiguous and masked: no tile changes a bit";
constexpr std::array kRows{
    invariant_row("DEEPGEMM", kOfBlocks, in_hopper_blocks, kAnyVersion, kNoTile),
    invariant_row("BATCHED_DEEPGEMM", kOfBlocks, in_hopper_blocks, kAnyVersion, kNoTile),
};

}  // namespace

constinit const std::span<const BatchRow> kDeepgemmBatches{kRows};

}  // namespace mx::families
