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
  amax_ignores_nan,
  scale_rounds_down,
  scale_bumps_any_subnormal,
  scale_even_loses_carry,
  scale_nan_is_top,
  scale_infinite_is_nan,
  scale_subtracts_exponents,
  scale_log2_from_exponent,
  factor_forgets_exceptions,
  block_forgets_nan_codes,
  element_keeps_zero_sign,
  element_half_not_added,
  element_nan_positive,
  group_forgets_floor,
  group_divides_otherwise,
  group_power_rounds_down,
  directed_ignores_sign,
  stochastic_off_by_one,
  unrounded_rounds_first,
  saturation_leaves_no_flag,
  nan_loses_sign,
  nan_loses_payload,
  flush_forgets_source,
  flush_before_rounding,
  flush_leaves_no_flag,
  nvfp4_ignores_global_scale,
  nvfp4_scale_overflows,
  nvfp4_reciprocal_twice,
  nvfp4_multiplier_inverted,
  dequantize_ignores_tensor_scale,
  dequantize_does_not_clamp,
  dequantize_field_is_value,
  dequantize_rounds_late,
  dequantize_nan_scale_is_number,
  fp8_scale_floor_lost,
  fp8_divides_by_reciprocal,
  fnuz_scale_not_doubled,
  alignment_off_by_one,
  kept_off_by_one,
  aligned_rounds,
  product_normalized,
  zero_product_counts,
  alignment_has_floor,
  restart_doubled,
  chain_replaces_total,
  c_starts_chain,
  first_scale_serves_all,
  order_ascending,
  flush_lost,
  exp_series_too_short,
  ln_series_too_short,
  erf_series_too_short,
  wide_ties_away,
  wide_drops_sticky,
  wide_quotient_loses_rest,
  wide_root_rounds_down,
  // layout
  sf128x4_columns_swapped,
  sf128x4_rows_mixed,
  sf8x4_columns_first,
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
  // routing and layer
  router_tie_to_higher,
  router_negative_is_zero,
  router_excluded_is_zero,
  router_weight_from_choice,
  router_softmax_over_all,
  router_not_renormalised,
  router_factor_dropped,
  expert_offset_twice,
  layer_first_operand,
  layer_first_bias,
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
