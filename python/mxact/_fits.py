"""Whether an array is a tensor of given axes: as many bytes alone may be another tensor, or the same one transposed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact._error import Error

_BF16 = np.dtype(ml_dtypes.bfloat16)


def _behind(extents: Sequence[int], bits: int) -> list[int]:
    """Bits of all, then of what stands behind each axis."""
    return [prod(extents[axis:]) * bits for axis in range(len(extents) + 1)]


def has_axes(values: Array, extents: Sequence[int], bits: int) -> bool:
    """Whether its rows end where those of the axes do, and its experts too. Neighbouring axes may be one or several, elements may share a byte or have
    several; rows that end within a byte are told by nothing."""
    wanted = _behind(extents, bits)
    ends = {wanted[0], wanted[1], wanted[-2]} if len(extents) > 1 else {wanted[0]}
    return all(end % 8 or end in _behind(values.shape, 8 * values.itemsize) for end in ends)


def has_element(dtype: np.dtype[Any], bits: int) -> bool:
    """Codes of a byte, which stand for any bytes; numbers of that width; eight codes of 4 bits in a whole number of 32, as int4 checkpoints have them."""
    if dtype.kind not in "uifV" or (dtype.kind == "V" and dtype.isbuiltin == 1):
        return False
    return dtype.itemsize == 1 or 8 * dtype.itemsize == bits or (bits == 4 and dtype.kind in "iu" and dtype.itemsize == 4)


def shape_text(extents: Sequence[int], bits: int) -> str:
    """As an array of bytes or of numbers has it."""
    shape = [*extents[:-1], extents[-1] * bits // 8] if bits < 8 and extents[-1] * bits % 8 == 0 else list(extents)
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def require_numbers(name: str, values: Array, wanted: np.dtype[Any]) -> None:
    """The dtype of a layer's tensor: numbers are of that dtype (of a layer in float16 also bfloat16, as its checkpoint has them), codes of its width or of a
    byte."""
    is_number = values.dtype.kind == "f" or (values.dtype.kind == "V" and values.dtype.itemsize > 1)
    fits = values.dtype in ((wanted, _BF16) if wanted == np.float16 else (wanted,)) if is_number else values.dtype.kind in "uiV" and values.dtype.itemsize in (1, wanted.itemsize, 4)
    if not fits:
        codes = "uint8, or a dtype of ml_dtypes of one byte" if wanted.itemsize == 1 else f"{wanted}, or its bytes as uint8"
        raise Error(f"{name} is {values.dtype}, must be {codes}", place=name)


def require_tensors(tensors: Mapping[str, Array], forms: Mapping[str, tuple[np.dtype[Any], Sequence[int]]]) -> None:
    """Each array that has the bytes of its tensor has its dtype and its axes as well. Those of other sizes are left to who counts bytes."""
    for name, values in tensors.items():
        if name not in forms:
            continue
        dtype, shape = forms[name]
        if values.nbytes != prod(shape) * dtype.itemsize:
            continue
        require_numbers(name, values, dtype)
        if not has_axes(values, shape, 8 * dtype.itemsize):
            raise Error(f"{name} has shape {values.shape}, must have {shape_text(shape, 8 * dtype.itemsize)}", place=name)


def require_fit(name: str, values: Array, axes: Mapping[str, int], bits: int) -> None:
    """The same of one tensor whose elements have so many bits."""
    extents = list(axes.values())
    if values.nbytes * 8 != prod(extents) * bits:
        said = f"{name} has {values.nbytes} bytes, must have {prod(extents) * bits // 8}"
    elif not has_element(values.dtype, bits):
        said = f"{name} is {values.dtype}"
    elif not has_axes(values, extents, bits):
        said = f"{name} has shape {values.shape}"
    else:
        return
    named = {axis: extent for axis, extent in axes.items() if extent > 1} or axes
    whole = bits in (8, 16, 32)
    codes = "uint8 or a dtype of ml_dtypes of one byte" if bits == 8 else f"numbers of {bits} bits" if whole else "bytes, as uint8"
    packed = ", two codes in a byte" if bits == 4 else ""
    fits = f"{codes} of shape {shape_text(list(named.values()), bits)} ({', '.join(named)}{packed}) fit"
    raise Error(f"{said}: {fits}", place=name)
