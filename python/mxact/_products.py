"""Dot products, and matrices of them, under the arithmetic of a device."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, contract_word, dtype_of, f32_bits, flat_bytes, format_of, numbers_or_codes, shown, word
from mxact._blocks import Quantized
from mxact._error import Error
from mxact._libraries import like

Given = tuple[str, str, int, Array, Array]


def operand(name: str, value: object, axes: int, source: str | None = None) -> tuple[tuple[int, ...], Given]:
    """The shape of numbers of so many axes, and their codes with their scales."""
    many = "one axis" if axes == 1 else f"{axes} axes"
    if not isinstance(value, Quantized):
        values = numbers_or_codes(name, value, source)
        if values.ndim != axes:
            raise Error(f"{name} has {values.ndim} axes, must have {many}", place=name)
        return values.shape, (format_of(name, values, source), "", 0, flat_bytes(values), np.empty(0, np.uint8))
    format, element, scale, columns, rows = _core.block_format_facts(word(f"{name}.format", value.format))
    codes, scales = numbers_or_codes(f"{name}.codes", value.codes, element), numbers_or_codes(f"{name}.scales", value.scales, scale)
    if codes.ndim != axes or scales.ndim != axes or rows != 1 or value.axis not in (-1, axes - 1):
        raise Error(f"{name} has codes of {codes.ndim} axes in blocks of {rows} rows along axis {value.axis}, must have {many} and blocks along the last", place=name)
    if value.tensor_scale is not None:
        raise Error(f"{name} has a scale of the tensor, which enters no dot product: multiply it in afterwards", place=name)
    format_of(f"{name}.codes", codes, element)
    format_of(f"{name}.scales", scales, scale)
    block = columns or codes.shape[-1]
    if block and (scales.shape[:-1] != codes.shape[:-1] or scales.shape[-1] * block != codes.shape[-1]):
        found = (len(scales), len(codes)) if axes == 1 else (scales.shape, codes.shape)
        raise Error(f"{name} has {found[0]} scales for {found[1]} codes: {format} has blocks of {block}", place=name)
    return codes.shape, (element, scale, block, flat_bytes(codes), flat_bytes(scales))


def _sources(source: object) -> tuple[str | None, str | None]:
    if not isinstance(source, tuple) or len(source) != 2:
        raise Error(f"source is {shown(source)}, must be a pair of formats, one for each side", place="source")
    return source


def _scales(name: str, value: object, given: Given, rows: int, k: int, term: tuple[str, int]) -> Given:
    """The operand with the scales that stand beside it: a number, one for each row, or one for each block of a row."""
    if value is None:
        return given
    if given[1]:
        raise Error(f"{name} is given, but the operand has scales of its own", place="scales")
    values = array(name, value)
    if (values.dtype.kind in "iu" and values.dtype != np.uint8) or values.dtype == np.float64:
        with np.errstate(all="ignore"):
            values = values.astype(np.float32)
    format = format_of(name, values, term[0] if values.dtype == np.uint8 and term[0] else None)
    if values.ndim == 0:
        values = np.full((rows, 1), values)
    elif values.ndim == 1:
        values = values.reshape(-1, 1)
    if values.ndim != 2 or values.shape[0] == 0 or values.shape[1] == 0 or rows % values.shape[0] != 0:
        raise Error(f"{name} has shape {values.shape}: must be a number, one for each of {rows} rows, or one for each block of them", place="scales")
    blocks = values.shape[1]
    block = term[1] or -(-k // blocks)
    if -(-k // block) != blocks:
        raise Error(f"{name} has {blocks} scales along k, which has {k} numbers in blocks of {block}", place="scales")
    values = np.repeat(values, rows // values.shape[0], axis=0)
    return given[0], format, block, given[3], flat_bytes(values)


def _pair(scales: object) -> tuple[object, object]:
    if scales is None:
        return None, None
    if not isinstance(scales, tuple) or len(scales) != 2:
        raise Error(f"scales is {shown(scales)}, must be a pair, one for each side", place="scales")
    return scales


def dot(
    a: object,
    b: object,
    contract: str | os.PathLike[str],
    c: object = None,
    bias: object = None,
    source: tuple[str | None, str | None] = (None, None),
    scales: tuple[object, object] | None = None,
) -> Any:
    """sum(a[k] * b[k]) as a device sums it.

    a, b: as many numbers each, of one axis: arrays as convert() takes them (`source` names the formats of unsigned codes; codes of tf32 are registers,
    the upper 19 bits of uint32), or Quantized tensors.
    contract: a name of mxact.contracts(), or a record ("step=aligned:cast=bf16:group=8:align=24:keep=24"; `mxact formats --contract NAME` prints one),
    or the path of a file with one ("@FILE" as text).
    c: a number that enters the sum where the contract says; bias: one that is added at its end (fp32).
    scales: a pair, None where a side has none: a number, or one for each block along k; fp32, or codes where the contract multiplies them into terms.
    Returns a float32, as a tensor of no axes where a is a torch tensor. Source: the contract's row; `mxact formats` lists them.
    Raises mxact.Error: unknown names, other shapes and dtypes, unequal lengths, operands that the contract does not take.
    """
    sources = _sources(source)
    of_a, first = operand("a", a, 1, sources[0])
    of_b, second = operand("b", b, 1, sources[1])
    if of_a != of_b:
        raise Error(f"a has {of_a[0]} elements, b {of_b[0]}: must be as many", place="b")
    called = contract_word(contract)
    if scales is not None:
        term = _core.contract_facts(called)[:2]
        scale_a, scale_b = (None if value is None else array("scales", value).reshape(1, -1) for value in _pair(scales))
        first, second = _scales("scales[0]", scale_a, first, 1, of_a[0], term), _scales("scales[1]", scale_b, second, 1, of_b[0], term)
    added = [None if value is None else f32_bits(name, value) for name, value in (("c", c), ("bias", bias))]
    return like(a, np.uint32(_core.dot(called, first, second, *added)).view(np.float32))


def _turned(b: object, source: str | None) -> object:
    """The second matrix with k as its last axis."""
    if isinstance(b, Quantized):
        codes, scales = array("b.codes", b.codes), array("b.scales", b.scales)
        if codes.ndim != 2 or b.axis not in (0, -2):
            raise Error(f"b has {codes.ndim} axes and blocks along axis {b.axis}: must have two and blocks along the first, which is k", place="b")
        return Quantized(codes.T, scales.T, b.tensor_scale, b.format, b.profile, b.source, 1)
    values = numbers_or_codes("b", b, source)
    if values.ndim != 2:
        raise Error(f"b has {values.ndim} axes, must have 2 axes", place="b")
    return values.T


def _numbers(name: str, value: object, shape: tuple[int, ...]) -> Array | None:
    """fp32 numbers of a shape, or one for all."""
    if value is None:
        return None
    values = array(name, value)
    wrong = Error(f"{name} is {values.dtype} of shape {values.shape}, must be numbers of shape {shape}, or one", place=name)
    if values.dtype.kind not in "fiuV":
        raise Error(f"{name} is {values.dtype}, must be float32 or what NumPy makes float32 of: another dtype of floats or integers", place=name)
    if values.shape not in ((), shape):
        raise wrong
    try:
        with np.errstate(all="ignore"):
            numbers = values.astype(np.float32)
    except (TypeError, ValueError):  # a record
        raise wrong from None
    return np.ascontiguousarray(np.broadcast_to(numbers, shape))


def matmul(
    a: object,
    b: object,
    contract: str | os.PathLike[str],
    scales: tuple[object, object] | None = None,
    c: object = None,
    bias: object = None,
    source: tuple[str | None, str | None] = (None, None),
    to: str | None = None,
) -> Any:
    """a @ b as a device multiplies them: each result is one dot product over all of k.

    a: M x K, b: K x N: arrays as convert() takes them (`source` names the formats of unsigned codes, one a word; those of tf32 are registers, the upper
    19 bits of uint32), or Quantized tensors with blocks along k.
    contract: a name of mxact.contracts(), a record (`mxact formats --contract NAME` prints one) or the path of a file with one.
    scales: a pair, None where a side has none: a number; one for each row of a and each column of b; or M x blocks and N x blocks along k, and fewer
    rows where some share theirs. fp32, or codes where the contract multiplies them into terms (blackwell-nvf4: uint8).
    c: M x N numbers that enter the sum where the contract says. bias: N numbers, added at its end. to: f32, fp16 or bf16 (one rounding to nearest even);
    without it what the contract gives.
    Returns an array of M x N, a tensor where a is a torch tensor; without rows or columns an empty one. Source: the contract's row. Threads: mxact.threads().
    Raises mxact.Error: unknown names, other shapes and dtypes, operands and scales that the contract does not take.
    """
    sources = _sources(source)
    called = contract_word(contract)
    scale_format, block, _, result, _ = _core.contract_facts(called)
    of_a, first = operand("a", a, 2, sources[0])
    of_b, second = operand("b", _turned(b, sources[1]), 2, sources[1])
    if of_a[1] != of_b[1]:
        raise Error(f"a is {of_a[0]} x {of_a[1]}, b {of_b[1]} x {of_b[0]}: must have one k", place="b")
    (m, k), n = of_a, of_b[0]
    if k == 0:
        raise Error("a and b have a k of 0: there is nothing to sum", place="a")
    output = result if to is None else word("to", to)
    out = np.empty((m, n), dtype_of(output))
    if out.itemsize not in (2, 4):
        raise Error(f"to is {output}, must be f32, fp16 or bf16", place="to")
    if out.size == 0:
        return like(a, out)
    scale_a, scale_b = _pair(scales)
    first = _scales("scales[0]", scale_a, first, m, k, (scale_format, block))
    second = _scales("scales[1]", scale_b, second, n, k, (scale_format, block))
    starts, added = (None if value is None else flat_bytes(value) for value in (_numbers("c", c, (m, n)), _numbers("bias", bias, (n,))))
    _core.matmul(called, output, m, n, k, first, second, starts, added, out.reshape(-1).view(np.uint8))
    return like(a, out)
