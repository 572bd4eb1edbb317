"""ml_dtypes and NumPy: astype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact.peers._rows import Cast, Fault, Operation, Peer, Speed

_SMALL = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0", "e2m3", "e3m2", "e2m1")
_WHY = {
    "e4m3fn": "overflow gives a NaN, which keeps its sign",
    "e5m2": "a NaN is 0x7e or 0xfe",
    "e8m0": "ties go up; zero and negative numbers are NaNs",
    "e2m3": "a NaN becomes a zero of the other sign",
    "e3m2": "a NaN becomes a zero of the other sign",
    "e2m1": "a NaN becomes a zero of the other sign",
}


def _cast(source: str, to: str, profile: str) -> Cast:
    dtype = dtype_of(to)

    def fn(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return x.astype(dtype)

    return Cast(f"astype({dtype})", source, to, profile, fn, "" if profile == "ocp" else _WHY.get(to, ""))


def _operations() -> Sequence[Operation]:
    down = [_cast(source, to, "ml_dtypes") for source in ("f32", "bf16", "fp16") for to in _SMALL]
    halves = [_cast("f32", "bf16", "ml_dtypes"), _cast("fp16", "bf16", "ml_dtypes"), _cast("bf16", "fp16", "ml_dtypes")]
    return down + halves + [_cast(source, "f32", "ocp") for source in _SMALL]


def _speed() -> Sequence[Speed]:
    def cast(to: str) -> Speed:
        dtype = dtype_of(to)
        return Speed(_cast("f32", to, "ml_dtypes"), lambda x: lambda: x.astype(dtype))

    return [cast(to) for to in ("e4m3fn", "e2m1", "bf16")]


PEER = Peer(
    "ml_dtypes",
    "ml_dtypes",
    "0.6.0",
    "https://github.com/jax-ml/ml_dtypes",
    _operations,
    [
        Fault(
            "IEEE 754 section 4.3: every result is rounded once",
            "fp64 goes through fp32 on its way into a smaller format, which rounds twice",
            "import ml_dtypes, numpy\nprint(float(numpy.float64(-431.999999999568).astype(ml_dtypes.float8_e4m3fn)))",
            "-448.0",
            "-416.0",
        )
    ],
    _speed,
)
