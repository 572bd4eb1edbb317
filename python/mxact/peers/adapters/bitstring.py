"""bitstring: FP8, FP6 and FP4 of single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer

_RELEASE = "5.0.0"
_SATURATE = {"e4m3fn": "e4m3mxfp_saturate", "e5m2": "e5m2mxfp_saturate", "e3m2": "e3m2mxfp", "e2m3": "e2m3mxfp", "e2m1": "e2m1mxfp"}
_OVERFLOW = {"e4m3fn": "e4m3mxfp_overflow", "e5m2": "e5m2mxfp_overflow"}


def _cast(to: str, dtype: str, profile: str) -> Cast:
    of = import_module("bitstring").Array

    def fn(x: Array) -> Array:
        # Codes of less than a byte stand without gaps.
        numbers = of(dtype, x.astype(np.float64).tolist())
        return np.array(of.from_bytes(f"uint{numbers.itemsize}", numbers.to_bytes()).to_list()[: x.size], np.uint8)

    # Formats without a NaN refuse one.
    return Cast(f"Array({dtype})", "fp16", to, profile, fn, "every NaN is 0xff" if to in _OVERFLOW else "", to not in _OVERFLOW, _RELEASE)


def _operations() -> Sequence[Operation]:
    saturating = [_cast(to, dtype, "bitstring-saturate") for to, dtype in _SATURATE.items()]
    return [*saturating, *(_cast(to, dtype, "bitstring-overflow") for to, dtype in _OVERFLOW.items())]


PEER = Peer("bitstring", "bitstring", _RELEASE, "https://github.com/scott-griffiths/bitstring", _operations)
