"""OpenVINO on the CPU: Convert and FakeConvert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact._conversions import convert
from mxact.peers._rows import Cast, Fault, Operation, Peer

_TYPES = {"e4m3fn": "f8e4m3", "e2m1": "f4e2m1", "e8m0": "f8e8m0"}
_WHY = {"e4m3fn": "fp32 becomes fp16 first", "e8m0": "a tie goes to the even byte, and what is negative is 2^-127"}


def _run(x: Array, node: Callable[[Any, Any], Any]) -> Array:
    """The output of a model of one node over x."""
    ov = import_module("openvino")
    number = ov.opset13.parameter([x.size], x.dtype.type)
    return np.asarray(ov.Core().compile_model(ov.Model([node(ov.opset13, number)], [number]), "CPU", {"INFERENCE_NUM_THREADS": 1})([x])[0])


def _convert(source: str, to: str) -> Cast:
    def fn(x: Array) -> Array:
        codes = _run(x, lambda opset, number: opset.convert(number, _TYPES[to])).view(np.uint8)
        return codes if to != "e2m1" else np.stack([codes & 15, codes >> 4], axis=-1).reshape(-1)[: x.size]

    return Cast(f"Convert({_TYPES[to]})", source, to, "openvino", fn, "" if (source, to) == ("fp16", "e4m3fn") else _WHY.get(to, ""))


def _fake(x: Array) -> Array:
    numbers = _run(x, lambda opset, number: opset.fake_convert(number, opset.constant(np.float32(1)), destination_type="f8e4m3"))
    return np.asarray(convert(numbers, "e4m3fn").view(np.uint8))


def _operations() -> Sequence[Operation]:
    # Into e5m2 a few tiny numbers depend on the processor.
    rows = [_convert(source, to) for source in ("f32", "fp16") for to in _TYPES]
    return [*rows, Cast("FakeConvert(f8e4m3)", "f32", "e4m3fn", "openvino-fakeconvert", _fake, "fp32 becomes fp16 first, and a NaN is the largest negative number")]


_SCRIPT = """import numpy as np, openvino
from openvino import opset13
number = opset13.parameter([1], np.float32)
model = openvino.Model([opset13.convert(opset13.convert(number, "f8e4m3"), "f32")], [number])
print(openvino.Core().compile_model(model, "CPU")([np.float32([432 - 2.0**-6])])[0][0])"""

PEER = Peer(
    "openvino",
    "openvino",
    "2026.4.1",
    "https://github.com/openvinotoolkit/openvino",
    _operations,
    [Fault("IEEE 754 section 4.3: every result is rounded once", "fp32 goes through fp16 on its way into FP8, which rounds twice", _SCRIPT, "448.0", "416.0")],
)
