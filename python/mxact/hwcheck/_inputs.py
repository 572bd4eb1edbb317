"""Operands that alignment, truncation, order and splits of k are hard on: one tile mixes all kinds of rows and columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._conversions import convert

_UNSIGNED: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32}


@dataclass(frozen=True)
class Form:
    """bits of a code, of its mantissa; the largest finite magnitude's code; the exponent field of 1; how far fields go from there in a sum."""

    bits: int
    mantissa: int
    top: int
    one: int
    reach: int

    def codes(self, fields: Array, random: np.random.Generator) -> Array:
        """Codes of these exponent fields, cut to those that there are, with any mantissa and either sign."""
        fields = np.clip(fields, 0, self.top >> self.mantissa)
        magnitudes = np.minimum(fields << self.mantissa | random.integers(0, 1 << self.mantissa, fields.shape), self.top)
        return (magnitudes | random.integers(0, 2, fields.shape) << self.bits - 1).astype(unsigned(self.bits))


FORMS = {
    "e4m3fn": Form(8, 3, 0x7E, 7, 8),
    "e5m2": Form(8, 2, 0x7B, 15, 8),
    "e2m1": Form(4, 1, 0x7, 1, 3),
    "fp16": Form(16, 10, 0x7BFF, 15, 7),
    "bf16": Form(16, 7, 0x7F7F, 127, 14),
    "tf32": Form(32, 23, 0x7F7FFFFF, 127, 14),
    "f32": Form(32, 23, 0x7F7FFFFF, 127, 14),
}


def unsigned(bits: int) -> Any:
    return np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32


@dataclass(frozen=True, eq=False)
class Case:
    """One call. a [M, K], b [N, K]: codes. c [M, N]: numbers, or None. scale_a, scale_b: fp32 numbers or bytes as the question's scaling has them, or None.
    bias [N]: numbers, or None."""

    a: Array
    b: Array
    c: Array | None = None
    scale_a: Any = None
    scale_b: Any = None
    bias: Array | None = None

    def rows(self, m: slice, n: slice, blocks: tuple[int, int]) -> Case:
        """Those rows of a and b; `blocks`: rows of each that share a scale."""

        def part(scales: Any, rows: slice, block: int) -> Any:
            if not isinstance(scales, np.ndarray) or scales.ndim == 0:
                return scales
            return scales[rows] if block == 1 else scales[: -(-(rows.stop or 0) // block)] if rows.stop else scales

        return Case(
            self.a[m],
            self.b[n],
            None if self.c is None else self.c[m, n],
            part(self.scale_a, m, blocks[0]),
            part(self.scale_b, n, blocks[1]),
            None if self.bias is None else self.bias[n],
        )


def numbers_of(codes: Array, format: str) -> Array:
    """float64 numbers of codes."""
    if codes.dtype == np.uint32:
        kept = codes & np.uint32(0xFFFFE000) if format == "tf32" else codes
        with np.errstate(invalid="ignore"):
            return kept.view(np.float32).astype(np.float64)
    return convert(codes, "f32", source=format).astype(np.float64)


def operands(a: str, b: str, shape: tuple[int, int, int], random: np.random.Generator) -> tuple[Array, Array]:
    """a [M, K] and b [N, K]: columns are each other's opposite along k, two by two; of four rows one has pairs that then cancel, one has one exponent, one
    ordinary ones, and one all that lies far apart."""
    m, n, k = shape
    of_a, of_b = FORMS[a], FORMS[b]
    order = random.permutation(k)
    first, second = order[: k // 2], order[k // 2 : 2 * (k // 2)]
    right = of_b.codes(of_b.one + random.integers(-2, 3, (n, k)), random)
    right[:, second] = right[:, first] ^ unsigned(of_b.bits)(1 << of_b.bits - 1)
    left = of_a.codes(of_a.one + random.integers(-of_a.reach, of_a.reach + 1, (m, k)), random)
    kind = (np.arange(m) + int(random.integers(4))) % 4
    one, middle = of_a.codes(np.broadcast_to(of_a.one + random.integers(-2, 3, (m, 1)), (m, k)), random), of_a.codes(of_a.one + random.integers(-2, 3, (m, k)), random)
    left = np.where((kind == 1)[:, None], one, np.where((kind == 2)[:, None], middle, left))
    paired = left.copy()
    paired[:, second] = paired[:, first]
    left = np.where(((kind == 0) | (kind == 1))[:, None], paired, left)
    odd = of_a.codes(of_a.one + random.integers(-of_a.reach, of_a.reach + 1, (m, k)), random)
    left = np.where((random.random((m, k)) < 4 / k) & (kind < 2)[:, None], odd, left)
    return left.astype(unsigned(of_a.bits)), right


def addends(about: Array, dtype: np.dtype[Any], random: np.random.Generator) -> Array:
    """C: zeros, what cancels the products, and what lies beside them."""
    largest = float(np.finfo(dtype).max)
    with np.errstate(all="ignore"):
        moved = np.clip(about * np.exp2(random.integers(-24, 25, about.shape)), -largest, largest)
        choices = [np.zeros(about.shape), np.clip(-about, -largest, largest), moved, np.clip(-about * (1 + 2.0**-11), -largest, largest)]
        return np.choose(random.integers(0, len(choices), about.shape), choices).astype(dtype)


def tiny(a: str, b: str, shape: tuple[int, int, int], random: np.random.Generator) -> tuple[Array, Array]:
    """Products around the least numbers of fp32, where formats reach them: bf16 and tf32."""
    m, n, k = shape
    of_a, of_b = FORMS[a], FORMS[b]
    left = of_a.codes(np.maximum(of_a.one - 68 + random.integers(-6, 7, (m, k)), 0), random)
    return left, of_b.codes(np.maximum(of_b.one - 68 + random.integers(-6, 7, (n, k)), 0), random)


def scales_for(shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """fp32 numbers around 1, of both signs where they are no powers of two."""
    with np.errstate(all="ignore"):
        return np.asarray(np.exp2(random.uniform(-3, 3, shape)) * random.choice([1, 1, 1, -1], shape), np.float32)


def with_numbers(case: Case, **changes: Any) -> Case:
    return replace(case, **changes)


def empty_like(to: str, shape: tuple[int, int]) -> Array:
    """Bits of results."""
    return np.zeros(shape, _UNSIGNED[dtype_of(to).itemsize])
