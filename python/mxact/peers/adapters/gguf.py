"""gguf's NumPy code of ggml's blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Back, Converted, Fault, Peer, Quantizer, Speed

_WHY = "the scale is the floor of an fp32 logarithm, bytes below 0 wrap; ties go toward zero and every zero is code 0"


def _of() -> Any:
    return import_module("gguf.quants").MXFP4


def _quantized(x: Array) -> tuple[Array, Array]:
    with np.errstate(all="ignore"):
        blocks = _of().quantize_blocks(x.reshape(-1, 32))
    # A byte has element j in its low half and element j + 16 in the high one.
    codes = np.concatenate([blocks[:, 1:] & 15, blocks[:, 1:] >> 4], axis=1)
    return codes.reshape(x.shape), blocks[:, 0].reshape(x.shape[0], -1)


def _blocks(elements: Array, scales: Array) -> Array:
    blocks = elements.reshape(-1, 32)
    return np.concatenate([scales.reshape(-1, 1), blocks[:, :16] | blocks[:, 16:] << 4], axis=1).astype(np.uint8)


def _back(elements: Array, scales: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(_of().dequantize_blocks(_blocks(elements, scales)), np.float32).reshape(elements.shape)


def _operations() -> Sequence[Converted]:
    _of()
    return [
        Quantizer("MXFP4.quantize_blocks", "mxfp4", "f32", "gguf-mxfp4", _quantized, why=_WHY),
        Back("MXFP4.dequantize_blocks", "mxfp4", "f32", "gguf-mxfp4", _back, why="byte 255 is 2^128, and code 8 is +0"),
    ]


def _speed() -> Sequence[Speed]:
    def quantized(x: Array) -> Callable[[], object]:
        blocks = x.reshape(-1, 32)
        return lambda: _of().quantize_blocks(blocks)

    def numbers(elements: Array, scales: Array) -> Callable[[], object]:
        blocks = _blocks(elements, scales)
        return lambda: _of().dequantize_blocks(blocks)

    quantizer, back = _operations()
    return [Speed(quantizer, quantized), Speed(back, numbers)]


PEER = Peer(
    "gguf",
    "gguf",
    "0.19.0",
    "https://github.com/ggml-org/llama.cpp",
    _operations,
    [
        Fault(
            "MX 1.0 section 5.4.1: a scale byte stands for 2^-127 to 2^127",
            "a block of tiny numbers gets the byte of a huge scale",
            "import numpy as np\nfrom gguf.quants import MXFP4\nx = np.zeros((1, 32), np.float32)\nx[0, 0] = 2.0**-130\nprint(int(MXFP4.quantize_blocks(x)[0, 0]))",
            "251",
            "0",
        ),
    ],
    _speed,
)
