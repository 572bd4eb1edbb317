"""NVIDIA ModelOpt: its quantized tensors, and what its exporter ships."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Back, Fault, Operation, Peer, Quantizer, Speed
from mxact.peers.adapters.tensors import codes, numbers, packed, tensor, torch, unpacked

_SOURCES = ("f32", "bf16", "fp16")


def _of(name: str) -> Any:
    return getattr(import_module("modelopt.torch.quantization.qtensor"), name)


def _mxfp4(x: Array) -> tuple[Array, Array]:
    q, scales = _of("MXFP4QTensor").quantize(tensor(x), 32)
    return unpacked(q._quantized_data, x.shape), codes(scales)


def _mxfp8(x: Array) -> tuple[Array, Array]:
    q, scales = _of("MXFP8QTensor").quantize(tensor(x))
    return codes(q._quantized_data), codes(scales)


def _nvfp4(x: Array, scale: Any) -> tuple[Array, Array]:
    q, scales, _ = _of("NVFP4QTensor").quantize(tensor(x), 16, None, torch().tensor(float(scale)))
    return unpacked(q._quantized_data, x.shape), codes(scales)


def _fp8(x: Array) -> tuple[Array, Array]:
    q, scales = _of("FP8QTensor").quantize(tensor(x), axis=0)
    return codes(q._quantized_data), numbers(scales.float())


def _exported(weight: Any, scale: Any, words: str) -> Any:
    return import_module("modelopt.torch.export.quant_utils").to_quantized_weight(weight, scale, words)


def _channels(x: Array) -> tuple[Array, Array]:
    weight = tensor(x)
    scales = weight.abs().amax(dim=1).float() / 448
    return codes(_exported(weight, scales, "fp8_pc_pt")), numbers(scales)


def _tensors(x: Array) -> tuple[Array, Array]:
    """Every row as a weight of its own."""
    rows = [tensor(row[None]) for row in x]
    scales = [row.abs().amax().float() / 448 for row in rows]
    return np.concatenate([codes(_exported(row, scale, "fp8")) for row, scale in zip(rows, scales, strict=True)]), numbers(torch().stack(scales))


def _back(name: str, format: str, to: str, profile: str) -> Back:
    target = {"f32": torch().float32, "bf16": torch().bfloat16, "fp16": torch().float16}[to]
    of = _of(name)

    def fn(elements: Array, scales: Array, *given: Any) -> Array:
        data = tensor(elements).view(torch().float8_e4m3fn) if format == "mxfp8_e4m3" else packed(elements)
        own = tensor(scales)
        words: dict[str, Any] = {"scale": own, "block_sizes": {-1: 16 if given else 32}}
        if given:
            words |= {"scale": own.view(torch().float8_e4m3fn), "double_scale": torch().tensor(float(given[0]))}
        return numbers(of(elements.shape, target, data).dequantize(target, **words))

    return Back(f"{name}.dequantize", format, to, profile, fn, name.startswith("NVFP4"), "byte 255 is 2^128, an Inf" if format != "nvfp4" else "-0 becomes +0")


def _operations() -> Sequence[Operation]:
    quantizers: list[tuple[str, str, str, Callable[..., Any], str | None, str]] = [
        ("MXFP4QTensor.quantize(x, 32)", "mxfp4", "modelopt-mx", _mxfp4, None, "the scale is the ceiling of log2(amax / 6); every tie goes toward zero, and a quotient of 0 is code 8"),
        ("MXFP8QTensor.quantize(x)", "mxfp8_e4m3", "modelopt-mx", _mxfp8, None, "the scale is the ceiling of log2(amax / 448)"),
        ("NVFP4QTensor.quantize(x, 16, None, scale)", "nvfp4", "modelopt-nvfp4", _nvfp4, "given", ""),
        ("FP8QTensor.quantize(x, axis=0)", "fp8_e4m3", "modelopt-fp8", _fp8, None, ""),
        ("to_quantized_weight(fp8)", "fp8_e4m3", "modelopt-export-fp8-tensor", _tensors, None, "the quotient has the weight's type"),
        ("to_quantized_weight(fp8_pc_pt)", "fp8_e4m3", "modelopt-export-fp8-channel", _channels, None, "the quotient is fp32"),
    ]
    rows: list[Operation] = [
        Quantizer(operation, format, source, profile, fn, given, why) for operation, format, profile, fn, given, why in quantizers for source in _SOURCES
    ]
    backs = [("MXFP4QTensor", "mxfp4", "modelopt-mx"), ("MXFP8QTensor", "mxfp8_e4m3", "modelopt-mx"), ("NVFP4QTensor", "nvfp4", "modelopt-nvfp4")]
    return rows + [_back(name, format, to, profile) for name, format, profile in backs for to in _SOURCES]


def _speed() -> Sequence[Speed]:
    calls: dict[str, Callable[..., object]] = {
        "mxfp4": lambda x: _of("MXFP4QTensor").quantize(x, 32),
        "mxfp8_e4m3": lambda x: _of("MXFP8QTensor").quantize(x),
        "nvfp4": lambda x, scale: _of("NVFP4QTensor").quantize(x, 16, None, scale),
    }

    def theirs(call: Callable[..., object]) -> Callable[..., Callable[[], object]]:
        def prepared(x: Array, *scale: Any) -> Callable[[], object]:
            values = [tensor(x), *(torch().tensor(float(given)) for given in scale)]
            return lambda: call(*values)

        return prepared

    rows = [row for row in _operations() if isinstance(row, Quantizer) and row.source == "f32" and row.format in calls]
    return [Speed(row, theirs(calls[row.format])) for row in rows]


PEER = Peer(
    "modelopt",
    "nvidia-modelopt",
    "0.47.0",
    "https://github.com/NVIDIA/Model-Optimizer",
    _operations,
    [
        Fault(
            "MX 1.0 section 6.3: a block with a NaN has a NaN, or is left to the implementation, which must say so",
            "a block with a NaN becomes zeros in MXFP4, without a word",
            "import torch\nfrom modelopt.torch.quantization.qtensor import MXFP4QTensor\nx = torch.ones(1, 32)\nx[0, 0] = torch.nan\n"
            "q, scale = MXFP4QTensor.quantize(x, 32)\nprint(q.dequantize(torch.float32, scale=scale, block_sizes={-1: 32}).abs().max().item())",
            "0.0",
            "nan",
        ),
        Fault(
            "MX 1.0 section 5.2: under a NaN scale every element is a NaN",
            "scale byte 255 is 2^128 on the way back",
            "import torch\nfrom modelopt.torch.quantization.qtensor import MXFP4QTensor\ncodes = torch.full((1, 16), 0x22, dtype=torch.uint8)\n"
            "q = MXFP4QTensor(torch.Size([1, 32]), torch.float32, codes)\n"
            "print(q.dequantize(torch.float32, scale=torch.tensor([[255]], dtype=torch.uint8), block_sizes={-1: 32})[0, 0].item())",
            "inf",
            "nan",
        ),
        Fault(
            "ONNX DequantizeLinear, block_size: a scale counts for block_size elements along axis",
            "MXFP8 in ONNX along axis 0: the scale is that of other rows, here for 128 of 256",
            "import numpy as np\nfrom modelopt.onnx.quantization.quant_utils import compute_e8m0, get_amax\n"
            "w = np.exp2(np.arange(64, dtype=np.float32))[:, None].repeat(128, axis=1)\n"
            "own = np.ceil(np.log2(w.reshape(2, 32, 128).max(axis=1) / 448)) + 127\nprint((compute_e8m0(get_amax(w, 0, 32), w.shape, 0, 32) != own).sum())",
            "128",
            "0",
        ),
    ],
    _speed,
)
