"""Integers of few bits that share a scale and a zero point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mxact import _core
from mxact._arguments import array, dtype_of, flat_bytes, listed, room, word
from mxact._error import Error
from mxact._libraries import Array, like


class Affine(NamedTuple):
    """Codes of the shape of what was quantized; a scale for each block along the last axis, and a zero point where the rules keep one."""

    codes: Any
    scales: Any
    zeros: Any
    rules: str


def _blocks(name: str, shape: tuple[int, ...], block: int, rules: str) -> tuple[int, tuple[int, ...]]:
    """Elements of a block, and the shape of the scales."""
    if not shape or shape[-1] == 0:
        raise Error(f"{name} has the shape {shape}: nothing lies along its last axis", place=name)
    size = block or shape[-1]
    if shape[-1] % size:
        raise Error(f"{name} has {shape[-1]} elements along its last axis, no whole blocks: {rules} has blocks of {size}", place=name)
    return size, (*shape[:-1], shape[-1] // size)


def quantize_affine(x: object, rules: str) -> Affine:
    """Blocks of fp32 numbers along the last axis as integers with a scale and a zero point: x is about (code - zero) * scale.

    x: float32, finite. rules: "awq", "gptq", "gptq-sym", "torchao-int4", "torchao-uint4", ... with words in the place of their own ("awq,block=32"),
    or all words; `mxact formats --rules` lists both.
    Returns codes (int8 or uint8, one each), scales, and zero points (None where the rules keep none: then it is 0, without a sign half of the codes).
    Raises mxact.Error: unknown words, an array that is no float32, no whole blocks, a NaN or Inf.
    """
    values = listed("x", x, np.dtype(np.float32))
    if values.dtype != np.float32:
        raise Error(f"x is {values.dtype}, must be float32", place="x")
    block, code, zero, scale = _core.affine_facts(word("rules", rules))
    size, of_blocks = _blocks("x", values.shape, block, rules)
    codes = room(values.shape, np.dtype(code))
    scales = room(of_blocks, dtype_of(scale))
    zeros = room(of_blocks, np.dtype(zero)) if zero else None
    _core.quantize_affine(rules, size, flat_bytes(values), flat_bytes(codes), flat_bytes(scales), np.zeros(0, np.uint8) if zeros is None else flat_bytes(zeros))
    return Affine(like(x, codes), like(x, scales), None if zeros is None else like(x, zeros), rules)


def _checked(name: str, value: object, dtype: np.dtype[Any], shape: tuple[int, ...] | None) -> Array:
    values = array(name, value)
    if values.dtype != dtype:
        raise Error(f"{name} is {values.dtype}, must be {dtype}", place=name)
    if shape is not None and values.shape != shape:
        raise Error(f"{name} has the shape {values.shape}, must be {shape}", place=name)
    return values


def dequantize_affine(q: Affine, to: str = "f32") -> Any:
    """The numbers that these codes stand for, (code - zero) * scale rounded once to nearest even.

    q: what quantize_affine() gave, or mxact.Affine(codes, scales, zeros, rules) of arrays like those. to: "f32", or the format of the scales.
    Raises mxact.Error: arrays of another dtype or shape, another target.
    """
    if not isinstance(q, Affine):
        raise Error(f"q is of type {type(q).__name__}, must be mxact.Affine", place="q")
    block, code, zero, scale = _core.affine_facts(word("rules", q.rules))
    codes = _checked("codes", q.codes, np.dtype(code), None)
    size, of_blocks = _blocks("codes", codes.shape, block, q.rules)
    scales = _checked("scales", q.scales, dtype_of(scale), of_blocks)
    if (q.zeros is None) != (not zero):
        raise Error(f"zeros is {'None' if q.zeros is None else 'an array'}: {q.rules} {'keep' if zero else 'keep no'} zero points", place="zeros")
    zeros = np.zeros(0, np.uint8) if q.zeros is None else flat_bytes(_checked("zeros", q.zeros, np.dtype(zero), of_blocks))
    numbers = room(codes.shape, dtype_of(word("to", to)))
    _core.dequantize_affine(q.rules, to, size, flat_bytes(codes), flat_bytes(scales), zeros, flat_bytes(numbers))
    return like(q.codes, numbers)
