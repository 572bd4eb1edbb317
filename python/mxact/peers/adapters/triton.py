"""Triton's interpreter, which runs kernels where there is no GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer
from mxact.peers.adapters.tensors import tensor, torch

_TYPES = {"e4m3fn": ("float8e4nv", "float8_e4m3fn"), "e5m2": ("float8e5", "float8_e5m2"), "bf16": ("bfloat16", "bfloat16"), "fp16": ("float16", "float16"), "f32": ("float32", "float32")}
_FP8 = ("e4m3fn", "e5m2")
# The most that one program of a kernel may hold.
_ROOM = 1 << 20


def _cast(source: str, to: str) -> Cast:
    # A kernel is read from its source, which lies in a module of its own.
    kernel: Any = import_module("mxact.peers.adapters._triton_kernel").cast
    kind = getattr(import_module("triton.language"), _TYPES[to][0])

    def fn(x: Array) -> Array:
        y = torch().zeros(x.size, dtype=getattr(torch(), _TYPES[to][1]))
        own = tensor(x) if source not in _FP8 else tensor(x).view(getattr(torch(), _TYPES[source][1]))
        kernel[(-(-x.size // _ROOM),)](own, y, _ROOM, x.size, kind)
        if to in _FP8:
            return np.asarray(y.view(torch().uint8).numpy())
        if to == "f32":
            return np.asarray(y.numpy())
        return np.asarray(y.view(torch().int16).numpy()).view(np.uint16)

    why = "" if (source, to) in (("f32", "fp16"), ("fp16", "f32")) else "bits are moved: nothing carries, and there is no NaN and no saturation"
    return Cast(f".to(tl.{_TYPES[to][0]})", source, to, "triton-interpreter", fn, why)


def _operations() -> Sequence[Operation]:
    os.environ["TRITON_INTERPRET"] = "1"
    down = [_cast(source, to) for source in ("f32", "bf16", "fp16") for to in _FP8]
    return [*down, _cast("f32", "bf16"), _cast("f32", "fp16"), *(_cast(source, "fp16") for source in _FP8), *(_cast(source, "f32") for source in (*_FP8, "bf16", "fp16"))]


PEER = Peer("triton", "triton", "3.9.0", "https://github.com/triton-lang/triton", _operations, further=True)
