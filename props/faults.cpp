#include "props/faults.hpp"

#include <array>

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    // Numerics.
    FaultRow{Fault::encode_ties_away, "encode_ties_away", "model/numerics/convert.cpp goes_up", "ties to even go away from zero",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{Fault::encode_drops_sticky, "encode_drops_sticky", "model/numerics/convert.cpp dropped_bits",
             "what lies below the half bit is forgotten (tt-metal#51971)",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/e8m0 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{Fault::encode_loses_carry, "encode_loses_carry", "model/numerics/convert.cpp round_to", "the mantissa wraps and the exponent stays",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{Fault::encode_saturates_low, "encode_saturates_low", "model/numerics/convert.cpp overflow_limit",
             "E4M3 saturates at 240 (saturn-vectors#101)", "N1/e4m3fn N1/e4m3fnuz N1/e5m2fnuz N1/e2m3 N1/e3m2 N1/e2m1"},
    FaultRow{Fault::encode_drops_zero_sign, "encode_drops_zero_sign", "model/numerics/convert.cpp with_sign", "-0 becomes +0",
             "N1/e4m3fn N1/e5m2 N1/e2m3 N1/e3m2 N1/e2m1 N1/bf16 N1/fp16"},
    FaultRow{Fault::decode_subnormal_shift, "decode_subnormal_shift", "model/numerics/value.cpp decode", "subnormals are half or twice their value",
             "N1/e4m3fn N1/e5m2 N1/e4m3fnuz N1/e5m2fnuz N1/e2m3 N1/e3m2 N1/e2m1 N1/bf16 N1/fp16"},
    FaultRow{Fault::fixed_point_loses_sign, "fixed_point_loses_sign", "model/numerics/value.cpp decode_fixed",
             "negative fixed-point codes become positive", "N1/mxint8"},
    FaultRow{Fault::e8m0_zero_is_zero, "e8m0_zero_is_zero", "model/numerics/value.cpp decode",
             "scale byte 0 is 0 instead of 2^-127 (vLLM's test reference, triton_kernels)", "N1/e8m0 N4/f32 N4/bf16"},
    FaultRow{Fault::e8m0_top_is_infinite, "e8m0_top_is_infinite", "model/numerics/value.cpp decode",
             "scale byte 255 is Inf instead of NaN (byte << 23)", "N4/f32 N4/bf16 N4/fp16"},
    FaultRow{Fault::scale_floor_off_by_one, "scale_floor_off_by_one", "model/numerics/block.cpp scale_code",
             "floor(log2) rounds up just under a power of two (microxcaling)",
             "N5/mxfp8_e4m3 N5/mxfp8_e5m2 N5/mxfp6_e2m3 N5/mxfp6_e3m2 N5/mxfp4 N5/mxint8"},
    FaultRow{Fault::block_ignores_nan_scale, "block_ignores_nan_scale", "model/numerics/block.cpp scaled_value",
             "a NaN scale leaves its elements numbers", "N6/mxfp8_e4m3 N6/mxfp8_e5m2 N6/mxfp6_e2m3 N6/mxfp6_e3m2 N6/mxfp4 N6/mxint8"},
    FaultRow{Fault::exact_sum_loses_carry, "exact_sum_loses_carry", "model/numerics/exact_sum.cpp add_magnitude", "the carry between limbs is lost",
             "N9/exact_sum"},
    FaultRow{Fault::alignment_off_by_one, "alignment_off_by_one", "model/numerics/aligned_sum.cpp aligned_sum",
             "addends keep one bit less than the tensor core's adder",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::kept_off_by_one, "kept_off_by_one", "model/numerics/aligned_sum.cpp aligned_sum", "a group's sum keeps one significant bit less",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::aligned_rounds, "aligned_rounds", "model/numerics/aligned_sum.cpp in_units",
             "addends are rounded where the tensor core truncates",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::product_normalized, "product_normalized", "model/numerics/aligned_sum.cpp addend_of",
             "a product's exponent counts the carry of its significands",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::zero_product_counts, "zero_product_counts", "model/numerics/aligned_sum.cpp addend_of",
             "a product with a zero takes part in the search for the largest exponent", "N11/zero_products"},
    FaultRow{Fault::alignment_has_floor, "alignment_has_floor", "model/numerics/aligned_sum.cpp aligned_sum",
             "groups below 1 are aligned as if one of their products were 1", "N13/power_of_two"},
    FaultRow{Fault::restart_doubled, "restart_doubled", "model/numerics/dot.cpp chain_length",
             "chains of 128 are 256 long: promotion at the wrong interval", "N10/hopper-fp8-promoted N10/hopper-mma-fp8"},
    FaultRow{Fault::chain_replaces_total, "chain_replaces_total", "model/numerics/dot.cpp total_with", "the fp32 add of promotion is missing",
             "N10/hopper-fp8-promoted N10/hopper-mma-fp8 N12/order_proof"},
    FaultRow{Fault::c_starts_chain, "c_starts_chain", "model/numerics/dot.cpp restarted",
             "C enters the first group instead of the fp32 add after the last", "N10/hopper-fp8-promoted N10/hopper-mma-fp8"},
    FaultRow{Fault::first_scale_serves_all, "first_scale_serves_all", "model/numerics/dot.cpp scale_at",
             "the first block's scale is used for every block",
             "N10/bf16-block N10/int8-block N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128"},
    FaultRow{Fault::order_ascending, "order_ascending", "model/numerics/dot.cpp prepare", "k ascending: even before odd elements, no permutation",
             "N10/bf16-chain N10/bf16-block N10/hopper-mma-fp8"},
    FaultRow{Fault::flush_lost, "flush_lost", "model/numerics/chain.cpp flushed, model/numerics/dot.cpp flushed",
             "subnormal operands and sums are kept", "N10/bf16-chain N10/bf16-block"},
    // Layouts.
    FaultRow{Fault::sf128x4_columns_swapped, "sf128x4_columns_swapped", "model/layout/blocks.cpp sf128x4",
             "row quarter and column byte of the scale tile change places",
             "L2/stages L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8 L2/FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    FaultRow{Fault::sf128x4_rows_mixed, "sf128x4_rows_mixed", "model/layout/blocks.cpp sf128x4", "tile rows split by 4 instead of 32",
             "L2/stages L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8 L2/FLASHINFER_CUTLASS_MXFP4_MXFP8 "
             "L3/FLASHINFER_TRTLLM_MXFP4_BF16 L3/FLASHINFER_TRTLLM_MXFP4_MXFP8 L3/FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    FaultRow{Fault::shuffle_a_wrong_stride, "shuffle_a_wrong_stride", "model/layout/blocks.cpp shuffle_rows", "rows shuffled with stride 8",
             "L2/stages L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    FaultRow{Fault::gate_up_not_flipped, "gate_up_not_flipped", "model/layout/blocks.cpp up_gate_interleaved, up_before_gate",
             "gate rows before up rows (vllm#52240)",
             "L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8 L2/FLASHINFER_CUTLASS_MXFP4_MXFP8"},
    FaultRow{Fault::scale_rows_not_shuffled, "scale_rows_not_shuffled", "model/layout/trtllm.cpp build",
             "scales do not follow the rows of their weights", "L3/FLASHINFER_TRTLLM_MXFP4_BF16 L3/FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    FaultRow{Fault::pad_content_wrong, "pad_content_wrong", "model/layout/grains.cpp pad_grain", "padding holds 1 instead of 0",
             "L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8 L2/FLASHINFER_CUTLASS_MXFP4_MXFP8 L2/XPU L2/EMULATION"},
    FaultRow{Fault::inverse_ignores_padding, "inverse_ignores_padding", "model/layout/step.cpp Backward(Pad)", "padding is reported as an element",
             "L1/programs L1/FLASHINFER_TRTLLM_MXFP4_BF16 L1/FLASHINFER_TRTLLM_MXFP4_MXFP8 L1/FLASHINFER_CUTLASS_MXFP4_MXFP8 L1/XPU "
             "L1/EMULATION"},
    FaultRow{Fault::halves_padded_together, "halves_padded_together", "model/layout/tensor.cpp loaded",
             "standard w13 is padded after both halves: gate and up pair with an offset", "L2/XPU L2/EMULATION"},
    FaultRow{Fault::bias_cast_to_low_half, "bias_cast_to_low_half", "model/layout/packed.cpp kCasts", "bf16 bits land in the low half of the fp32",
             "L2/FLASHINFER_TRTLLM_MXFP4_BF16 L2/FLASHINFER_TRTLLM_MXFP4_MXFP8"},
    FaultRow{Fault::compare_skips_padding, "compare_skips_padding", "model/layout/packed.cpp compare", "wrong padding is never noticed",
             "L7/FLASHINFER_TRTLLM_MXFP4_BF16 L7/FLASHINFER_TRTLLM_MXFP4_MXFP8 L7/FLASHINFER_CUTLASS_MXFP4_MXFP8 L7/XPU L7/EMULATION "
             "L10/FLASHINFER_TRTLLM_MXFP4_BF16 L10/FLASHINFER_TRTLLM_MXFP4_MXFP8 L10/FLASHINFER_CUTLASS_MXFP4_MXFP8 L10/XPU L10/EMULATION"},
    FaultRow{Fault::digit_flip_lost, "digit_flip_lost", "model/layout/digits.cpp Symbolic(Flip)", "the normal form forgets flips",
             "L1/digits L1/normal-form"},
    FaultRow{Fault::map_read_from_run_start, "map_read_from_run_start", "model/layout/address_map.cpp read",
             "a piece of an address map begins at its run's start", "L1/pieces"},
    FaultRow{Fault::bijection_accepts_gap, "bijection_accepts_gap", "model/layout/digits.cpp is_bijection",
             "digits that skip addresses count as one to one", "L1/is-bijection"},
    FaultRow{Fault::padding_before_elements, "padding_before_elements", "model/layout/tensor.cpp padded_tensor",
             "padding stands before the elements, so that every part agrees and the kernel does not",
             "L4/FLASHINFER_TRTLLM_MXFP4_BF16 L4/FLASHINFER_TRTLLM_MXFP4_MXFP8 L4/FLASHINFER_CUTLASS_MXFP4_MXFP8 L4/XPU L4/EMULATION"},
    FaultRow{Fault::restore_mixes_padding, "restore_mixes_padding", "model/layout/grains.cpp to_row_major",
             "what padding holds is or-ed into the first element", "L4/FLASHINFER_CUTLASS_MXFP4_MXFP8 L4/XPU L4/EMULATION L7/apply"},
    FaultRow{Fault::identity_scale_rows_flipped, "identity_scale_rows_flipped", "model/layout/identity.cpp build",
             "scale rows in another order than the rows of their weights", "L3/XPU L3/EMULATION"},
    // Oracle.
    FaultRow{Fault::oracle_skips_device_check, "oracle_skips_device_check", "model/oracle/check.cpp check_device",
             "classes accept any device (vllm#37787: AITER on gfx942)", "O1/needs O1/findings"},
    FaultRow{Fault::oracle_accepts_any_activation, "oracle_accepts_any_activation", "model/oracle/check.cpp accepted_activations",
             "the classes of SILU and SwiGLU-OAI take every activation", "O1/needs"},
    FaultRow{Fault::oracle_skips_first_candidate, "oracle_skips_first_candidate", "model/oracle/select.cpp search_auto",
             "the best candidate is never tried", "O3/priority"},
    FaultRow{Fault::oracle_rounds_down, "oracle_rounds_down", "model/oracle/select.cpp rounded", "sizes go down to the multiple: data are cut off",
             "O1/sizes"},
    FaultRow{Fault::oracle_ignores_parallel, "oracle_ignores_parallel", "model/oracle/check.cpp refused_parallel_text",
             "a monolithic kernel gets an exchange or EPLB", "O1/needs"},
    FaultRow{Fault::oracle_swallows_refusal, "oracle_swallows_refusal", "model/oracle/select.cpp run",
             "a wish that fails silently becomes auto (vllm#49591)", "O2/wish O4/total"},
    FaultRow{Fault::oracle_ignores_environment, "oracle_ignores_environment", "model/oracle/select.cpp apply_override",
             "the override variables have no effect", "O2/environment"},
    FaultRow{Fault::oracle_ignores_requested_key, "oracle_ignores_requested_key", "model/oracle/select.cpp resolve_requested_key",
             "a requested activation format is lost", "O2/key"},
    FaultRow{Fault::oracle_forgets_batched_member, "oracle_forgets_batched_member", "model/oracle/select.cpp rewritten",
             "Marlin under DeepEP low latency is refused", "O2/batched"},
    FaultRow{Fault::oracle_forgets_own_key, "oracle_forgets_own_key", "model/oracle/select.cpp activation_key",
             "every backend is said to take 16-bit activations", "O5/tables"},
};

}  // namespace

std::span<const FaultRow> all_faults() { return kFaults; }

}  // namespace mx::props
