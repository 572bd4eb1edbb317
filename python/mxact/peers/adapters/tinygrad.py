"""tinygrad: lists of Python's numbers as FP8."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Fault, Operation, Peer

_RELEASE = "0.14.0"
_TYPES = {"e4m3fn": "fp8e4m3", "e5m2": "fp8e5m2", "e4m3fnuz": "fp8e4m3fnuz", "e5m2fnuz": "fp8e5m2fnuz"}
_WHY = {"e4m3fn": "an Inf is the NaN 0x7f", "e5m2": "an Inf stays, a number above the largest does not become one"}


def _listed(to: str) -> Cast:
    tinygrad = import_module("tinygrad")
    dtypes = tinygrad.dtypes

    def fn(x: Array) -> Array:
        # The device that needs no compiler; kernels of a CPU cast otherwise, which is recorded (profiles tinygrad-cpu, tinygrad-llvm).
        codes = tinygrad.Tensor(x.astype(np.float64).tolist(), dtype=getattr(dtypes, _TYPES[to]), device="PYTHON").bitcast(dtypes.uint8)
        return np.asarray(codes.numpy())

    return Cast(f"Tensor(list, dtype={_TYPES[to]})", "fp16", to, "tinygrad-python", fn, _WHY.get(to, ""), release=_RELEASE)


def _operations() -> Sequence[Operation]:
    return [_listed(to) for to in _TYPES]


PEER = Peer(
    "tinygrad",
    "tinygrad",
    _RELEASE,
    "https://github.com/tinygrad/tinygrad",
    _operations,
    [
        Fault(
            "OFP8 section 5.1: E5M2 has subnormals",
            "fp16 to E5M2: what is below the least normal number is 0",
            "from tinygrad import Tensor, dtypes\nx = Tensor([2.0**-15], dtype=dtypes.float16, device='PYTHON')\n"
            "print(x.cast(dtypes.fp8e5m2).contiguous().realize().bitcast(dtypes.uint8).numpy()[0])",
            "0",
            "2",
        )
    ],
)
