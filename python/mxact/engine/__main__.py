"""python -m mxact.engine check TREE: an engine's own choices beside those of a version of the tables."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from typing import Any

from mxact._error import Error
from mxact.engine._compare import Report, check

# As the program's exit statuses are: all decisions equal, some differ, a wrong command line, no tree, nothing compared.
EQUAL, DIFFERS, USAGE, INPUT, NOTHING = 0, 1, 2, 3, 5


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Error(message, place="command line")


def _parser() -> Parser:
    whole = Parser(prog="python -m mxact.engine", description="Sources of an engine beside the tables: docs/engines.md.", allow_abbrev=False)
    of = whole.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)
    checks = of.add_parser("check", help="run a tree's own choices and compare them with a version")
    checks.add_argument("tree", metavar="TREE", help="the folder above vllm/, or a wheel, which is read in place")
    checks.add_argument("--engine", help="the version to compare with (that of which the fewest decisions differ)")
    checks.add_argument("--oracle", help="one oracle (all)")
    checks.add_argument("--most", type=int, default=0, metavar="N", help="deployments an oracle, evenly spread (all)")
    checks.add_argument("--json", action="store_true", help="for programs")
    return whole


def _lines(report: Report) -> list[str]:
    lines = [f"{report.version}: {report.equal} of {report.compared} decisions are the same"]
    lines += [f"{name} could not be asked: {why}" for name, why in sorted(report.missing.items())]
    lines += [f"{count} decisions could not be run: {why}" for why, count in sorted(report.unrecorded.items())]
    if report.refused_by_version:
        lines.append(f"{report.refused_by_version} deployments have words that {report.version} does not know")
    for one in report.differences:
        lines += [f"{one.times} of {one.oracle}: {one.version_answers} became {one.tree_answers}", f"  {one.smallest}"]
    return lines


def main(words: list[str]) -> int:
    try:
        options = _parser().parse_args(words)
    except Error as error:
        print(f"mxact.engine: {error}", file=sys.stderr)
        return USAGE
    try:
        report = check(options.tree, options.engine, options.oracle, options.most)
    except Error as error:
        print(f"mxact.engine: {error}", file=sys.stderr)
        return INPUT if error.place == "TREE" else USAGE
    print(json.dumps(dataclasses.asdict(report)) if options.json else "\n".join(_lines(report)))
    return NOTHING if report.compared == 0 else DIFFERS if report.differences else EQUAL


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
