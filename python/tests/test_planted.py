"""Every fault that can be planted into a quantizer or an oracle is noticed from outside."""

from __future__ import annotations

import re

import pytest

from conftest import SOURCE
from mxact import _core
from mxact.testing import _quantizers, assert_oracle, assert_quantizer
from planted import Planted

# Which quantizer shows a fault: block format, profile, source. A recipe that takes a tensor's number is given one.
QUANTIZERS = {
    "encode_ties_away": "mxfp8_e4m3 ocp bf16",
    "encode_drops_sticky": "mxfp8_e4m3 ocp bf16",
    "encode_loses_carry": "mxfp8_e4m3 ocp bf16",
    "encode_saturates_low": "mxfp8_e4m3 ocp bf16",
    "encode_drops_zero_sign": "mxfp8_e4m3 ocp bf16",
    "decode_subnormal_shift": "mxfp8_e4m3 ocp bf16",
    "scale_floor_off_by_one": "mxfp8_e4m3 ocp f32",
    "nvfp4_ignores_global_scale": "nvfp4 flashinfer-fast bf16",
    "nvfp4_scale_overflows": "nvfp4 flashinfer-fast bf16",
    "nvfp4_reciprocal_twice": "nvfp4 flashinfer-fast bf16",
    "nvfp4_multiplier_inverted": "nvfp4 torchao-nvfp4 f32",
    "fp8_scale_floor_lost": "fp8_e4m3 vllm-fp8-token bf16",
    "fp8_divides_by_reciprocal": "fp8_e4m3 torchao-fp8 bf16",
    "amax_ignores_nan": "mxfp8_e4m3 ocp bf16",
    "scale_rounds_down": "mxfp4 torchao-ceil bf16",
    "scale_bumps_any_subnormal": "mxfp4 torchao-rceil bf16",
    "scale_even_loses_carry": "mxfp4 torchao-even bf16",
    "scale_nan_is_top": "mxfp8_e4m3 ocp bf16",
    "scale_infinite_is_nan": "mxfp8_e4m3 flashinfer-mx bf16",
    "scale_subtracts_exponents": "mxfp4 torchao-rceil bf16",
    "scale_log2_from_exponent": "mxfp4 microxcaling-even f32",
    "factor_forgets_exceptions": "mxfp8_e4m3 triton-kernels-floor bf16",
    "block_forgets_nan_codes": "mxfp6_e2m3 torchao-floor bf16",
    "element_keeps_zero_sign": "mxfp8_e4m3 microxcaling-even bf16",
    "element_half_not_added": "mxfp4 microxcaling-even f32",
    "element_nan_positive": "mxfp8_e4m3 triton-kernels-floor bf16",
    "group_forgets_floor": "fp8_e4m3_g128 deepgemm bf16",
    "group_divides_otherwise": "fp8_e4m3_g128 deepgemm bf16",
    "group_power_rounds_down": "fp8_e4m3_g128 deepgemm-ue8m0 bf16",
    "nan_loses_sign": "mxfp8_e4m3 triton-kernels-floor bf16",
    "element_unit_from_exponent": "mxfp8_e4m3 microxcaling-floor f32",
    "group_power_by_logarithm": "fp8_e4m3_g128 deepgemm-ue8m0 bf16",
    "kernel_ties_toward_zero": "mxfp8_e4m3 ocp bf16",
    "kernel_keeps_irregular": "mxfp8_e4m3 ocp bf16",
    "kernel_never_doubts": "mxfp8_e4m3 microxcaling-even f32",
    "kernel_forgets_floor": "fp8_e4m3_g128 deepgemm f32",
}
ORACLES = {
    "oracle_skips_device_check": "mxfp4",
    "oracle_accepts_any_activation": "mxfp4",
    "oracle_skips_first_candidate": "mxfp4",
    "oracle_ignores_parallel": "mxfp4",
    "oracle_swallows_refusal": "mxfp4",
    "oracle_ignores_environment": "mxfp4",
    "oracle_ignores_requested_key": "mxfp4",
    "oracle_forgets_batched_member": "fp8",
    "oracle_wants_exact_device": "mxfp4",
    "oracle_moves_nothing_to_front": "fp8",
    "oracle_ignores_wish": "mxfp4",
}
# What no quantizer and no oracle has, by the reason.
CANNOT_BE_SAID = {
    "a dequantizer's": "fixed_point_loses_sign e8m0_zero_is_zero e8m0_top_is_infinite block_ignores_nan_scale dequantize_ignores_tensor_scale "
    "dequantize_does_not_clamp dequantize_field_is_value dequantize_rounds_late dequantize_nan_scale_is_number fnuz_scale_not_doubled "
    "dequantize_flushes_small_scales dequantize_adds_exponents kernel_scales_end_late kernel_never_clamps",
    "of conversions that no quantizer uses: other roundings, kept payloads, flags, flushing": "directed_ignores_sign stochastic_off_by_one unrounded_rounds_first "
    "saturation_leaves_no_flag nan_loses_payload flush_forgets_source flush_before_rounding flush_leaves_no_flag overflow_ignores_rounding",
    "a dot product's": "exact_sum_loses_carry alignment_off_by_one kept_off_by_one aligned_rounds product_normalized zero_product_counts alignment_has_floor "
    "restart_doubled chain_replaces_total c_starts_chain first_scale_serves_all order_ascending flush_lost",
    "a function's, or of wide arithmetic": "exp_series_too_short ln_series_too_short erf_series_too_short wide_ties_away wide_drops_sticky "
    "wide_quotient_loses_rest wide_root_rounds_down kernel_trusts_double",
    "an MoE kernel's": "moe_kernel_unpaired moe_kernel_drops_bias moe_kernel_slots_reversed moe_kernel_first_scale moe_kernel_keeps_all_groups",
    "changes the sizes, and an oracle answers with a backend's name": "oracle_rounds_down oracle_rounds_other_side",
    "changes what is said beside the name": "oracle_forgets_own_key oracle_hides_refusals strict_hides_skips",
    "changes the text of a refusal, and any exception is one": "oracle_ends_without_answer",
}


pytestmark = pytest.mark.mxact(examples=5)


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch is enough: it is what an ordinary test has four of."""
    monkeypatch.setattr(_quantizers, "_BATCHES", 1)


def planted_in(area: str) -> list[str]:
    return re.findall(r'FaultRow\{\s*Fault::\w+, "(\w+)"', (SOURCE / f"props/faults/{area}.cpp").read_text())


def test_every_fault_is_in_one_table() -> None:
    reasons = [fault for faults in CANNOT_BE_SAID.values() for fault in faults.split()]
    there = [fault for area in ("numerics", "kernels", "oracle") for fault in planted_in(area)]
    assert sorted(there) == sorted([*QUANTIZERS, *ORACLES, *reasons])
    assert len(there) > 90


def hold(planted: Planted, subject: str, kernels: bool) -> None:
    format, profile, source = subject.split()
    scale = "given" if any(_core.recipe_needs(format, profile, source)) else None
    assert_quantizer(planted.quantizer(format, profile, kernels), format, profile=profile, source=source, tensor_scale=scale)


@pytest.mark.parametrize("fault", QUANTIZERS)
def test_faults_of_quantizers(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)the quantizer of .* differs from profile .*x = .*replay: pytest"):
        hold(planted, QUANTIZERS[fault], fault in planted_in("kernels"))


@pytest.mark.parametrize("fault", ORACLES)
def test_faults_of_oracles(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)the answer is .*deployment: .*replay: pytest"):
        assert_oracle(planted.oracle(ORACLES[fault]), oracle=ORACLES[fault])


@pytest.mark.parametrize("subject", sorted(set(QUANTIZERS.values())))
def test_without_a_fault_quantizers_hold(subject: str) -> None:
    with Planted("none") as planted:
        hold(planted, subject, False)


@pytest.mark.parametrize("oracle", ["mxfp4", "fp8"])
def test_without_a_fault_oracles_hold(oracle: str) -> None:
    with Planted("none") as planted:
        assert_oracle(planted.oracle(oracle), oracle=oracle)
