"""What callers hand over, checked before the C++ side sees it: a word, a flag, an array of codes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from mxact import _core
from mxact._error import Error
from mxact._libraries import Array, is_tensor, of_tensor, require_host

# Formats that NumPy or ml_dtypes have a dtype for; codes of all others are unsigned integers.
_DTYPES: dict[str, np.dtype[Any]] = {
    "e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "e2m3": np.dtype(ml_dtypes.float6_e2m3fn),
    "e3m2": np.dtype(ml_dtypes.float6_e3m2fn),
    "e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
}
_FORMATS = {dtype: name for name, dtype in _DTYPES.items()}
_LARGE = 1 << 22  # bytes: where fresh pages begin to cost as much as filling them
_SMALL = 1 << 16  # elements
_UNSIGNED: dict[int, np.dtype[Any]] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32)}


def shown(value: object) -> str:
    """A value in an error: a number or a short text as Python writes it, all else by its type."""
    if isinstance(value, (bool, int, float, str, np.number, np.bool_)) and len(text := repr(value)) <= 80:
        return text
    return f"of type {type(value).__name__}"


def word(name: str, value: object) -> str:
    """A name of some table."""
    if not isinstance(value, str):
        raise Error(f"{name} is of type {type(value).__name__}, must be text", place=name)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Error(f"{name} is no UTF-8: {value[:40]!r}", place=name) from None
    return value


def contract_word(value: object) -> str:
    """A contract's name, its record, or the record in a file: "@FILE" or a path. A file without a record raises mxact.Error that names it."""
    if isinstance(value, os.PathLike):
        value = "@" + os.fsdecode(value)
    called = word("contract", value)
    return _core.contract_word(called) if called.startswith("@") else called


def optional_word(name: str, value: object) -> str | None:
    return None if value is None else word(name, value)


def path_word(name: str, value: object) -> str:
    """A path, as text or os.PathLike."""
    path = word(name, os.fspath(value) if isinstance(value, os.PathLike) else value)
    if not path or "\0" in path:
        raise Error(f"{name} {'is empty' if not path else 'has a zero byte'}", place=name)
    return path


def flag(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name} is {shown(value)}, must be True or False", place=name)
    return bool(value)


def integer(name: str, value: object) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        number = int(value)
        if -(1 << 31) <= number < 1 << 31:
            return number
    raise Error(f"{name} is {shown(value)}, must be a whole number of at most 31 bits", place=name)


def launch_text(value: object) -> str:
    """A kernel's launch as the program reads it: "block_m=16,w2.tile_k=64,tuned=FILE", from such a text or a mapping. None: nothing is given."""

    def given(key: str, value: object) -> str:
        if key == "tuned":
            return word("launch.tuned", os.fsdecode(value) if isinstance(value, os.PathLike) else value)
        return str(integer(f"launch.{key}", value))

    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ",".join(f"{word('launch', key)}={given(key, number)}" for key, number in value.items())
    return word("launch", value)


def f32_bits(name: str, value: object) -> int:
    """fp32 bits of a number, the nearest where fp32 has it not."""
    if isinstance(value, (bool, str, bytes)):
        raise Error(f"{name} is {shown(value)}, must be a number", place=name)
    try:
        with np.errstate(over="ignore"):
            return int(np.float32(float(value)).view(np.uint32))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise Error(f"{name} is of type {type(value).__name__}, must be a number", place=name) from None


@lru_cache(maxsize=64)
def dtype_of(format_name: str) -> np.dtype[Any]:
    """The dtype of codes of a format."""
    name, size = _core.format_facts(format_name)
    return _DTYPES.get(name, _UNSIGNED[size])


def array(name: str, value: object) -> Array:
    """A NumPy array of what has one, or shows its memory."""
    if not isinstance(value, np.ndarray):
        try:
            if is_tensor(value):
                return of_tensor(name, value)
            require_host(name, value)
            value = np.asarray(value)
        except Error:
            raise
        except Exception as problem:  # noqa: BLE001  (another library's, of any kind)
            raise Error(f"{name} is of type {type(value).__name__}, which NumPy makes no array of: {problem}", place=name) from None
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise Error(f"{name} is a masked array: fill what is masked", place=name)
    # A matrix, a view of records: their memory is that of an array.
    return np.asarray(value)


def listed(name: str, value: object, dtype: np.dtype[Any]) -> Array:
    """As array(); a list of Python's own numbers, whose dtype nobody chose, in that dtype, which must have each of them exactly."""
    values = array(name, value)
    if not isinstance(value, (list, tuple)) or values.dtype.kind not in ("iu" if dtype.kind in "iu" else "iuf"):
        return values
    with np.errstate(all="ignore"):
        made = values.astype(dtype)
        wrong = (made.astype(values.dtype) != values) & ~np.isnan(values)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise Error(f"{name}[{', '.join(map(str, index))}] is {values[index]!s}, which no {dtype} is", place=name)
    return made


def numbers_or_codes(name: str, value: object, source: object) -> Array:
    """As listed(): a list has numbers, or where `source` names their format codes."""
    wanted = np.dtype(np.float32) if source is None else _UNSIGNED[_core.format_facts(word("source", source))[1]]
    return listed(name, value, wanted)


def _fitting(wanted: tuple[str, int]) -> str:
    own = _DTYPES.get(wanted[0])
    return f"{_UNSIGNED[wanted[1]]} or {own}" if own is not None else str(_UNSIGNED[wanted[1]])


def format_of(name: str, values: Array, source: object) -> str:
    """The format of an array's codes: what its dtype says, or `source` for unsigned integers."""
    wanted = None if source is None else _core.format_facts(word("source", source))
    known = _FORMATS.get(values.dtype)
    if known is not None:
        if wanted is not None and wanted[0] != known:
            raise Error(f"{name} is {values.dtype}, which has codes of {known}, not of {wanted[0]}: {_fitting(wanted)} fits", place=name)
        return known
    if values.dtype.kind != "u" or values.dtype.itemsize not in _UNSIGNED:
        if wanted is not None:
            raise Error(f"{name} is {values.dtype}, must be {_fitting(wanted)}, as codes of {wanted[0]} are", place=name)
        names = ", ".join(str(dtype) for dtype in _FORMATS)
        raise Error(f"{name} is {values.dtype}, must be one of {names}, or codes as unsigned integers with their format in source", place=name)
    if not values.dtype.isnative:
        raise Error(f"{name} is {values.dtype.newbyteorder('S')} of the other byte order: copy it into this machine's", place=name)
    if wanted is None:
        raise Error(f"{name} is {values.dtype}: say in source which format its codes have", place=name)
    if wanted[1] != values.dtype.itemsize:
        raise Error(f"{name} is {values.dtype}, but codes of {wanted[0]} are {_fitting(wanted)}", place=name)
    return wanted[0]


def room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array for results, whose content is not defined. Large ones take the memory of a result that was dropped, where there is one."""
    size = prod(shape) * dtype.itemsize
    if size < _LARGE:
        return np.empty(shape, dtype)
    memory: Any = _core.room(size)
    result: Array = memory.view(dtype).reshape(shape)
    return result


def is_small(given: object) -> bool:
    """Whether a call on it is worth caching: an array of NumPy itself whose work is less than what the rest of the call costs."""
    return type(given) is np.ndarray and 0 < given.size <= _SMALL


def flat_bytes(values: Array) -> Array:
    """All bytes in order; a view where the array is contiguous."""
    flags = values.flags
    whole = values if flags.c_contiguous and flags.aligned else np.require(values, requirements=["C", "A"])
    return whole.reshape(-1).view(np.uint8)
