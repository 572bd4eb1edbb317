#pragma once
// What the numeric laws share: every one is tried on random cases first, which shrink and replay, then on all cases where these are few.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "props/law.hpp"
#include "props/numerics/grid.hpp"

namespace mx::props::numerics {

/// fp32 patterns that one case of N2 and N3 draws: tests/props/generator_strength.cpp says how many of the planted faults so many of them notice.
inline constexpr int kPatternsPerCase = 10;

/// What follows the first '/' of a law's id: "e4m3fn" of "N1/e4m3fn".
std::string_view subject_of(const Law& law);

/// The property under RapidCheck, then the loop over all cases; the counts add up.
Outcome run_both(const Law& law, const std::function<void()>& property, const std::function<void(Exhaustive&)>& all_cases);

/// For messages: the line that asks `mxact encode` about a pattern.
std::string encode_line(std::uint32_t f32, const Format& to);

/// Every conversion into a format that FORMAT.md's words can state, without a stochastic rounding, for each way to flush and each NaN rule.
std::vector<Conversion> every_conversion(const Grid& grid);

/// fp32 patterns at the ends of the format, of fp32 and of its NaNs, both signs.
std::vector<std::uint32_t> extreme_patterns(const Grid& grid);

/// The code that a conversion without a stochastic rounding or a payload rule gives finite fp32 bits, Inf or NaN, by the documents' table alone.
std::uint32_t restated_code(const Grid& grid, std::uint32_t f32, const Conversion& how);

/// N1: encoding undoes decoding. N2: encoding is the correct rounding. N4: E8M0 bytes as numbers.
Outcome codes_return(const Law& law);
Outcome encode_is_nearest(const Law& law);
Outcome scales_widen(const Law& law);

/// N2: a stochastic rounding goes up for the right share of random numbers.
Outcome share_is_fraction(const Law& law);
/// N3: overflow, underflow, Inf, NaN, flushing and the flags. N7: the fast twin.
Outcome table_holds(const Law& law);
Outcome twin_equals_model(const Law& law);
/// N16: texts of rules, and of block rules.
Outcome rules_return(const Law& law);
Outcome block_rules_return(const Law& law);
/// N7: the kernels of every tier.
Outcome kernels_quantize(const Law& law);
Outcome kernels_quantize_looked_up(const Law& law);
Outcome kernels_dequantize(const Law& law);
Outcome kernels_evaluate(const Law& law);
Outcome kernels_multiply(const Law& law);

/// N5: the scale of an amax. N6: blocks.
Outcome scale_follows_amax(const Law& law);
Outcome blocks_round_once(const Law& law);

/// N5, N6 by profile: the scales and the blocks of one implementation's recipes.
Outcome recipe_scales_follow_amax(const Law& law);
Outcome recipe_blocks_round_once(const Law& law);

/// N6 by implementation: every recipe of its profiles against the program that it runs (programs.hpp).
Outcome recipes_are_programs(const Law& law);
/// The first block of a profile's recipes that the model quantizes otherwise than the program, or what one has and the other has not; "" for none.
/// `cases` goes up by what was tried. Throws Error(usage) for an unknown profile.
std::string program_mistake(std::string_view profile, std::uint64_t& cases);

/// N4 by dialect: each E8M0 byte, E2M1 code and target as one implementation dequantizes them.
Outcome dialect_dequantizes(const Law& law);

/// N4 by implementation: every dequantizer of its profiles against the program that it runs (back_programs.hpp); the first mistake of one profile.
Outcome dequantizers_are_programs(const Law& law);
std::string back_program_mistake(std::string_view profile, std::uint64_t& cases);

/// N6, N8 of NVFP4: a block's scale and codes; scaling the tensor and its scale. N8: a tensor's own scale matters when dequantizing.
Outcome nvfp4_scales_and_codes(const Law& law);
Outcome nvfp4_scale_splits(const Law& law);
Outcome tensor_scale_matters(const Law& law);

/// FP8. N5: the scale of a token. N6: division by a given scale. N8: E4M3 read as FNUZ.
Outcome fp8_scale_has_floor(const Law& law);
Outcome fp8_divides_exactly(const Law& law);
Outcome fnuz_keeps_values(const Law& law);

/// N9: exact sums; operations of a unit and its integers.
Outcome sums_are_integer_sums(const Law& law);
Outcome operations_round_once(const Law& law);
Outcome integers_round_once(const Law& law);

/// N10: one contract restated in integers. N11 to N13: what holds for all of them.
Outcome exact_is_restated(const Law& law);
Outcome f32_sequential_is_restated(const Law& law);
Outcome hopper_is_restated(const Law& law);
Outcome bf16_chain_is_restated(const Law& law);
Outcome bf16_pair_is_restated(const Law& law);
Outcome bf16_block_is_restated(const Law& law);
Outcome int8_block_is_restated(const Law& law);
Outcome cores_are_restated(const Law& law);
Outcome library_products_are_restated(const Law& law);
Outcome scaled_cores_are_restated(const Law& law);
Outcome matrix_cores_are_restated(const Law& law);
Outcome zero_products_do_not_count(const Law& law);
Outcome order_proof_sums_agree(const Law& law);
Outcome powers_of_two_move_through(const Law& law);

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
