"""What a card is asked: one call of a library, a kernel or an instruction, and the inputs of its trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact.hwcheck._inputs import Case, addends, numbers_of, operands, scales_for, tiny

# Rows of a and b that share a scale, by the word of `gemm`.
SHARED = {"block_1x128_128x128": (1, 128), "block_128x128_1x128": (128, 1)}


class NotHere(Exception):
    """Why a question cannot be asked of this card, library or release."""


@dataclass(frozen=True)
class Question:
    """One product. a, b, to, c: formats of operands, of the result and of C ("": none). scaling: a word of `gemm` (none, tensor, row_col, block_..., e8m0_shift).
    bias: its format. k, m, n: of the call; rows, columns: of what is compared. ask: a case -> numbers [m, n] of `to`. rule: the row of the table of rules.
    batched: whether a row of it can be asked alone."""

    name: str
    part: str
    library: str
    operation: str
    a: str
    b: str
    to: str
    k: int
    m: int
    n: int
    ask: Callable[[Case], Array]
    rule: str = ""
    c: str = ""
    scaling: str = "none"
    bias: str = ""
    rows: int = 16
    columns: int = 24
    tiny: bool = False
    batched: bool = True
    build: str = "default"

    @property
    def formats(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def shared(self) -> tuple[int, int]:
        return SHARED.get(self.scaling, (1, 1))

    def compared(self, case: Case) -> Case:
        """The rows and columns that are held against the model."""
        return case.rows(slice(0, min(self.rows, self.m)), slice(0, min(self.columns, self.n)), self.shared)

    def cases(self, random: np.random.Generator) -> Iterator[Case]:
        """Hard inputs; with few rows more than one tile of them."""
        for _ in range(4 if self.m < 4 else 1):
            yield self._case(*operands(self.a, self.b, (self.m, self.n, self.k), random), random)
        if self.tiny:
            yield self._case(*tiny(self.a, self.b, (self.m, self.n, self.k), random), random)

    def _case(self, a: Array, b: Array, random: np.random.Generator) -> Case:
        scale_a, scale_b = self._scales(random)
        if self.scaling == "tensor" and self.m > 4:
            a[3] = 0
        c = None
        if self.c:
            with np.errstate(all="ignore"):
                c = addends(numbers_of(a, self.a) @ numbers_of(b, self.b).T, dtype_of(self.c), random)
        bias = None if not self.bias else scales_for((self.n,), random).astype(dtype_of(self.bias))
        return Case(a, b, c, scale_a, scale_b, bias)

    def _scales(self, random: np.random.Generator) -> tuple[Any, Any]:
        blocks = -(-self.k // 128)
        rows = tuple(-(-extent // shared) for extent, shared in zip((self.m, self.n), self.shared, strict=True))
        if self.scaling == "tensor":  # of both signs, so that a zero sum has one
            first, second = np.abs(scales_for((2,), random))
            return np.float32(-first), np.float32(second)
        if self.scaling in ("row_col", "col_row"):
            return scales_for((self.m,), random), scales_for((self.n,), random)
        if self.scaling.startswith("block"):
            return _half_even(scales_for((rows[0], blocks), random)), _half_even(scales_for((rows[1], blocks), random))
        if self.scaling == "e8m0_shift":
            sides = ((self.a, self.m), (self.b, self.n))
            found = [None if format in ("bf16", "fp16") else _half_even(random.integers(121, 134, (extent, -(-self.k // 32))).astype(np.uint8)) for format, extent in sides]
            return found[0], found[1]
        return None, None


def _half_even(scales: Array) -> Array:
    """Every second row has one scale along k, so that its pairs cancel."""
    scales[::2] = scales[::2, :1]
    return scales


@dataclass(frozen=True)
class CastQuestion:
    """One conversion of numbers: ask: an array [n] of the source's dtype -> codes or numbers [n] of `to`'s size."""

    name: str
    part: str
    library: str
    operation: str
    source: str
    to: str
    ask: Callable[[Array], Array]
    rule: str = ""
    build: str = "default"


@dataclass(frozen=True)
class FunctionQuestion:
    """An elementary function, or an addition in memory: ask: fp32 numbers -> fp32 numbers; right: float64 of them. Its answer is a distance, no contract."""

    name: str
    part: str
    library: str
    operation: str
    right: Callable[[Array], Array]
    ask: Callable[[Array], Array]
    low: float
    high: float
    build: str = "default"


@dataclass(frozen=True)
class StageQuestion:
    """A step between products. given: draws inputs; ask: inputs -> arrays of a card; ways: by name, the same of the model; rule: the name that is known."""

    name: str
    library: str
    operation: str
    formats: str
    given: Callable[[np.random.Generator], tuple[Array, ...]]
    ask: Callable[[tuple[Array, ...]], tuple[Array, ...]]
    ways: Mapping[str, Callable[[tuple[Array, ...]], tuple[Array, ...]]]
    rule: str = ""
    part: str = "stages"


Asked = Question | CastQuestion | FunctionQuestion | StageQuestion
