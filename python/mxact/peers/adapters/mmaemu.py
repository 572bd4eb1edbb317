"""mmaemu: FP8 products of cuBLASLt on an H100 and of an RTX 4060's instruction, and its experimental preset of B200's mma.sync."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Disagreement, Operation, Peer, Sum
from mxact.peers.adapters.tensors import numbers, tensor, torch

_RELEASE = "0.1.0"
_PAIRS = [(a, b) for a in ("e4m3fn", "e5m2") for b in ("e4m3fn", "e5m2")]
_B200 = Disagreement(
    lambda a, b, c: np.ones(c.shape, bool),
    "32 products are one group of 25 bits and C comes last; the contract has two groups of 16, k mod 4 below 2 first. mmaemu calls the preset experimental",
    "outputs of an H100, whose mma.sync is the same instructions (tc_h100), and B200's with fp16 results (tc_published) have two groups; B200's with fp32 results fit both",
)


def _operand(codes: Array, format: str) -> Any:
    return tensor(codes).view(torch().float8_e4m3fn if format == "e4m3fn" else torch().float8_e5m2)


def _instruction(preset: str, contract: str, a: str, b: str, k: int, known: Disagreement | None = None) -> Sum:
    dot = import_module("mmaemu.model.chain").dot

    def fn(x: Array, y: Array, c: Array, scale_a: Any, scale_b: Any) -> Array:
        first, second = _operand(x, a), _operand(y, b)
        shape = (len(x), len(y), x.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return numbers(dot(first[:, None, :].expand(shape), second[None, :, :].expand(shape), tensor(c), preset=preset))

    return Sum(f'dot(preset="{preset}")', contract, a, b, "f32", "f32", k, fn, _RELEASE, known=known)


def _product(fast: bool, a: str, b: str, to: str) -> Sum:
    scaled_mm = import_module("mmaemu").scaled_mm
    result = {"f32": "float32", "bf16": "bfloat16", "fp16": "float16"}[to]

    def fn(x: Array, y: Array, c: Array, scale_a: Any, scale_b: Any) -> Array:
        # cuBLASLt takes sizes of 16: further rows are zeros.
        rows, columns = len(x), len(y)
        first, second = (np.concatenate([codes, np.zeros((-len(codes) % 16, codes.shape[1]), np.uint8)]) for codes in (x, y))
        scales = [torch().tensor(float(scale)) for scale in (scale_a, scale_b)]
        d = scaled_mm(_operand(first, a), _operand(second, b).t(), *scales, out_dtype=getattr(torch(), result), use_fast_accum=fast, profile="hopper", splitk=1)
        return numbers(d[:rows, :columns])

    contract = "cublaslt-fp8" if fast else "cublaslt-fp8-promoted"
    return Sum(f'scaled_mm(profile="hopper", splitk=1, use_fast_accum={fast})', contract, a, b, "", to, 256, fn, _RELEASE, "numbers")


def _operations() -> Sequence[Operation]:
    rows: list[Operation] = []
    for preset, contract, k, known in (("ada", "ada-fp8", 32, None), ("hopper", "hopper-fp8", 64, None), ("b200_mma_sync", "blackwell-mma-fp8", 32, _B200)):
        rows += [_instruction(preset, contract, a, b, k, known) for a, b in _PAIRS]
    # cuBLASLt has no product of two e5m2.
    return [*rows, *(_product(fast, a, b, to) for fast in (True, False) for a, b in _PAIRS[:3] for to in ("f32", "bf16", "fp16"))]


PEER = Peer("mmaemu", "mmaemu", _RELEASE, "https://github.com/astding/mmaemu", _operations)
