"""bitstring: FP8, FP6 and FP4 of single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer

_DTYPES = {"e4m3fn": "e4m3mxfp_saturate", "e5m2": "e5m2mxfp_saturate", "e3m2": "e3m2mxfp", "e2m3": "e2m3mxfp", "e2m1": "e2m1mxfp"}


def _cast(to: str) -> Cast:
    of = import_module("bitstring").Array

    def fn(x: Array) -> Array:
        # Codes of less than a byte stand without gaps.
        numbers = of(_DTYPES[to], x.astype(np.float64).tolist())
        return np.array(of.from_bytes(f"uint{numbers.itemsize}", numbers.to_bytes()).to_list()[: x.size], np.uint8)

    return Cast(f"Array({_DTYPES[to]})", "fp16", to, "ocp", fn, finite=True)


def _operations() -> Sequence[Operation]:
    return [_cast(to) for to in _DTYPES]


PEER = Peer("bitstring", "bitstring", "5.0.0", "https://github.com/scott-griffiths/bitstring", _operations)
