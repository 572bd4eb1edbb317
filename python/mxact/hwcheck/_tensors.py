"""Codes into tensors on a card and back; torch is imported by whoever asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._libraries import of_tensor
from mxact.hwcheck._questions import NotHere

_NAMES = {"e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2", "bf16": "bfloat16", "fp16": "float16", "f32": "float32", "e8m0": "float8_e8m0fnu", "e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz"}


def library(name: str) -> Any:
    """A library, or why it is not here."""
    try:
        return import_module(name)
    except Exception as problem:  # noqa: BLE001  (whatever a library raises while it is imported)
        raise NotHere(f"{name}: {type(problem).__name__}: {problem}") from None


def torch() -> Any:
    return library("torch")


def dtype(format: str) -> Any:
    found = getattr(torch(), _NAMES[format], None)
    if found is None:
        raise NotHere(f"this torch has no {_NAMES[format]}")
    return found


def on_card(values: Array, format: str) -> Any:
    """Codes or numbers of a format on the card."""
    words = {1: np.uint8, 2: np.int16, 4: np.int32}[values.dtype.itemsize]
    # By one axis: of a single row NumPy keeps strides that no matrix of a library has.
    flat = np.ascontiguousarray(values).reshape(-1).view(words)
    return torch().from_numpy(flat).cuda().view(dtype(format)).reshape(values.shape)


def bytes_on_card(values: Array) -> Any:
    return torch().from_numpy(np.ascontiguousarray(values).view(np.uint8)).cuda()


def numbers_on_card(values: Any) -> Any:
    """fp32 numbers."""
    return torch().from_numpy(np.ascontiguousarray(np.asarray(values, np.float32))).cuda()


def back(values: Any, format: str) -> Array:
    """A tensor of the card in the dtype of the format."""
    found = of_tensor("the answer", values.detach().cpu().contiguous())
    return np.ascontiguousarray(found).view(dtype_of(format))
