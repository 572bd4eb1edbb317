"""An oracle of somebody else, held to the engine's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from mxact import _core
from mxact._arguments import flag, optional_word, word
from mxact._error import Error
from mxact._select import select
from mxact.testing._runs import Broken, CannotStart, changing, compared, for_all, of_case, settings, settled, told
from mxact.testing._strategies import deployments, draw_deployment, is_read, oracle_words

# Deployments that are drawn beside those of hypothesis, which take a hundred times as long.
_CASES = 4000
# A layer must have sizes: those of gpt-oss, where they show the failure as well.
_USUAL = {"experts": 128, "top_k": 4, "hidden": 2880, "intermediate": 2880}


def assert_oracle(fn: Callable[[dict[str, Any]], str], engine: str | None = None, oracle: str = "mxfp4", needs_only: bool = False) -> None:
    """fn chooses what the engine's oracle chooses, for deployments of all kinds.

    fn: takes a deployment, a nested dict with the keys of docs/deployment.md, and returns the name of a backend; or raises, which is a refusal.
    engine: a version of mxact.engines() that has tables of the oracle; without it the default. oracle: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or
    w4a8. needs_only: fn may choose otherwise than the engine, but never a backend of which every kernel class breaks one of its needs.
    Raises AssertionError: the smallest deployment that was found with another answer, as a line that `mxact select` reads, both answers with their
    reasons, and the line that draws it again. mxact.Error: unknown names, a version without tables.
    Source: of choices the engine's version; of needs `mxact audit --needs`.
    """
    asked, name, free = optional_word("engine", engine), word("oracle", oracle), flag("needs_only", needs_only)

    words = oracle_words(name, asked)

    def line(deployment: dict[str, Any]) -> str:
        return f"deployment: {_core.deployment_line(deployment, asked, name)}"

    def wrong(deployment: dict[str, Any]) -> tuple[str, BaseException | None]:
        with of_case(lambda: line(deployment)):
            answer, refusal = _ask(fn, deployment)
        if refusal is None and not isinstance(answer, str):
            return f"the answer is {repr(answer)[:60]} of type {type(answer).__name__}, must be the name of a backend", None
        what = _broken(deployment, asked, name, answer) if free else _other(deployment, asked, name, answer)
        said = answer if answer is not None else f"a refusal ({type(refusal).__name__}: {refusal})"
        return (f"the answer is {said}, {what}" if what else ""), refusal

    def check(deployment: dict[str, Any]) -> None:
        compared(1)
        what, refusal = wrong(deployment)
        if what:
            raise AssertionError(f"{what}\n{line(deployment)}") from refusal

    with told():
        choose = random.Random(settings.seed).choice
        for _ in range(_CASES):
            deployment = draw_deployment(choose, name, words)
            if not is_read(deployment, asked, name):
                continue
            if what := wrong(deployment)[0]:
                settled(check, _smallest(deployment, lambda one: is_read(one, asked, name) and bool(wrong(one)[0])))
                raise changing(f"{what}\n{line(deployment)}")
            compared(1)
        for_all(deployments(name, asked), check)
    settings.held.append(f"oracle {name}")


def _smallest(deployment: dict[str, Any], is_wrong: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Without the keys, and with the usual sizes, that the failure can do without."""
    best = deployment
    paths = [(key, inner) for key, value in deployment.items() for inner in (value if isinstance(value, dict) else [None])]
    for key, inner in paths + [(key, None) for key in deployment]:
        fewer = {name: dict(value) if isinstance(value, dict) else value for name, value in best.items()}
        if inner is None:
            fewer.pop(key, None)
        elif inner in _USUAL:
            fewer[key][inner] = _USUAL[inner]
        else:
            fewer[key].pop(inner, None)
        if is_wrong(fewer):
            best = fewer
    return best


def _ask(fn: Callable[[dict[str, Any]], str], deployment: dict[str, Any]) -> tuple[str | None, BaseException | None]:
    copy = {key: dict(value) if isinstance(value, dict) else value for key, value in deployment.items()}
    try:
        answer = fn(copy)
    except (Broken, CannotStart):
        raise
    except (Exception, SystemExit) as refusal:  # noqa: BLE001  (a refusal of any kind is an answer)
        return None, refusal
    return answer, None


def _other(deployment: dict[str, Any], engine: str | None, oracle: str, answer: str | None) -> str:
    right = select(deployment, engine=engine, oracle=oracle)
    if "choice" in right:
        backend: str = right["choice"]["backend"]
        return "" if answer == backend else f"the engine's {backend}" + _why_not(right, answer)
    refusal = right["refusal"]
    return "" if answer is None else f"the engine refuses: {refusal['error_type']}: {refusal['text']}" + _why_not(right, answer)


def _why_not(right: dict[str, Any], answer: str | None) -> str:
    """The step at which the engine turned down what was answered."""
    steps = [step for step in right["trace"] if step["backend"] == answer and not step["supported"]]
    return f"; {answer} fails at {steps[-1]['code']}: {steps[-1]['text']}" if steps else ""


def _broken(deployment: dict[str, Any], engine: str | None, oracle: str, answer: str | None) -> str:
    if answer is None:
        return ""
    try:
        broken = _core.broken_need(deployment, engine, oracle, answer)
    except Error as unknown:
        return f"which is no backend: {unknown}"
    if broken is None:
        return ""
    kernel_class, need, statement, consequence = broken
    return f"which breaks a need of {kernel_class}: {need}: {statement}; otherwise {consequence}"
