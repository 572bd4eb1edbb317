// Faults of formats, conversions, recipes, dot products and functions.

#include <array>

#include "props/faults/tables.hpp"

namespace mx::props {
namespace {

using fault::Fault;

constexpr std::array kFaults{
    FaultRow{Fault::encode_ties_away, "encode_ties_away", "model/numerics/rounding.cpp goes_up", "ties to even go away from zero",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/ue4m3 N2/ue5m3 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{
        Fault::encode_drops_sticky, "encode_drops_sticky", "model/numerics/rounding.cpp dropped_bits",
        "what lies below the half bit is forgotten (tt-metal#51971)",
        "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/ue4m3 N2/ue5m3 N2/e8m0 N2/mxint8 N2/bf16 N2/fp16 N10/f32-sequential"},
    FaultRow{Fault::encode_loses_carry, "encode_loses_carry", "model/numerics/rounding.cpp round", "the mantissa wraps and the exponent stays",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/ue4m3 N2/ue5m3 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{Fault::encode_saturates_low, "encode_saturates_low", "model/numerics/convert.cpp overflow_limit",
             "E4M3 saturates at 240 (saturn-vectors#101)", "N1/e4m3fn N1/e4m3fnuz N1/e5m2fnuz N1/e2m3 N1/e3m2 N1/e2m1 N1/ue4m3 N1/ue5m3"},
    FaultRow{Fault::encode_drops_zero_sign, "encode_drops_zero_sign", "model/numerics/convert.cpp with_sign", "-0 becomes +0",
             "N1/e4m3fn N1/e5m2 N1/e2m3 N1/e3m2 N1/e2m1 N1/bf16 N1/fp16"},
    FaultRow{Fault::decode_subnormal_shift, "decode_subnormal_shift", "model/numerics/value.cpp decode", "subnormals are half or twice their value",
             "N1/e4m3fn N1/e5m2 N1/e4m3fnuz N1/e5m2fnuz N1/e2m3 N1/e3m2 N1/e2m1 N1/ue4m3 N1/ue5m3 N1/bf16 N1/fp16 N10/exact N10/f32-sequential "
             "N4/program/modelopt N4/program/mlx N4/program/compressed_tensors N4/program/transformers N4/program/gguf N4/program/quark"},
    FaultRow{Fault::fixed_point_loses_sign, "fixed_point_loses_sign", "model/numerics/value.cpp decode_fixed",
             "negative fixed-point codes become positive", "N1/mxint8"},
    FaultRow{Fault::e8m0_zero_is_zero, "e8m0_zero_is_zero", "model/numerics/value.cpp decode",
             "scale byte 0 is 0 instead of 2^-127 (vLLM's test reference, triton_kernels)", "N1/e8m0 N4/f32 N4/bf16"},
    FaultRow{Fault::e8m0_top_is_infinite, "e8m0_top_is_infinite", "model/numerics/value.cpp decode",
             "scale byte 255 is Inf instead of NaN (byte << 23)", "N1/e8m0 N4/f32 N4/bf16 N4/fp16"},
    FaultRow{Fault::scale_floor_off_by_one, "scale_floor_off_by_one", "model/numerics/mx_recipe.cpp exponent_of",
             "floor(log2) rounds up just under a power of two (microxcaling)",
             "N5/mxfp8_e4m3 N5/mxfp8_e5m2 N5/mxfp6_e2m3 N5/mxfp6_e3m2 N5/mxfp4 N5/mxint8 N5/torchao-floor@36027d8 N5/torchao-ceil@36027d8"},
    FaultRow{Fault::block_ignores_nan_scale, "block_ignores_nan_scale", "model/numerics/block.cpp scaled_value",
             "a NaN scale leaves its elements numbers", "N6/mxfp8_e4m3 N6/mxfp8_e5m2 N6/mxfp6_e2m3 N6/mxfp6_e3m2 N6/mxfp4 N6/mxint8"},
    FaultRow{Fault::exact_sum_loses_carry, "exact_sum_loses_carry", "model/numerics/exact_sum.cpp add_magnitude", "the carry between limbs is lost",
             "N9/exact_sum N10/exact"},
    FaultRow{Fault::nvfp4_ignores_global_scale, "nvfp4_ignores_global_scale", "model/numerics/nvfp4_recipe.cpp wanted_scale",
             "the scale code forgets the tensor's scale (flashinfer#3548)",
             "N6/vllm-nvfp4 N6/flashinfer-fast N6/flashinfer-exact N8/vllm-nvfp4 N8/flashinfer-fast N8/flashinfer-exact N8/auto-round-nvfp4"},
    FaultRow{Fault::nvfp4_scale_overflows, "nvfp4_scale_overflows", "model/numerics/nvfp4_recipe.cpp quantize",
             "a scale above 448 becomes NaN instead of 448",
             "N6/vllm-nvfp4 N6/flashinfer-fast N6/flashinfer-exact N6/torchao-nvfp4 N6/torchao-nvfp4-single N6/triton-kernels-gpu-nvfp4 "
             "N6/compressed-tensors-nvfp4 N6/modelopt-nvfp4 N6/auto-round-nvfp4"},
    FaultRow{Fault::nvfp4_reciprocal_twice, "nvfp4_reciprocal_twice", "model/numerics/nvfp4_recipe.cpp multiplier",
             "the reciprocal of the tensor's scale enters twice",
             "N6/vllm-nvfp4 N6/flashinfer-fast N6/flashinfer-exact N6/program/flashinfer N8/vllm-nvfp4 N8/flashinfer-fast N8/flashinfer-exact"},
    FaultRow{
        Fault::nvfp4_multiplier_inverted, "nvfp4_multiplier_inverted", "model/numerics/nvfp4_recipe.cpp quantize",
        "elements are multiplied by their scale instead of divided",
        "N6/vllm-nvfp4 N6/flashinfer-fast N6/flashinfer-exact N6/torchao-nvfp4 N6/torchao-nvfp4-single N6/triton-kernels-nvfp4 "
        "N6/triton-kernels-gpu-nvfp4 N6/compressed-tensors-nvfp4 N6/modelopt-nvfp4 N8/torchao-nvfp4 N8/compressed-tensors-nvfp4 N8/modelopt-nvfp4"},
    FaultRow{Fault::dequantize_ignores_tensor_scale, "dequantize_ignores_tensor_scale", "model/numerics/dequantize.cpp with_tensor_scale",
             "a projection's own scale is lost (TensorRT-LLM#18772)", "N8/dequantize"},
    FaultRow{Fault::dequantize_does_not_clamp, "dequantize_does_not_clamp", "model/numerics/dequantize.cpp into_target",
             "products above the target's range are Inf where the implementation clamps",
             "N4/triton-kernels-dequantize N4/triton-kernels-gpu-dequantize"},
    FaultRow{Fault::dequantize_field_is_value, "dequantize_field_is_value", "model/numerics/dequantize.cpp read_scale",
             "scale byte 0 is 2^-127 where the implementation has 0, byte 255 NaN where it has 2^128 or Inf",
             "N4/triton-kernels-dequantize N4/triton-kernels-gpu-dequantize N4/vllm-dequantize N4/marlin N4/deepseek-v4"},
    FaultRow{Fault::dequantize_rounds_late, "dequantize_rounds_late", "model/numerics/dequantize.cpp dequantize",
             "the product is exact where the implementation rounds the scale to the target first",
             "N4/triton-kernels-gpu-dequantize N4/torchao-dequantize N4/vllm-dequantize"},
    FaultRow{Fault::dequantize_nan_scale_is_number, "dequantize_nan_scale_is_number", "model/numerics/dequantize.cpp dequantize",
             "scale byte 255 is a number",
             "N4/ocp N4/torchao-dequantize N4/triton-kernels-gpu-dequantize N4/program/ocp N4/program/torchao N4/program/triton_kernels "
             "N4/program/vllm"},
    FaultRow{Fault::fp8_scale_floor_lost, "fp8_scale_floor_lost", "model/numerics/fp8_recipe.cpp scale_of", "a token's scale has no floor",
             "N5/vllm-fp8-token"},
    FaultRow{Fault::fp8_divides_by_reciprocal, "fp8_divides_by_reciprocal", "model/numerics/fp8_recipe.cpp quantize",
             "elements are divided by the reciprocal, or multiplied by the scale",
             "N6/torchao-fp8-static N6/vllm-fp8-static N6/vllm-fp8-static-divided N6/program/transformers N6/program/quanto"},
    FaultRow{Fault::fnuz_scale_not_doubled, "fnuz_scale_not_doubled", "model/numerics/fp8_recipe.cpp e4m3fn_to_e4m3fnuz",
             "E4M3 bytes read as FNUZ mean half their value", "N8/fnuz"},
    FaultRow{Fault::amax_ignores_nan, "amax_ignores_nan", "model/numerics/element_step.cpp largest_magnitude",
             "a NaN does not reach the largest magnitude where torch.amax lets it",
             "N5/torchao-floor@36027d8 N5/torchao-ceil@36027d8 N5/torchao-rceil@36027d8 N5/torchao-even@36027d8 N5/triton-kernels-floor "
             "N5/microxcaling-even "
             "N5/microxcaling-nearest N5/aiter-floor N5/aiter-ceil N5/aiter-rceil N5/aiter-even N5/vllm-mxfp8-torch N5/deepgemm "
             "N5/deepgemm-ue8m0 N6/triton-kernels-floor N6/triton-kernels-rceil N6/vllm-mxfp8-torch N6/deepgemm N6/deepgemm-ue8m0 "
             "N6/program/ocp N6/program/torchao N6/program/triton_kernels N6/program/microxcaling N6/program/aiter N6/program/vllm "
             "N6/program/deepgemm N6/program/compressed_tensors N6/program/modelopt N6/program/mlx N6/program/gguf N6/program/auto_round "
             "N6/program/quark N6/program/nncf"},
    FaultRow{Fault::scale_rounds_down, "scale_rounds_down", "model/numerics/mx_recipe.cpp bumps, exponent_of", "ceil and rceil ignore the mantissa",
             "N5/torchao-ceil@36027d8 N5/torchao-rceil@36027d8 N5/triton-kernels-rceil N5/triton-kernels-gpu-rceil N5/flashinfer-mx "
             "N5/flashinfer-mx-fast-math N5/aiter-ceil N5/aiter-rceil"},
    FaultRow{Fault::scale_bumps_any_subnormal, "scale_bumps_any_subnormal", "model/numerics/mx_recipe.cpp bumps",
             "every subnormal quotient gets scale byte 1, as in triton_kernels and aiter", "N5/torchao-rceil@36027d8 N5/flashinfer-mx"},
    FaultRow{Fault::scale_even_loses_carry, "scale_even_loses_carry", "model/numerics/mx_recipe.cpp even_power",
             "even is floor: the half unit is not added", "N5/torchao-even@36027d8 N5/aiter-even N5/vllm-quark-even N6/vllm-quark-even"},
    FaultRow{Fault::scale_nan_is_top, "scale_nan_is_top", "model/numerics/mx_recipe.cpp scale_code", "a NaN block has the largest scale, a number",
             "N5/torchao-floor@36027d8 N5/torchao-ceil@36027d8 N5/torchao-rceil@36027d8 N5/torchao-even@36027d8 N5/triton-kernels-floor "
             "N5/triton-kernels-rceil "
             "N5/triton-kernels-gpu-floor N5/triton-kernels-gpu-rceil N5/microxcaling-even N5/microxcaling-nearest N5/flashinfer-mx "
             "N5/flashinfer-mx-fast-math N5/aiter-floor N5/aiter-ceil N5/aiter-rceil N5/aiter-even N5/vllm-mxfp8-torch "
             "N5/vllm-quark-even"},
    FaultRow{Fault::scale_infinite_is_nan, "scale_infinite_is_nan", "model/numerics/mx_recipe.cpp scale_code",
             "an Inf makes the scale NaN where the implementation saturates",
             "N5/flashinfer-mx N5/flashinfer-mx-fast-math N5/vllm-mxfp8-torch N5/vllm-quark-even N6/flashinfer-mx N6/vllm-mxfp8-torch"},
    FaultRow{Fault::scale_subtracts_exponents, "scale_subtracts_exponents", "model/numerics/mx_recipe.cpp exponent_of",
             "exponent(amax) - emax where the implementation takes exponent(amax / max) (vllm#43557)",
             "N5/torchao-rceil@36027d8 N5/triton-kernels-floor N5/triton-kernels-rceil N5/triton-kernels-gpu-floor N5/triton-kernels-gpu-rceil "
             "N5/flashinfer-mx N5/flashinfer-mx-fast-math N5/aiter-floor N5/aiter-rceil"},
    FaultRow{Fault::scale_log2_from_exponent, "scale_log2_from_exponent", "model/numerics/mx_recipe.cpp exponent_of",
             "the exponent field where the implementation takes floor(log2) in fp32",
             "N5/microxcaling-even N5/microxcaling-nearest N5/microxcaling-floor N5/vllm-mxfp8-torch"},
    FaultRow{Fault::factor_forgets_exceptions, "factor_forgets_exceptions", "model/numerics/mx_recipe.cpp factor_of",
             "scale bytes 0, 254 and 255 scale elements like any other",
             "N6/triton-kernels-floor N6/triton-kernels-rceil N6/triton-kernels-gpu-floor N6/triton-kernels-gpu-rceil N6/flashinfer-mx "
             "N6/flashinfer-mx-fast-math N6/vllm-mxfp8-torch"},
    FaultRow{Fault::block_forgets_nan_codes, "block_forgets_nan_codes", "model/numerics/mx_recipe.cpp quantize",
             "elements of NaN blocks are encoded as the conversion encodes a NaN",
             "N6/torchao-floor@36027d8 N6/torchao-ceil@36027d8 N6/torchao-rceil@36027d8 N6/torchao-even@36027d8"},
    FaultRow{Fault::element_keeps_zero_sign, "element_keeps_zero_sign", "model/numerics/element_step.cpp encode_element",
             "-0 where the implementation writes +0", "N6/microxcaling-even N6/microxcaling-nearest N6/deepgemm N6/deepgemm-ue8m0"},
    FaultRow{Fault::element_half_not_added, "element_half_not_added", "model/numerics/element_step.cpp encode_element",
             "exact rounding where the implementation adds 0.5 in fp32", "N6/microxcaling-even N6/microxcaling-nearest"},
    FaultRow{Fault::element_nan_positive, "element_nan_positive", "model/numerics/element_step.cpp nan_of", "a NaN loses the sign that x86 gives it",
             "N6/triton-kernels-floor N6/triton-kernels-rceil N6/vllm-mxfp8-torch N6/deepgemm N6/deepgemm-ue8m0"},
    FaultRow{Fault::group_forgets_floor, "group_forgets_floor", "model/numerics/group_recipe.cpp group_scale", "amax has no lower bound",
             "N5/deepgemm N5/deepgemm-ue8m0 N5/vllm-group N5/vllm-group-ue8m0 N6/deepgemm N6/deepgemm-ue8m0 N6/vllm-group "
             "N6/vllm-group-ue8m0"},
    FaultRow{Fault::group_divides_otherwise, "group_divides_otherwise", "model/numerics/group_recipe.cpp quantize",
             "elements are divided by s instead of multiplied by 1/s, or the other way round", "N6/deepgemm N6/vllm-group"},
    FaultRow{Fault::group_power_rounds_down, "group_power_rounds_down", "model/numerics/group_recipe.cpp next_power_by_bits, next_power_by_log2",
             "the power of two below s", "N5/deepgemm-ue8m0 N5/vllm-group-ue8m0"},
    FaultRow{Fault::directed_ignores_sign, "directed_ignores_sign", "model/numerics/rounding.cpp goes_up",
             "rounding up and down both go away from zero",
             "N2/e4m3fn N2/e5m2 N2/e4m3fnuz N2/e5m2fnuz N2/e2m3 N2/e3m2 N2/e2m1 N2/ue4m3 N2/ue5m3 N2/e8m0 N2/mxint8 N2/bf16 N2/fp16"},
    FaultRow{Fault::stochastic_off_by_one, "stochastic_off_by_one", "model/numerics/rounding.cpp makes_unit", "one random number too many rounds up",
             "N2/stochastic_floor N2/stochastic_odd N2/stochastic_nearest N2/stochastic_add"},
    FaultRow{Fault::unrounded_rounds_first, "unrounded_rounds_first", "model/numerics/convert.cpp tests_unrounded",
             "450 is 448 where HIP without saturation overflows",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e8m0 N3/ue4m3 N3/ue5m3 N3/bf16 N3/fp16"},
    FaultRow{Fault::saturation_leaves_no_flag, "saturation_leaves_no_flag", "model/numerics/convert.cpp overflow_code",
             "a clamped result is not marked",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e2m3 N3/e3m2 N3/e2m1 N3/ue4m3 N3/ue5m3 N3/e8m0 N3/mxint8 N3/bf16 N3/fp16"},
    FaultRow{Fault::nan_loses_sign, "nan_loses_sign", "model/numerics/convert.cpp nan_code", "a negative NaN gets the code of a positive one",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e2m3 N3/e3m2 N3/e2m1 N3/ue4m3 N3/ue5m3 N3/e8m0 N3/mxint8 N3/bf16 N3/fp16 N7/e4m3fn "
             "N7/e5m2 N7/e4m3fnuz "
             "N7/e5m2fnuz N7/e2m3 N7/e3m2 N7/e2m1 N7/ue4m3 N7/ue5m3 N7/e8m0 N7/mxint8 N7/bf16 N7/fp16"},
    FaultRow{Fault::nan_loses_payload, "nan_loses_payload", "model/numerics/convert.cpp nan_code", "a kept payload becomes 1",
             "N3/e5m2 N3/bf16 N3/fp16 N7/e5m2 N7/bf16 N7/fp16"},
    FaultRow{Fault::flush_forgets_source, "flush_forgets_source", "model/numerics/convert.cpp convert", "subnormal inputs are not flushed",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e2m3 N3/e3m2 N3/e2m1 N3/ue4m3 N3/ue5m3 N3/e8m0 N3/mxint8 N3/bf16 N3/fp16"},
    FaultRow{Fault::flush_before_rounding, "flush_before_rounding", "model/numerics/convert.cpp encode_checked",
             "what rounds up to the smallest normal number is flushed",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e2m3 N3/e3m2 N3/e2m1 N3/ue4m3 N3/ue5m3 N3/bf16 N3/fp16 N7/e4m3fn N7/e5m2 N7/e4m3fnuz "
             "N7/e5m2fnuz "
             "N7/e2m3 "
             "N7/e3m2 N7/e2m1 N7/ue4m3 N7/ue5m3 N7/bf16 N7/fp16"},
    FaultRow{Fault::flush_leaves_no_flag, "flush_leaves_no_flag", "model/numerics/convert.cpp note_flush", "a flushed result is not marked",
             "N3/e4m3fn N3/e5m2 N3/e4m3fnuz N3/e5m2fnuz N3/e2m3 N3/e3m2 N3/e2m1 N3/ue4m3 N3/ue5m3 N3/e8m0 N3/mxint8 N3/bf16 N3/fp16"},
    FaultRow{Fault::alignment_off_by_one, "alignment_off_by_one", "model/numerics/aligned_sum.cpp aligned_sum",
             "addends keep one bit less than the tensor core's adder",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-bf16@v1 "
             "N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::kept_off_by_one, "kept_off_by_one", "model/numerics/aligned_sum.cpp aligned_sum", "a group's sum keeps one significant bit less",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-bf16@v1 "
             "N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::aligned_rounds, "aligned_rounds", "model/numerics/aligned_sum.cpp cut", "addends are rounded where the tensor core truncates",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-bf16@v1 "
             "N10/hopper-fp16 N10/tensor-cores "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::product_normalized, "product_normalized", "model/numerics/aligned_sum.cpp product_of",
             "a product's exponent counts the carry of its significands",
             "N10/hopper-fp8 N10/hopper-fp8-promoted N10/hopper-fp8-block-1x128 N10/hopper-fp8-block-128x128 N10/hopper-bf16 N10/hopper-bf16@v1 "
             "N10/hopper-fp16 "
             "N10/hopper-mma-fp8"},
    FaultRow{Fault::zero_product_counts, "zero_product_counts", "model/numerics/aligned_sum.cpp product_of",
             "a product with a zero takes part in the search for the largest exponent", "N11/zero_products"},
    FaultRow{Fault::alignment_has_floor, "alignment_has_floor", "model/numerics/aligned_sum.cpp aligned_sum",
             "groups below 1 are aligned as if one of their products were 1", "N13/power_of_two"},
    FaultRow{Fault::lanes_align_together, "lanes_align_together", "model/numerics/aligned_sum.cpp aligned_sum",
             "even and odd k are aligned to one exponent", "N10/matrix-cores"},
    FaultRow{Fault::lanes_chain_together, "lanes_chain_together", "model/numerics/chain.cpp fused_lanes", "even and odd k enter one chain",
             "N10/bf16-pair"},
    FaultRow{Fault::join_forgets_reach, "join_forgets_reach", "model/numerics/aligned_sum.cpp joined",
             "a C far below the products still rounds their sum", "N10/matrix-cores"},
    FaultRow{Fault::scale_exponent_forgotten, "scale_exponent_forgotten", "model/numerics/dot.cpp take_scale",
             "terms are aligned by the exponents of their factors alone", "N10/tensor-cores-scaled"},
    FaultRow{Fault::total_zero_keeps_sign, "total_zero_keeps_sign", "model/numerics/dot.cpp with_total_scales",
             "a zero sum has the sign of the scales' product", "N10/cublaslt"},
    FaultRow{Fault::restart_doubled, "restart_doubled", "model/numerics/dot.cpp chain_length",
             "chains of 128 are 256 long: promotion at the wrong interval", "N10/bf16-pair N10/hopper-fp8-promoted N10/hopper-mma-fp8"},
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
             "subnormal operands and sums are kept", "N10/bf16-chain N10/bf16-block N10/bf16-pair"},
    FaultRow{Fault::exp_series_too_short, "exp_series_too_short", "model/numerics/fixed128.cpp exp_of_fraction", "the series of e^x ends after x^3",
             "N14/exp N14/exp2 N14/tanh N15/functions"},
    FaultRow{Fault::ln_series_too_short, "ln_series_too_short", "model/numerics/fixed128.cpp ln", "the series of ln(1 + z) ends after z^2",
             "N14/log2 N14/log1p N15/functions"},
    FaultRow{Fault::erf_series_too_short, "erf_series_too_short", "model/numerics/erf.cpp by_taylor", "the Taylor series of erf ends after h^4",
             "N14/erf"},
    FaultRow{Fault::wide_ties_away, "wide_ties_away", "model/numerics/wide.cpp rounded", "ties to even go away from zero", "N15/add N15/mul"},
    FaultRow{Fault::wide_drops_sticky, "wide_drops_sticky", "model/numerics/wide.cpp shifted_right", "what a sum shifts out is forgotten", "N15/add"},
    FaultRow{Fault::wide_quotient_loses_rest, "wide_quotient_loses_rest", "model/numerics/wide.cpp div", "the rest of a division is forgotten",
             "N15/div"},
    FaultRow{Fault::wide_root_rounds_down, "wide_root_rounds_down", "model/numerics/wide.cpp sqrt", "a square root is cut off", "N15/sqrt"},
    FaultRow{Fault::element_unit_from_exponent, "element_unit_from_exponent", "model/numerics/element_step.cpp encode_element",
             "truncation to the format's unit where the implementation takes the binade from a logarithm", "N6/microxcaling-floor"},
    FaultRow{
        Fault::dequantize_flushes_small_scales, "dequantize_flushes_small_scales", "model/numerics/dequantize.cpp read_scale",
        "scale bytes 103 to 112 count as 0 (1Cat-vLLM#222)",
        "N4/ocp N4/torchao-dequantize N4/triton-kernels-dequantize N4/triton-kernels-gpu-dequantize N4/vllm-dequantize N4/marlin N4/deepseek-v4"},
    FaultRow{
        Fault::dequantize_adds_exponents, "dequantize_adds_exponents", "model/numerics/dequantize.cpp dequantize",
        "the scale is added to the exponent bits of the decoded element, which overflows into the sign (vllm#46676)",
        "N4/ocp N4/torchao-dequantize N4/triton-kernels-dequantize N4/triton-kernels-gpu-dequantize N4/vllm-dequantize N4/marlin N4/deepseek-v4"},
    FaultRow{Fault::overflow_ignores_rounding, "overflow_ignores_rounding", "model/numerics/convert.cpp overflow_code",
             "an overflow is Inf or NaN whatever the rounding (saturn-vectors#101)", "N3/e5m2 N3/fp16"},
    FaultRow{Fault::infinity_overflows, "infinity_overflows", "model/numerics/convert.cpp infinite_code",
             "an infinity becomes what a finite overflow does, whatever its own rule", "N3/e4m3fn N3/e5m2 N3/e8m0 N3/bf16"},
    FaultRow{Fault::zero_rule_forgotten, "zero_rule_forgotten", "model/numerics/convert.cpp encode_finely",
             "-0 keeps its sign where its rule drops it", "N3/e4m3fn N3/e5m2 N3/e2m1 N3/bf16"},
    FaultRow{Fault::odd_is_cut, "odd_is_cut", "model/numerics/rounding.cpp goes_up", "rounding to odd drops what it should jam into the last bit",
             "N2/e4m3fn N2/e5m2 N2/e2m1 N2/fp16"},
    FaultRow{Fault::rules_forget_tininess, "rules_forget_tininess", "model/numerics/rule_words.cpp fields",
             "the text of rules does not say which results are tiny", "N16/rules"},
    FaultRow{Fault::block_rules_lose_word, "block_rules_lose_word", "model/numerics/block_rule_words.cpp fields_text",
             "the text of block rules leaves out the first word that is no usual one", "N16/blocks"},
    FaultRow{Fault::zero_sum_is_positive, "zero_sum_is_positive", "model/numerics/operation.cpp sum",
             "an exact zero sum of unlike signs is +0 when it is rounded downward too", "N9/operations"},
    FaultRow{Fault::least_integer_is_out_of_range, "least_integer_is_out_of_range", "model/numerics/integer.cpp most_below",
             "the range of two's complement ends as far below 0 as above it", "N9/integers"},
    FaultRow{Fault::group_power_by_logarithm, "group_power_by_logarithm", "model/numerics/group_recipe.cpp group_scale",
             "2^ceil(log2(x)) where the implementation reads the exponent field (sglang#29954)", "N5/deepgemm-ue8m0"},
};

}  // namespace

std::span<const FaultRow> numerics_faults() { return kFaults; }

}  // namespace mx::props
