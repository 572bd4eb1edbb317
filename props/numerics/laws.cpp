#include "props/numerics/laws.hpp"

#include <array>

namespace mx::props {
namespace {

using namespace numerics;

constexpr std::string_view kReturns =
    "encode(decode(c)) = c for every code under every rounding; a NaN becomes the profile's NaN, mxint8's unused -128 becomes -127";
constexpr std::string_view kNearest =
    "encode gives the neighbour that each rounding asks for, found by a search among all values; so it is monotone and odd";
constexpr std::string_view kWidens = "each of the 256 E8M0 bytes becomes 2^(byte-127), rounded once where the target has to; byte 255 becomes NaN";
constexpr std::string_view kScale =
    "the floor rule's byte is the largest one with 2^(byte-127) * 2^emax <= amax, within 0 and 254; NaN and Inf give 255";
constexpr std::string_view kBlocks =
    "each element of a block is its quotient by the scale rounded once, none is above the largest value; a NaN scale makes NaNs";
constexpr std::string_view kSums = "an exact sum is the integer sum rounded once, whatever the order of its terms";
constexpr std::string_view kFunctions =
    "the function is the C library's double rounded to fp32 wherever that decides; it never decreases; tanh and erf are odd";
constexpr std::string_view kWide = "what the operation leaves over is at most half a unit of the 64th bit, half of it only where the result is even";

constexpr std::array kLaws{
    Law{"N1/e4m3fn", kReturns, codes_return},
    Law{"N1/e5m2", kReturns, codes_return},
    Law{"N1/e4m3fnuz", kReturns, codes_return},
    Law{"N1/e5m2fnuz", kReturns, codes_return},
    Law{"N1/e2m3", kReturns, codes_return},
    Law{"N1/e3m2", kReturns, codes_return},
    Law{"N1/e2m1", kReturns, codes_return},
    Law{"N1/e8m0", kReturns, codes_return},
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
    Law{"N2/mxint8", kNearest, encode_is_nearest},
    Law{"N2/bf16", kNearest, encode_is_nearest},
    Law{"N2/fp16", kNearest, encode_is_nearest},
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
    Law{"N9/exact_sum", kSums, sums_are_integer_sums},
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
    Law{"S1/activation-constants", "a constant changes an activation exactly where its formula names it", activation_constants_matter},
    Law{"S1/activation-limits", "bounding the inputs by hand changes nothing, nor does the limit where the inputs respect it",
        activation_limits_bound},
    Law{"S1/activation-zeros", "an activation of zeros is zero: padding is neutral", activation_zeros_stay},
};

}  // namespace

std::span<const Law> numeric_laws() { return kLaws; }

namespace numerics {

std::string_view subject_of(const Law& law) { return law.id.substr(law.id.find('/') + 1); }

Outcome run_both(const Law& law, const std::function<void()>& property, const std::function<void(Exhaustive&)>& all_cases) {
  const Outcome random = check_property(law, property);
  if (!random.held) return random;
  Exhaustive exhaustive(law);
  all_cases(exhaustive);
  Outcome outcome = exhaustive.outcome();
  outcome.cases += random.cases;
  return outcome;
}

}  // namespace numerics
}  // namespace mx::props
