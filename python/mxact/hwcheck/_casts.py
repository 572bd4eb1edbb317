"""Casts: what becomes of numbers in range, of those beyond it, of Inf and NaN, read off the answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._conversions import convert
from mxact._error import Error
from mxact._tables import profiles
from mxact.hwcheck._questions import CastQuestion

# Codes of the largest number, of Inf and of a NaN without sign.
_CODES = {"e4m3fn": (0x7E, None, 0x7F), "e5m2": (0x7B, 0x7C, 0x7F), "fp16": (0x7BFF, 0x7C00, 0x7FFF), "bf16": (0x7F7F, 0x7F80, 0x7FFF)}
# Every so many patterns of 32 bits, and all that lies beside them.
_STRIDE = 4093


@dataclass
class CastFound:
    """words: rounding, overflow, infinity and codes of NaN, in the words of a recorded set; empty where they are not one rule. profiles: of the table that
    give every code. different: of numbers in range, from the nearest even ones."""

    words: dict[str, str] = field(default_factory=dict)
    profiles: list[str] = field(default_factory=list)
    compared: int = 0
    different: int = 0
    first: str = ""


def inputs_of(question: CastQuestion, random: np.random.Generator) -> Array:
    """All numbers of 16 bits; of 32 every 4093rd, powers of two and both sides of them, ties of the target, and specials."""
    dtype = dtype_of(question.source)
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    if dtype.itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(dtype)
    dense = np.arange(int(random.integers(_STRIDE)), 1 << 32, _STRIDE, dtype=np.uint64).astype(np.uint32)
    fine = (np.arange(0, 256, dtype=np.uint32)[:, None] << 23 | np.arange(0, 16, dtype=np.uint32)[None, :] << 19).reshape(-1)
    beside = np.concatenate([fine - 1, fine, fine + 1, fine ^ np.uint32(1 << 18)])
    specials = np.array([0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0], np.uint32)
    both = np.concatenate([beside, specials])
    return np.concatenate([dense, both, both | np.uint32(0x80000000)]).view(np.float32)


def _codes(values: Array) -> Array:
    return np.ascontiguousarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[values.dtype.itemsize])


def _one(codes: Array) -> int | None:
    """The code that all are, None where they are several or none."""
    distinct = np.unique(codes)
    return int(distinct[0]) if distinct.size == 1 else None


def search_cast(question: CastQuestion, x: Array, answer: Array) -> CastFound:
    """Held to the rules of the table, and class by class."""
    found, codes = CastFound(compared=int(x.size)), _codes(answer)
    for profile in profiles():
        try:
            right = _codes(convert(x, question.to, profile))
        except Error:
            continue
        if np.array_equal(right, codes):
            found.profiles.append(profile)
    if question.to not in _CODES:
        return found
    with np.errstate(all="ignore"):
        numbers = x.astype(np.float32)
    top, infinite, nan = _CODES[question.to]
    nearest = _nearest(x, question.to)
    sign = codes.dtype.type(1 << (8 * codes.dtype.itemsize - 1))
    is_nan, is_inf = np.isnan(numbers), np.isinf(numbers)
    over = ~is_nan & ~is_inf & ((nearest & (sign - 1)) > top)
    inside = ~(is_nan | is_inf | over)
    wrong = inside & (codes != nearest)
    found.different = int(np.count_nonzero(wrong))
    if found.different:
        first = int(np.flatnonzero(wrong)[np.argmin(np.abs(numbers[wrong]))])
        found.first = f"{numbers[first]:.9g} gives 0x{int(codes[first]):02X}, nearest even 0x{int(nearest[first]):02X}"
        return found
    rules = {top: "saturate", nan: "nan"} | ({} if infinite is None else {infinite: "inf"})
    ends = {}
    for name, mask in (("overflow", over), ("infinity", is_inf)):
        kept = _one(codes[mask] & (sign - 1)) if np.array_equal(codes[mask] & sign, np.where(np.signbit(numbers[mask]), sign, 0).astype(codes.dtype)) else _one(codes[mask])
        ends[name] = rules.get(kept, "") if kept is not None else "saturate" if not mask.any() else ""
    pair = [_one(codes[is_nan & (np.signbit(numbers) == negative)]) for negative in (False, True)]
    if not all(ends.values()) or None in pair:
        return found
    digits = 2 * codes.dtype.itemsize
    found.words = {"rounding": "nearest_even", "overflow": ends["overflow"]}
    if ends["infinity"] != ends["overflow"]:
        found.words["infinity"] = {"saturate": "max"}.get(ends["infinity"], ends["infinity"])
    found.words |= {"nan_pos": f"0x{pair[0]:0{digits}X}", "nan_neg": f"0x{pair[1]:0{digits}X}"}
    return found


def _nearest(x: Array, to: str) -> Array:
    """Codes to nearest even, beyond the range the code above the largest number."""
    if to in ("bf16", "fp16"):
        with np.errstate(all="ignore"):
            return _codes(x.astype(np.float32).astype(dtype_of(to)))
    return _codes(convert(x, to, "ocp-nosat"))
