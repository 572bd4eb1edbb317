// Whether a token's result depends on its batch: vLLM's CUTLASS kernels.

#include "model/families/batch_rows.hpp"

namespace mx::families {
namespace {

constexpr std::int64_t kExchanged = 64;
constexpr std::array kRows{
    bounded_row("VLLM_CUTLASS", kOfRowsAndTensors, in_hopper_batches, kAnyVersion, kExchanged, kSlots, Steady::by_nothing, Grounds::run,
                "vllm csrc cutlass_moe_mm; outputs of an H100 on both sides"),
    bounded_row("BATCHED_VLLM_CUTLASS", kOfRowsAndTensors, in_hopper_batches, kAnyVersion, kExchanged, kSlots, Steady::by_nothing, Grounds::read,
                "vllm csrc cutlass_moe_mm (read)"),
};

}  // namespace

constinit const std::span<const BatchRow> kVllmCutlassBatches{kRows};

}  // namespace mx::families
