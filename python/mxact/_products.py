"""Dot products under the arithmetic of a device."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, f32_bits, flat_bytes, format_of, shown, word
from mxact._blocks import Quantized
from mxact._error import Error
from mxact._libraries import like


def _side(name: str, value: object, source: str | None) -> tuple[int, tuple[str, str, int, Array, Array]]:
    """How many numbers, and their codes with their scales."""
    if not isinstance(value, Quantized):
        values = array(name, value)
        if values.ndim != 1:
            raise Error(f"{name} has {values.ndim} axes, must have one", place=name)
        return len(values), (format_of(name, values, source), "", 0, flat_bytes(values), np.empty(0, np.uint8))
    format, element, scale, columns, rows = _core.block_format_facts(word(f"{name}.format", value.format))
    codes, scales = array(f"{name}.codes", value.codes), array(f"{name}.scales", value.scales)
    if codes.ndim != 1 or scales.ndim != 1 or rows != 1:
        raise Error(f"{name} has codes of {codes.ndim} axes in blocks of {rows} rows, must have one axis and blocks along it", place=name)
    if value.tensor_scale is not None:
        raise Error(f"{name} has a scale of the tensor, which enters no dot product: multiply it in afterwards", place=name)
    format_of(f"{name}.codes", codes, element)
    format_of(f"{name}.scales", scales, scale)
    block = columns or len(codes)
    if block and len(scales) * block != len(codes):
        raise Error(f"{name} has {len(scales)} scales for {len(codes)} codes: {format} has blocks of {block}", place=name)
    return len(codes), (element, scale, block, flat_bytes(codes), flat_bytes(scales))


def dot(a: object, b: object, contract: str, c: object = None, bias: object = None, source: tuple[str | None, str | None] = (None, None)) -> Any:
    """sum(a[k] * b[k]) as a device sums it.

    a, b: as many numbers each, of one axis: arrays as convert() takes them (`source` names the formats of unsigned codes), or Quantized tensors.
    contract: a name of mxact.contracts(). c: a number that enters the sum where the contract says; bias: one that is added at its end (fp32).
    Returns a float32, as a tensor of no axes where a is a torch tensor. Source: the contract's row; `mxact formats` lists them.
    Raises mxact.Error: unknown names, other shapes and dtypes, unequal lengths, operands that the contract does not take.
    """
    if not isinstance(source, tuple) or len(source) != 2:
        raise Error(f"source is {shown(source)}, must be a pair of formats, one for each side", place="source")
    of_a, first = _side("a", a, source[0])
    of_b, second = _side("b", b, source[1])
    if of_a != of_b:
        raise Error(f"a has {of_a} elements, b {of_b}: must be as many", place="b")
    added = [None if value is None else f32_bits(name, value) for name, value in (("c", c), ("bias", bias))]
    return like(a, np.uint32(_core.dot(word("contract", contract), first, second, *added)).view(np.float32))
