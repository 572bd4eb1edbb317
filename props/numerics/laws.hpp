#pragma once
// What the numeric laws share: every one is tried on random cases first, which shrink and replay, then on all cases where these are few.

#include <functional>
#include <string_view>

#include "props/law.hpp"

namespace mx::props::numerics {

/// What follows the first '/' of a law's id: "e4m3fn" of "N1/e4m3fn".
std::string_view subject_of(const Law& law);

/// The property under RapidCheck, then the loop over all cases; the counts add up.
Outcome run_both(const Law& law, const std::function<void()>& property, const std::function<void(Exhaustive&)>& all_cases);

/// N1: encoding undoes decoding. N2: encoding is the correct rounding. N4: E8M0 bytes as numbers.
Outcome codes_return(const Law& law);
Outcome encode_is_nearest(const Law& law);
Outcome scales_widen(const Law& law);

/// N5: the scale of an amax. N6: blocks.
Outcome scale_follows_amax(const Law& law);
Outcome blocks_round_once(const Law& law);

/// N5, N6 by profile: the scales and the blocks of one implementation's recipes.
Outcome recipe_scales_follow_amax(const Law& law);
Outcome recipe_blocks_round_once(const Law& law);

/// N4 by dialect: each E8M0 byte, E2M1 code and target as one implementation dequantizes them.
Outcome dialect_dequantizes(const Law& law);

/// N6, N8 of NVFP4: a block's scale and codes; scaling the tensor and its scale. N8: a tensor's own scale matters when dequantizing.
Outcome nvfp4_scales_and_codes(const Law& law);
Outcome nvfp4_scale_splits(const Law& law);
Outcome tensor_scale_matters(const Law& law);

/// FP8. N5: the scale of a token. N6: division by a given scale. N8: E4M3 read as FNUZ.
Outcome fp8_scale_has_floor(const Law& law);
Outcome fp8_divides_exactly(const Law& law);
Outcome fnuz_keeps_values(const Law& law);

/// N9: exact sums.
Outcome sums_are_integer_sums(const Law& law);

}  // namespace mx::props::numerics
