#include "props/numerics/laws.hpp"

#include <array>

#include "props/failure_file.hpp"

namespace mx::props {
namespace {

using namespace numerics;

constexpr std::string_view kReturns =
    "encode(decode(c)) = c for every code under every rounding; a NaN becomes the profile's NaN, mxint8's unused -128 becomes -127";
constexpr std::string_view kNearest =
    "encode gives the neighbour that each rounding asks for, found by a search among all values; so it is monotone and odd";
constexpr std::string_view kShare =
    "of the 2^n random numbers, the largest f * 2^n round up, f being the dropped fraction of a unit and the product rounded as the definition says";
constexpr std::string_view kTable =
    "code and flags of overflow, Inf, NaN, underflow and flushing under every rounding, overflow rule and NaN rule are those of the documents' table";
constexpr std::string_view kTwin = "the fast twin gives the model's codes for every conversion that it accepts, whatever the number of inputs";
constexpr std::string_view kQuantize =
    "kernels give the model's codes for blocks of any exponent, on every tier that runs here, whatever the number of blocks";
constexpr std::string_view kLookedUp =
    "kernels give the model's codes and scales where a rule changes its scale, by amax, and beside it, on every tier that runs here";
constexpr std::string_view kDequantize = "kernels give the model's numbers for every scale byte near both ends, on every tier that runs here";
constexpr std::string_view kEvaluate = "vector functions give the model's bits for any arguments, on every tier that runs here";
constexpr std::string_view kWidens = "each of the 256 E8M0 bytes becomes 2^(byte-127), rounded once where the target has to; byte 255 becomes NaN";
constexpr std::string_view kScale =
    "the floor rule's byte is the largest one with 2^(byte-127) * 2^emax <= amax, within 0 and 254; NaN and Inf give 255";
constexpr std::string_view kBlocks =
    "each element of a block is its quotient by the scale rounded once, none is above the largest value; a NaN scale makes NaNs";
constexpr std::string_view kRecipeScale =
    "the scale of each of this implementation's recipes is the one whose exact threshold amax reaches, and its own byte for zero, Inf and NaN";
constexpr std::string_view kRecipeBlocks =
    "each element of this implementation's blocks is its quotient rounded as the implementation does, special blocks as recorded";
constexpr std::string_view kPrograms =
    "every block, whatever is in it and whatever it was held in, becomes what the implementation's program makes of it; what that does not take is "
    "refused";
constexpr std::string_view kBackPrograms =
    "every code of every format under every scale becomes in every target what the implementation's program makes of it";
constexpr std::string_view kDialect =
    "each of the 256 E8M0 bytes times each E2M1 code becomes what this implementation makes of it, in each of its targets";
constexpr std::string_view kNvfp4 =
    "a block whose amax is 6 * 2^n has the scale code of 2^n times the tensor's encode scale, within the rule's range, and elements rounded once";
constexpr std::string_view kSplit = "a tensor twice as large with half the encode scale has the same scale codes and element codes";
constexpr std::string_view kMatters = "dequantizing with another tensor scale changes every nonzero number by exactly its factor";
constexpr std::string_view kTokenScale = "a token's scale is amax / 448 correctly rounded, amax bounded, and at least 1 / (448 * 512)";
constexpr std::string_view kGiven = "a given power of two divides exactly: codes are the quotients rounded once";
constexpr std::string_view kFnuz = "an E4M3 byte read as FNUZ with twice the scale is the same number, NaN bytes aside";
constexpr std::string_view kSums = "an exact sum is the integer sum rounded once, whatever the order of its terms";
constexpr std::string_view kFunctions =
    "the function is the C library's double rounded to fp32 wherever that decides; it never decreases; tanh and erf are odd";
constexpr std::string_view kWide = "what the operation leaves over is at most half a unit of the 64th bit, half of it only where the result is even";

constexpr std::string_view kRestated = "a dot product under the contract is what 128-bit integers make of the contract's description";
constexpr std::string_view kZeroProducts = "under every contract a product with a zero counts for nothing, whatever the other factor";
constexpr std::string_view kOrderProof = "where all partial sums are exact every contract gives the exact sum";
constexpr std::string_view kPowerOfTwo = "under every contract a power of two goes from the factors to the result, away from the ends of the range";

constexpr std::array kLaws{
    Law{"N1/e4m3fn", kReturns, codes_return},
    Law{"N1/e5m2", kReturns, codes_return},
    Law{"N1/e4m3fnuz", kReturns, codes_return},
    Law{"N1/e5m2fnuz", kReturns, codes_return},
    Law{"N1/e2m3", kReturns, codes_return},
    Law{"N1/e3m2", kReturns, codes_return},
    Law{"N1/e2m1", kReturns, codes_return},
    Law{"N1/e8m0", kReturns, codes_return},
    Law{"N1/ue4m3", kReturns, codes_return},
    Law{"N1/ue5m3", kReturns, codes_return},
    Law{"N1/mxint8", kReturns, codes_return},
    Law{"N1/bf16", kReturns, codes_return},
    Law{"N1/fp16", kReturns, codes_return},
    Law{"N2/e4m3fn", kNearest, encode_is_nearest},
    Law{"N2/e5m2", kNearest, encode_is_nearest},
    Law{"N2/e4m3fnuz", kNearest, encode_is_nearest},
    Law{"N2/e5m2fnuz", kNearest, encode_is_nearest},
    Law{"N2/e2m3", kNearest, encode_is_nearest},
    Law{"N2/e3m2", kNearest, encode_is_nearest},
    Law{"N2/e2m1", kNearest, encode_is_nearest},
    Law{"N2/e8m0", kNearest, encode_is_nearest},
    Law{"N2/ue4m3", kNearest, encode_is_nearest},
    Law{"N2/ue5m3", kNearest, encode_is_nearest},
    Law{"N2/mxint8", kNearest, encode_is_nearest},
    Law{"N2/bf16", kNearest, encode_is_nearest},
    Law{"N2/fp16", kNearest, encode_is_nearest},
    Law{"N2/stochastic_floor", kShare, share_is_fraction},
    Law{"N2/stochastic_odd", kShare, share_is_fraction},
    Law{"N2/stochastic_nearest", kShare, share_is_fraction},
    Law{"N2/stochastic_add", kShare, share_is_fraction},
    Law{"N3/e4m3fn", kTable, table_holds},
    Law{"N3/e5m2", kTable, table_holds},
    Law{"N3/e4m3fnuz", kTable, table_holds},
    Law{"N3/e5m2fnuz", kTable, table_holds},
    Law{"N3/e2m3", kTable, table_holds},
    Law{"N3/e3m2", kTable, table_holds},
    Law{"N3/e2m1", kTable, table_holds},
    Law{"N3/e8m0", kTable, table_holds},
    Law{"N3/ue4m3", kTable, table_holds},
    Law{"N3/ue5m3", kTable, table_holds},
    Law{"N3/mxint8", kTable, table_holds},
    Law{"N3/bf16", kTable, table_holds},
    Law{"N3/fp16", kTable, table_holds},
    Law{"N16/rules", "a format and rules in any words and order are what is read, and their text is read back the same", rules_return},
    Law{"N16/blocks", "the rules of a block quantizer in any order are what is read, and their text is read back the same", block_rules_return},
    Law{"N4/f32", kWidens, scales_widen},
    Law{"N4/bf16", kWidens, scales_widen},
    Law{"N4/fp16", kWidens, scales_widen},
    Law{"N5/mxfp8_e4m3", kScale, scale_follows_amax},
    Law{"N5/mxfp8_e5m2", kScale, scale_follows_amax},
    Law{"N5/mxfp6_e2m3", kScale, scale_follows_amax},
    Law{"N5/mxfp6_e3m2", kScale, scale_follows_amax},
    Law{"N5/mxfp4", kScale, scale_follows_amax},
    Law{"N5/mxint8", kScale, scale_follows_amax},
    Law{"N6/mxfp8_e4m3", kBlocks, blocks_round_once},
    Law{"N6/mxfp8_e5m2", kBlocks, blocks_round_once},
    Law{"N6/mxfp6_e2m3", kBlocks, blocks_round_once},
    Law{"N6/mxfp6_e3m2", kBlocks, blocks_round_once},
    Law{"N6/mxfp4", kBlocks, blocks_round_once},
    Law{"N6/mxint8", kBlocks, blocks_round_once},
    Law{"N5/torchao-floor@36027d8", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/torchao-ceil@36027d8", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/torchao-rceil@36027d8", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/torchao-even@36027d8", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/triton-kernels-floor", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/triton-kernels-rceil", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/triton-kernels-gpu-floor", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/triton-kernels-gpu-rceil", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/microxcaling-even", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/microxcaling-nearest", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/microxcaling-floor", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/flashinfer-mx", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/flashinfer-mx-fast-math", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/aiter-floor", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/aiter-ceil", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/aiter-rceil", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/aiter-even", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/vllm-mxfp8-torch", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/vllm-quark-even", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/deepgemm", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/deepgemm-ue8m0", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/vllm-group", kRecipeScale, recipe_scales_follow_amax},
    Law{"N5/vllm-group-ue8m0", kRecipeScale, recipe_scales_follow_amax},
    Law{"N6/torchao-floor@36027d8", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/torchao-ceil@36027d8", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/torchao-rceil@36027d8", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/torchao-even@36027d8", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/triton-kernels-floor", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/triton-kernels-rceil", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/triton-kernels-gpu-floor", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/triton-kernels-gpu-rceil", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/microxcaling-even", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/microxcaling-nearest", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/microxcaling-floor", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/flashinfer-mx", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/flashinfer-mx-fast-math", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/vllm-mxfp8-torch", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/vllm-quark-even", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/deepgemm", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/deepgemm-ue8m0", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/vllm-group", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N6/vllm-group-ue8m0", kRecipeBlocks, recipe_blocks_round_once},
    Law{"N4/ocp", kDialect, dialect_dequantizes},
    Law{"N4/torchao-dequantize", kDialect, dialect_dequantizes},
    Law{"N4/triton-kernels-dequantize", kDialect, dialect_dequantizes},
    Law{"N4/triton-kernels-gpu-dequantize", kDialect, dialect_dequantizes},
    Law{"N4/vllm-dequantize", kDialect, dialect_dequantizes},
    Law{"N4/marlin", kDialect, dialect_dequantizes},
    Law{"N4/deepseek-v4", kDialect, dialect_dequantizes},
    Law{"N4/program/ocp", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/torchao", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/triton_kernels", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/vllm", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/modelopt", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/mlx", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/compressed_tensors", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/transformers", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/gguf", kBackPrograms, dequantizers_are_programs},
    Law{"N4/program/quark", kBackPrograms, dequantizers_are_programs},
    Law{"N6/program/ocp", kPrograms, recipes_are_programs},
    Law{"N6/program/torchao", kPrograms, recipes_are_programs},
    Law{"N6/program/triton_kernels", kPrograms, recipes_are_programs},
    Law{"N6/program/microxcaling", kPrograms, recipes_are_programs},
    Law{"N6/program/flashinfer", kPrograms, recipes_are_programs},
    Law{"N6/program/aiter", kPrograms, recipes_are_programs},
    Law{"N6/program/vllm", kPrograms, recipes_are_programs},
    Law{"N6/program/compressed_tensors", kPrograms, recipes_are_programs},
    Law{"N6/program/modelopt", kPrograms, recipes_are_programs},
    Law{"N6/program/mlx", kPrograms, recipes_are_programs},
    Law{"N6/program/gguf", kPrograms, recipes_are_programs},
    Law{"N6/program/auto_round", kPrograms, recipes_are_programs},
    Law{"N6/program/nncf", kPrograms, recipes_are_programs},
    Law{"N6/program/transformers", kPrograms, recipes_are_programs},
    Law{"N6/program/quanto", kPrograms, recipes_are_programs},
    Law{"N6/program/quark", kPrograms, recipes_are_programs},
    Law{"N6/program/deepgemm", kPrograms, recipes_are_programs},
    Law{"N5/vllm-fp8-token", kTokenScale, fp8_scale_has_floor},
    Law{"N6/vllm-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/compressed-tensors-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/modelopt-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/auto-round-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/flashinfer-fast", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/flashinfer-exact", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/torchao-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/torchao-nvfp4-single", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/triton-kernels-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/triton-kernels-gpu-nvfp4", kNvfp4, nvfp4_scales_and_codes},
    Law{"N6/torchao-fp8-static", kGiven, fp8_divides_exactly},
    Law{"N6/vllm-fp8-static", kGiven, fp8_divides_exactly},
    Law{"N6/vllm-fp8-static-divided", kGiven, fp8_divides_exactly},
    Law{"N8/vllm-nvfp4", kSplit, nvfp4_scale_splits},
    Law{"N8/compressed-tensors-nvfp4", kSplit, nvfp4_scale_splits},
    Law{"N8/modelopt-nvfp4", kSplit, nvfp4_scale_splits},
    Law{"N8/auto-round-nvfp4", kSplit, nvfp4_scale_splits},
    Law{"N8/flashinfer-fast", kSplit, nvfp4_scale_splits},
    Law{"N8/flashinfer-exact", kSplit, nvfp4_scale_splits},
    Law{"N8/torchao-nvfp4", kSplit, nvfp4_scale_splits},
    Law{"N8/dequantize", kMatters, tensor_scale_matters},
    Law{"N8/fnuz", kFnuz, fnuz_keeps_values},
    Law{"N9/exact_sum", kSums, sums_are_integer_sums},
    Law{"N9/operations", "sums and fma of codes of any formats are the exact number rounded once; an exact zero is +0, downward -0",
        operations_round_once},
    Law{"N9/integers", "a code becomes the nearest integer or number of fixed point, or a bound where that is out of range", integers_round_once},
    Law{"N10/exact", kRestated, exact_is_restated},
    Law{"N10/f32-sequential", kRestated, f32_sequential_is_restated},
    Law{"N10/bf16-chain", kRestated, bf16_chain_is_restated},
    Law{"N10/bf16-block", kRestated, bf16_block_is_restated},
    Law{"N10/bf16-pair", kRestated, bf16_pair_is_restated},
    Law{"N10/int8-block", kRestated, int8_block_is_restated},
    Law{"N10/hopper-fp8", kRestated, hopper_is_restated},
    Law{"N10/hopper-fp8-promoted", kRestated, hopper_is_restated},
    Law{"N10/hopper-fp8-block-1x128", kRestated, hopper_is_restated},
    Law{"N10/hopper-fp8-block-128x128", kRestated, hopper_is_restated},
    Law{"N10/hopper-bf16", kRestated, hopper_is_restated},
    Law{"N10/hopper-bf16@v1", kRestated, hopper_is_restated},
    Law{"N10/hopper-fp16", kRestated, hopper_is_restated},
    Law{"N10/hopper-mma-fp8", kRestated, hopper_is_restated},
    Law{"N10/tensor-cores", kRestated, cores_are_restated},
    Law{"N10/tensor-cores-scaled", kRestated, scaled_cores_are_restated},
    Law{"N10/matrix-cores", kRestated, matrix_cores_are_restated},
    Law{"N10/cublaslt", kRestated, library_products_are_restated},
    Law{"N11/zero_products", kZeroProducts, zero_products_do_not_count},
    Law{"N12/order_proof", kOrderProof, order_proof_sums_agree},
    Law{"N13/power_of_two", kPowerOfTwo, powers_of_two_move_through},
    Law{"N14/exp", kFunctions, functions_round_once},
    Law{"N14/exp2", kFunctions, functions_round_once},
    Law{"N14/log2", kFunctions, functions_round_once},
    Law{"N14/log1p", kFunctions, functions_round_once},
    Law{"N14/tanh", kFunctions, functions_round_once},
    Law{"N14/erf", kFunctions, functions_round_once},
    Law{"N15/add", kWide, wide_sums_round_once},
    Law{"N15/mul", kWide, wide_products_round_once},
    Law{"N15/div", kWide, wide_quotients_round_once},
    Law{"N15/sqrt", kWide, wide_roots_round_once},
    Law{"N15/functions", "wide exp and log1p agree with the C library's long double as far as that goes", wide_functions_are_close},
    // Twins last: they notice whatever is wrong on either side, and their failures name neither.
    Law{"N7/e4m3fn", kTwin, twin_equals_model},
    Law{"N7/e5m2", kTwin, twin_equals_model},
    Law{"N7/e4m3fnuz", kTwin, twin_equals_model},
    Law{"N7/e5m2fnuz", kTwin, twin_equals_model},
    Law{"N7/e2m3", kTwin, twin_equals_model},
    Law{"N7/e3m2", kTwin, twin_equals_model},
    Law{"N7/e2m1", kTwin, twin_equals_model},
    Law{"N7/e8m0", kTwin, twin_equals_model},
    Law{"N7/ue4m3", kTwin, twin_equals_model},
    Law{"N7/ue5m3", kTwin, twin_equals_model},
    Law{"N7/mxint8", kTwin, twin_equals_model},
    Law{"N7/bf16", kTwin, twin_equals_model},
    Law{"N7/fp16", kTwin, twin_equals_model},
    Law{"N7/quantize", kQuantize, kernels_quantize},
    Law{"N7/quantize-looked-up", kLookedUp, kernels_quantize_looked_up},
    Law{"N7/dequantize", kDequantize, kernels_dequantize},
    Law{"N7/functions", kEvaluate, kernels_evaluate},
    Law{"N7/tile", "kernels give the model's products of matrices under contracts, on every tier that runs here", kernels_multiply},
    Law{"S1/activation-constants", "a constant changes an activation exactly where its formula names it, and is refused where it is compiled in",
        activation_constants_matter},
    Law{"S1/activation-limits", "bounding the inputs by hand changes nothing, nor does the limit where the inputs respect it",
        activation_limits_bound},
    Law{"S1/activation-zeros", "an activation of zeros is zero: padding is neutral", activation_zeros_stay},
};

}  // namespace

std::span<const Law> numeric_laws() { return kLaws; }

namespace numerics {

std::string_view subject_of(const Law& law) { return law.id.substr(law.id.find('/') + 1); }

std::string encode_line(std::uint32_t f32, const Format& to) { return try_line("mxact encode " + std::string(to.name) + " " + hex(f32)); }

Outcome run_both(const Law& law, const std::function<void()>& property, const std::function<void(Exhaustive&)>& all_cases) {
  Outcome random = check_property(law, property);
  if (!random.held) return random;
  Exhaustive exhaustive(law);
  all_cases(exhaustive);
  Outcome outcome = exhaustive.outcome();
  outcome.cases += random.cases;
  return outcome;
}

}  // namespace numerics
}  // namespace mx::props
