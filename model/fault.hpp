#pragma once
// Planted faults: places where a test build of the model can be made wrong on purpose, to prove that the laws notice.
// Include this from .cpp files only: a shipped build compiles every `planted` to false.

namespace mx::fault {

/// Every fault that the model can carry; the table of what each breaks and which law kills it is props/faults.cpp.
enum class Fault {
  none,
  // numerics
  encode_ties_away,
  encode_drops_sticky,
  encode_loses_carry,
  encode_saturates_low,
  encode_drops_zero_sign,
  decode_subnormal_shift,
  fixed_point_loses_sign,
  e8m0_zero_is_zero,
  e8m0_top_is_infinite,
  scale_floor_off_by_one,
  block_ignores_nan_scale,
  exact_sum_loses_carry,
  exp_series_too_short,
  ln_series_too_short,
  erf_series_too_short,
  wide_ties_away,
  wide_drops_sticky,
  wide_quotient_loses_rest,
  wide_root_rounds_down,
  activation_beta_is_one,
  activation_clamps_gate_below,
  activation_adds_beta_last,
  // layout
  sf128x4_columns_swapped,
  sf128x4_rows_mixed,
  shuffle_a_wrong_stride,
  gate_up_not_flipped,
  scale_rows_not_shuffled,
  pad_content_wrong,
  inverse_ignores_padding,
  halves_padded_together,
  bias_cast_to_low_half,
  compare_skips_padding,
  digit_flip_lost,
  map_read_from_run_start,
  bijection_accepts_gap,
  padding_before_elements,
  restore_mixes_padding,
  identity_scale_rows_flipped,
  // oracle
  oracle_skips_device_check,
  oracle_accepts_any_activation,
  oracle_skips_first_candidate,
  oracle_rounds_down,
  oracle_ignores_parallel,
  oracle_swallows_refusal,
  oracle_ignores_environment,
  oracle_ignores_requested_key,
  oracle_forgets_batched_member,
  oracle_forgets_own_key,
  kCount,  ///< not a fault: how many enumerators stand before it
};

#ifdef MXACT_FAULTS
/// The fault that is switched on in this process (Fault::none at start).
Fault active() noexcept;
/// Switches one fault on, or all off with Fault::none. Not thread safe: set it before the work starts.
void set_active(Fault fault) noexcept;
inline bool planted(Fault fault) noexcept { return active() == fault; }
#else
constexpr bool planted(Fault) noexcept { return false; }
#endif

}  // namespace mx::fault
