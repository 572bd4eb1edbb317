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

/// N10: one contract restated in integers. N11 to N13: what holds for all of them.
Outcome hopper_is_restated(const Law& law);
Outcome bf16_chain_is_restated(const Law& law);
Outcome bf16_block_is_restated(const Law& law);
Outcome int8_block_is_restated(const Law& law);
Outcome zero_products_do_not_count(const Law& law);
Outcome order_proof_sums_agree(const Law& law);
Outcome powers_of_two_move_through(const Law& law);

}  // namespace mx::props::numerics
