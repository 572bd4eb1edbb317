// Faults of the fast twins.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::kernel_ties_toward_zero, "kernel_ties_toward_zero", "kernels/codec/power_plan.cpp power_plan", "ties to even go toward zero",
             "N7/quantize"},
    FaultRow{Fault::kernel_keeps_irregular, "kernel_keeps_irregular", "kernels/codec/quantize_blocks.cpp quantize_chunk",
             "blocks that the kernel cannot do keep what it wrote", "N7/quantize"},
    FaultRow{Fault::kernel_never_doubts, "kernel_never_doubts", "kernels/codec/scaled_family.cpp doubts",
             "quotients just below a power of two are rounded by their exponent", "N7/quantize"},
    FaultRow{Fault::kernel_scales_end_late, "kernel_scales_end_late", "kernels/codec/unpack_plan.cpp unpack_plan",
             "one scale too many passes for regular: its largest numbers run into Inf's pattern", "N7/dequantize"},
    FaultRow{Fault::kernel_never_clamps, "kernel_never_clamps", "kernels/codec/product_plan.cpp product_plan",
             "products above the range of the target stay infinite", "N7/dequantize"},
    FaultRow{Fault::kernel_trusts_double, "kernel_trusts_double", "kernels/functions/functions.cpp apply",
             "results in doubt and arguments outside the domain are taken as they are", "N7/functions"},
    FaultRow{Fault::kernel_drops_c, "kernel_drops_c", "kernels/dot/tile.cpp one_row", "sums of a tile start from zero", "N7/tile"},
    FaultRow{Fault::moe_kernel_unpaired, "moe_kernel_unpaired", "kernels/moe/panel.cpp panel_codes", "codes of a dword keep the checkpoint's order",
             "N7/moe-bf16-chain N7/moe-bf16-block N7/moe-bf16-pair N7/moe-int8-block N7/moe-layer N7/moe-formats"},
    FaultRow{Fault::moe_kernel_drops_bias, "moe_kernel_drops_bias", "kernels/moe/gemm.cpp run_tiles", "products come without their bias",
             "N7/moe-bf16-chain N7/moe-bf16-block N7/moe-bf16-pair N7/moe-int8-block N7/moe-layer"},
    FaultRow{Fault::moe_kernel_slots_reversed, "moe_kernel_slots_reversed", "kernels/moe/layer.cpp combine",
             "a token's experts are added up from the last to the first", "N7/moe-layer"},
    FaultRow{Fault::moe_kernel_first_scale, "moe_kernel_first_scale", "kernels/moe/operand.cpp fill_scaled",
             "all of a row of activations gets the scale of its first block", "N7/moe-formats"},
    FaultRow{Fault::moe_kernel_keeps_all_groups, "moe_kernel_keeps_all_groups", "kernels/moe/routing.cpp exclude",
             "experts are chosen from all groups", "N7/moe-routers"},
    FaultRow{Fault::kernel_steps_late, "kernel_steps_late", "kernels/codec/amax_steps.cpp fill",
             "a scale changes one number above the amax at which the rule changes it", "N7/quantize-looked-up"},
    FaultRow{Fault::kernel_forgets_width, "kernel_forgets_width", "kernels/codec/scaled_family.cpp scaled_family",
             "quotients keep the bits of fp32 where the implementation holds them in the tensor's type", "N7/quantize-looked-up"},
    FaultRow{Fault::kernel_divides_alone, "kernel_divides_alone", "kernels/codec/scaled_family.cpp said",
             "elements of two-level formats are divided by the block's scale, the tensor's is left out", "N7/quantize-looked-up"},
    FaultRow{Fault::kernel_forgets_floor, "kernel_forgets_floor", "kernels/codec/scaled_family.cpp said",
             "the kernel has no floor for the scale where the fallback has one (vllm#53339)", "N7/quantize"},
};

}  // namespace

std::span<const FaultRow> kernels_faults() { return kFaults; }

}  // namespace mx::props
