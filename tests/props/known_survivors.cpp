#include "tests/props/known_survivors.hpp"

#include <array>

namespace mx::props {
namespace {

constexpr std::array kKnown{
    KnownSurvivors{"recipes .* sources\\.(f32|bf16|fp16) (on|off)",
                   "no law asks which element types an implementation refuses, and recorded entries have only those that it takes"},
    KnownSurvivors{
        "recipes .* (encode|element|scale)\\.(rounding|overflow|nan_rule|nan_positive|nan_negative|flush).*",
        "laws take blocks whose quotients are normal numbers, and special blocks one by one: not every recipe has one with each kind of NaN, "
        "subnormal and tie, and recorded blocks do not have all formats of all devices"},
    KnownSurvivors{
        "recipes .* (scale\\.|factor\\.|operation|nan_sign|zero_sign|flush_subnormals|half_is_added|unit_by_log2|nan_block_code|rule|multiplier|"
        "least_|largest_|amax_|takes_|scaling|divides|at_source_width|invalid_|multiplier_of_zero|zero_block|approximate|drops_zero).*",
        "rows without a law of their own, or at the ends of the range (subnormal amax, scales 0, 254 and 255) that neither a law's blocks nor a "
        "recorded entry reaches in this format, type or device"},
    KnownSurvivors{"dequantizers .*", "N4 holds MXFP4; other formats are held by recorded entries where there are some"},
    KnownSurvivors{"activations .*",
                   "S1 asks for constants, bounds and zeros; the values of every row are held against MPFR by tests/moe/activation_test.cpp"},
    KnownSurvivors{"layouts .* needs#.*", "laws draw what a row accepts; what it refuses is held by recorded refusals, which thirteen entries have"},
    KnownSurvivors{"layouts .* (engines|standard order|gpt-oss order|takes not gated).*",
                   "laws draw the forms that a row says it takes: a row that takes more or less is another row to them"},
    KnownSurvivors{"layouts .* undo_values dropped", "the law takes a row without a way back for one that cannot be restored"},
};

}  // namespace

std::span<const KnownSurvivors> known_survivors() { return kKnown; }

}  // namespace mx::props
