"""Scalar conversions of whole arrays."""

from __future__ import annotations

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, dtype_of, flat_bytes, format_of, word


def convert(x: object, to: str, profile: str = "ocp", source: str | None = None) -> Array:
    """Each number of x in another format, as an implementation converts it.

    x: array of any shape; float32, float16 or a dtype of ml_dtypes, or codes as unsigned integers (uint8 up to 8 bits, uint16 up to 16, uint32) with
    their format in `source`. On the host; any strides.
    to: a name of mxact.formats(). profile: a name of mxact.profiles(); rounding, overflow, NaN and flushing are its own.
    Returns an array of x's shape, C-contiguous: the dtype of `to` in NumPy or ml_dtypes, else unsigned integers of its width.
    Raises mxact.Error: unknown names, a dtype that is none of these, a profile without this conversion (the sentence names those that have it), a
    rounding that takes random bits, a word that is no code of the source, a NaN that the implementation refuses.
    Source: the profile's row; `mxact formats --profile NAME` shows it.
    """
    values = array("x", x)
    name = format_of("x", values, source)
    results = np.empty(values.shape, dtype_of(word("to", to)))
    _core.convert(word("profile", profile), name, to, flat_bytes(values), results.reshape(-1).view(np.uint8))
    return results
