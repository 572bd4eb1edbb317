"""Every fault that can be planted into a quantizer, a converter or an oracle is noticed from outside."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mxact
from conftest import SOURCE
from mxact import _core
from mxact._layers import fields_of
from mxact.testing import _converters, _quantizers, assert_converter, assert_kernel, assert_oracle, assert_quantizer
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
    "scale_rounds_down": "mxfp4 torchao-ceil@36027d8 bf16",
    "scale_bumps_any_subnormal": "mxfp4 torchao-rceil@36027d8 bf16",
    "scale_even_loses_carry": "mxfp4 torchao-even@36027d8 bf16",
    "scale_nan_is_top": "mxfp8_e4m3 ocp bf16",
    "scale_infinite_is_nan": "mxfp8_e4m3 flashinfer-mx bf16",
    "scale_subtracts_exponents": "mxfp4 torchao-rceil@36027d8 bf16",
    "scale_log2_from_exponent": "mxfp4 microxcaling-even f32",
    "factor_forgets_exceptions": "mxfp8_e4m3 triton-kernels-floor bf16",
    "block_forgets_nan_codes": "mxfp6_e2m3 torchao-floor@36027d8 bf16",
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
    "kernel_steps_late": "mxfp4 compressed-tensors-mx f32",
    "kernel_forgets_width": "fp8_e4m3 modelopt-fp8 bf16",
    "kernel_divides_alone": "nvfp4 flashinfer-reference-nvfp4 f32",
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
# Which converter: backend, version, format, order, sizes of the layer as experts x intermediate x hidden; then other choices.
CONVERTERS = {
    "sf128x4_columns_swapped": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "sf128x4_rows_mixed": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "shuffle_a_wrong_stride": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "gate_up_not_flipped": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "scale_rows_not_shuffled": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "pad_content_wrong": "DEEPGEMM 2026-05 fp8_block standard 2x256x512 platform=sm100",
    "inverse_ignores_padding": "DEEPGEMM 2026-05 fp8_block standard 2x256x512 platform=sm100",
    "halves_padded_together": "XPU 2026-08 mxfp4 standard 2x64x128 padded=128x256",
    "padding_before_elements": "XPU 2026-08 mxfp4 standard 2x64x128 padded=128x256",
    "bias_cast_to_low_half": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "last_expert_first": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "up_loaded_as_gate": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "scale_groups_reversed": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "restore_drops_last_unit": "EMULATION 2026-08 mxfp4 gpt_oss 2x256x512",
    "fp4word_nibbles_exchanged": "FLASHINFER_CUTLASS_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512 flashinfer=0.6.18",
    "hopper_padding_of_later_release": "TRITON 2026-05 mxfp4 gpt_oss 2x32x64 platform=sm90",
    "hopper_scale_lanes_exchanged": "TRITON 2026-08 mxfp4 standard 2x256x512 platform=sm90",
    "cdna4_pairs_exchanged": "AITER_MXFP4_MXFP4 2026-08 mxfp4 standard 2x256x512",
    "deepgemm_words_row_major": "DEEPGEMM 2026-05 fp8_block standard 2x256x2048 platform=sm100",
    "deepgemm_scales_not_transposed": "DEEPGEMM 2026-05 fp8_block standard 2x256x2048 platform=sm100",
    "fragment_halves_exchanged": "MARLIN 2026-08 mxfp4 standard 2x256x512",
    "scale_fours_kept": "MARLIN 2026-08 mxfp4 standard 2x256x512",
    "marlin_shards_padded_together": "MARLIN 2026-08 nvfp4 standard 2x96x256",
    "humming_scales_padded_with_zero": "HUMMING 2026-08 mxfp4 standard 2x96x160",
    "aiter_chunks_in_lanes": "AITER_MXFP4_MXFP4 2026-08 mxfp4 standard 2x256x512",
    "pairs_not_separated": "AITER_MXFP4_BF16 2026-08 mxfp4 gpt_oss 2x256x512",
    "halves_not_swapped": "FLASHINFER_B12X 2026-05 nvfp4 standard 2x256x512",
    "row_groups_of_one": "FLASHINFER_CUTEDSL 2026-05 nvfp4 standard 2x256x512",
    "cpu_scales_not_transposed": "CPU 2026-08 mxfp4 gpt_oss 2x256x512",
    "block_scales_not_swapped": "FLASHINFER_TRTLLM 2026-05 fp8_block standard 2x256x512",
    "w4a8_nibbles_exchanged": "CUTLASS 2026-05 int4 standard 2x256x512",
    "w4a8_rows_padded": "CUTLASS 2026-05 int4 standard 2x256x512",
    "layout_table_loses_row": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "identity_scale_rows_flipped": "XPU 2026-08 mxfp4 standard 2x256x512",
    "sf128x4_pads_to_lanes": "TRITON 2026-08 mxfp4 standard 1x32x64",
    "sf128x4_only_padded": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
    "fnuz_where_units_move": "TRITON 2026-08 fp8_block standard 2x256x512 platform=gfx942",
    "bytes_count_elements": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-08 mxfp4 standard 2x256x512",
}
# Which kernel of a layer: contract, activation; of MXFP4 with biases.
KERNELS = {
    "activation_clamps_gate_below": "f32-sequential SWIGLUOAI",
    "activation_adds_beta_last": "f32-sequential SWIGLUOAI",
    "layer_first_operand": "f32-sequential SWIGLUOAI",
    "layer_first_bias": "f32-sequential SWIGLUOAI",
    "order_ascending": "bf16-chain SWIGLUOAI",
    "alignment_off_by_one": "hopper-bf16 SWIGLUOAI",
    "kept_off_by_one": "hopper-bf16 SWIGLUOAI",
    "aligned_rounds": "hopper-bf16 SWIGLUOAI",
    "product_normalized": "hopper-bf16 SWIGLUOAI",
    "alignment_has_floor": "hopper-bf16 SWIGLUOAI",
}
# Which backend's: backend, version, format, order, activation.
BACKEND_KERNELS = {
    "sim_swaps_gate_and_up": "TRITON 2026-05 mxfp4 gpt_oss SWIGLUOAI",
    "sim_reads_linear": "FLASHINFER_TRTLLM_MXFP4_BF16 2026-05 mxfp4 gpt_oss SWIGLUOAI",
}
# What none of them has, by the reason.
CANNOT_BE_SAID = {
    "a dequantizer's": "fixed_point_loses_sign e8m0_zero_is_zero e8m0_top_is_infinite block_ignores_nan_scale dequantize_ignores_tensor_scale "
    "dequantize_does_not_clamp dequantize_field_is_value dequantize_rounds_late dequantize_nan_scale_is_number fnuz_scale_not_doubled "
    "dequantize_flushes_small_scales dequantize_adds_exponents kernel_scales_end_late kernel_never_clamps",
    "of conversions that no quantizer uses: other roundings, kept payloads, flags, flushing": "directed_ignores_sign stochastic_off_by_one unrounded_rounds_first "
    "infinity_overflows zero_rule_forgotten odd_is_cut rules_forget_tininess block_rules_lose_word "
    "saturation_leaves_no_flag nan_loses_payload flush_forgets_source flush_before_rounding flush_leaves_no_flag overflow_ignores_rounding",
    "a dot product's of codes that a device takes with their scales, or one with a start or a flush, where the plain run of a layer multiplies numbers": "exact_sum_loses_carry "
    "zero_product_counts restart_doubled chain_replaces_total c_starts_chain first_scale_serves_all flush_lost lanes_chain_together",
    "of matrices that are multiplied under a contract of tensor and matrix cores, which no layer that is drawn takes": "lanes_align_together join_forgets_reach "
    "scale_exponent_forgotten total_zero_keeps_sign kernel_drops_c",
    "of routing, and a kernel is handed ids and weights": "router_tie_to_higher router_negative_is_zero router_excluded_is_zero router_weight_from_choice router_softmax_over_all "
    "router_not_renormalised router_factor_dropped moe_kernel_keeps_all_groups",
    "of constants that gpt-oss has not, with which layers are drawn": "activation_beta_is_one activation_takes_wired sim_drops_alpha sim_ignores_limit",
    "of several ranks, of what they exchange or load, and a kernel is one rank's": "expert_offset_twice sim_shard_from_padded sim_bias_on_every_rank sim_expert_offset_twice sim_scales_stay_linear "
    "sim_flag_says_linear sim_scales_of_first_experts sim_keeps_padded_width sim_drops_rank_sum sim_adds_rank_sum_twice",
    "of FP8 blocks that ranks cut into finer ones, and a converter's layer is whole": "finer_squares_anywhere finer_squares_reversed groups_of_128_beside_finer_squares",
    "of launches that the number of tokens decides, and a kernel's is its own": "tile_grows_early sim_shares_token_scale sim_cuts_k_alone",
    "of runs that start from somebody's stage, and a kernel's is whole": "sim_starts_with_up",
    "an operation's or an integer's of an arithmetic unit": "zero_sum_is_positive least_integer_is_out_of_range",
    "a function's, or of wide arithmetic": "exp_series_too_short ln_series_too_short erf_series_too_short wide_ties_away wide_drops_sticky "
    "wide_quotient_loses_rest wide_root_rounds_down kernel_trusts_double",
    "of this project's own MoE kernels, which are held to the model and not to an engine": "moe_kernel_unpaired moe_kernel_drops_bias moe_kernel_slots_reversed moe_kernel_first_scale",
    "of refusals, and converters are asked for what the backend takes": "need_forgotten padding_of_other_engine",
    "of a building block that no backend has": "sf8x4_columns_first ggml_halves_are_neighbours packing_shifted_lies_low",
    "of the model's own tools: maps, comparison, the way back": "compare_skips_padding digit_flip_lost map_read_from_run_start bijection_accepts_gap "
    "restore_mixes_padding split_by_outer_extent compare_names_next_place any_backend_takes_any",
    "of scales that are no powers of two, which a converter quantizes anew before": "ue8m0_cuts_mantissa",
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
    there = [fault for area in ("numerics", "kernels", "layouts", "oracle", "moe", "simulator") for fault in planted_in(area)]
    assert sorted(there) == sorted([*QUANTIZERS, *CONVERTERS, *ORACLES, *KERNELS, *BACKEND_KERNELS, *reasons])
    assert len(there) > 170


def hold(planted: Planted, subject: str, kernels: bool) -> None:
    format, profile, source = subject.split()
    scale = "given" if any(_core.recipe_needs(format, profile, source)) else None
    assert_quantizer(planted.quantizer(format, profile, kernels), format, profile=profile, source=source, tensor_scale=scale)


@pytest.mark.parametrize("fault", QUANTIZERS)
def test_faults_of_quantizers(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)the quantizer of .* differs from profile .*x = .*replay: pytest"):
        hold(planted, QUANTIZERS[fault], fault in planted_in("kernels"))


def hold_converter(planted: Planted, subject: str) -> None:
    """On one layer: the law's own have no padding, and this is enough."""
    backend, engine, format, order, sizes, *words = subject.split()
    other = {"padded": sizes.split("x", 1)[1], **dict(word.split("=") for word in words)}
    choices = {"engine": engine, "format": format, "source_order": order, **other}
    bias = "gpt_oss" in order or format == "mxfp4"
    _, tensors = _core.layer_form(backend, [*fields_of(sizes, {**choices, "padded": sizes.split("x", 1)[1]}), ("has-bias", "yes" if bias else "no")])
    random = np.random.default_rng(3)
    layer = {name: _converters._tensor(name, dtype, tuple(shape), format, random) for name, dtype, shape in tensors}
    converter = planted.converter(backend, [(name.replace("_", "-"), value) for name, value in choices.items()])
    assert_converter(converter, backend, engine=engine, format=format, order=order, layer=layer, **other)


@pytest.mark.parametrize("fault", CONVERTERS)
def test_faults_of_converters(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)(, must be |, must have |the converter raises ).*replay: pytest"):
        hold_converter(planted, CONVERTERS[fault])


def test_without_a_fault_converters_hold() -> None:
    with Planted("none") as planted:
        for subject in sorted(set(CONVERTERS.values())):
            hold_converter(planted, subject)


def hold_kernel(planted: Planted, subject: str) -> None:
    contract, activation = subject.split()
    assert_kernel(planted.kernel(contract, "mxfp4", activation, "standard"), contract=contract, activation=activation, format="mxfp4", bias=True)


@pytest.mark.parametrize("fault", KERNELS)
@pytest.mark.mxact(examples=16)
def test_faults_of_kernels(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)the kernel differs from contract .*, must be .*(ulp|another sign|other magnitude|zero); .*replay: pytest"):
        hold_kernel(planted, KERNELS[fault])


def hold_backend(planted: Planted, subject: str) -> None:
    backend, engine, format, order, activation = subject.split()
    how = {"engine": engine, "format": format, "order": order}

    def spec(tensors: dict[str, np.ndarray]) -> str:  # type: ignore[type-arg]
        """Layers are drawn without padding, and their sizes show in the biases."""
        experts, rows = tensors["w13_bias"].shape[0], tensors["w13_bias"].size // tensors["w13_bias"].shape[0]
        hidden = tensors["w2_bias"].size // experts
        layer = _converters.packed_layer(backend, {"engine": engine, "format": format, "source_order": order}, True, (experts, rows // 2, hidden), 0)
        return mxact.pack(layer, backend, padded=f"{rows // 2}x{hidden}", **how).spec

    assert_kernel(planted.backend_kernel(spec, activation), backend=backend, activation=activation, bias=True, **how)


@pytest.mark.parametrize("fault", BACKEND_KERNELS)
@pytest.mark.mxact(examples=16)
def test_faults_of_backends_kernels(fault: str) -> None:
    backend = BACKEND_KERNELS[fault].split()[0]
    with Planted(fault) as planted, pytest.raises(AssertionError, match=f"(?s)the kernel differs from {backend} .*, must be .*(ulp|another sign|other magnitude|zero); .*replay: pytest"):
        hold_backend(planted, BACKEND_KERNELS[fault])


@pytest.mark.mxact(examples=16)
def test_without_a_fault_kernels_hold() -> None:
    with Planted("none") as planted:
        for subject in sorted(set(KERNELS.values())):
            hold_kernel(planted, subject)
        for subject in sorted(set(BACKEND_KERNELS.values())):
            hold_backend(planted, subject)


@pytest.mark.parametrize("fault", ORACLES)
def test_faults_of_oracles(fault: str) -> None:
    with Planted(fault) as planted, pytest.raises(AssertionError, match="(?s)the answer is .*deployment: .*replay: pytest"):
        assert_oracle(planted.oracle(ORACLES[fault]), engine="vllm@2026-05", oracle=ORACLES[fault])


@pytest.mark.parametrize("subject", sorted(set(QUANTIZERS.values())))
def test_without_a_fault_quantizers_hold(subject: str) -> None:
    with Planted("none") as planted:
        hold(planted, subject, False)


@pytest.mark.parametrize("oracle", ["mxfp4", "fp8"])
def test_without_a_fault_oracles_hold(oracle: str) -> None:
    with Planted("none") as planted:
        assert_oracle(planted.oracle(oracle), engine="vllm@2026-05", oracle=oracle)
