"""Arrays that must be the same, bit for bit."""

from __future__ import annotations

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, format_of, word
from mxact._conversions import convert
from mxact._error import Error

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits_of(values: Array) -> Array:
    """The same memory as unsigned integers."""
    if values.dtype.hasobject or values.dtype.kind == "V" and values.dtype.isbuiltin == 1 or values.itemsize not in _UNSIGNED:
        raise Error(f"an array of {values.dtype} has no bits to compare: 1, 2, 4 or 8 bytes an element")
    return values.view(_UNSIGNED[values.itemsize])


def code_text(code: int, format: str | None) -> str:
    """0x3 (1.5): a code with its number, where the format is known."""
    if format is None:
        return f"0x{code:x}"
    unsigned = _UNSIGNED[_core.format_facts(format)[1]]
    try:
        number = convert(np.array([code], unsigned), "f32", source=format)[0]
    except Error:
        return f"0x{code:x} (no code of {format})"
    return f"0x{code:x} ({number:.9g})"


def place_text(values: Array, index: tuple[int, ...]) -> str:
    """[1, 7], byte 39 of its memory."""
    byte = sum(i * stride for i, stride in zip(index, values.strides, strict=True))
    return f"[{', '.join(map(str, index))}], byte {byte} of its memory"


def assert_bits_equal(found: object, expected: object, format: str | None = None, name: str = "result") -> None:
    """Both arrays have the same dtype, shape and bits: a NaN equals itself, and -0 is not 0.

    found, expected: arrays on the host, any strides. format: of codes in unsigned integers, so that a failure shows their numbers too; dtypes that
    convert() takes say it themselves. name: what the failure calls them.
    Raises AssertionError: dtypes, shapes, or the first difference with its place in the tensor and in the memory of `found`, both bit patterns with
    their numbers, how many differ. mxact.Error: what is no array, a format that does not fit.
    """
    a, b = array("found", found), array("expected", expected)
    if a.dtype != b.dtype:
        raise AssertionError(f"{name} is {a.dtype}, must be {b.dtype}")
    if a.shape != b.shape:
        raise AssertionError(f"{name} has shape {a.shape}, must have {b.shape}")
    of = _format(a, format)
    bits, right = bits_of(a), bits_of(b)
    wrong = bits != right
    if not wrong.any():
        return
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape)) if a.ndim else ()
    texts = code_text(int(bits[index]), of), code_text(int(right[index]), of)
    raise AssertionError(f"{name}{place_text(a, index)} is {texts[0]}, must be {texts[1]}; {np.count_nonzero(wrong)} of {wrong.size} differ")


def _format(values: Array, format: str | None) -> str | None:
    if format is not None:
        return format_of("found", values, word("format", format))
    try:
        return format_of("found", values, None)
    except Error:
        return None
