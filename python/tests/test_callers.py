"""What a caller meets in the first minutes: lists, dtypes that do not fit, a packed layer at the prompt, names by other words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from mxact import testing


def f32(values: Any) -> Any:
    return np.float32(values)


E2M1 = ml_dtypes.float4_e2m1fn


def test_lists_are_taken_where_a_dtype_has_them_exactly() -> None:
    assert mxact.convert([1, 2, 448], "e4m3fn").view(np.uint8).tolist() == [0x38, 0x40, 0x7E]
    assert mxact.convert([[0.5], [-1.0]], "e4m3fn").shape == (2, 1)
    assert mxact.convert([0x38, 0x40], "f32", source="e4m3fn").tolist() == [1, 2]
    assert mxact.convert((0x3F80,), "f32", source="bf16").tolist() == [1]
    assert mxact.convert_flags([1.5, float("nan")], "e4m3fn").tolist() == [0, int(mxact.Flags.NAN)]
    numbers = [0.0, 1.0, 3.0, 6.0] * 8
    ours = mxact.quantize(numbers, "mxfp4")
    assert np.array_equal(ours.codes.view(np.uint8), mxact.quantize(np.float32(numbers), "mxfp4").codes.view(np.uint8))
    listed = mxact.Quantized(ours.codes.view(np.uint8).tolist(), ours.scales.view(np.uint8).tolist(), None, "mxfp4", "ocp", "f32", -1)
    assert mxact.dequantize(listed).tolist() == numbers
    assert mxact.dot([1.0, 2.0], [3.0, 4.0], "exact") == 11
    assert mxact.matmul([[1.0, 2.0]], [[3.0], [4.0]], "exact").tolist() == [[11]]
    assert mxact.activate([1.0], [2.0], "silu_and_mul") == mxact.activate(f32([1]), f32([2]), "silu_and_mul")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mxact.convert([1.0, 0.1], "e4m3fn"), "x[1] is 0.1, which no float32 is"),
        (lambda: mxact.convert([[1], [(1 << 24) + 1]], "e4m3fn"), "x[1, 0] is 16777217, which no float32 is"),
        (lambda: mxact.convert([0x38, 256], "f32", source="e4m3fn"), "x[1] is 256, which no uint8 is"),
        (lambda: mxact.convert([-1], "f32", source="e4m3fn"), "x[0] is -1, which no uint8 is"),
        (lambda: mxact.convert([1.0], "f32", source="e4m3fn"), "x is float64, must be uint8 or float8_e4m3fn, as codes of e4m3fn are"),
        (lambda: mxact.convert(np.int64([1]), "f32", source="e4m3fn"), "x is int64, must be uint8 or float8_e4m3fn, as codes of e4m3fn are"),
        (lambda: mxact.convert(np.uint16([1]), "f32", source="e4m3fn"), "x is uint16, but codes of e4m3fn are uint8 or float8_e4m3fn"),
        (lambda: mxact.convert(np.float16([1]), "f32", source="e4m3fn"), "x is float16, which has codes of fp16, not of e4m3fn: uint8 or float8_e4m3fn fits"),
        (lambda: mxact.convert(np.int8([1]), "f32", source="ue4m3"), "x is int8, must be uint8, as codes of ue4m3 are"),
        (lambda: mxact.dot(np.complex64([1]), np.float32([1]), "exact"), "a is complex64, must be one of float8_e4m3fn, "),
        (lambda: mxact.matmul(f32([[1]]), f32([[1]]), "exact", c=np.complex64([[1]])), "c is complex64, must be float32 or what NumPy makes float32 of"),
        (lambda: mxact.layout("sf_128x4", (128, 4)).where(rows=0.5), "rows is float64, must be whole numbers: int8 to int64 or uint8 to uint64"),
    ],
)
def test_errors_of_dtypes_name_those_that_fit(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(mxact.Error) as caught:
        call()
    assert str(caught.value).startswith(sentence)


def test_a_packed_layer_shows_itself_in_ten_lines() -> None:
    random = np.random.default_rng(0)
    shapes = {"w13_weight": (2, 512, 128), "w13_weight_scale": (2, 512, 8), "w2_weight": (2, 256, 128), "w2_weight_scale": (2, 256, 8)}
    layer = {name: random.integers(0, 200, shape, dtype=np.uint8) for name, shape in shapes.items()}
    packed = mxact.pack(layer, "FLASHINFER_TRTLLM_MXFP4_BF16", engine="2026-08", order="standard")
    lines = repr(packed).splitlines()
    assert lines[0] == f"mxact.Packed({packed.spec})"
    assert f"  w13_weight: uint8 {list(packed['w13_weight'].shape)}" in lines
    assert len(lines) <= 10
    many = mxact.Packed({f"t{i}": np.zeros((2, i)) for i in range(12)}, (mxact.Loss("t0", "rounded", 3),), "BACKEND", ("a note",))
    lines = repr(many).splitlines()
    assert len(lines) == 10
    assert lines[1] == "  t0: float64 [2, 0]"
    assert lines[-1] == "  and 6 lines more"
    assert repr(mxact.Packed({}, (mxact.Loss("w", "rounded", 3),), "BACKEND", ("a note",))).splitlines()[1:] == ["  lost: 3 of w, rounded", "  note: a note"]


@pytest.mark.parametrize(("typed", "meant"), [("B200", "SM100"), ("h200", "SM90"), ("MI300X", "gfx942")])
def test_a_card_is_its_platform(typed: str, meant: str) -> None:
    shapes = {"w13_weight": (1, 256, 64), "w13_weight_scale": (1, 256, 4), "w2_weight": (1, 128, 64), "w2_weight_scale": (1, 128, 4)}
    layer = {name: np.zeros(shape, np.uint8) for name, shape in shapes.items()}
    one, other = (mxact.pack(layer, "TRITON", format="mxfp4", order="standard", platform=name) for name in (typed, meant))
    assert one.spec == other.spec
    with pytest.raises(mxact.Error, match="unknown platform 'B20' "):
        mxact.pack(layer, "TRITON", format="mxfp4", order="standard", platform="B20")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda out: -out, "another sign"),
        (lambda out: out * 0, "zero"),
        (lambda out: out * 64, "another magnitude"),
        (lambda out: out * np.float32("nan"), "no finite number"),
        (lambda out: out + np.spacing(out), "1 ulp"),
    ],
)
def test_distances_that_say_nothing_are_words(change: Callable[[Any], Any], sentence: str) -> None:
    def kernel(x: Any, ids: Any, weights: Any, tensors: Any) -> Any:
        w13, w2 = (mxact.dequantize(mxact.Quantized(codes(tensors[f"{name}_weight"]), tensors[f"{name}_weight_scale"], None, "mxfp4", "ocp", "f32", -1)) for name in ("w13", "w2"))
        return change(mxact.moe_layer(x=x, w13=w13, w2=w2, ids=ids, weights=weights, contract="exact", activation="silu_and_mul"))

    def codes(packed: Any) -> Any:
        return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1).view(E2M1)

    with pytest.raises(AssertionError) as failed:
        testing.assert_kernel(kernel, order_proof=True, activation="SILU", format="mxfp4")
    line = next(line for line in str(failed.value).splitlines() if line.startswith("out["))
    assert f", {sentence}; " in line


def test_releases_by_pep_440() -> None:
    layer = {"experts": 8, "top_k": 2, "hidden": 256, "intermediate": 256}
    answers = [mxact.select({"platform": "SM90", "layer": layer}, engine=name)["choice"] for name in ("vllm==0.29.0", "vllm==0.29", "v0.29.0", "0.29.0+cu130")]
    assert all(answer == answers[0] for answer in answers)
    with pytest.raises(mxact.Error, match=r"release vllm==0.29.0rc1 is not known: of the nearest 0.29.0 is "):
        mxact.select({"platform": "SM90", "layer": layer}, engine="vllm==0.29.0rc1")
