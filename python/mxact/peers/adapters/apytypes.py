"""APyTypes: floating-point arrays of any exponent and mantissa."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer

_BITS = {"e5m2": (5, 2, np.uint8), "fp16": (5, 10, np.uint16), "bf16": (8, 7, np.uint16)}


def _cast(to: str) -> Cast:
    of = import_module("apytypes").APyFloatArray
    exponent, mantissa, dtype = _BITS[to]

    def fn(x: Array) -> Array:
        return np.asarray(of.from_array(x.astype(np.float64), exp_bits=exponent, man_bits=mantissa).to_bits(numpy=True)).astype(dtype)

    return Cast("APyFloatArray.from_array, to_bits", "f32", to, "ocp-nosat" if to == "e5m2" else "ocp", fn, finite=True)


def _operations() -> Sequence[Operation]:
    return [_cast(to) for to in _BITS]


PEER = Peer("apytypes", "apytypes", "0.5.1", "https://github.com/apytypes/apytypes", _operations)
