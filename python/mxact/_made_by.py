"""Who made codes and scales of a base."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, f32_bits, flag, flat_bytes, format_of
from mxact._error import Error

_SOURCES = ("f32", "bf16", "fp16")
_SCALES = ("e8m0", "e4m3fn", "f32", "bf16", "fp16")


def made_by(base: object, codes: object, scales: object, *, global_scale: object = None, divides: bool = False) -> dict[str, Any]:
    """Whose rule makes exactly these codes and scales of this base.

    base: [N, K], float32, float16 or bfloat16. codes: [N, K] of float4_e2m1fn or float8_e4m3fn (uint8: FP8's bytes), or [N, K/2] uint8, two of FP4 a
    byte, the even column's low. scales: [N, K/32] (float8_e8m0fnu or uint8: bytes of E8M0; float32; of FP4 float8_e4m3fn), [N, K/16] of E4M3 (float8_e4m3fn or uint8), [N, 1] or [N],
    [ceil(N/128), ceil(K/128)], or one number; floats may be float32, bfloat16 or float16. global_scale: of NVFP4, what values are multiplied by; with
    divides what they are divided by.
    Returns "exact": profiles with their releases, all that give exactly these; "nearest": the first of them or the one with the fewest blocks that
    differ, "blocks" and "differing", "first" place, "cause": what explains the rest, "lossless": codes times scales are the base's numbers.
    Raises mxact.Error for shapes and dtypes that do not fit.
    """
    values = array("base", base)
    source = _format("base", values, _SOURCES)
    if values.ndim != 2 or values.size == 0:
        raise Error(f"base has shape {values.shape}, must have rows and columns", place="base")
    rows, columns = values.shape
    element, packed = _codes(array("codes", codes), rows, columns)
    form, block, number, of_blocks = _scales(array("scales", scales), element, rows, columns)
    if global_scale is not None and block == (0, 0):
        raise Error("scales are one number, and global_scale another", place="global_scale")
    if global_scale is not None:
        number = f32_bits("global_scale", global_scale)
    answer: dict[str, Any] = _core.made_by(source, element, form, (rows, columns), block, number, flag("divides", divides), flat_bytes(values), packed, of_blocks)
    return answer


def _format(name: str, values: Array, known: tuple[str, ...]) -> str:
    form = format_of(name, values, None)
    if form not in known:
        raise Error(f"{name} is {values.dtype}, must be of {', '.join(known)}", place=name)
    return form


def _codes(codes: Array, rows: int, columns: int) -> tuple[str, Array]:
    if codes.shape == (rows, columns):
        element = "e4m3fn" if codes.dtype == np.uint8 else _format("codes", codes, ("e2m1", "e4m3fn"))
        if element == "e4m3fn":
            return element, flat_bytes(codes)
        if columns % 2 == 0:
            halves = flat_bytes(codes).reshape(rows, columns)
            return element, flat_bytes(halves[:, ::2] & 15 | halves[:, 1::2] << 4)
    if codes.shape == (rows, columns // 2) and columns % 2 == 0 and codes.dtype == np.uint8:
        return "e2m1", flat_bytes(codes)
    raise Error(f"codes are {codes.dtype} of shape {codes.shape}, must be [{rows}, {columns}] codes, or uint8 [{rows}, {columns}/2] of FP4", place="codes")


def _scales(scales: Array, element: str, rows: int, columns: int) -> tuple[str, tuple[int, int], int | None, Array]:
    """Their format, what one counts for, the one number, their bytes."""
    shape = scales.shape if scales.ndim != 1 or scales.size == 1 else (scales.size, 1)
    four = element == "e2m1"
    if columns % 16 == 0 and four and shape == (rows, columns // 16):
        form = "e4m3fn" if scales.dtype == np.uint8 else _format("scales", scales, ("e4m3fn",))
        return form, (1, 16), None, flat_bytes(scales)
    if columns % 32 == 0 and shape == (rows, columns // 32) and (four or columns > 32 or scales.dtype.itemsize == 1):
        form = "e8m0" if scales.dtype == np.uint8 else _format("scales", scales, ("e8m0", "f32", "e4m3fn") if four else ("e8m0", "f32"))
        return form, (1, 32), None, flat_bytes(scales)
    form = "e8m0" if scales.dtype == np.uint8 else _format("scales", scales, _SCALES)
    if not four and scales.size == 1 and form in _SOURCES:
        return "f32", (0, 0), f32_bits("scales", scales.reshape(-1)[0]), flat_bytes(np.zeros(0, np.float32))
    if not four and shape == (rows, 1):
        return form, (1, columns), None, flat_bytes(scales)
    if not four and shape == (-(-rows // 128), -(-columns // 128)):
        return form, (128, 128), None, flat_bytes(scales)
    raise Error(f"scales are {scales.dtype} of shape {scales.shape}, which is one of no blocks of {element} in [{rows}, {columns}]", place="scales")
