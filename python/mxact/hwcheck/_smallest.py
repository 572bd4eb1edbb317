"""The smallest counterexample: one value that a way does not give, of as few products as it can do with."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np

from mxact._arguments import Array
from mxact._error import Error
from mxact.hwcheck._inputs import Case, numbers_of
from mxact.hwcheck._questions import Question
from mxact.hwcheck._search import Answers, different
from mxact.hwcheck._ways import Way, answer

_SECONDS = 10.0


def _given(question: Question, way: Way, case: Case) -> Array:
    return answer(way, question.compared(case), question.formats, question.to)


def _without(case: Case, row: int, places: Array) -> Case:
    a = case.a.copy()
    a[row, places] = 0
    return replace(case, a=a)


def smallest(question: Question, way: Way, answers: Answers, case: Case | None) -> str:
    """As text. case: the whole call of the first answer, which is asked again with fewer products; None: answers that cannot be asked again."""
    for index, (compared, found) in enumerate(answers):
        wrong = different(found, answer(way, compared, question.formats, question.to))
        if wrong.any():
            row, column = (int(part) for part in np.argwhere(wrong)[0])
            if case is None or index > 0:
                return _shown(question, way, compared, found, row, column)
            small = _shrunk(question, way, case, row, column)
            return _shown(question, way, question.compared(small), question.ask(small)[: question.rows, : question.columns], row, column)
    return ""


def _shrunk(question: Question, way: Way, case: Case, row: int, column: int) -> Case:
    """Halves, quarters and so on of the products left out as long as the value stays wrong."""

    def is_wrong(some: Case) -> bool:
        found = question.ask(some)[: question.rows, : question.columns]
        return bool(different(found, _given(question, way, some))[row, column])

    until = monotonic() + _SECONDS
    size = question.k // 2
    while size >= 1 and monotonic() < until:
        for first in range(0, question.k, size):
            places = np.arange(first, min(first + size, question.k))
            if not case.a[row, places].any():
                continue
            fewer = _without(case, row, places)
            try:
                case = fewer if is_wrong(fewer) else case
            except Error:
                continue
            if monotonic() > until:
                break
        size //= 2
    return case


def _shown(question: Question, way: Way, case: Case, found: Array, row: int, column: int) -> str:
    right = answer(way, case, question.formats, question.to)
    left, other = numbers_of(case.a[row : row + 1], question.a)[0], numbers_of(case.b[column : column + 1], question.b)[0]
    terms = [f"{x:.9g} * {y:.9g} (k {k})" for k, (x, y) in enumerate(zip(left, other, strict=True)) if x != 0 and y != 0]
    text = " + ".join(terms if len(terms) <= 6 else [*terms[:3], f"{len(terms) - 3} more products"])
    if case.c is not None:
        text += f" + C {float(case.c[row, column]):.9g}"
    words = {2: np.uint16, 4: np.uint32, 1: np.uint8}[found.dtype.itemsize]
    bits = [f"0x{int(np.ascontiguousarray(part).view(words)[row, column]):0{2 * found.dtype.itemsize}x} ({float(part[row, column]):.9g})" for part in (found, right)]
    return f"[{row}, {column}] {text}: {bits[0]}, by the nearest way {bits[1]}"
