"""Arrays of JAX in, through DLPack's word on where they are. Where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

import mxact
from conftest import hard_f32

jax = pytest.importorskip("jax")


def test_arrays_of_jax() -> None:
    x = hard_f32(4 * 64, 5).view(np.float32).reshape(4, 64)
    given = jax.numpy.asarray(x)
    assert mxact.quantize(given, "mxfp4").codes.tobytes() == mxact.quantize(x, "mxfp4").codes.tobytes()
    low = given.astype(jax.numpy.bfloat16)
    assert mxact.convert(low, "e4m3fn").tobytes() == mxact.convert(np.asarray(low), "e4m3fn").tobytes()
    fp8 = given.astype(jax.numpy.float8_e4m3fn)
    assert mxact.convert(fp8, "f32").tobytes() == mxact.convert(np.asarray(fp8), "f32").tobytes()
