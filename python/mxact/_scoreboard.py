"""A device inside a loop held against an operation, answer by answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, dtype_of, integer, shown, word
from mxact._error import Error

# Bits of the column "flags" by name; the first five are IEEE 754's.
_FLAGS = {"inexact": 0, "underflow": 1, "overflow": 2, "divide_by_zero": 3, "invalid": 4, "saturated": 5, "nan": 6, "flushed": 7}
_IEEE = 5
# Characters of four-valued and nine-valued bits. All but these are neither 0 nor 1.
_BITS = {"0": 0, "1": 1, "L": 0, "H": 1}
_UNRESOLVED = "XZUW-"


@dataclass(frozen=True)
class ScoreReport:
    """What came of all answers. kinds: wrong answers by what is wrong: "value", "NaN", "sign of zero", "flags", "x or z". rules: names of those that
    explain the wrong answers, the best first; compositions: operations, as `mxact ver` takes them, that give every answer."""

    verdict: str
    checked: int
    wrong: int
    kinds: dict[str, int]
    rules: list[str]
    compositions: list[str]
    text: str


@dataclass(frozen=True)
class _Column:
    name: str
    lanes: int
    bits: int
    format: str | None
    flags: bool


def _text_of(value: object) -> str | None:
    """Bits as text, of what has them so: cocotb's LogicArray and Logic, the BinaryValue of its first versions; a text itself."""
    if isinstance(value, str):
        return value
    if isinstance(text := getattr(value, "binstr", None), str):
        return text
    return str(value) if hasattr(value, "is_resolvable") else None


def _bits_of_text(name: str, text: str, bits: int | None) -> tuple[int, int]:
    digits = text.removeprefix("0b").replace("_", "").upper()
    if bits is not None and len(digits) != bits:
        raise Error(f"{name} is {text[:80]!r}, {len(digits)} bits, must be {bits}", place=name)
    number = unknown = 0
    for digit in digits:
        if digit not in _BITS and digit not in _UNRESOLVED:
            raise Error(f"{name} is {text[:80]!r}: {digit!r} is no bit; bits are 0, 1, x, z and VHDL's", place=name)
        number = number << 1 | _BITS.get(digit, 0)
        unknown = unknown << 1 | (digit in _UNRESOLVED)
    return number, unknown


def _value_of(given: Any) -> Any:
    """The value of a simulator's handle; anything else as it is."""
    return given.value if hasattr(given, "value") and _text_of(given) is None and not hasattr(given, "__index__") else given


def _bits_of(name: str, value: Any, bits: int | None, format: str | None) -> tuple[int, int]:
    """A value's bits, and those of them that are neither 0 nor 1. bits: how many there are; None: any number."""
    text = _text_of(value)
    if text is not None:
        return _bits_of_text(name, text, bits)
    if isinstance(value, np.generic) and format is not None and value.dtype == dtype_of(format):
        value = value.reshape(1).view(f"u{value.dtype.itemsize}")[0]
    if not isinstance(value, float) and hasattr(value, "__index__"):
        number = int(value.__index__())
        if number < 0 or (bits is not None and number >> bits):
            raise Error(f"{name} is {number}, must be a code of {bits} bits", place=name)
        return number, 0
    raise Error(f"{name} is {shown(value)}, must be a whole number, bits as text or a simulator's value", place=name)


def _lanes_of(column: _Column, value: Any) -> tuple[list[int], list[int]]:
    value = _value_of(value)
    if column.lanes > 1 and _text_of(value) is None and isinstance(value, Iterable):
        pairs = [_bits_of(f"{column.name}[{i}]", one, column.bits, column.format) for i, one in enumerate(value)]
        return [number for number, _ in pairs], [unknown for _, unknown in pairs]
    number, unknown = _bits_of(column.name, value, column.lanes * column.bits, column.format)
    mask, shifts = (1 << column.bits) - 1, range(0, column.lanes * column.bits, column.bits)
    return [number >> shift & mask for shift in shifts], [unknown >> shift & mask for shift in shifts]


class Scoreboard:
    """What scoreboard() gives. In a `with` statement it ends with finish(), unless something was raised."""

    def __init__(self, operation: str, options: list[tuple[str, str]], flags: Mapping[str, int] | None, show: int, expected: int | None) -> None:
        self._flags = flags
        mask = 0xFFFFFFFF if flags is None else sum(1 << _FLAGS[name] for name in flags)
        self._board = _core.Scoreboard(operation, options, show, mask)
        self._columns = [_Column(*column) for column in self._board.columns()]
        self._operands: int = self._board.operand_columns()
        self._operation = operation
        self._expected = expected

    def _require(self, values: tuple[object, ...]) -> None:
        if len(values) != len(self._columns):
            names = [column.name for column in self._columns]
            asked = f"{', '.join(names[: self._operands])}, then the device's {', '.join(names[self._operands :])}"
            raise Error(f"{len(values)} values, {self._operation} has {len(names)}: {asked}", place=self._operation)

    def _mapped(self, word: Any) -> Any:
        """A device's flags as the column has them."""
        assert self._flags is not None
        made = word & 0
        for name, bit in self._flags.items():
            made = made | (word >> bit & 1) << _FLAGS[name]
        return made

    def check(self, *values: object, at: str = "") -> bool:
        """One answer: a value for each column of the operation, as on a line of `mxact ver`: operands, the device's answer, its flags where it has them.

        Each is a whole number, bits as text ("01xz", as many as the column has), a number of the column's dtype, a value of cocotb (LogicArray, Logic,
        BinaryValue, a list of them, or the handle of a signal). A column of several elements is a list of them, or one number with element 0 in its
        lowest bits. at: what says where, such as the time; without it the number of the answer.
        Returns whether it is right. Bits that are x or z are wrong, and of a kind of their own. Raises mxact.Error: what is no value of its column,
        operands that have no answer; it is not counted then.
        """
        self._require(values)
        lanes: list[int] = []
        unknown: list[int] = []
        for column, value in zip(self._columns, values, strict=True):
            if column.flags and self._flags is not None:
                number, bits = _bits_of(column.name, _value_of(value), None, None)
                lanes.append(self._mapped(number))
                unknown.append(self._mapped(bits))
                continue
            own, bits_of_own = _lanes_of(column, value)
            if len(own) != column.lanes:
                raise Error(f"{column.name} has {len(own)} elements, must have {column.lanes}", place=column.name)
            lanes += own
            unknown += bits_of_own
        first = sum(column.lanes for column in self._columns[: self._operands])
        return self._board.check(lanes[:first], lanes[first:], unknown if any(unknown) else [], word("at", at)) is None

    def _rows(self, column: _Column, given: object) -> Array:
        values = array(column.name, given)
        if column.format is not None and values.dtype == dtype_of(column.format):
            values = values.view(f"u{values.dtype.itemsize}")
        if values.dtype.kind not in "iub" or values.ndim == 0:
            raise Error(f"{column.name} is {values.dtype} of shape {values.shape}, must be an array of codes as whole numbers", place=column.name)
        rows = values.reshape(len(values), -1)
        if column.flags and self._flags is not None:
            rows = self._mapped(rows)
        if rows.shape[1] != column.lanes:
            raise Error(f"{column.name} has {rows.shape[1]} elements a row, must have {column.lanes}", place=column.name)
        wrong = (rows < 0) | (rows.astype(np.uint64) >> np.uint64(column.bits) != 0)
        if wrong.any():
            raise Error(f"{column.name}[{wrong.any(axis=1).argmax()}] is {rows[wrong][0]}, must be a code of {column.bits} bits", place=column.name)
        return rows.astype(np.uint32)

    def check_arrays(self, *values: object, at: str = "") -> int:
        """Many answers: for each column an array of codes, [answers] or [answers, elements]; NumPy's, ml_dtypes' or torch's dtype of the column's format
        or whole numbers. Returns how many are wrong. Errors as of check(); nothing is counted then but rows before one without an answer."""
        self._require(values)
        columns = [self._rows(column, value) for column, value in zip(self._columns, values, strict=True)]
        if len({len(rows) for rows in columns}) != 1:
            lengths = ", ".join(f"{column.name} {len(rows)}" for column, rows in zip(self._columns, columns, strict=True))
            raise Error(f"the columns have different lengths: {lengths}", place=self._operation)
        operands = np.ascontiguousarray(np.concatenate(columns[: self._operands], axis=1))
        answers = np.ascontiguousarray(np.concatenate(columns[self._operands :], axis=1))
        wrong: int = self._board.check_rows(operands, answers, word("at", at))
        return wrong

    def report(self) -> ScoreReport:
        """What came of all answers so far; "MISTRUSTED" where there was none, where there were fewer or more than expected, and where all right answers
        are the same. Finding what explains wrong answers takes a second or so."""
        made = self._board.report(self._expected)
        lines = made.pop("lines")
        return ScoreReport(**made, text="\n".join(lines))

    def finish(self) -> ScoreReport:
        """The report; AssertionError with its text where the verdict is not "PASSED"."""
        report = self.report()
        if report.verdict != "PASSED":
            raise AssertionError(f"{self._operation}\n{report.text}")
        return report

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.finish()


def scoreboard(
    operation: str,
    *,
    flags: bool | str | Mapping[str, int] = False,
    nan: str = "exact",
    show: int = 20,
    expected: int | None = None,
    source: str | None = None,
    **options: object,
) -> Scoreboard:
    """Holds a device that runs inside a Python loop, a cocotb bench for one, against an operation of `mxact gen --list`.

    flags: True: the device's flags are compared, all of mxact.Flags; "ieee": IEEE 754's five; a mapping: those of its names alone, each with the bit that it
    is of the device's flags: {"invalid": 4, "overflow": 2} ("inexact", "underflow", "divide_by_zero", "saturated", "nan", "flushed" are the others).
    nan: "exact": a NaN is right with its own code alone; "free": sign and payload are open. show: so many wrong answers are kept.
    expected: how many answers there have to be; without it any number but 0. source: the format of a block's elements.
    options: the others of `mxact gen` for the operation: profile, rounding, overflow, flush, contract, length, operand_c, shape, type.
    Returns a Scoreboard: check() each answer, finish() at the end. Each wrong answer is said with both codes and numbers, the exact number and how far
    both are off; at the end the rules that explain all of them, as `mxact ver` names them. Raises mxact.Error: unknown names and choices.
    """
    given = {name.replace("_", "-"): ("yes" if value else "no") if isinstance(value, bool) else str(value) for name, value in options.items()}
    if word("nan", nan) != "exact":
        given["nan"] = nan
    if source is not None:
        given["from"] = word("source", source)
    names: Mapping[str, int] | None = None
    if isinstance(flags, Mapping):
        names = {word("flags", name): integer(f"flags[{name!r}]", bit) for name, bit in flags.items()}
        unknown = [name for name in names if name not in _FLAGS]
        if unknown or not names:
            raise Error(f"flags has {unknown[0]!r}: flags are {', '.join(_FLAGS)}" if unknown else "flags is empty", place="flags")
        if min(names.values()) < 0:
            raise Error("flags has a bit below 0", place="flags")
        given["flags"] = "ieee" if all(_FLAGS[name] < _IEEE for name in names) else "yes"
    elif flags:
        given["flags"] = "yes" if flags is True else word("flags", flags)
    if integer("show", show) < 0:
        raise Error(f"show is {show}, must be 0 or more", place="show")
    if expected is not None and integer("expected", expected) < 1:
        raise Error(f"expected is {expected}, must be 1 or more", place="expected")
    return Scoreboard(word("operation", operation), list(given.items()), names, show, expected)
