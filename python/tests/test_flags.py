"""What happened on the way: held to the program's words, and for blocks to what float64 says of exact quotients."""

from __future__ import annotations

import numpy as np
import pytest

import mxact
from conftest import hard_f32, program


def test_flags_of_conversions_are_the_programs() -> None:
    x = hard_f32(300, 21)
    seen = 0
    for profile, format in [("torch-cpu", "e4m3fn"), ("ocp", "e5m2"), ("ocp", "e2m1"), ("numpy", "fp16")]:
        found = mxact.convert_flags(x.view(np.float32), format, profile=profile)
        results = program("encode", format, "--profile", profile, values=x)["results"]
        expected = [sum(mxact.Flags[word.upper()] for word in result["flags"].split()) for result in results]
        assert found.dtype == np.uint8
        assert found.tolist() == expected
        seen |= int(np.bitwise_or.reduce(found))
    assert seen & (mxact.Flags.INEXACT | mxact.Flags.UNDERFLOW | mxact.Flags.OVERFLOW | mxact.Flags.SATURATED | mxact.Flags.NAN)
    with pytest.raises(mxact.Error, match="random bits"):
        mxact.convert_flags(x.view(np.float32), "e4m3fn", profile="hip-stochastic")


@pytest.mark.parametrize("axis", [0, 1])
def test_flags_of_blocks(axis: int) -> None:
    x = np.random.default_rng(3).standard_normal((64, 64)).astype(np.float32)
    q = mxact.quantize(x, "mxfp8_e4m3", profile="torchao-floor@36027d8", axis=axis, flags=True)
    assert mxact.quantize(x, "mxfp8_e4m3", profile="torchao-floor@36027d8", axis=axis).flags is None
    assert q.flags.shape == x.shape
    # A power of two divides exactly, so the last rounding is all there is.
    quotient = x.astype(np.float64) / np.repeat(q.scales.astype(np.float64), 32, axis=axis)
    rounded = q.codes.astype(np.float64)
    assert np.array_equal(q.flags & mxact.Flags.INEXACT != 0, rounded != quotient)
    assert np.array_equal(q.flags & mxact.Flags.UNDERFLOW != 0, (np.abs(quotient) < 2.0**-6) & (rounded != quotient))
    assert np.array_equal(q.flags & mxact.Flags.SATURATED != 0, np.abs(quotient) >= 464)
    assert np.count_nonzero(q.flags & mxact.Flags.SATURATED) > 0
    x[0, 0] = np.nan
    q = mxact.quantize(x, "mxfp8_e4m3", profile="torchao-floor@36027d8", axis=axis, flags=True)
    block = q.flags[:32, 0] if axis == 0 else q.flags[0, :32]
    assert np.all(block & (mxact.Flags.NAN | mxact.Flags.INVALID))
    assert q.flags[0, 0] & mxact.Flags.NAN


@pytest.mark.parametrize(("format", "profile", "scale"), [("nvfp4", "vllm-nvfp4", 2.0), ("fp8_e4m3", "torchao-fp8", None), ("fp8_e4m3_128x128", "deepgemm", None)])
def test_every_kind_of_recipe_has_flags(format: str, profile: str, scale: float | None) -> None:
    x = np.random.default_rng(4).standard_normal((128, 128)).astype(np.float32)
    q = mxact.quantize(x, format, profile=profile, tensor_scale=scale, flags=True)
    exact = np.count_nonzero(q.flags & mxact.Flags.INEXACT == 0)
    assert 0 <= exact < x.size // 4
    zeros = mxact.quantize(np.zeros((128, 128), np.float32), format, profile=profile, tensor_scale=scale, flags=True)
    # 0 / 0 where the scale is 0.
    assert not (zeros.flags & ~np.uint8(mxact.Flags.NAN)).any()
    assert mxact.quantize(np.zeros((0, 128), np.float32), format, profile=profile, tensor_scale=scale, flags=True).flags.shape == (0, 128)
