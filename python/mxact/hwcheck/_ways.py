"""Ways: a contract's record, and how k is cut and its parts meet again around it. What a way says is computed here, with mxact.matmul for every chain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._conversions import convert
from mxact._products import matmul
from mxact._tables import contract_record, contracts
from mxact.hwcheck._inputs import Case

# Words of golden/witness/FORMAT-LIBRARIES.md.
JOINS = ("ascending", "halves", "ascending_fp16", "descending")
PAIRS = ".".join(str(k) for half in (0, 2) for k in range(32) if k % 4 // 2 == half // 2)
QUADS = ".".join(str(k) for pair in range(4) for k in range(64) if k % 8 // 2 == pair)
ORDERS = {"ascending": "0", "pairs": PAIRS, "quads": QUADS}


def _readable(record: str) -> str:
    """Long orders of k by their names."""
    for name, order in ORDERS.items():
        if name != "ascending":
            record = record.replace(f"order={order}", f"order={name}")
    return record


@dataclass(frozen=True)
class Way:
    """core: a record of one chain and of chains from +0 (`restart`), without scales. scales: where those of the total, or of blocks, enter: the values of
    the record's field. piece_k: k is cut at its multiples (0: not), each piece is a sum of its own; join: how pieces meet; piece_rounded: each is rounded
    to the result's format first; rest_first: in each piece what its length leaves over comes first; step_k: chains of `chain` begin anew at its multiples,
    with steps_are_sums they are summed from +0 inside it. upcast: operands times their scale bytes become this format first; fast_math: as Triton's.
    lanes: (run, lanes, warps, rounded product) of sums without a matrix unit."""

    core: str
    scales: str = ""
    piece_k: int = 0
    join: str = "ascending"
    piece_rounded: bool = False
    rest_first: int = 0
    chain: int = 0
    step_k: int = 0
    steps_are_sums: bool = False
    upcast: str = ""
    fast_math: bool = False
    lanes: tuple[int, int, int, str] | None = None
    turns: int = 1
    turn_k: int = 0
    turn_join: str = "ascending"

    def pieces(self, k: int) -> int:
        return 1 if not self.piece_k else -(-k // self.piece_k)

    def text(self) -> str:
        """The record's name where it has one, and what is around it."""
        parts = [_readable(name_of(self.core)) if self.lanes is None else f"fp32 products, runs of {self.lanes[0]}, {self.lanes[1]} lanes, {self.lanes[2]} warps"]
        if self.lanes is not None and self.lanes[3]:
            parts.append(f"each product rounded to {self.lanes[3]}")
        if self.scales:
            parts.append(f"scales={self.scales}")
        if self.upcast:
            parts.append(f"operands times scales as {self.upcast}" + (", fast_math" if self.fast_math else ""))
        if self.step_k:
            parts.append(f"chains of {self.chain} anew at each {self.step_k}" + (", summed there first" if self.steps_are_sums else ""))
        if self.piece_k:
            parts.append(f"pieces of {self.piece_k}, joined {self.join}" + (", rounded first" if self.piece_rounded else ""))
        if self.turns > 1:
            parts.append(f"k in turns of {self.turn_k} by {self.turns} {'warps' if self.turn_join == 'warps' else 'parts'}")
        if self.rest_first:
            parts.append(f"k modulo {self.rest_first} first")
        return "; ".join(parts)


def fields_of(record: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in record.split(":"))


def record_from(fields: dict[str, str]) -> str:
    return contract_record(":".join(f"{key}={value}" for key, value in fields.items()))


# What a way says apart, or what no answer can show.
_OUTSIDE = ("scales", "bias", "split", "split-tile")


@lru_cache(maxsize=4096)
def core_of(contract: str) -> str:
    """The record without scales and cuts; without formats of operands, where a cast makes them one."""
    fields = fields_of(contract_record(contract))
    if fields.get("scales") == "term":
        return contract_record(contract)
    outside = (*_OUTSIDE, "a", "b") if "cast" in fields else _OUTSIDE
    return record_from({key: value for key, value in fields.items() if key not in outside and (key, value) != ("restart", "scales")})


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for name in contracts():
        names.setdefault(core_of(name), name)
    return names


# What a field is where a record leaves it out.
_EMPTY = {"restart": "never", "order": "0", "least": "none", "zero": "ieee", "group": "0", "align": "0", "keep": "0", "round": "zero", "nan": "0x7fc00000", "cast": "none", "flush": "none"}


def _changes(other: str, core: str) -> list[str]:
    """The fields that make a record of the other one; many where one has a field whose absence is not known here."""
    first, second = fields_of(other), fields_of(core)
    changed = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if any(key not in second and key not in _EMPTY for key in changed):
        return ["?"] * 9
    return [f"{key}={second.get(key, _EMPTY.get(key))}" for key in changed]


@lru_cache(maxsize=4096)
def name_of(core: str) -> str:
    """The first contract of the table with this arithmetic; else the one that differs in the fewest fields, and these, up to three; else the record."""
    if core in _names():
        return _names()[core]
    changes = {other: _changes(other, core) for other in _names()}
    nearest = min(changes, key=lambda other: len(changes[other]))
    return ":".join([_names()[nearest], *changes[nearest]]) if len(changes[nearest]) <= 3 else core


def named(contract: str, **around: Any) -> Way:
    """A way of a contract by its name or record."""
    return Way(core_of(contract), **around)


def _f32(values: Array) -> Array:
    return np.asarray(values, np.float32)


def _shift_scales(scales: Array, to: str, fast_math: bool) -> Array:
    """Numbers of scale bytes as Triton makes them: a shift, so that byte 0 is 0; 255 is NaN, with fast_math Inf."""
    shifted = (scales.astype(np.uint16) << 7).view(ml_dtypes.bfloat16)
    with np.errstate(over="ignore"):
        values = np.asarray(shifted.astype(dtype_of(to)))
    return values if fast_math else np.where(scales == 255, np.array(np.nan, values.dtype), values)


def upcast(codes: Array, format: str, scales: Any, way: Way) -> Array:
    """Codes times their scales, each rounded once to 16 bits."""
    dtype = dtype_of(way.upcast)
    values = convert(codes, "f32", source=format).astype(np.float32)
    if format == "e5m2" and way.upcast == "bf16":  # its Inf and NaN codes are numbers there
        values = np.where((codes & 0x7C) == 0x7C, np.where(codes & 0x80, -1, 1) * _f32(65536 * (1 + (codes & 3) / 4)), values).astype(np.float32)
    if scales is None:
        return values.astype(dtype)
    factors = np.repeat(_shift_scales(scales, way.upcast, way.fast_math).astype(np.float32), 32, axis=1)[:, : codes.shape[1]]
    with np.errstate(all="ignore"):
        return (values.astype(np.float64) * factors.astype(np.float64)).astype(np.float32).astype(dtype) if way.upcast == "bf16" else _once_fp16(values, factors)


def _once_fp16(values: Array, factors: Array) -> Array:
    return (values.astype(np.float64) * factors.astype(np.float64)).astype(np.float16)


def _rest_first(codes: Array, tile: int, group: int) -> Array:
    rest = codes.shape[1] % tile
    padded = -(-rest // group) * group - rest
    return np.concatenate([codes[:, :rest], np.zeros((codes.shape[0], padded), codes.dtype), codes[:, rest:]], axis=1)


def _product(a: Array, b: Array, formats: tuple[str, str], record: str, case: Case, scales: Any = None) -> Array:
    given = [codes.view(np.float32) if codes.dtype == np.uint32 else codes for codes in (a, b)]
    source = tuple(None if codes.dtype.kind not in "u" else format for codes, format in zip(given, formats, strict=True))
    return _f32(matmul(given[0], given[1].T, record, scales=scales, c=case.c, source=(source[0], source[1])))


def _by_turns(a: Array, b: Array, formats: tuple[str, str], way: Way, case: Case, record: str) -> Array:
    """Parts that share k by turns; w0 + (w1 + (w3 + w2)) of four warps."""
    part_of = np.arange(a.shape[1]) // way.turn_k % way.turns
    parts = [_product(np.ascontiguousarray(a[:, part_of == part]), np.ascontiguousarray(b[:, part_of == part]), formats, record, case) for part in range(way.turns)]
    with np.errstate(all="ignore"):
        return parts[0] + (parts[1] + (parts[3] + parts[2])) if way.turn_join == "warps" and way.turns == 4 else _joined(parts, "ascending")


def _chain(a: Array, b: Array, formats: tuple[str, str], way: Way, case: Case, scales: Any, record: str) -> Array:
    """One piece: chains that begin anew at each step, one of each part, or what the record says."""
    if way.turns > 1:
        return _by_turns(a, b, formats, way, case, record)
    if not way.step_k:
        return _product(a, b, formats, record, case, scales)
    total = np.zeros((a.shape[0], b.shape[0]), np.float32)
    with np.errstate(all="ignore"):
        for first in range(0, a.shape[1], way.step_k):
            step = np.zeros_like(total)
            for k in range(first, min(first + way.step_k, a.shape[1]), way.chain):
                end = min(k + way.chain, first + way.step_k, a.shape[1])
                found = _product(a[:, k:end], b[:, k:end], formats, record, case)
                step, total = (step + found, total) if way.steps_are_sums else (step, total + found)
            total = total + step if way.steps_are_sums else total
    return total


def _joined(sums: list[Array], join: str) -> Array:
    if join == "halves":
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [sums[i] + sums[i + half] for i in range(half)]
        return sums[0]
    if join == "descending":
        sums = sums[::-1]
    total = sums[0]
    for one in sums[1:]:
        total = total + one
        if join == "ascending_fp16":
            total = _f32(total.astype(np.float16))
    return total


def rounded(values: Array, to: str) -> Array:
    """Numbers of the result's format, as fp32."""
    return _f32(values.astype(dtype_of(to)))


def _lane_sum(way: Way, a: Array, b: Array) -> Array:
    assert way.lanes is not None
    run, lanes, warps, product = way.lanes
    count = run * lanes * warps
    padded = -(-a.shape[1] // count) * count
    products = np.zeros((a.shape[0], b.shape[0], padded), np.float32)
    products[:, :, : a.shape[1]] = _f32(a)[:, None, :] * _f32(b)[None, :, :]
    if product:
        products = _f32(products.astype(dtype_of(product)))
    blocks = products.reshape(a.shape[0], b.shape[0], -1, warps, lanes, run)
    sums = np.zeros((*blocks.shape[:2], warps, lanes), np.float32)
    for c in range(blocks.shape[2]):
        for v in range(run):
            sums = sums + blocks[:, :, c, :, :, v]
    for axis in (3, 2):
        while sums.shape[axis] > 1:
            first, second = np.split(sums, 2, axis=axis)
            sums = first + second
    return sums[:, :, 0, 0]


def _with_scales(values: Array, way: Way, case: Case) -> Array:
    """Scales of the total, in fp32 operations."""
    if not way.scales.startswith("total") or case.scale_a is None:
        return values
    a = _f32(case.scale_a).reshape(-1, 1)
    b = _f32(case.scale_b).reshape(1, -1)
    if way.scales == "total-a-b":
        return (values * a) * b
    if way.scales == "total-b-a":
        return (values * b) * a
    scaled = values * (a * b)
    return scaled + np.float32(0) if way.scales == "total-plus-zero" else scaled


def _block_scales(case: Case, first: int, end: int, block: int) -> Any:
    """Scales of the blocks of a piece: one for each row, a row of them for rows that share theirs."""

    def rows(scales: Array, count: int) -> Array:
        part = _f32(scales)[:, first // block : -(-end // block)]
        return part if part.shape[0] == count else np.repeat(part, 128, axis=0)[:count]

    return rows(case.scale_a, case.a.shape[0]), rows(case.scale_b, case.b.shape[0])


def sums(way: Way, case: Case, formats: tuple[str, str], to: str) -> Array:
    """fp32 numbers before scales of the total and the bias. Raises mxact.Error for operands that the record does not take."""
    record = way.core
    fields = fields_of(record)
    if way.scales.startswith("chain"):
        record = record_from({**fields, "scales": way.scales})
    a, b = case.a, case.b
    if way.upcast:
        a, b = (upcast(codes, format, scales, way) for codes, format, scales in ((a, formats[0], case.scale_a), (b, formats[1], case.scale_b)))
        formats = (way.upcast, way.upcast)
    if way.lanes is not None:
        left, right = (convert(codes, "f32", source=format) if codes.dtype.kind == "u" else codes for codes, format in ((a, formats[0]), (b, formats[1])))
        with np.errstate(all="ignore"):
            return _lane_sum(way, _f32(left), _f32(right))
    found = []
    length = way.piece_k or case.a.shape[1]
    for first in range(0, case.a.shape[1], length):
        end = min(first + length, case.a.shape[1])
        scales = (case.scale_a, case.scale_b) if fields.get("scales") == "term" else None
        if way.scales.startswith("chain"):
            scales = _block_scales(case, first, end, 128)
        left, right = a[:, first:end], b[:, first:end]
        if way.rest_first:
            left, right = (_rest_first(codes, way.rest_first, int(fields.get("group", "1"))) for codes in (left, right))
        found.append(_chain(left, right, formats, way, case, scales, record))
    with np.errstate(all="ignore"):
        return _joined([rounded(one, to) for one in found] if way.piece_rounded else found, way.join)


def finish(values: Array, way: Way, case: Case, to: str) -> Array:
    """Numbers of the result's format: scales of the total, the bias, one rounding."""
    with np.errstate(all="ignore"):
        values = _with_scales(values, way, case)
        if case.bias is not None:
            values = values + _f32(case.bias)
        return np.asarray(values.astype(dtype_of(to)))


def answer(way: Way, case: Case, formats: tuple[str, str], to: str) -> Array:
    """The numbers that the way gives, in the result's dtype: [M, N]. Raises mxact.Error for operands that its record does not take."""
    return finish(sums(way, case, formats, to), way, case, to)
