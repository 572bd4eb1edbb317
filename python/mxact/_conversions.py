"""Scalar conversions of whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import dtype_of, flat_bytes, format_of, is_small, numbers_or_codes, room, word
from mxact._libraries import like


class Flags(IntFlag):
    """What happened to a number on its way into another format, as IEEE 754 section 7 names it, and three words more. UNDERFLOW: tiny before rounding and
    inexact. INVALID: a NaN or an infinity into a format without one. SATURATED: the result was clamped. NAN: the number was one. FLUSHED: a number that is
    not 0 became 0 because the implementation flushes subnormals. The bits are those of mxact.h."""

    INEXACT = 1
    UNDERFLOW = 2
    OVERFLOW = 4
    INVALID = 16
    SATURATED = 32
    NAN = 64
    FLUSHED = 128


def converter(source: str, to: str, profile: str = "ocp") -> Callable[[int], int]:
    """One conversion looked up once, for single numbers: c = converter("f32", "e4m3fn", profile="torch-cpu"); c(0x3F800000) is 0x38.

    source, to: names of mxact.formats(). profile: a name of mxact.profiles().
    Returns a function of one code of `source`, a whole number, that gives the code of `to`. It raises mxact.Error for what is no code of the source and
    for a NaN that the implementation refuses. Errors of this call and source as of convert(). Whole arrays are convert()'s: a number costs a thousandth there.
    """
    found: Any = _core.converter(word("profile", profile), word("source", source), word("to", to))
    return found  # type: ignore[no-any-return]


def convert(x: object, to: str, profile: str = "ocp", source: str | None = None) -> Any:
    """Each number of x in another format, as an implementation converts it.

    x: array of any shape; float32, float16 or a dtype of ml_dtypes, or codes as unsigned integers (uint8 up to 8 bits, uint16 up to 16, uint32) with
    their format in `source`. On the host; any strides. A list of Python's numbers is float32, or with `source` codes, each of them exactly.
    to: a name of mxact.formats(). profile: a name of mxact.profiles(); rounding, overflow, NaN and flushing are its own.
    Returns an array of x's shape, C-contiguous: the dtype of `to` in NumPy or ml_dtypes, else unsigned integers of its width; a torch tensor for one.
    Raises mxact.Error: unknown names, a dtype that is none of these, a profile without this conversion (the sentence names those that have it), a
    rounding that takes random bits, a word that is no code of the source, a NaN that the implementation refuses.
    Source: the profile's row; `mxact formats --profile NAME` shows it.
    """
    cached = _core.convert_cached(x, to, profile, source)
    if cached is not None:
        return cached
    values = numbers_or_codes("x", x, source)
    name = format_of("x", values, source)
    results = room(values.shape, dtype_of(word("to", to)))
    _core.convert(word("profile", profile), name, to, flat_bytes(values), results.reshape(-1).view(np.uint8))
    if is_small(x):
        _core.cache_conversion(values.dtype, to, profile, source, name, results.dtype)
    return like(x, results)


def convert_flags(x: object, to: str, profile: str = "ocp", source: str | None = None) -> Any:
    """What happened to each number of x in convert().

    Arguments and errors as of convert(). Returns an array of x's shape, uint8: bits of mxact.Flags. The model's own answer: it takes the model's time.
    """
    convert(x, to, profile, source)
    values = numbers_or_codes("x", x, source)
    flags = np.zeros(values.shape, np.uint8)
    _core.convert_flags(profile, format_of("x", values, source), to, flat_bytes(values), flags.reshape(-1))
    return like(x, flags)
