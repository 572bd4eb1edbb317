"""How laws are run: seed, number of cases, what a failure says about repeating it, what a run leaves for reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from hypothesis import strategies as st

from mxact._error import Error


class Broken(AssertionError):
    """What is held cannot be asked any more, or what it gave is no answer at all: no law takes that for an answer."""


class CannotStart(Error):
    """Nor this: it never was there."""


class _Ended(BaseException):
    """Carries those two through hypothesis, which would ask again."""

    def __init__(self, reason: Broken | CannotStart) -> None:
        super().__init__(reason)
        self.reason = reason


class Changing(AssertionError):
    """What is held gave a wrong answer and, asked the same again, another one."""


def changing(first: object) -> Changing:
    return first if isinstance(first, Changing) else Changing(f"asked again, it gives another answer; the first one was wrong: {first}")


# How often the last failure is asked again: what is right every fourth time shows it.
_AGAIN = 3


def settled(check: Callable[..., None], *case: Any) -> None:
    """check(*case); what it finds wrong is asked again, so that who answers by turns is told so."""

    def failure() -> AssertionError | None:
        try:
            check(*case)
        except Broken:
            raise
        except AssertionError as failed:
            return failed
        return None

    first = failure()
    if first is None:
        return
    for _ in range(_AGAIN):
        again = failure()
        raised = again is not None and again.__cause__ is not None and type(again.__cause__) is type(first.__cause__)  # whose text may hold an address
        if again is None or (str(again) != str(first) and not raised):
            raise changing(first) from first.__cause__
    raise first


@contextmanager
def of_case(case: Callable[[], str]) -> Iterator[None]:
    """What cannot be asked any more says at which case."""
    try:
        yield
    except Broken as broken:
        raise Broken(f"{broken}\n{case()}") from None


@dataclass
class Settings:
    """seed: of everything that is drawn; the same seed draws the same cases. examples: cases that hypothesis draws for each law; a law draws many more by
    itself, which are cheaper. cases, held: what the laws compared and held since they were emptied, for reports. The pytest plugin sets them (--mxact-seed, --mxact-examples)
    and reads cases and held. replay: the command that draws the same cases again, where it is no pytest. shown: what a law found beyond that, by its name: what prints, and has to_json()."""

    seed: int = 0
    examples: int = 100
    cases: int = 0
    held: list[str] = field(default_factory=list)
    replay: str = ""
    shown: dict[str, Any] = field(default_factory=dict)

    def begin(self, seed: int, examples: int) -> None:
        """Nothing is compared yet, with this seed and number of examples."""
        self.seed, self.examples, self.cases, self.held, self.shown = seed, examples, 0, [], {}


settings = Settings(**getattr(sys.modules.get("mxact_pytest"), "asked", {}))


def replay_line() -> str:
    """The command that draws the same cases again."""
    if settings.replay:
        return f"replay: {settings.replay}"
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
    return f'replay: pytest "{test}" --mxact-seed={settings.seed}' if test else f"replay: mxact.testing.settings.seed = {settings.seed}"


@contextmanager
def told(explain: Callable[[], str] = str) -> Iterator[None]:
    """Behind what is wrong stand what explains it, asked once, and how to repeat it. Who gave no answer, or several, is asked nothing more."""
    try:
        yield
    except (Broken, Changing) as failed:
        raise AssertionError(f"{failed}\n{replay_line()}") from failed.__cause__
    except AssertionError as failed:
        try:
            why = explain()
        except AssertionError:  # it answers otherwise by now, or not at all
            why = ""
        raise AssertionError(f"{failed}\n{why}{replay_line()}") from failed.__cause__


def compared(count: int) -> None:
    settings.cases += count


def for_all(cases: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Draws cases, checks each, and shrinks what fails; the error of the smallest case is what is raised. Who gives no answer ends it at once."""
    failures: list[AssertionError] = []

    @hypothesis.settings(
        max_examples=settings.examples,
        deadline=None,
        derandomize=False,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.seed(settings.seed)
    @hypothesis.given(cases)
    def run(case: Any) -> None:
        try:
            settled(check, case)
        except (Broken, CannotStart) as reason:
            raise _Ended(reason) from None
        except AssertionError as failed:
            failures.append(failed)
            raise

    try:
        run()
    except _Ended as ended:
        raise ended.reason from None
    except hypothesis.errors.Flaky:
        raise changing(failures[-1]) from None
