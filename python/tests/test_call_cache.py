"""Calls whose names and dtypes were seen before: the same bits, arrays and errors as a first call, which strided memory always makes."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact

Array = np.ndarray[Any, np.dtype[Any]]
RANDOM = np.random.default_rng(7)


def strided(x: Array) -> Array:
    """The same numbers where no call reads them in place."""
    return np.repeat(x, 2, axis=-1)[..., ::2]


def numbers(*shape: int) -> Array:
    """Any fp32 bits, NaNs and infinities among them."""
    return RANDOM.integers(0, 1 << 32, shape, dtype=np.uint32).view(np.float32)


def same(a: Array, b: Array) -> bool:
    return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("shape", [(1,), (32,), (3, 5), (2, 3, 4), (4095,), (4097,), (70000,), (2, 40000)])
@pytest.mark.parametrize(("to", "profile"), [("e4m3fn", "torch-cpu"), ("e8m0", "ocp"), ("bf16", "ocp"), ("e2m1", "ocp"), ("f32", "ocp")])
def test_numbers_convert_cached(shape: tuple[int, ...], to: str, profile: str) -> None:
    for _ in range(3):
        x = numbers(*shape)
        assert same(mxact.convert(x, to, profile), mxact.convert(strided(x), to, profile))


@pytest.mark.parametrize("source", ["e4m3fn", "e5m2", "e2m1", "bf16"])
def test_codes_convert_cached(source: str) -> None:
    """Long enough for the table of 8 bits, which comes with the calls."""
    width = {"e2m1": 4, "bf16": 16}.get(source, 8)
    for _ in range(40):
        codes = RANDOM.integers(0, 1 << width, 17).astype(np.uint16 if width == 16 else np.uint8)
        assert same(mxact.convert(codes, "f32", source=source), mxact.convert(strided(codes), "f32", source=source))


@pytest.mark.parametrize(("format", "profile"), [("mxfp4", "ocp"), ("mxfp8_e4m3", "ocp"), ("mxfp6_e2m3", "ocp"), ("mxint8", "ocp"), ("mxfp4", "torchao-rceil")])
@pytest.mark.parametrize("shape", [(32,), (3, 64), (2, 2, 32), (130, 64)])
def test_tensors_quantize_cached(format: str, profile: str, shape: tuple[int, ...]) -> None:
    for _ in range(3):
        x = numbers(*shape)
        a, b = mxact.quantize(x, format, profile), mxact.quantize(strided(x), format, profile)
        assert same(a.codes, b.codes)
        assert same(a.scales, b.scales)
        assert {n: v for n, v in vars(a).items() if n not in ("codes", "scales")} == {n: v for n, v in vars(b).items() if n not in ("codes", "scales")}
        assert list(vars(a)) == list(vars(b))
        assert same(pickle.loads(pickle.dumps(a)).codes, b.codes)
        for to in ("f32", "bf16") if format.startswith("mxfp") else ("f32",):
            by = profile if to == "bf16" else None
            try:
                right = mxact.dequantize(mxact.Quantized(strided(b.codes), strided(b.scales), None, b.format, b.profile, b.source, b.axis), to, by)
            except mxact.Error:
                continue
            assert same(mxact.dequantize(a, to, by), right)
            assert same(mxact.dequantize(a, to, by), right)


def test_tensor_scales_are_told_apart() -> None:
    x = RANDOM.standard_normal((4, 32)).astype(np.float32)
    for _ in range(2):
        for scale in (1.5, 3.0, mxact.TensorScale(encode=1.5), mxact.TensorScale(encode=3.0)):
            a = mxact.quantize(x, "nvfp4", "vllm-nvfp4", tensor_scale=scale)
            b = mxact.quantize(strided(x), "nvfp4", "vllm-nvfp4", tensor_scale=scale)
            assert same(a.codes, b.codes)
            assert same(a.scales, b.scales)
            assert a.tensor_scale == b.tensor_scale
            assert same(mxact.dequantize(a), mxact.dequantize(b))


def test_what_is_no_plain_array_is_answered_as_ever() -> None:
    x = numbers(4, 32)
    for _ in range(2):
        right = mxact.convert(x, "e4m3fn")
        assert same(mxact.convert(x.astype(">f4").astype("<f4"), "e4m3fn"), right)
        assert same(mxact.convert(x.view(np.recarray), "e4m3fn"), right)
        assert same(mxact.convert(np.asfortranarray(x), "e4m3fn"), right)
        assert mxact.convert(x[0, 0], "e4m3fn").shape == ()
        assert mxact.convert(x[:0], "e4m3fn").shape == (0, 32)
        assert same(mxact.quantize(x.T, "mxfp4", axis=0).codes.T.copy(), mxact.quantize(x, "mxfp4").codes)
        assert same(mxact.quantize(x.T.copy(), "mxfp4", axis=0).codes.T.copy(), mxact.quantize(x, "mxfp4").codes)
        assert mxact.quantize(x, "mxfp4", flags=True).flags is not None
        assert mxact.quantize(x, "mxfp4").flags is None
        with pytest.raises(mxact.Error, match="of the other byte order"):
            mxact.convert(np.arange(4, dtype=">u2"), "f32", source="bf16")


def test_errors_are_those_of_a_first_call() -> None:
    ok = np.arange(16, dtype=np.uint8)
    x = numbers(2, 32)
    q = mxact.quantize(x, "mxfp4")
    for _ in range(3):
        mxact.convert(ok, "f32", source="e2m1")
        mxact.convert(x, "e4m3fn")
        mxact.quantize(x, "mxfp4")
        mxact.dequantize(q)
        with pytest.raises(mxact.Error, match="element 3 is 16, but codes of e2m1 have 4 bits"):
            mxact.convert(np.uint8([0, 1, 2, 16]), "f32", source="e2m1")
        with pytest.raises(mxact.Error, match="must be a multiple of 32"):
            mxact.quantize(x[:, :31].copy(), "mxfp4")
        with pytest.raises(mxact.Error, match="axis is 2, must be in"):
            mxact.quantize(x, "mxfp4", axis=2)
        with pytest.raises(mxact.Error, match="flags is 1, must be True or False"):
            mxact.quantize(x, "mxfp4", flags=1)  # type: ignore[arg-type]
        with pytest.raises(mxact.Error, match="e4m4fn"):
            mxact.convert(x, "e4m4fn")
        with pytest.raises(mxact.Error, match="to is of type int, must be text"):
            mxact.convert(x, 3)  # type: ignore[arg-type]
        with pytest.raises(mxact.Error, match="q is of type int, must be Quantized"):
            mxact.dequantize(3)  # type: ignore[arg-type]
        with pytest.raises(mxact.Error, match="one scale for each block"):
            mxact.dequantize(mxact.Quantized(q.codes, q.scales[:, :0].copy(), None, q.format, q.profile, q.source, q.axis))
        with pytest.raises(mxact.Error, match="one scale for each block"):
            mxact.dequantize(mxact.Quantized(q.codes, q.scales[:1], None, q.format, q.profile, q.source, q.axis))
        with pytest.raises(mxact.Error, match="codes of e2m1 have 4 bits"):
            mxact.dequantize(mxact.Quantized(q.codes.view(np.uint8) | np.uint8(16), q.scales, None, q.format, q.profile, q.source, q.axis))


def test_many_names_take_each_others_place() -> None:
    x = numbers(8)
    for _ in range(2):
        for profile in mxact.profiles():
            for to in ("e4m3fn", "e5m2", "bf16"):
                try:
                    first = mxact.convert(strided(x), to, profile)
                except mxact.Error:
                    continue
                assert same(mxact.convert(x, "".join(to), profile), first)
                assert same(mxact.convert(x, to, profile), first)


def test_results_are_their_own() -> None:
    x = np.ones((2, 32), np.float32)
    mxact.quantize(x, "mxfp4")
    a, b = mxact.quantize(x, "mxfp4"), mxact.quantize(x, "mxfp4")
    a.codes.view(np.uint8)[:] = 0
    a.scales.view(np.uint8)[:] = 0
    assert b.codes.view(np.uint8).all()
    assert b.scales.view(np.uint8).all()
    assert vars(a) is not vars(b)
    with pytest.raises(AttributeError):
        a.format = "other"  # type: ignore[misc]
    assert mxact.convert(x, "bf16").dtype == ml_dtypes.bfloat16
