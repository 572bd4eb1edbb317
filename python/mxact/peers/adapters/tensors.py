"""Arrays into torch tensors and back, for the adapters of libraries of torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact._libraries import of_tensor, to_tensor


def torch() -> Any:
    return import_module("torch")


def tensor(values: Array) -> Any:
    return to_tensor(np.ascontiguousarray(values))


def numbers(values: Any) -> Array:
    """A tensor's memory, in NumPy's or ml_dtypes' dtype."""
    return of_tensor("the tensor", values.contiguous())


def codes(values: Any) -> Array:
    """Codes of one byte."""
    return np.asarray(values.contiguous().view(torch().uint8).numpy())


def unpacked(values: Any, shape: tuple[int, ...]) -> Array:
    """Codes of four bits out of bytes that hold two, the first in the low half."""
    pairs = codes(values)
    return np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(shape)


def packed(values: Array) -> Any:
    """The way back."""
    return tensor(values[..., ::2] | values[..., 1::2] << 4)
