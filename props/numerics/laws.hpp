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

/// N9: exact sums.
Outcome sums_are_integer_sums(const Law& law);

/// N14: elementary functions. N15: wide arithmetic.
Outcome functions_round_once(const Law& law);
Outcome wide_sums_round_once(const Law& law);
Outcome wide_products_round_once(const Law& law);
Outcome wide_quotients_round_once(const Law& law);
Outcome wide_roots_round_once(const Law& law);
Outcome wide_functions_are_close(const Law& law);

/// S1: activations.
Outcome activation_constants_matter(const Law& law);
Outcome activation_limits_bound(const Law& law);
Outcome activation_zeros_stay(const Law& law);

}  // namespace mx::props::numerics
