"""NumPy's own casts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer


def _half(x: Array) -> Array:
    with np.errstate(all="ignore"):
        return x.astype(np.float16)


def _operations() -> Sequence[Operation]:
    return [
        Cast("astype(float16)", "f32", "fp16", "numpy", _half, "a NaN keeps the upper bits of its payload"),
        Cast("astype(float32)", "fp16", "f32", "ocp", lambda x: x.astype(np.float32)),
    ]


PEER = Peer("numpy", "numpy", "2.5.2", "https://github.com/numpy/numpy", _operations)
