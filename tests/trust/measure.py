#!/usr/bin/env python3
"""Measures how far mxact can be trusted, figure by figure (rows.py), and writes docs/measured/trust.json.

A figure that is measured is remembered there with its date and commit; those that are not asked for stay as they were measured before. Nothing is taken from
anywhere else: a figure that no run has measured stands there as not measured. docs/trust.md counts the verdicts.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

import rows
from rows import Figure

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, STATE = ROOT / "docs/trust.md", ROOT / "docs/measured/trust.json"
sys.path.insert(0, str(ROOT / "docs/site"))
import measured  # noqa: E402

COLUMNS = ["", "figure", "asked", "measured", "verdict", "not measured, or in part", "date", "commit"]


class Runner:
    """Runs the commands of a figure, from the project's root. A command that ends otherwise than it may is an error, never a figure."""

    def __init__(self, build, thorough):
        self.build = build
        self.thorough = thorough

    def effort(self, short, thorough):
        return thorough if self.thorough else short

    def program(self, name):
        return str(self.build / name)

    def text(self, *command, may=(0,), env=None):
        """What it prints, both streams."""
        print("  " + " ".join(str(word) for word in command), flush=True)
        done = subprocess.run([str(word) for word in command], cwd=ROOT, env={**os.environ, **(env or {})}, text=True, errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode not in may:
            raise rows.Failed(f"{command[0]} ended with {done.returncode}: {done.stdout[-300:].strip()}")
        return done.stdout

    def json(self, *command, may=(0,)):
        text = self.text(*command, "--json", may=may)
        return json.loads(text[text.index("{"):])

    def assertions(self, name, *filters):
        """How many assertions the test program made; all of them hold, and there is at least one."""
        text = self.text(self.program(name), *filters)
        said = re.search(r"All tests passed \((\d+) assertions? in (\d+) test cases?\)", text)
        if not said:
            raise rows.Failed(f"{name} does not say that all passed")
        return int(said[1])


def commit():
    """The commit that was measured, marked when files other than the page and its document differ from it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False).stdout.strip()
    changed = git("status", "--porcelain", "--", ".", f":!{PAGE.relative_to(ROOT)}", f":!{STATE.relative_to(ROOT)}")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("-dirty" if changed else "")


def measure(row, runner):
    print(f"{row.id}: {row.what}", flush=True)
    try:
        figure = row.measure(runner)
    except (rows.Failed, OSError, ValueError, KeyError) as error:
        figure = Figure(f"the measurement failed: {error}", rows.MISSED)
    print(f"  {figure.verdict}: {figure.text}", flush=True)
    return {**dataclasses.asdict(figure), "date": datetime.date.today().isoformat(), "commit": commit()}


def state_of(document):
    """What is remembered of each figure that was measured."""
    return {row[0]: dict(zip(("text", "verdict", "gap", "date", "commit"), row[3:])) for row in document["tables"][0]["rows"] if row[6]}


def document_with(document, state):
    def row_of(row):
        known = state.get(row.id, {"text": "", "verdict": "not measured", "gap": f"all of it: tests/trust/measure.py {row.id}", "date": "", "commit": ""})
        return [row.id, row.what, row.asked, *(" ".join(known[key].split()) for key in ("text", "verdict", "gap", "date", "commit"))]
    return {**document, "tables": [{"name": "figures", "columns": COLUMNS, "rows": [row_of(row) for row in rows.ROWS]}]}


def counted(state):
    """The sentence of the page that counts the verdicts."""
    found = {verdict: sum(1 for known in state.values() if known["verdict"] == verdict) for verdict in (rows.MET, rows.PART, rows.MISSED)}
    said = ", ".join(f"{count} {verdict}" for verdict, count in found.items())
    return f"Of {len(rows.ROWS)} figures {said}, {len(rows.ROWS) - sum(found.values())} not measured."


def page_with(state):
    return re.sub(r"^Of \d+ figures .* not measured\.$", counted(state), PAGE.read_text(encoding="utf-8"), flags=re.M)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="exit status: 0 written; 1 a figure asked for is missed, or --check finds another page or document; 2 usage")
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="R1 to R24; all without one")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a whole build (default: build/release)")
    parser.add_argument("--thorough", action="store_true", help="at the counts that are asked for: hours, days for R2, R4 and R17; else a sample of each")
    parser.add_argument("--check", action="store_true", help="measure nothing; fail unless page and document are what the remembered figures give")
    given = parser.parse_args()
    known = {row.id for row in rows.ROWS}
    for name in given.figures:
        if name not in known:
            parser.error(f"no figure '{name}' (R1 to R{len(rows.ROWS)})")
    if not given.check and not (given.build / "cli/mxact").exists():
        parser.error(f"no build in {given.build}: cmake --preset release && cmake --build build/release")
    return given


def main():
    given = options()
    document = measured.read(STATE)
    state = state_of(document)
    if given.check:
        right = counted(state) in PAGE.read_text(encoding="utf-8") and document == document_with(document, state)
        print("the page is what was measured" if right else f"{PAGE} or {STATE} is not what was measured: run tests/trust/measure.py")
        return 0 if right else 1
    runner = Runner(given.build.resolve(), given.thorough)
    missed = 0
    for row in rows.ROWS:
        if given.figures and row.id not in given.figures:
            continue
        state[row.id] = measure(row, runner)
        missed += state[row.id]["verdict"] == rows.MISSED
        # After each figure: a run that is stopped keeps what it has.
        measured.write(STATE, document_with(document, state))
        PAGE.write_text(page_with(state), encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
