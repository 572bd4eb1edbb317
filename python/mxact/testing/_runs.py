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


@dataclass
class Settings:
    """seed: of everything that is drawn; the same seed draws the same cases. examples: cases that hypothesis draws for each law; a law draws many more by
    itself, which are cheaper. cases, held: what the laws compared and held since they were emptied, for reports. The pytest plugin sets them (--mxact-seed, --mxact-examples)
    and reads cases and held. replay: the command that draws the same cases again, where it is no pytest."""

    seed: int = 0
    examples: int = 100
    cases: int = 0
    held: list[str] = field(default_factory=list)
    replay: str = ""

    def begin(self, seed: int, examples: int) -> None:
        """Nothing is compared yet, with this seed and number of examples."""
        self.seed, self.examples, self.cases, self.held = seed, examples, 0, []


settings = Settings(**getattr(sys.modules.get("mxact_pytest"), "asked", {}))


def replay_line() -> str:
    """The command that draws the same cases again."""
    if settings.replay:
        return f"replay: {settings.replay}"
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rsplit(" ", 1)[0]
    return f'replay: pytest "{test}" --mxact-seed={settings.seed}' if test else f"replay: mxact.testing.settings.seed = {settings.seed}"


@contextmanager
def told(explain: Callable[[], str] = str) -> Iterator[None]:
    """Behind what is wrong stand what explains it, asked once, and how to repeat it."""
    try:
        yield
    except AssertionError as failed:
        raise AssertionError(f"{failed}\n{explain()}{replay_line()}") from failed.__cause__


def compared(count: int) -> None:
    settings.cases += count


def for_all(cases: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Draws cases, checks each, and shrinks what fails; the error of the smallest case is what is raised."""

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
        check(case)

    run()
