"""Dot products under the arithmetic of a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, f32_bits, flat_bytes, format_of, shown, word
from mxact._blocks import Quantized
from mxact._error import Error
from mxact._libraries import like

Given = tuple[str, str, int, Array, Array]


def operand(name: str, value: object, axes: int, source: str | None = None) -> tuple[tuple[int, ...], Given]:
    """The shape of numbers of so many axes, and their codes with their scales."""
    many = "one axis" if axes == 1 else f"{axes} axes"
    if not isinstance(value, Quantized):
        values = array(name, value)
        if values.ndim != axes:
            raise Error(f"{name} has {values.ndim} axes, must have {many}", place=name)
        return values.shape, (format_of(name, values, source), "", 0, flat_bytes(values), np.empty(0, np.uint8))
    format, element, scale, columns, rows = _core.block_format_facts(word(f"{name}.format", value.format))
    codes, scales = array(f"{name}.codes", value.codes), array(f"{name}.scales", value.scales)
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


def dot(a: object, b: object, contract: str, c: object = None, bias: object = None, source: tuple[str | None, str | None] = (None, None)) -> Any:
    """sum(a[k] * b[k]) as a device sums it.

    a, b: as many numbers each, of one axis: arrays as convert() takes them (`source` names the formats of unsigned codes), or Quantized tensors.
    contract: a name of mxact.contracts(). c: a number that enters the sum where the contract says; bias: one that is added at its end (fp32).
    Returns a float32, as a tensor of no axes where a is a torch tensor. Source: the contract's row; `mxact formats` lists them.
    Raises mxact.Error: unknown names, other shapes and dtypes, unequal lengths, operands that the contract does not take.
    """
    if not isinstance(source, tuple) or len(source) != 2:
        raise Error(f"source is {shown(source)}, must be a pair of formats, one for each side", place="source")
    of_a, first = operand("a", a, 1, source[0])
    of_b, second = operand("b", b, 1, source[1])
    if of_a != of_b:
        raise Error(f"a has {of_a[0]} elements, b {of_b[0]}: must be as many", place="b")
    added = [None if value is None else f32_bits(name, value) for name, value in (("c", c), ("bias", bias))]
    return like(a, np.uint32(_core.dot(word("contract", contract), first, second, *added)).view(np.float32))
