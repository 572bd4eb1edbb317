"""gfloat: round_float and encode_float, saturating."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer

_FORMATS = {"e4m3fn": "format_info_ocp_e4m3", "e5m2": "format_info_ocp_e5m2"}
_MODES = {
    "TiesToEven": "gfloat-ties-to-even",
    "TiesToAway": "gfloat-ties-to-away",
    "TowardZero": "gfloat-toward-zero",
    "TowardPositive": "gfloat-toward-positive",
    "TowardNegative": "gfloat-toward-negative",
}


def _cast(to: str, mode: str) -> Cast:
    gfloat = import_module("gfloat")
    info: Any = getattr(import_module("gfloat.formats"), _FORMATS[to])
    rounding = gfloat.RoundMode[mode]

    def fn(x: Array) -> Array:
        with np.errstate(all="ignore"):
            rounded = gfloat.round_ndarray(info, x.astype(np.float64), rounding, sat=True)
            return np.asarray(gfloat.encode_ndarray(info, rounded)).astype(np.uint8)

    return Cast(f"round_ndarray({mode}, sat), encode_ndarray", "f32", to, _MODES[mode], fn, "a NaN is 0xff")


def _operations() -> Sequence[Operation]:
    return [_cast(to, mode) for mode in _MODES for to in _FORMATS]


PEER = Peer("gfloat", "gfloat", "0.5.2", "https://github.com/graphcore-research/gfloat", _operations)
