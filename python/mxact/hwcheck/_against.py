"""Another model of the same instructions: MMA-Sim, held to the card as mxact is. Two models, one card, three verdicts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact.hwcheck._hold import CHANGED, FAILED, FOLLOWS, SKIPPED, Answer, Run, formats_text
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import NotHere, Question
from mxact.hwcheck._search import different
from mxact.hwcheck._tensors import library

_SHORT = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "e4m3fn": "e4m3", "e5m2": "e5m2", "f32": "f32"}
_TORCH = {"fp16": "float16", "bf16": "bfloat16", "tf32": "float32", "e4m3fn": "float8_e4m3fn", "e5m2": "float8_e5m2", "f32": "float32"}
_UNITS = {"70": "Volta", "75": "Turing", "80": "Ampere", "86": "Ampere", "89": "Ada Lovelace", "90": "Hopper", "100": "Blackwell", "120": "RTX Blackwell"}


def _model(question: Question, unit: str) -> Any:
    """Its class of the instruction. Raises NotHere where it has none."""
    library("mmasim")
    kinds = import_module("mmasim.nv_ptx")
    a, b, to = (_SHORT[format] for format in (question.a, question.b, question.to))
    shape = f"m{64 if question.build == 'wgmma' else 16}n8k{question.k}"
    word = f"{shape}.{to}.{a}.{b}" + ("" if question.build == "wgmma" else f".{to}")
    try:
        return getattr(kinds, "WGMMA" if question.build == "wgmma" else "MMA")(_UNITS[unit], word)
    except Exception as problem:  # noqa: BLE001  (its own, of any kind)
        raise NotHere(f"mmasim has no {word} of sm_{unit} ({type(problem).__name__})") from None


def _tensor(values: Array, format: str) -> Any:
    torch = library("torch")
    words = {1: np.uint8, 2: np.int16, 4: np.int32}[values.dtype.itemsize]
    return torch.from_numpy(np.ascontiguousarray(values).view(words)).view(getattr(torch, _TORCH[format]))


def _numbers(question: Question, unit: str, case: Case) -> Array:
    """Its D of a whole case; its classes take any M and N."""
    c = _tensor(np.asarray(case.c), question.c)
    found = _model(question, unit)(_tensor(case.a, question.a), _tensor(case.b, question.b).T, c)
    return np.asarray(found.contiguous().view(library("torch").int32 if question.to == "f32" else library("torch").int16).numpy()).view(dtype_of(question.to))


def hold_against(run: Run, unit: str) -> list[Answer]:
    """Of every instruction that was answered: what MMA-Sim gives, beside the card and beside the way that was found. FOLLOWS: the card's bits; CHANGED: others."""
    answers = []
    for row in [one for one in run.answers if one.part == "instructions" and one.name in run.asked]:
        question, asked = run.asked[row.name]
        assert isinstance(question, Question)
        answer = Answer(f"mmasim:{row.name}", "models", "mmasim", row.operation, formats_text(question), FOLLOWS)
        try:
            for case, found in asked:
                wrong = different(found, _numbers(question, unit, case))
                answer.compared += int(found.size)
                answer.differ += int(np.count_nonzero(wrong))
        except NotHere as problem:
            answer.verdict, answer.why = SKIPPED, str(problem)
        except Exception as problem:  # noqa: BLE001  (its own, of any kind)
            answer.verdict, answer.why = FAILED, f"{type(problem).__name__}: {problem}"
        else:
            answer.verdict = CHANGED if answer.differ else FOLLOWS
            answer.way = f"mmasim {'as the card' if not answer.differ else 'NOT as the card'}; mxact {'as the card' if row.verdict == FOLLOWS else row.verdict}"
        answers.append(answer)
    return answers
