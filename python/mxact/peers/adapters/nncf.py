"""NNCF: weights compressed to MXFP4 and MXFP8, without OpenVINO's own path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Operation, Peer, Quantizer

_MODES = {"mxfp4": "MXFP4", "mxfp8_e4m3": "MXFP8_E4M3"}


def _compressed(x: Array, mode: str) -> tuple[Array, Array]:
    ov, nncf = import_module("openvino"), import_module("nncf")
    number = ov.opset13.parameter([1, x.shape[1]], np.float32)
    model = ov.Model([ov.opset13.matmul(number, ov.opset13.constant(x), False, True)], [number])
    model = nncf.compress_weights(model, mode=getattr(nncf.CompressWeightsMode, mode), all_layers=True, group_size=32)
    constants: dict[str, Any] = {op.get_friendly_name(): op for op in model.get_ordered_ops() if op.get_type_name() == "Constant"}
    [scales] = [op for name, op in constants.items() if name.endswith("/scale")]
    codes = np.asarray(constants[scales.get_friendly_name().removesuffix("/scale")].data).view(np.uint8).reshape(-1)
    if mode == "MXFP4":
        codes = np.stack([codes & 15, codes >> 4], axis=-1)
    return codes.reshape(x.shape), np.asarray(scales.data).view(np.uint8).reshape(x.shape[0], -1)


def _quantizer(format: str) -> Quantizer:
    why = "the scale is the ceiling of log2(max(amax / max, 2^-23))" + ("; elements go through fp16" if format == "mxfp8_e4m3" else "")
    return Quantizer(f"compress_weights({_MODES[format]})", format, "f32", "nncf-mx", lambda x: _compressed(x, _MODES[format]), why=why)


def _operations() -> Sequence[Operation]:
    os.environ["NNCF_DISABLE_OPTIMIZED_COMPRESSION"] = "1"
    import_module("nncf").set_log_level(40)
    return [_quantizer(format) for format in _MODES]


PEER = Peer("nncf", "nncf", "3.4.0", "https://github.com/openvinotoolkit/nncf", _operations, further=True)
