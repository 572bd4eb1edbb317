"""auto-round: its MX and NVFP4 emulation, and UE5M3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact import convert
from mxact._arguments import Array
from mxact.peers._rows import Cast, Operation, Peer, Quantizer, Speed
from mxact.peers.adapters.tensors import codes, numbers, tensor, torch

_MX = {
    "mxfp8_e4m3": ("mx_fp8", "e4m3fn", 8),
    "mxfp8_e5m2": ("mx_fp8e5m2", "e5m2", 8),
    "mxfp6_e2m3": ("mx_fp6e2m3", "e2m3", 6),
    "mxfp6_e3m2": ("mx_fp6e3m2", "e3m2", 6),
    "mxfp4": ("mx_fp4", "e2m1", 4),
}
_WHY = "a block of zeros has the byte of an amax of 2, and the scale is the floor of an fp32 logarithm"


def _mx(format: str, source: str) -> Quantizer:
    module = import_module("auto_round.data_type.mxfp")
    name, element, bits = _MX[format]

    def fn(x: Array) -> tuple[Array, Array]:
        blocks = tensor(x).float().reshape(-1, 32)
        _, exponents, _ = module.quant_mx(blocks, bits, 32, data_type=name)
        # It returns numbers, which overflow where their codes do not: the element is its own, before it goes back.
        ebits, mbits, _, largest, _ = module.MXFP_FORMAT_CACHE[name]
        quotients = torch().clamp(blocks / torch().pow(2.0, exponents.reshape(-1, 1)), -largest, largest)
        elements = numbers(module.quant_element(quotients, ebits, mbits, largest, "even"))
        with np.errstate(all="ignore"):
            return np.asarray(convert(elements, element)).view(np.uint8).reshape(x.shape), (numbers(exponents) + 127).astype(np.uint8).reshape(x.shape[0], -1)

    return Quantizer("quant_mx", format, source, "auto-round-mx", fn, why=_WHY)


def _nvfp4(source: str) -> Quantizer:
    module = import_module("auto_round.data_type.nvfp")

    def fn(x: Array, scale: Any) -> tuple[Array, Array]:
        given = torch().tensor(float(scale))
        values = tensor(x).reshape(-1, 16)
        _, scales = module.ref_nvfp4_quant(values, given)
        # Its element is its cast of the product that it clamps, before it goes back to numbers.
        factor = module.get_reciprocal(scales * module.get_reciprocal(given))
        elements = module.cast_to_fp4(torch().clamp(values.float() * factor, -6.0, 6.0))
        return np.asarray(convert(numbers(elements), "e2m1")).view(np.uint8).reshape(x.shape), codes(scales.to(torch().float8_e4m3fn)).reshape(x.shape[0], -1)

    return Quantizer("ref_nvfp4_quant(x, scale)", "nvfp4", source, "auto-round-nvfp4", fn, "given")


def _operations() -> Sequence[Operation]:
    module = import_module("auto_round.data_type.nvfp")
    rows: list[Operation] = [Cast("float_to_e5m3_frexp", "f32", "ue5m3", "auto-round-ue5m3", lambda x: codes(module.float_to_e5m3_frexp(tensor(x))), "a negative number gives 0")]
    return rows + [_mx(format, source) for format in _MX for source in ("f32", "bf16", "fp16")] + [_nvfp4(source) for source in ("f32", "bf16", "fp16")]


def _speed() -> Sequence[Speed]:
    mxfp, nvfp = import_module("auto_round.data_type.mxfp"), import_module("auto_round.data_type.nvfp")

    def mx(format: str) -> Speed:
        name, _, bits = _MX[format]

        def theirs(x: Array) -> Callable[[], object]:
            blocks = tensor(x).reshape(-1, 32)
            return lambda: mxfp.quant_mx(blocks, bits, 32, data_type=name)

        return Speed(_mx(format, "f32"), theirs, back="ocp")

    def nvfp4(x: Array, scale: Any) -> Callable[[], object]:
        blocks, given = tensor(x).reshape(-1, 16), torch().tensor(float(scale))
        return lambda: nvfp.ref_nvfp4_quant(blocks, given)

    return [mx("mxfp4"), mx("mxfp8_e4m3"), Speed(_nvfp4("f32"), nvfp4, back="vllm-nvfp4")]


PEER = Peer("auto-round", "auto-round", "0.16.1", "https://github.com/intel/auto-round", _operations, speed=_speed)
