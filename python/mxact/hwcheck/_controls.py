"""Controls: what is wrong on purpose must show, what is the same must be the same. An answer whose data could not tell is not believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.hwcheck._inputs import FORMS, Case
from mxact.hwcheck._questions import Question
from mxact.hwcheck._search import different

SHOWS, HIDES, SAME, OTHER, REFUSED = "shows", "does not show", "same", "differs", "refused"


def wrong_nibble(question: Question, case: Case) -> Case:
    """The largest code of each row of a has another exponent."""
    form = FORMS[question.a]
    a = case.a.copy()
    magnitudes = a & a.dtype.type((1 << form.bits - 1) - 1)
    places = np.arange(a.shape[0]), magnitudes.argmax(axis=1)
    a[places] ^= a.dtype.type(1 << form.mantissa)
    return replace(case, a=a)


def wrong_scale(question: Question, case: Case) -> Case | None:
    """Every scale of a twice as large, or of b where a has none."""

    def doubled(scales: Any) -> Any:
        if isinstance(scales, np.ndarray) and scales.dtype == np.uint8:
            return scales + np.uint8(1)
        return np.asarray(scales * np.float32(2), np.float32) if isinstance(scales, np.ndarray) else np.float32(scales * 2)

    if case.scale_a is not None:
        return replace(case, scale_a=doubled(case.scale_a))
    return None if case.scale_b is None else replace(case, scale_b=doubled(case.scale_b))


def wrong_bias(question: Question, case: Case) -> Case | None:
    return None if case.bias is None else replace(case, bias=np.asarray(-case.bias, case.bias.dtype))


def wrong_order(question: Question, case: Case, random: np.random.Generator) -> Case | None:
    """Both operands with another order of k: the exact sum is the same, a sum in groups is not."""
    if question.scaling.startswith("block") or question.scaling == "e8m0_shift":
        return None
    order = random.permutation(question.k)
    return replace(case, a=np.ascontiguousarray(case.a[:, order]), b=np.ascontiguousarray(case.b[:, order]))


def controls(question: Question, case: Case, first: Array, random: np.random.Generator) -> dict[str, str]:
    """Of each control what it did. first: the answer to the case."""
    done = {"repeat": OTHER if different(_asked(question, case), first).any() else SAME}
    for name, changed in (("nibble", wrong_nibble(question, case)), ("scale", wrong_scale(question, case)), ("bias", wrong_bias(question, case)), ("order", wrong_order(question, case, random))):
        if changed is not None:
            done[name] = SHOWS if different(_asked(question, changed), first).any() else HIDES
    if question.batched and question.m > 1:
        done["batch"] = _alone(question, case, first)
    return done


def _asked(question: Question, case: Case) -> Array:
    found = question.ask(case)
    return found[: question.rows, : question.columns]


def _alone(question: Question, case: Case, first: Array) -> str:
    """The first row asked alone: how many of its values are others."""
    try:
        found = question.ask(case.rows(slice(0, 1), slice(0, question.n), question.shared))[0, : first.shape[1]]
    except Exception:  # noqa: BLE001  (a library's, of any kind)
        return REFUSED
    count = int(np.count_nonzero(different(found, first[0])))
    return f"{OTHER}: {count} of {first.shape[1]}" if count else SAME


def mistrusted(done: dict[str, str]) -> str:
    """Why the answer is not believed; empty where it is."""
    if done.get("repeat") == OTHER:
        return "the same call gave other bits"
    hidden = [name for name in ("nibble", "scale", "bias") if done.get(name) == HIDES]
    return f"a wrong {' and a wrong '.join(hidden)} changed nothing" if hidden else ""
