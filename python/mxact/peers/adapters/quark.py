"""AMD Quark: its MX emulation as numbers, UE5M3 and E8M0. Importing it compiles its extension, which takes a C++ compiler and a minute or more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from mxact._arguments import Array
from mxact.peers._rows import Cast, Emulation, Fault, Operation, Peer, Speed
from mxact.peers.adapters.tensors import codes, numbers, tensor, torch

_ELEMENTS = {"fp8_e4m3_g32": "fp8_e4m3", "fp4_e2m1_g32": "fp4", "fp6_e2m3_g32": "fp6_e2m3"}
_WHY = {
    "even": "scales are fp32 powers of two and end at 2^127",
    "floor": "logarithm and power are held in the tensor's dtype",
    "ceil": "logarithm and power are held in the tensor's dtype",
}


def _mx(format: str, source: str, mode: str) -> Emulation:
    quantize = import_module("quark.torch.kernel.hw_emulation.hw_emulation_interface").fake_quantize_mx

    def fn(x: Array) -> Array:
        return numbers(quantize(tensor(x), -1, 32, mode, mx_element_dtype=_ELEMENTS[format]))

    return Emulation(f'fake_quantize_mx(x, -1, 32, "{mode}")', format, source, f"quark-mx-{mode}", fn, _WHY[mode])


def _ue5m3(x: Array) -> Array:
    convert = import_module("quark.torch.kernel.float8_e5m3.reference").reference_convert_fp32_to_e5m3_bits
    return codes(convert(torch().clamp(tensor(x), 0, 114688)).to(torch().uint8))


def _e8m0(x: Array) -> Array:
    return codes(import_module("quark.torch.utils.numerics").to_e8m0_uint8(tensor(x)))


def _operations() -> Sequence[Operation]:
    rows: list[Operation] = [_mx(format, source, mode) for mode in _WHY for format in _ELEMENTS for source in ("f32", "bf16")]
    return [*rows, Cast("to_e8m0_uint8", "f32", "e8m0", "quark-e8m0", _e8m0, finite=True), Cast("reference_convert_fp32_to_e5m3_bits", "f32", "ue5m3", "quark-ue5m3", _ue5m3, finite=True)]


def _speed() -> Sequence[Speed]:
    quantize = import_module("quark.torch.kernel.hw_emulation.hw_emulation_interface").fake_quantize_mx

    def of(mode: str) -> Speed:
        def theirs(x: Array) -> Callable[[], object]:
            values = tensor(x)
            return lambda: quantize(values, -1, 32, mode, mx_element_dtype="fp4")

        return Speed(_mx("fp4_e2m1_g32", "f32", mode), theirs)

    return [of(mode) for mode in _WHY]


PEER = Peer(
    "quark",
    "amd-quark",
    "0.13",
    "https://github.com/amd/Quark",
    _operations,
    [
        Fault(
            "the mode's own words: the largest power of two not above amax",
            "in bf16 the logarithm is too coarse: floor takes 8 for an amax of 7.96875",
            "import torch\nfrom quark.torch.kernel.hw_emulation.hw_emulation_interface import fake_quantize_mx\nx = torch.zeros(1, 32, dtype=torch.bfloat16)\nx[0, :2] = torch.tensor([7.96875, 0.25])\n"
            'print(fake_quantize_mx(x, -1, 32, "floor", mx_element_dtype="fp4")[0, 1].item())',
            "0.0",
            "0.5",
        ),
        Fault(
            "MX 1.0 section 5.4.1: byte 0 is 2^-127",
            "2^-127 becomes byte 1",
            "import torch\nfrom quark.torch.utils.numerics import to_e8m0_uint8\nprint(to_e8m0_uint8(torch.tensor([2.0**-127])).item())",
            "1",
            "0",
        ),
    ],
    _speed,
)
