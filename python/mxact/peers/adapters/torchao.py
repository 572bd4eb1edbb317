"""torchao: MX, NVFP4 and float8 training scales, in eager mode on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from mxact._arguments import Array
from mxact.peers._rows import Back, Fault, Operation, Peer, Quantizer, Speed
from mxact.peers.adapters.tensors import codes, numbers, packed, tensor, torch, unpacked

# Element formats, as to_mx is told them.
_MX = {"mxfp8_e4m3": "float8_e4m3fn", "mxfp8_e5m2": "float8_e5m2", "mxfp6_e2m3": "fp6_e2m3", "mxfp6_e3m2": "fp6_e3m2", "mxfp4": "float4_e2m1fn_x2"}
_MX_WHY = {
    "floor": "byte 0 divides by 2^-126, and the divisor is not below that",
    "ceil": "the scale goes up where amax has any mantissa",
    "even": "amax is rounded to the element's mantissa first",
    "rceil": "the scale is the ceiling of an fp32 logarithm of amax / max",
}
_FLOAT8_WHY = "the factor 448 / amax is computed, not its reciprocal"


def _dtype(name: str) -> Any:
    return getattr(torch(), name, name)


def _mx(format: str, source: str, mode: str) -> Quantizer:
    of = import_module("torchao.prototype.mx_formats.mx_tensor")
    rule = getattr(import_module("torchao.prototype.mx_formats.config").ScaleCalculationMode, mode.upper())
    element = _dtype(_MX[format])

    def fn(x: Array) -> tuple[Array, Array]:
        scales, data = of.to_mx(tensor(x), element, 32, rule)
        return unpacked(data, x.shape) if format == "mxfp4" else codes(data), codes(scales)

    return Quantizer(f"to_mx {mode.upper()}", format, source, f"torchao-{mode}", fn, why=_MX_WHY[mode])


def _nvfp4(source: str, with_tensor_scale: bool) -> Quantizer:
    of = import_module("torchao.prototype.mx_formats.nvfp4_tensor")

    def fn(x: Array, scale: Any = None) -> tuple[Array, Array]:
        given = None if scale is None else torch().tensor(float(scale))
        scales, data = of.nvfp4_quantize(tensor(x), 16, given)
        return unpacked(data, x.shape), codes(scales)

    if with_tensor_scale:
        return Quantizer("nvfp4_quantize(x, 16, scale)", "nvfp4", source, "torchao-nvfp4", fn, "given")
    return Quantizer("nvfp4_quantize(x, 16)", "nvfp4", source, "torchao-nvfp4-single", fn)


def _float8(source: str, power_of_two: bool) -> Quantizer:
    of = import_module("torchao.float8.float8_utils")
    along_rows = import_module("torchao.float8.config").ScalingGranularity.AXISWISE
    e4m3 = torch().float8_e4m3fn

    def fn(x: Array) -> tuple[Array, Array]:
        values = tensor(x)
        factor = of.tensor_to_scale(values, e4m3, scaling_granularity=along_rows, axiswise_dim=-1, round_scales_to_power_of_2=power_of_two)
        return codes(of.to_fp8_saturated(values.float() * factor, e4m3)), numbers(1.0 / factor)

    word = ", round_scales_to_power_of_2" if power_of_two else ""
    return Quantizer(f"tensor_to_scale(AXISWISE{word})", "fp8_e4m3", source, "torchao-float8-pow2" if power_of_two else "torchao-float8", fn, why=_FLOAT8_WHY)


def _of_codes(format: str, elements: Array) -> Any:
    data = packed(elements) if format == "mxfp4" else tensor(elements)
    return data.view(_dtype(_MX[format])) if format.startswith("mxfp8") else data


def _back(format: str, to: str) -> Back:
    of = import_module("torchao.prototype.mx_formats.mx_tensor")
    target = {"f32": torch().float32, "bf16": torch().bfloat16, "fp16": torch().float16}[to]
    element = _dtype(_MX[format])

    def fn(elements: Array, scales: Array) -> Array:
        return numbers(of.to_dtype(_of_codes(format, elements), tensor(scales).view(torch().float8_e8m0fnu), element, 32, target))

    return Back("to_dtype", format, to, "torchao-dequantize", fn)


def _operations() -> Sequence[Operation]:
    mx = [_mx(format, source, mode) for mode in _MX_WHY for format in _MX for source in ("f32", "bf16")]
    nvfp4 = [_nvfp4(source, given) for given in (True, False) for source in ("f32", "bf16")]
    float8 = [_float8(source, power) for power in (False, True) for source in ("f32", "bf16")]
    return mx + nvfp4 + float8 + [_back(format, to) for format in _MX for to in ("f32", "bf16", "fp16")]


def _speed() -> Sequence[Speed]:
    mx = import_module("torchao.prototype.mx_formats.mx_tensor")
    two_level = import_module("torchao.prototype.mx_formats.nvfp4_tensor")
    modes = import_module("torchao.prototype.mx_formats.config").ScaleCalculationMode

    def quantizer(format: str, mode: str) -> Speed:
        def theirs(x: Array) -> Callable[[], object]:
            values = tensor(x)
            return lambda: mx.to_mx(values, _dtype(_MX[format]), 32, getattr(modes, mode.upper()))

        return Speed(_mx(format, "f32", mode), theirs)

    def nvfp4(with_tensor_scale: bool) -> Speed:
        def theirs(x: Array, scale: Any = None) -> Callable[[], object]:
            values, given = tensor(x), None if scale is None else torch().tensor(float(scale))
            return lambda: two_level.nvfp4_quantize(values, 16, given)

        return Speed(_nvfp4("f32", with_tensor_scale), theirs)

    def back(format: str) -> Speed:
        def theirs(elements: Array, scales: Array) -> Callable[[], object]:
            data, bytes_ = _of_codes(format, elements), tensor(scales).view(torch().float8_e8m0fnu)
            return lambda: mx.to_dtype(data, bytes_, _dtype(_MX[format]), 32, torch().float32)

        return Speed(_back(format, "f32"), theirs)

    quantizers = [quantizer(format, mode) for format in ("mxfp4", "mxfp8_e4m3") for mode in _MX_WHY]
    return [*quantizers, nvfp4(True), nvfp4(False), back("mxfp4"), back("mxfp8_e4m3")]


_MX_SCRIPT = """import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
x = torch.zeros(1, 32)
x[0, 0] = {x}
scales, codes = to_mx(x, torch.{element}, 32, ScaleCalculationMode.{mode})
print({shown})"""
_BACK = "to_dtype(codes, scales, torch.{element}, 32, torch.float32)[0, 0].item() / x[0, 0].item()"


def _script(x: str, element: str, mode: str, shown: str = "") -> str:
    return _MX_SCRIPT.format(x=x, element=element, mode=mode, shown=shown or _BACK.format(element=element))


PEER = Peer(
    "torchao",
    "torchao",
    "0.18.0",
    "https://github.com/pytorch/ao",
    _operations,
    [
        Fault(
            "MX 1.0 section 6.3: P = V / X, and X is 2^-127 under scale byte 0",
            "a block with scale byte 0 decodes to half its values under FLOOR, CEIL and EVEN",
            _script("2.0**-120", "float8_e4m3fn", "FLOOR"),
            "0.5",
            "1.0",
        ),
        Fault(
            "MX 1.0 section 6.3: P = V / X, and X is 2^-127 under scale byte 0",
            "a block with scale byte 0 decodes to zeros under RCEIL",
            _script("2.0**-120", "float8_e4m3fn", "RCEIL"),
            "0.0",
            "1.0",
        ),
        Fault(
            "the rule's own words: the scale is the least power of two not below amax / max",
            "a quotient a few units above a power of two gets that power under RCEIL, and the largest element saturates",
            _script("6 * 2.0**40 * (1 + 2.0**-20)", "float4_e2m1fn_x2", "RCEIL", "scales.view(torch.uint8).item()"),
            "167",
            "168",
        ),
        Fault(
            "the option's own words: the factor is rounded down to a power of two",
            "round_scales_to_power_of_2 gives a factor above the one that it rounds",
            "import torch\nfrom torchao.float8.float8_utils import tensor_to_scale\nx = torch.tensor([2.5465853e-11])\n"
            "print((tensor_to_scale(x, torch.float8_e4m3fn, round_scales_to_power_of_2=True) <= tensor_to_scale(x, torch.float8_e4m3fn)).item())",
            "False",
            "True",
        ),
    ],
    _speed,
)
