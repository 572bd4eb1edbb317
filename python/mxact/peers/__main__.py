"""python -m mxact.peers [PEER ...]: what is installed, held against the model."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from mxact._error import Error
from mxact.peers import Peer, _speed, document, hold, hold_apart, peers, totals
from mxact.peers._table import columns, markdown, page, report, text
from mxact.testing._runs import settings

# As the program's exit statuses are: all follow, some do not, a wrong command line, nothing was asked.
HELD, DIFFERENT, USAGE, NOTHING = 0, 1, 2, 5


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Error(message, place="command line")


def _parser() -> _Parser:
    parser = _Parser(prog="python -m mxact.peers", description="Libraries of this field, whichever is installed, held against the model.", allow_abbrev=False)
    parser.add_argument("peers", nargs="*", metavar="PEER", help="of " + ", ".join(peer.name for peer in peers()) + "; without, those that are not for long runs")
    parser.add_argument(
        "--exhaustive",
        "--all",
        action="store_true",
        help="all 2^32 inputs of 32 bits: minutes for each cast; every peer; every class of a matrix unit, tiles of 128 x 128 sums",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of everything that is drawn (0)")
    parser.add_argument("--json", metavar="FILE", help="the table as JSON, - for standard output")
    parser.add_argument("--page", metavar="FILE", help="tables in Markdown, as docs/measured/peers.json has them")
    parser.add_argument("--report", action="store_true", help="of each peer, in the place of the table: a text to paste into an issue of its project")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="peers at a time, each in a process of its own with one thread (all cores)")
    parser.add_argument("--alone", action="store_true", help="all in this process, with as many threads as their libraries take")
    parser.add_argument("--speed", action="store_true", help="in the place of all that: seconds of each beside mxact's call, for a matrix of 4096 x 4096 fp32, one thread; minutes")
    parser.add_argument("--list", action="store_true", help="names, packages and the releases that the rules were recorded from")
    return parser


def _asked(names: list[str], further: bool) -> list[Peer]:
    known = {peer.name: peer for peer in peers()}
    for name in names:
        if name not in known:
            raise Error(f"there is no peer {name!r}; these are: {' '.join(known)}", place="command line")
    return [known[name] for name in dict.fromkeys(names)] or [peer for peer in known.values() if further or not peer.further]


def _write(path: str, what: str) -> None:
    if path == "-":
        print(what, end="")
        return
    try:
        Path(path).write_text(what, encoding="utf-8")
    except OSError as problem:
        raise Error(f"{path}: {problem.strerror}", place="command line") from None


def _timed(some: list[Peer], asked: argparse.Namespace) -> int:
    rows = [row for peer in some for row in _speed.timed(peer)] if asked.alone else _speed.timed_apart(some)
    if asked.json:
        _write(asked.json, json.dumps(_speed.document(rows), indent=1) + "\n")
    if asked.page:
        _write(asked.page, markdown(_speed.table(rows)))
    if "-" not in (asked.json, asked.page):
        print(columns(_speed.table(rows)), end="")
    return HELD if rows else NOTHING


def main(words: list[str]) -> int:
    """The exit status: 0 all follow what is expected of their release, 1 some do not, 2 a wrong command line, 5 no peer is installed."""
    try:
        asked = _parser().parse_args(words)
        some = _asked(asked.peers, asked.exhaustive or asked.list)
        if asked.list:
            print("".join(f"{peer.name:24}{peer.distribution}=={peer.held}\n" for peer in some), end="")
            return HELD
        if asked.speed:
            return _timed(some, asked)
        settings.seed = asked.seed
        done = [hold(peer, asked.exhaustive) for peer in some] if asked.alone else hold_apart(some, asked.exhaustive, asked.jobs)
        if asked.json:
            _write(asked.json, json.dumps(document(done), indent=1) + "\n")
        if asked.page:
            _write(asked.page, page(done))
        if "-" not in (asked.json, asked.page):
            print("\n".join(report(peer) for peer in done if not peer.skipped) if asked.report else text(done), end="")
    except Error as error:
        print(f"mxact: {error}", file=sys.stderr)
        return USAGE
    count = totals(done)
    if not count["operations"] and not count["died"]:
        return NOTHING
    return DIFFERENT if any(count[word] for word in ("changed", "differs", "failed", "died")) else HELD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
