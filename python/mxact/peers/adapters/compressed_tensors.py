"""compressed-tensors: what its observers and compressors make of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Back, Fault, Operation, Peer, Quantizer, Speed
from mxact.peers.adapters.tensors import codes, numbers, packed, tensor, torch, unpacked

_BITS = {"mxfp4": 4, "mxfp6_e2m3": 6, "mxfp8_e4m3": 8}
_MX_WHY = "amax is rounded to one bit of mantissa, or three for e2m3; scale and quotients are held in the tensor's dtype"
_NVFP4_WHY = "a scale that rounds to 0 becomes 2^-3"


def _args(**words: Any) -> Any:
    return import_module("compressed_tensors.quantization").QuantizationArgs(type="float", symmetric=True, **words)


def _scaled(x: Any, args: Any, group: int, global_scale: Any = None) -> tuple[Any, Any]:
    """Scales as numbers, and the elements' quotients on the format's grid."""
    qparams = import_module("compressed_tensors.quantization.utils.helpers").calculate_qparams
    forward = import_module("compressed_tensors.quantization.lifecycle.forward")
    blocks = x.unflatten(-1, (x.shape[-1] // group, group)) if group else x
    scales, zeros = qparams(blocks.amin(dim=-1, keepdim=not group), blocks.amax(dim=-1, keepdim=not group), args, global_scale)
    return scales, forward.quantize(x, scales, zeros, args, global_scale=global_scale)


def _element_codes(values: Any, bits: int) -> Array:
    """The code of each number that is on its format's grid."""
    if bits == 4:
        pack = import_module("compressed_tensors.compressors.nvfp4.helpers").pack_fp4_to_uint8
        return unpacked(pack(values), tuple(values.shape))
    if bits == 6:
        from mxact import convert

        return np.asarray(convert(numbers(values.float()), "e2m3").view(np.uint8))
    return codes(values.to(torch().float8_e4m3fn))


def _mx(format: str, source: str) -> Quantizer:
    args = _args(num_bits=_BITS[format], group_size=32, strategy="group", scale_dtype=torch().uint8)
    compress = import_module("compressed_tensors.compressors.mx_utils").compress_mx_scale

    def fn(x: Array) -> tuple[Array, Array]:
        scales, values = _scaled(tensor(x), args, 32)
        return _element_codes(values, _BITS[format]), codes(compress(scales, torch().uint8))

    return Quantizer("calculate_qparams, quantize, pack", format, source, "compressed-tensors-mx", fn, why=_MX_WHY)


def _nvfp4(source: str) -> Quantizer:
    args = _args(num_bits=4, group_size=16, strategy="tensor_group", scale_dtype=torch().float8_e4m3fn)

    def fn(x: Array, scale: Any) -> tuple[Array, Array]:
        scales, values = _scaled(tensor(x), args, 16, torch().tensor([float(scale)]))
        return _element_codes(values, 4), codes(scales.to(torch().float8_e4m3fn))

    return Quantizer("calculate_qparams(global_scale), quantize, pack", "nvfp4", source, "compressed-tensors-nvfp4", fn, "given", _NVFP4_WHY)


def _fp8(source: str) -> Quantizer:
    args = _args(num_bits=8, strategy="token", dynamic=True)

    def fn(x: Array) -> tuple[Array, Array]:
        scales, values = _scaled(tensor(x), args, 0)
        return codes(values.to(torch().float8_e4m3fn)), numbers(scales.float())

    return Quantizer("calculate_qparams(token), quantize", "fp8_e4m3", source, "compressed-tensors-fp8", fn, why="scale and quotients are held in the tensor's dtype")


def _back(to: str) -> Back:
    target = {"f32": torch().float32, "bf16": torch().bfloat16, "fp16": torch().float16}[to]
    args = _args(num_bits=4, group_size=32, strategy="group", scale_dtype=torch().uint8)
    forward = import_module("compressed_tensors.quantization.lifecycle.forward")
    unpack = import_module("compressed_tensors.compressors.nvfp4.helpers").unpack_fp4_from_uint8
    decompress = import_module("compressed_tensors.compressors.mx_utils").decompress_mx_scale

    def fn(elements: Array, scales: Array) -> Array:
        values = unpack(packed(elements), *elements.shape, dtype=target)
        return numbers(forward.dequantize(values, decompress(tensor(scales)).to(target), args=args, dtype=target))

    return Back("unpack, decompress_mx_scale, dequantize", "mxfp4", to, "compressed-tensors-mx", fn, why="byte 255 is 2^128, an Inf")


def _operations() -> Sequence[Operation]:
    sources = ("f32", "bf16", "fp16")
    mx = [_mx(format, source) for format in _BITS for source in sources]
    return mx + [_nvfp4(source) for source in sources] + [_fp8(source) for source in sources] + [_back(to) for to in ("bf16", "fp16")]


def _speed() -> Sequence[Speed]:
    """The scales and quotients, and for codes of four bits what packs them."""
    pack = import_module("compressed_tensors.compressors.nvfp4.helpers").pack_fp4_to_uint8
    compress = import_module("compressed_tensors.compressors.mx_utils").compress_mx_scale

    def mx(format: str) -> Speed:
        args = _args(num_bits=_BITS[format], group_size=32, strategy="group", scale_dtype=torch().uint8)

        def theirs(x: Array) -> Callable[[], object]:
            values = tensor(x)

            def call() -> object:
                scales, elements = _scaled(values, args, 32)
                return pack(elements) if format == "mxfp4" else elements.to(torch().float8_e4m3fn), compress(scales, torch().uint8)

            return call

        return Speed(_mx(format, "f32"), theirs)

    def nvfp4() -> Speed:
        args = _args(num_bits=4, group_size=16, strategy="tensor_group", scale_dtype=torch().float8_e4m3fn)

        def theirs(x: Array, scale: Any) -> Callable[[], object]:
            values, given = tensor(x), torch().tensor([float(scale)])

            def call() -> object:
                scales, elements = _scaled(values, args, 16, given)
                return pack(elements), scales.to(torch().float8_e4m3fn)

            return call

        return Speed(_nvfp4("f32"), theirs)

    return [mx("mxfp4"), mx("mxfp8_e4m3"), nvfp4()]


_SCRIPT = """import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import quantize
from compressed_tensors.quantization.utils.helpers import calculate_qparams
args = QuantizationArgs(num_bits={bits}, type="float", symmetric=True, group_size=32, strategy="group", scale_dtype=torch.uint8)
x = torch.zeros(1, 32)
x[0, 0] = {x}
scales, zeros = calculate_qparams(x.amin(-1, keepdim=True), x.amax(-1, keepdim=True), args)
print(quantize(x, scales, zeros, args)[0, 0].item())"""

PEER = Peer(
    "compressed-tensors",
    "compressed-tensors",
    "0.20.1",
    "https://github.com/vllm-project/compressed-tensors",
    _operations,
    [
        Fault(
            "MX 1.0 section 6.3: P = V / X with a scale that the format has",
            "a block whose finite amax is 1.75 * 2^127 or more becomes zeros",
            _SCRIPT.format(bits=4, x="1.75 * 2.0**127"),
            "0.0",
            "4.0",
        ),
    ],
    _speed,
)
