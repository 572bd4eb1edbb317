"""python -m mxact.hwcheck: which declared arithmetic the libraries and instructions of this card follow."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

from mxact._error import Error
from mxact._tables import threads
from mxact.hwcheck._facts import facts_of
from mxact.hwcheck._hold import FAILED, SKIPPED, Answer, Run, Settings, document, hold, totals
from mxact.hwcheck._questions import Asked, NotHere
from mxact.hwcheck._report import issue, page, text

# As the program's exit statuses are: all follow, some do not, a wrong command line, nothing was asked.
HELD, DIFFERENT, USAGE, NOTHING = 0, 1, 2, 5

# Whose questions there are: a name, and the module that asks them.
SOURCES = {"instructions": "_cuda", "torch": "_torch", "triton": "_triton", "jax": "_jax", "engines": "_engines"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Error(message, place="command line")


def _parser() -> _Parser:
    what = "Libraries, kernels and instructions of this machine's GPU, each held to every declared arithmetic: which it follows, on how many values, or the smallest value that none gives."
    parser = _Parser(prog="python -m mxact.hwcheck", description=what, epilog="Nothing is downloaded, and no setting of the device is changed. Exit status: 0 all follow what is known, 1 some do not, 2 a wrong command line, 5 nothing was asked.", allow_abbrev=False)
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="of " + ", ".join(SOURCES) + "; all without")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="questions whose name has this, or matches it as a file name does; may be repeated")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (0): the same seed asks the same")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="of the whole run (600): what it does not reach is SKIPPED")
    parser.add_argument("--search", type=float, default=20, metavar="SECONDS", help="of one question's search (20)")
    parser.add_argument("--json", metavar="FILE", help="the answers as JSON, - for standard output")
    parser.add_argument("--page", metavar="FILE", help="tables in Markdown, as docs/measured/hardware.json has them; - for standard output")
    parser.add_argument("--report", metavar="FILE", help="a text to paste into an issue, - for standard output")
    parser.add_argument("--record", metavar="DIR", help="what was asked and answered, as a set that mxact witness reads, into a new folder")
    parser.add_argument("--from", dest="set", metavar="DIR", help="the products of a recorded set in the place of a card")
    parser.add_argument("--against", metavar="MODEL", choices=["mmasim"], help="hold another model to the same instructions: mmasim, where it is installed")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--list", action="store_true", help="the questions, one a line, without asking them")
    return parser


def _wanted(patterns: list[str]) -> Callable[[str], bool]:
    return lambda name: not patterns or any(pattern in name or fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _questions(names: list[str], missing: list[Answer]) -> Iterator[Asked]:
    for name in names:
        if name not in SOURCES:
            raise Error(f"there is no source {name!r}; these are: {' '.join(SOURCES)}", place="command line")
    for name in dict.fromkeys(names or SOURCES):
        try:
            yield from import_module(f"mxact.hwcheck.{SOURCES[name]}").questions()
        except NotHere as problem:
            missing.append(Answer(name, name, name, "all", "", SKIPPED, why=str(problem)))
        except Exception as problem:  # noqa: BLE001  (whatever a library raises)
            missing.append(Answer(name, name, name, "all", "", FAILED, why=f"{type(problem).__name__}: {problem}"))


def _write(path: str | None, what: str) -> None:
    if path is None:
        return
    if path == "-":
        print(what, end="")
        return
    try:
        Path(path).write_text(what, encoding="utf-8")
    except OSError as problem:
        raise Error(f"{path}: {problem.strerror}", place="command line") from None


def _recorded(asked: argparse.Namespace, settings: Settings) -> tuple[Run, dict[str, str]]:
    from mxact.hwcheck._recorded import RecordedSet, hold_recorded

    sets = RecordedSet(Path(asked.set))
    run = hold_recorded(sets, settings, _wanted(asked.only))
    profile = sets.entries[0]["profile"] if sets.entries else {}
    return run, {"device": str(profile.get("device", "unknown")), "recorded": str(profile.get("version", ""))}


def _progress(started: float) -> Callable[[str], None]:
    return lambda name: print(f"{monotonic() - started:7.1f} s  {name}", file=sys.stderr, flush=True)


def _run(asked: argparse.Namespace) -> tuple[Run, dict[str, str]]:
    settings = Settings(asked.seed, asked.search, asked.limit, progress=None if asked.quiet else _progress(monotonic()))
    if asked.set:
        return _recorded(asked, settings)
    facts, free = facts_of()
    settings.unit, settings.free_bytes = facts.get("unit", "0"), free
    missing: list[Answer] = []
    some = [question for question in _questions(asked.sources, missing) if _wanted(asked.only)(question.name)]
    run = hold(some, settings)
    if asked.against:
        from mxact.hwcheck._against import hold_against

        run.answers += hold_against(run, facts.get("unit", "0"))
    run.answers += missing
    return run, facts


def main(words: list[str]) -> int:
    """The exit status: 0 all follow what is known, 1 some do not, 2 a wrong command line, 5 nothing was asked."""
    try:
        asked = _parser().parse_args(words)
        if asked.list:
            missing: list[Answer] = []
            print("".join(f"{question.name}\n" for question in _questions(asked.sources, missing)), end="")
            print("".join(f"SKIPPED {row.name}: {row.why}\n" for row in missing), end="", file=sys.stderr)
            return HELD
        threads(1)  # tiles are small: threads that wait for each other cost more than they do
        if asked.record and Path(asked.record).exists():
            raise Error(f"{asked.record} is there already: recordings are not overwritten", place="command line")
        run, facts = _run(asked)
        if asked.record and run.asked:
            from mxact.hwcheck._recorded import write

            write(run, Path(asked.record), facts)
        _write(asked.json, json.dumps(document(run.answers, facts, asked.seed), indent=1) + "\n")
        _write(asked.page, page(run.answers, facts))
        _write(asked.report, issue(run.answers, facts))
        if "-" not in (asked.json, asked.page, asked.report):
            print(text(run.answers, facts), end="")
    except Error as error:
        print(f"mxact: {error}", file=sys.stderr)
        return USAGE
    count = totals(run.answers)
    if count["questions"] == count["skipped"]:
        return NOTHING
    return DIFFERENT if any(count[word] for word in ("changed", "none", "mistrusted", "failed")) else HELD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
