"""MMA-Sim: sums of NVIDIA's and AMD's matrix units, every class of instruction but f64. Importing it compiles a few lines, which takes a C++ compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Disagreement, Fault, Operation, Peer, Sum
from mxact.peers.adapters.tensors import numbers, packed, tensor, torch

_RELEASE = "2.1.1"
_FORMATS = {"f16": "fp16", "bf16": "bf16", "tf32": "tf32", "e4m3": "e4m3fn", "e5m2": "e5m2", "e3m2": "e3m2", "e2m3": "e2m3", "e2m1": "e2m1"}
_AMD = {"f32": "f32", "xf32": "tf32", "f16": "fp16", "bf16": "bf16", "fp8": "e4m3fnuz", "bf8": "e5m2fnuz"}
# By architecture: how the contracts of its classes begin, and the name of its fp16 class.
_NVIDIA = {
    "Volta": "volta",
    "Turing": "turing",
    "Ampere": "ampere",
    "Ada Lovelace": "ada",
    "Hopper": "hopper",
    "Blackwell": "blackwell",
    "RTX Blackwell": "blackwell",
}
_FP8 = ("e4m3", "e5m2")


@dataclass(frozen=True)
class _Class:
    """A class of instructions. name: of it, with A.B in the place of the operands' types."""

    kind: str
    arch: str
    word: str
    types: tuple[str, str]
    addend: str
    result: str
    scale: str = ""

    @property
    def name(self) -> str:
        parts = self.word.split(".")
        if self.kind != "MFMA":
            first = 4 if self.scale else 3 if parts[1].startswith("kind") else 2
            parts[first : first + 2] = "A", "B"
        return f'{self.kind}("{self.arch}", "{".".join(parts)}")'


def _nvidia() -> Iterator[_Class]:
    """One of each class: what differs in M and N alone is the same sum."""
    isa = {name: import_module(f"mmasim.nv_ptx.isa_{name}") for name in ("mma", "wgmma", "tcgen05mma")}
    tables = [("MMA", isa["mma"].mma_shape_and_type), ("WGMMA", isa["wgmma"].wgmma_shape_and_type), ("TCGen05MMA", isa["tcgen05mma"].tcgen05mma_shape_and_type)]
    for kind, table in tables:
        for arch, words in table.items():
            for word in words:
                parts = [part for part in word.split(".") if not part.startswith("kind")]
                if "f64" not in parts and (kind == "MMA" or re.match(r"m(64|128)n8k", word) and not (kind == "TCGen05MMA" and word.startswith("m128"))):
                    yield _Class(kind, arch, word, (parts[2], parts[3]), parts[4] if len(parts) > 4 else parts[1], parts[1])
    scaled = [("MMABlockScale", isa["mma"].mma_block_scale_shape_and_type), ("TCGen05MMABlockScale", isa["tcgen05mma"].tcgen05mma_block_scale_shape_and_type)]
    for kind, table in scaled:
        for arch, words in table.items():
            for word in words:
                parts = word.split(".")
                if kind == "MMABlockScale" or "n8k" in word:
                    yield _Class(kind, arch, word, (parts[4], parts[5]), parts[3], parts[3], f"{parts[1].removeprefix('kind::')}.{parts[2]}.{parts[-1]}")


def _amd() -> Iterator[_Class]:
    for arch, words in import_module("mmasim.amd.isa_mfma").arch_mfma_suffix.items():
        for word in words:
            types = re.findall(r"(?:(?<=_)|(?<=\d))(bf16|xf32|f16|f32|fp8|bf8)(?=_|$)", word)
            if "f64" not in word:
                yield _Class("MFMA", arch, word, (types[0], types[-1]), "f32", "f32")


def _contract(of: _Class) -> str:
    if of.scale:
        words = {"mxf8f6f4": "blackwell-mxf8f6f4", "mxf4": "blackwell-mxf4"}
        kind, block, scale = of.scale.split(".")
        return words.get(kind) or ("blackwell-mxf4" if block == "block32" else "blackwell-nvf4" if scale == "ue4m3" else "blackwell-mxf4nvf4-16")
    if of.kind == "MFMA":
        cdna, type_ = of.arch.lower(), of.types[0]
        if type_ == "f32":
            return "cdna-f32"
        if type_ in ("fp8", "bf8"):
            return "cdna3-fp8"
        older = cdna == "cdna2" and type_ == "bf16" and not of.word.endswith("_1k")
        return f"{cdna}-{'tf32' if type_ == 'xf32' else type_}" + ("-1k" if cdna == "cdna2" and type_ == "bf16" and not older else "")
    unit, half = _NVIDIA[of.arch], "-f16" if of.result == "f16" else ""
    if "f8f6f4" in of.word or (of.types[0] in _FP8 and unit == "blackwell"):
        return f"blackwell-f8f6f4{half}"
    if of.types[0] in _FP8:
        return f"{unit}-fp8{half}"
    if of.types[0] == "f16":
        volta = "volta" if "m8n8k4" in of.word else unit
        return f"{volta}-f16" + ("-f16" if half else "-c16" if of.addend == "f16" else "")
    return f"{unit}-{of.types[0]}"


def _operand(codes: Array, type_: str, pairs: bool) -> Any:
    """As the classes take them: FP6 and FP4 one a byte in its upper bits, or FP4 two a byte, the first in the high half."""
    if pairs:
        return packed(codes.reshape(*codes.shape[:-1], -1, 2)[..., ::-1].reshape(codes.shape))
    if type_ in ("e2m1", "e2m3", "e3m2"):
        return tensor(codes << 2 if type_ == "e2m1" else codes)
    dtypes = {"f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "fp8": "float8_e4m3fnuz", "bf8": "float8_e5m2fnuz"}
    signed = {1: np.uint8, 2: np.int16, 4: np.int32}[codes.itemsize]
    return tensor(codes.view(signed)).view(getattr(torch(), dtypes.get(type_, "float32")))


def _sum(of: _Class, further: bool) -> Sum:
    library = import_module("mmasim.amd" if of.kind == "MFMA" else "mmasim.nv_ptx")
    unit = getattr(library, of.kind)(of.arch, of.word)
    pairs = getattr(unit, "packing", 1) == 2

    def fn(a: Array, b: Array, c: Array, scale_a: Any, scale_b: Any) -> Array:
        given = [_operand(a, of.types[0], pairs), _operand(b, of.types[1], pairs).T, tensor(c)]
        if scale_a is not None:
            given += [tensor(scale_a).view(unit.s_type), tensor(scale_b).view(unit.s_type).T]
        return numbers(unit(*given))

    names = _AMD if of.kind == "MFMA" else _FORMATS
    a, b = (names[type_] for type_ in of.types)
    contract = _contract(of)
    c, to = ("fp16" if type_ == "f16" else "f32" for type_ in (of.addend, of.result))
    any_nan = of.arch in ("CDNA1", "CDNA2") or contract == "cdna-f32"
    return Sum(of.name, contract, a, b, c, to, unit.k, fn, _RELEASE, "terms" if of.scale else "", any_nan, _KNOWN.get((contract, a, b)), further=further)


def _loses(a: Array, b: Array, c: Array) -> Array:
    """NaN or Inf in C, or among the products before the last sixteen, beside a product of 2^25 or more."""
    products = a[:, None, :] * b[None, :, :]
    large = (np.abs(np.where(np.isfinite(products), products, 0)) >= 2.0**25).any(axis=-1)
    before = ~np.isfinite(products[..., :-16]).all(axis=-1)
    return np.asarray(large & (before | ~np.isfinite(c)))


def _rounds_twice(a: Array, b: Array, c: Array) -> Array:
    """A sum on its way within eight units of 2^128."""
    sums = c[..., None] + np.cumsum(a[:, None, :] * b[None, :, :], axis=-1)
    return np.asarray((np.abs(np.abs(sums) - 2.0**128) <= 2.0**107).any(axis=-1))


_NOBODY = "no silicon decides: no output of an MI300 is public"
_KNOWN = {
    ("cdna3-fp8", "e5m2fnuz", "e5m2fnuz"): Disagreement(
        _loses,
        "a NaN or an Inf that is in C, or in the products of the first sixteen k, is lost beside a product of 2^25 or more; the contract keeps it",
        _NOBODY,
    ),
    ("cdna1-bf16", "bf16", "bf16"): Disagreement(
        _rounds_twice,
        "a sum just below half a unit above the largest number is rounded twice and becomes an Inf; the contract rounds the exact sum once",
        "no silicon decides: no output of an MI100 is public",
    ),
}


def _operations() -> Sequence[Operation]:
    seen: set[tuple[str, tuple[str, str]]] = set()
    rows: list[Operation] = []
    for of in [*_nvidia(), *_amd()]:
        key = (_contract(of), of.types)
        rows.append(_sum(of, key in seen))
        seen.add(key)
    return rows


PEER = Peer(
    "mmasim",
    "mmasim",
    _RELEASE,
    "https://github.com/microsoft/MMA-Sim",
    _operations,
    [
        Fault(
            "IEEE 754 section 6.2: what a NaN enters is a NaN",
            "CDNA3, bf8 by bf8: a NaN in C is lost beside a product of 2^25",
            "import torch\nfrom mmasim.amd import MFMA\nunit = MFMA('CDNA3', 'f32_16x16x32_bf8_bf8')\na = torch.zeros(1, 32)\nb = torch.zeros(32, 1)\na[0, 0], b[0, 0] = 2.0**13, 2.0**12\n"
            "print(unit(a.to(torch.float8_e5m2fnuz), b.to(torch.float8_e5m2fnuz), torch.full((1, 1), float('nan'))).item())",
            "33554432.0",
            "nan",
        ),
        Fault(
            "its own words, E_FDPA and exact_sum: the sum is exact, and rounded once",
            "CDNA1: the largest number, half a unit more and a little less than that is an Inf",
            "import torch\nfrom mmasim.amd import MFMA\nunit = MFMA('CDNA1', 'f32_32x32x4bf16')\na = torch.zeros(1, 4)\nb = torch.zeros(4, 1)\na[0, :2], b[:2, 0] = torch.tensor([2.0**60, -1]), torch.tensor([2.0**43, 2.0**-20])\n"
            "print(unit(a.bfloat16(), b.bfloat16(), torch.full((1, 1), torch.finfo(torch.float32).max)).item())",
            "inf",
            "3.4028234663852886e+38",
        ),
    ],
)
