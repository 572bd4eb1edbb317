"""Sums of products of a peer beside the model's: tiles of numbers that alignment, truncation, order and specials are hard on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, dtype_of
from mxact._conversions import convert
from mxact._products import matmul
from mxact.peers._pieces import Piece
from mxact.peers._rows import Sum
from mxact.testing._bits import bits_of, code_text

# Rows and columns of a tile, and of one in a long run.
_TILE, _LARGE_TILE = 32, 128
# Names of kinds of operands, each a tile.
_KINDS = ("any", "middle", "one exponent", "powers", "low", "high", "sparse", "cancelling", "beside C", "halves", "tiny", "specials")
_UNSIGNED: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32}


@dataclass(frozen=True)
class _Form:
    """bits of a code, of its mantissa; the largest finite magnitude's code; codes of NaN and Inf; the exponent of field 1."""

    bits: int
    mantissa: int
    top: int
    specials: tuple[int, ...]
    least: int

    def codes(self, fields: Array, random: np.random.Generator, mantissas: Array | None = None) -> Array:
        """Codes of these exponent fields, cut to those that there are, with any mantissa and either sign."""
        fields = np.clip(fields, 0, self.top >> self.mantissa)
        drawn = random.integers(0, 1 << self.mantissa, fields.shape) if mantissas is None else mantissas
        magnitudes = np.minimum(fields << self.mantissa | drawn, self.top)
        return self.signed(magnitudes, random.integers(0, 2, fields.shape))

    def signed(self, magnitudes: Array, negative: Any) -> Array:
        """A format whose -0 is a NaN has +0 alone."""
        sign = 1 << self.bits - 1
        codes = magnitudes | negative * sign
        codes = np.where((codes == sign) & (sign in self.specials), 0, codes)
        return np.asarray(codes, np.uint8 if self.bits <= 8 else np.uint16 if self.bits == 16 else np.uint32)

    @property
    def fields(self) -> int:
        return self.top >> self.mantissa


_IEEE32 = (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001)
_FORMS = {
    "e4m3fn": _Form(8, 3, 0x7E, (0x7F, 0xFF), -6),
    "e5m2": _Form(8, 2, 0x7B, (0x7C, 0xFC, 0x7D, 0x7F), -14),
    "e4m3fnuz": _Form(8, 3, 0x7F, (0x80,), -7),
    "e5m2fnuz": _Form(8, 2, 0x7F, (0x80,), -15),
    "e2m3": _Form(6, 3, 0x1F, (), 0),
    "e3m2": _Form(6, 2, 0x1F, (), -2),
    "e2m1": _Form(4, 1, 0x7, (), 0),
    "fp16": _Form(16, 10, 0x7BFF, (0x7C00, 0xFC00, 0x7E00), -14),
    "bf16": _Form(16, 7, 0x7F7F, (0x7F80, 0xFF80, 0x7FC0), -126),
    "f32": _Form(32, 23, 0x7F7FFFFF, _IEEE32, -126),
    # The low 13 bits of the register are not read, and hold anything.
    "tf32": _Form(32, 23, 0x7F7FFFFF, _IEEE32, -126),
}


def _middle(form: _Form) -> int:
    """The exponent field of 1."""
    return 1 - form.least


def _operand(kind: str, format: str, shape: tuple[int, int], random: np.random.Generator) -> Array:
    form = _FORMS[format]
    rows, k = shape
    if kind == "any":
        return form.signed(random.integers(0, form.top + 1, shape), random.integers(0, 2, shape))
    if kind == "one exponent":
        return form.codes(np.broadcast_to(random.integers(1, form.fields + 1, (rows, 1)), shape), random)
    if kind == "powers":
        return form.codes(random.integers(1, form.fields + 1, shape), random, np.zeros(shape, np.int64))
    if kind == "low":
        return form.codes(random.integers(0, 2, shape), random)
    if kind == "high":
        return form.codes(random.integers(max(form.fields - 1, 0), form.fields + 1, shape), random)
    if kind == "sparse":
        zeros = form.signed(np.zeros(shape, np.int64), random.integers(0, 2, shape))
        return np.where(random.random(shape) < 0.75, zeros, _operand("any", format, shape, random))
    codes = form.codes(_middle(form) + random.integers(-2, 3, shape), random)
    if kind == "specials":  # beside large numbers, too
        codes[: rows // 2] = _operand("any", format, (rows // 2, k), random)
    if kind == "specials" and form.specials:
        return np.where(random.random(shape) < 0.5 / k, random.choice(np.array(form.specials, codes.dtype), shape), codes)
    return codes


def _cancelling(row: Sum, m: int, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Products that are each other's opposite, two by two; every eighth is another number."""
    a, b = _operand("one exponent", row.a, (m, row.k), random), _operand("middle", row.b, (n, row.k), random)
    half = row.k // 2
    order = random.permutation(row.k)
    a[:, order[half : 2 * half]] = a[:, order[:half]]
    form = _FORMS[row.b]
    opposite = b[:, order[:half]].astype(np.int64) ^ 1 << form.bits - 1
    b[:, order[half : 2 * half]] = form.signed(opposite & (1 << form.bits - 1) - 1, opposite >> form.bits - 1)
    return np.where(random.random(a.shape) < 0.125, _operand("any", row.a, a.shape, random), a), b


def _products_at(row: Sum, exponent: int, m: int, n: int, random: np.random.Generator, powers: bool) -> tuple[Array, Array]:
    """Factors of products around 2^exponent, as far as the formats go; powers of two, or with any mantissa."""
    a_form, b_form = _FORMS[row.a], _FORMS[row.b]
    a_exponent = int(np.clip(exponent // 2, a_form.least, a_form.least + a_form.fields - 1))
    a_fields = a_exponent - a_form.least + 1 + random.integers(-1, 2, (m, row.k))
    b_fields = np.full((n, row.k), exponent - a_exponent - b_form.least + 1)
    mantissas = (np.zeros((m, row.k), np.int64), np.zeros((n, row.k), np.int64)) if powers else (None, None)
    return a_form.codes(a_fields, random, mantissas[0]), b_form.codes(b_fields, random, mantissas[1])


def _beside_c(row: Sum, m: int, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Products around half a unit of C's largest number; half of them are tiny."""
    a, b = _products_at(row, 4 if row.c == "fp16" else 103, m, n, random, True)
    return np.where(random.random(a.shape) < 0.5, _operand("low", row.a, a.shape, random), a), b


def _tiny(row: Sum, m: int, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Products of one sign whose sum is a few units of the result's least number."""
    a, b = _products_at(row, (-24 if row.to == "fp16" else -149) + 1 - row.k.bit_length(), m, n, random, False)
    a_sign, b_sign = (1 << _FORMS[format].bits - 1 for format in (row.a, row.b))
    return a & (a_sign - 1), b & (b_sign - 1)


def _halves(row: Sum, m: int, n: int, random: np.random.Generator) -> tuple[Array, Array]:
    """One product of 1 and a few smaller ones: half a unit of C, and what lies beside it."""
    a_form, b_form = _FORMS[row.a], _FORMS[row.b]
    small = a_form.codes(_middle(a_form) - random.integers(1, 13, (m, row.k)), random, np.zeros((m, row.k), np.int64))
    a = np.where(random.random(small.shape) < 3 / row.k, small, 0).astype(small.dtype)
    a[np.arange(m), random.integers(0, row.k, m)] = a_form.codes(np.full(m, _middle(a_form)), random, np.zeros(m, np.int64))
    return a, b_form.codes(np.full((n, row.k), _middle(b_form)), random, np.zeros((n, row.k), np.int64))


def values_of(codes: Array, format: str) -> Array:
    """float64 numbers of codes; of tf32 without the bits that are not read."""
    if format == "tf32":
        codes = codes & np.uint32(0xFFFFE000)
    if codes.dtype == np.uint32:
        with np.errstate(invalid="ignore"):
            return codes.view(np.float32).astype(np.float64)
    return convert(codes, "f32", source=format).astype(np.float64)


def _addends(row: Sum, about: Array, kind: str, random: np.random.Generator) -> Array:
    """C: zeros, any numbers, what cancels the products and what lies beside them, the least and the largest."""
    form, dtype = _FORMS[row.c], dtype_of(row.c)
    shape = about.shape
    largest = float(np.finfo(dtype).max)
    with np.errstate(all="ignore"):
        near = np.nan_to_num(np.clip(about, -largest, largest))
        moved = np.clip(near * np.exp2(random.integers(-30, 31, shape)), -largest, largest)
        choices = [np.zeros(shape), -near, -near * (1 + 2.0**-11), moved, np.full(shape, float(np.finfo(dtype).smallest_subnormal)), np.full(shape, largest)]
        drawn = np.choose(random.integers(0, len(choices), shape), choices).astype(dtype)
    unsigned = _UNSIGNED[dtype.itemsize]
    bits = drawn.view(unsigned) ^ (random.integers(0, 8, shape) == 0).astype(unsigned) << np.array(form.bits - 1, unsigned)
    bits = np.where(random.random(shape) < 0.15, _operand("any", row.c, shape, random), bits)
    if kind == "beside C":
        bits = form.signed(np.full(shape, form.top), random.integers(0, 2, shape))
    if kind == "halves":
        bits = form.codes(np.full(shape, _middle(form) + form.mantissa + 1), random)
    if kind == "tiny":
        bits = form.signed(np.zeros(shape, np.int64), random.integers(0, 2, shape))
    if kind == "specials":
        bits = np.where(random.random(shape) < 0.1, random.choice(np.array(form.specials, unsigned), shape), bits)
    return np.ascontiguousarray(bits.astype(unsigned)).view(dtype)


def _term_scales(format: str, kind: str, shape: tuple[int, int], random: np.random.Generator) -> Array:
    """Bytes: around 1, any, and the ends where specials are drawn."""
    if format == "ue4m3":  # bit 7 is not read
        bytes_ = random.integers(0, 127, shape)
        bytes_ = np.where(random.random(shape) < (0.05 if kind == "specials" else 0), 127, bytes_) | random.integers(0, 2, shape) << 7
    else:
        bytes_ = np.where(random.random(shape) < 0.75, 127 + random.integers(-6, 7, shape), random.integers(0, 255, shape))
        bytes_ = np.where(random.random(shape) < (0.05 if kind == "specials" else 0), 255, bytes_)
    return bytes_.astype(np.uint8)


@dataclass(frozen=True)
class SumTrial:
    """Tiles of one operation. Sums that the peer is known to answer otherwise are special."""

    strict: ClassVar[bool] = False
    row: Sum

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]:
        tile = _LARGE_TILE if exhaustive else _TILE
        for kind in _KINDS:
            yield self._piece(kind, tile, random)

    def _piece(self, kind: str, tile: int, random: np.random.Generator) -> Piece:
        row = self.row
        if kind == "cancelling":
            a, b = _cancelling(row, tile, tile, random)
        elif kind == "beside C" and row.c:
            a, b = _beside_c(row, tile, tile, random)
        elif kind in ("halves", "tiny"):
            a, b = (_halves if kind == "halves" else _tiny)(row, tile, tile, random)
        else:
            a, b = (_operand(kind, format, (tile, row.k), random) for format in (row.a, row.b))
        scale_a, scale_b = self._scales(kind, tile, random)
        numbers = values_of(a, row.a), values_of(b, row.b)
        with np.errstate(all="ignore"):
            about = numbers[0] @ numbers[1].T
        c = _addends(row, about, kind, random) if row.c else np.zeros((tile, tile), np.float32)
        return self._made(a, b, c, scale_a, scale_b)

    def _scales(self, kind: str, tile: int, random: np.random.Generator) -> tuple[Any, Any]:
        if self.row.scales == "numbers":
            return tuple(np.float32(np.exp2(random.uniform(-8, 8)) * random.choice([1, -1])) for _ in range(2))  # type: ignore[return-value]
        if not self.row.scales:
            return None, None
        format, block = _core.contract_facts(self.row.contract)[:2]
        first, second = (_term_scales(format, kind, (tile, self.row.k // block), random) for _ in range(2))
        if format == "e8m0":  # the least scale beside great ones
            first[: tile // 8] = 0
            second[: tile // 8] = random.integers(244, 255, second[: tile // 8].shape)
        return first, second

    def _made(self, a: Array, b: Array, c: Array, scale_a: Any, scale_b: Any) -> Piece:
        known = self.row.known
        special = np.zeros(c.shape, bool)
        if known is not None:
            with np.errstate(all="ignore"):
                special = known.where(values_of(a, self.row.a), values_of(b, self.row.b), c.astype(np.float64))
        return Piece((a, b, c, scale_a, scale_b), special.reshape(-1))

    def one(self, piece: Piece, unit: int) -> Piece:
        """One sum of a tile."""
        a, b, c, scale_a, scale_b = piece.inputs
        i, j = divmod(unit, c.shape[1])
        scales = [part[at : at + 1] if isinstance(part, np.ndarray) else part for part, at in ((scale_a, i), (scale_b, j))]
        return self._made(a[i : i + 1], b[j : j + 1], c[i : i + 1, j : j + 1], *scales)

    def answer(self, piece: Piece) -> tuple[Array, ...]:
        given = [part.copy() if isinstance(part, np.ndarray) else part for part in piece.inputs]
        values = array("the answer", self.row.fn(*given))
        if values.shape != piece.inputs[2].shape or values.dtype != dtype_of(self.row.to):
            raise AssertionError(f"the answer is {values.dtype} {values.shape}, must be {dtype_of(self.row.to)} {piece.inputs[2].shape}")
        return (bits_of(np.ascontiguousarray(values)).reshape(-1),)

    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        a, b, c, scale_a, scale_b = piece.inputs
        a, b = (codes.view(np.float32) if codes.dtype == np.uint32 else codes for codes in (a, b))
        source = (None if a.dtype == np.float32 else self.row.a, None if b.dtype == np.float32 else self.row.b)
        scales = (scale_a, scale_b) if self.row.scales else None
        return (bits_of(matmul(a, b.T, profile, scales=scales, c=c if self.row.c else None, source=source, to=self.row.to)).reshape(-1),)

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        differ = np.asarray(found[0] != right[0])
        if not self.row.any_nan:
            return differ
        dtype = dtype_of(self.row.to)
        with np.errstate(invalid="ignore"):
            nans = [np.isnan(bits.view(dtype).astype(np.float32)) for bits in (found[0], right[0])]
        return differ & ~(nans[0] & nans[1])

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        small = self._smaller(self.one(piece, int(np.argmax(wrong))), profile)
        a, b, c, scale_a, scale_b = small.inputs
        terms = [f"{x:.9g} * {y:.9g}" for x, y in zip(values_of(a, self.row.a)[0], values_of(b, self.row.b)[0], strict=True) if x != 0 or y != 0]
        text = " + ".join([*(terms if len(terms) <= 4 else [f"{len(terms)} products"]), *([f"C {float(c[0, 0]):.9g}"] if self.row.c else [])])
        if isinstance(scale_a, np.ndarray):
            text += f", scales {scale_a[0].tolist()} and {scale_b[0].tolist()}"
        elif self.row.scales:
            text += f", scales {scale_a:.9g} and {scale_b:.9g}"
        bits = (code_text(int(part[0][0]), self.row.to) for part in (self.answer(small), self.right(small, profile)))
        return f"{text}: {next(bits)}, by {profile} {next(bits)}"

    def _smaller(self, piece: Piece, profile: str) -> Piece:
        """Zeros in the place of as many products as the difference can do without."""
        best = piece
        for index in range(self.row.k):
            a, b, *rest = (part.copy() if isinstance(part, np.ndarray) else part for part in best.inputs)
            a[0, index] = b[0, index] = 0
            fewer = self._made(a, b, *rest)
            if self.wrong(self.answer(fewer), self.right(fewer, profile)).any():
                best = fewer
        return best
