"""MLX on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Back, Cast, Fault, Operation, Peer, Quantizer, Speed

_SOURCES = ("f32", "bf16", "fp16")
_MODES = {"mxfp4": "mxfp4", "mxfp8_e4m3": "mxfp8", "nvfp4": "nvfp4"}
_MX_WHY = "everything is held in the tensor's dtype, the exact logarithm is rounded up, and bytes below 0 wrap"


def _mlx() -> Any:
    return import_module("mlx.core")


def _array(x: Array) -> Any:
    if x.dtype == ml_dtypes.bfloat16:
        return _mlx().array(np.ascontiguousarray(x).view(np.uint16)).view(_mlx().bfloat16)
    return _mlx().array(x)


def _numpy(values: Any) -> Array:
    if values.dtype == _mlx().bfloat16:
        return np.array(values.view(_mlx().uint16)).view(ml_dtypes.bfloat16)
    return np.array(values)


def _rows(x: Array) -> Array:
    """Rows of 512 elements, zeros behind the last."""
    flat = np.ascontiguousarray(x).reshape(-1)
    return np.concatenate([flat, np.zeros(-flat.size % 512, flat.dtype)]).reshape(-1, 512)


def _quantized(x: Array, format: str) -> tuple[Array, Array]:
    block = 16 if format == "nvfp4" else 32
    words, scales = _mlx().quantize(_array(_rows(x)), mode=_MODES[format])
    data = np.array(words).reshape(-1).view(np.uint8)
    if format != "mxfp8_e4m3":
        data = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)
    return data[: x.size].reshape(x.shape), np.array(scales).reshape(-1)[: x.size // block].reshape(x.shape[0], -1)


def _quantizer(format: str, source: str) -> Quantizer:
    profile = "mlx-cpu-nvfp4" if format == "nvfp4" else "mlx-cpu-mx"
    return Quantizer(f'quantize(mode="{_MODES[format]}")', format, source, profile, lambda x: _quantized(x, format), why="" if format == "nvfp4" else _MX_WHY)


def _back(format: str, to: str) -> Back:
    target = {"f32": _mlx().float32, "bf16": _mlx().bfloat16, "fp16": _mlx().float16}[to]

    def fn(elements: Array, scales: Array) -> Array:
        data = elements if format == "mxfp8_e4m3" else elements[:, ::2] | elements[:, 1::2] << 4
        words = _mlx().array(np.ascontiguousarray(data).view(np.uint32))
        return _numpy(_mlx().dequantize(words, _mlx().array(scales), mode=_MODES[format], dtype=target))

    return Back(f'dequantize(mode="{_MODES[format]}")', format, to, "mlx-cpu-mx", fn, why="byte 255 is 2^128, an Inf")


def _operations() -> Sequence[Operation]:
    _mlx().set_default_device(_mlx().cpu)
    rows: list[Operation] = [Cast("to_fp8", "f32", "e4m3fn", "mlx-cpu", lambda x: np.array(_mlx().to_fp8(_array(x))), "a NaN becomes the largest number")]
    rows += [_quantizer(format, source) for format in _MODES for source in _SOURCES]
    return rows + [_back(format, to) for format in ("mxfp4", "mxfp8_e4m3") for to in _SOURCES]


def _speed() -> Sequence[Speed]:
    def of(format: str) -> Speed:
        def theirs(x: Array) -> Callable[[], object]:
            values = _array(_rows(x))
            _mlx().eval(values)
            return lambda: _mlx().eval(*_mlx().quantize(values, mode=_MODES[format]))

        return Speed(_quantizer(format, "f32"), theirs)

    _mlx().set_default_device(_mlx().cpu)
    return [of(format) for format in _MODES]


_SCRIPT = """import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.zeros((1, 32))
x[0, 0] = {x}
words, scales = mx.quantize(x, mode="mxfp4")
print({shown})"""

PEER = Peer(
    "mlx",
    "mlx",
    "0.32.4",
    "https://github.com/ml-explore/mlx",
    _operations,
    [
        Fault("MX 1.0 section 5.4.1: a scale byte stands for 2^-127 to 2^127", "a block of tiny numbers gets the byte of a huge scale", _SCRIPT.format(x="2.0**-130", shown="scales[0, 0].item()"), "251", "0"),
        Fault(
            "MX 1.0 section 5.2: under a NaN scale every element is a NaN",
            "scale byte 255 is 2^128 on the way back",
            "import mlx.core as mx\nmx.set_default_device(mx.cpu)\nwords = mx.array([[0x22222222] * 4], dtype=mx.uint32)\n"
            'print(mx.dequantize(words, mx.array([[255]], dtype=mx.uint8), mode="mxfp4", dtype=mx.float32)[0, 0].item())',
            "inf",
            "nan",
        ),
        Fault("OFP8 section 5.2: a NaN stays one", "to_fp8 makes the largest number of a NaN", 'import mlx.core as mx\nmx.set_default_device(mx.cpu)\nprint(mx.from_fp8(mx.to_fp8(mx.array([float("nan")]))).item())', "448.0", "nan"),
    ],
    _speed,
)
