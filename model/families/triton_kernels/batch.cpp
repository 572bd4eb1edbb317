// Whether a token's result depends on its batch: triton_kernels.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

constexpr std::string_view kFewTokens = "outputs of an H100: the same bits in launches of 1, 7 and 64 tokens";
constexpr std::array kRows{
    invariant_row("TRITON", kOfMxfp4, in_hopper_batches, kAnyVersion, kFewTokens),
    invariant_row("TRITON_UNFUSED", kOfMxfp4, in_hopper_batches, kAnyVersion, kFewTokens),
};

}  // namespace

constinit const std::span<const BatchRow> kTritonKernelsBatches{kRows};

}  // namespace mx::families
