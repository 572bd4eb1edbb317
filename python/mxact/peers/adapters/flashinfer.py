"""flashinfer's references of its quantizers, as its traces write them down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from mxact._arguments import Array
from mxact.peers._rows import Fault, Operation, Peer, Quantizer, Speed
from mxact.peers.adapters.tensors import codes, tensor, torch, unpacked

_SOURCES = ("f32", "bf16", "fp16")
_WHY = "the scale is the floor of log2(amax / max)"


def _of(name: str) -> Any:
    return getattr(import_module("flashinfer.trace.templates.quantize"), name)


def _mxfp4(x: Array) -> tuple[Array, Array]:
    data, scales = _of("_mxfp4_quantize_reference")(tensor(x))
    return unpacked(data, x.shape), codes(scales)


def _mxfp8(x: Array) -> tuple[Array, Array]:
    data, scales = _of("_mxfp8_quantize_reference")(tensor(x))
    return codes(data), codes(scales)


def _nvfp4(x: Array, scale: Any) -> tuple[Array, Array]:
    data, scales = _of("_nvfp4_quantize_reference")(tensor(x), torch().tensor(float(scale)))
    return unpacked(data, x.shape), codes(scales)


def _operations() -> Sequence[Operation]:
    _of("_mxfp4_quantize_reference")
    rows: list[Operation] = []
    for source in _SOURCES:
        rows.append(Quantizer("_mxfp4_quantize_reference", "mxfp4", source, "flashinfer-reference-mx", _mxfp4, why=_WHY))
        rows.append(Quantizer("_mxfp8_quantize_reference", "mxfp8_e4m3", source, "flashinfer-reference-mx", _mxfp8, why=_WHY))
        rows.append(Quantizer("_nvfp4_quantize_reference", "nvfp4", source, "flashinfer-reference-nvfp4", _nvfp4, "given"))
    return rows


def _speed() -> Sequence[Speed]:
    def theirs(name: str) -> Callable[..., Callable[[], object]]:
        def prepared(x: Array, *scale: Any) -> Callable[[], object]:
            values = [tensor(x), *(torch().tensor(float(given)) for given in scale)]
            return lambda: _of(name)(*values)

        return prepared

    return [Speed(row, theirs(row.operation)) for row in _operations() if isinstance(row, Quantizer) and row.source == "f32"]


PEER = Peer(
    "flashinfer",
    "flashinfer-python",
    "0.7.4",
    "https://github.com/flashinfer-ai/flashinfer",
    _operations,
    [
        Fault(
            "the reference's own purpose: it says what its kernel does, which rounds the scale up",
            "the reference rounds the scale down, so that elements above 6 * scale saturate",
            "import torch\nfrom flashinfer.trace.templates.quantize import _mxfp4_quantize_reference\nx = torch.zeros(1, 32)\nx[0, 0] = 7.0\n"
            "print(_mxfp4_quantize_reference(x)[1].item())",
            "127",
            "128",
        ),
        Fault(
            "OCP MX 1.0 section 5.3.3: the nearest number, here the largest",
            "far above the range every distance is the same in fp32, and the code is the first: 0 in the place of 7",
            "import torch\nfrom flashinfer.trace.templates.quantize import _fp4_e2m1_quantize_block\nx = torch.tensor([[2.0**40]])\n"
            "print(_fp4_e2m1_quantize_block(x, x.amax(-1)).item())",
            "0",
            "7",
        ),
    ],
    _speed,
)
