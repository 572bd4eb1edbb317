"""ONNX: the reference of Cast."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Fault, Operation, Peer, Speed

_TYPES = {
    "e4m3fn": "FLOAT8E4M3FN",
    "e5m2": "FLOAT8E5M2",
    "e4m3fnuz": "FLOAT8E4M3FNUZ",
    "e5m2fnuz": "FLOAT8E5M2FNUZ",
    "e8m0": "FLOAT8E8M0",
    "e2m1": "FLOAT4E2M1",
}
_SOURCES = {"f32": "FLOAT", "fp16": "FLOAT16", "bf16": "BFLOAT16"}


def model_of_cast(source: str, to: str, saturate: int) -> Any:
    """One node Cast, x to y, in the newest opset that has the type and the fewest others."""
    onnx = import_module("onnx")
    helper, types = onnx.helper, onnx.TensorProto
    target = getattr(types, _TYPES[to])
    words: dict[str, Any] = {"saturate": saturate} if to != "e2m1" else {}
    if to == "e8m0":
        words["round_mode"] = "up"
    node = helper.make_node("Cast", ["x"], ["y"], to=target, **words)
    x = helper.make_tensor_value_info("x", getattr(types, _SOURCES[source]), [None])
    y = helper.make_tensor_value_info("y", target, [None])
    opset = 25 if to == "e8m0" else 23
    return helper.make_model(helper.make_graph([node], "cast", [x], [y]), opset_imports=[helper.make_opsetid("", opset)], ir_version=11 if opset == 23 else 13)


def _session(source: str, to: str) -> Any:
    return import_module("onnx.reference").ReferenceEvaluator(model_of_cast(source, to, 1))


def _cast(source: str, to: str) -> Cast:
    session = _session(source, to)

    def fn(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(session.run(None, {"x": x})[0])

    return Cast(f"reference Cast({_TYPES[to]}), saturate 1", source, to, "ml_dtypes" if to == "e2m1" else "onnx-reference", fn)


def _operations() -> Sequence[Operation]:
    return [_cast("f32", "e2m1")]


def _speed() -> Sequence[Speed]:
    session = _session("f32", "e2m1")
    return [Speed(_cast("f32", "e2m1"), lambda x: lambda: session.run(None, {"x": x.reshape(-1)}))]


PEER = Peer(
    "onnx",
    "onnx",
    "1.23.2",
    "https://github.com/onnx/onnx",
    _operations,
    [
        Fault(
            "ONNX Cast-25, table of FLOAT8E8M0: an Inf saturates under round_mode up and saturate 1",
            "an Inf gives a NaN",
            "import numpy as np\nfrom onnx.numpy_helper import to_float8e8m0\nprint(int(to_float8e8m0(np.float32([np.inf]), True, 'up').view(np.uint8)[0]))",
            "255",
            "254",
        ),
        Fault(
            "ONNX Cast-25, table of FLOAT8E8M0: the least number not below x",
            "x up to 2^-127 gives 2^-126 under round_mode up",
            "import numpy as np\nfrom onnx.numpy_helper import to_float8e8m0\nprint(int(to_float8e8m0(np.float32([2.0**-127]), True, 'up').view(np.uint8)[0]))",
            "1",
            "0",
        ),
    ],
    _speed,
)
