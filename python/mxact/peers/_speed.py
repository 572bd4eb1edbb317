"""How long peers take beside mxact's Python call, on one thread, in one run, by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from mxact._tables import threads
from mxact.peers._hold import asked_apart, installed
from mxact.peers._rows import Peer

# The matrix, and how often each of the two is called: more often where it takes no tenth of a second.
SIZE, TURNS, SHORT_TURNS = 4096, 3, 15


@dataclass
class Timed:
    """Medians in seconds."""

    peer: str
    version: str
    operation: str
    target: str
    profile: str
    theirs: float
    ours: float


def timed(peer: Peer, size: int = SIZE) -> list[Timed]:
    """In this process. Each is called once beforehand, on few rows."""
    version = installed(peer.distribution)
    if not version or peer.speed is None:
        return []
    threads(1)
    x = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    rows = []
    for row in peer.speed():
        for prepare in (row.theirs, row.ours):
            prepare(x[:32].copy())()
        theirs, ours = row.theirs(x), row.ours(x)
        turns = TURNS if _seconds(theirs) > 0.1 else SHORT_TURNS
        seconds = [(_seconds(theirs), _seconds(ours)) for _ in range(turns)]
        rows.append(Timed(peer.name, version, row.operation, row.target, row.profile, median(a for a, _ in seconds), median(b for _, b in seconds)))
    return rows


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def timed_apart(some: Sequence[Peer]) -> list[Timed]:
    """Each in a process of its own with one thread, one after another."""
    rows = []
    for peer in some:
        if not installed(peer.distribution) or peer.speed is None:
            continue
        answer, _ = asked_apart(peer.name, "--speed")
        if answer is not None:
            rows += [Timed(**row) for row in answer["rows"]]
    return rows


def document(rows: Sequence[Timed]) -> dict[str, object]:
    return {"schema": "mxact.peers.speed/1", "size": SIZE, "turns": [TURNS, SHORT_TURNS], "rows": [asdict(row) for row in rows]}


def table(rows: Sequence[Timed]) -> list[list[str]]:
    head = ["peer", "operation", "to", "seconds", "mxact's profile", "seconds", "times as long"]
    return [head] + [[f"{row.peer} {row.version}", row.operation, row.target, f"{row.theirs:.3f}", row.profile, f"{row.ours:.3f}", f"{row.theirs / row.ours:.3g}"] for row in rows]
