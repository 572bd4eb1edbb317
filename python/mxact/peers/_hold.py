"""Peers held against the model: what each operation follows, what differs, which faults are seen."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from mxact import _core
from mxact._error import Error
from mxact.peers._pieces import Trial
from mxact.peers._rows import Back, Cast, Fault, Operation, Peer, Sum
from mxact.peers._trials import candidates, operation_words, trial_of
from mxact.testing._runs import settings

# What the documents say, in their two modes of overflow: the nearer one counts.
_DOCUMENTS = ("ocp", "ocp-nosat")


@dataclass
class Count:
    """Units that were compared with a profile's, and those that differ; apart those of blocks with a NaN or an Inf, and sums that the peer is known to answer
    otherwise. first: the smallest input that differs."""

    profile: str
    compared: int = 0
    different: int = 0
    special: int = 0
    special_different: int = 0
    first: str = ""


@dataclass
class Held:
    """An operation of a peer. outcome: "follows" the profile that is expected; "changed": follows another one; "differs" from all, then `profile` is the
    nearest; "disagrees": as is known, with all of it; "failed" with `problem`. documents: against what the format's documents say, None where they say nothing. Of sums `profile` is a contract;
    evidence: who was seen to add up so; known, decides: of sums that the peer is known to answer otherwise, and whose silicon says which is right."""

    operation: str
    source: str
    target: str
    outcome: str
    profile: str = ""
    expected: str = ""
    recorded: bool = True
    result: Count | None = None
    documents: Count | None = None
    why: str = ""
    problem: str = ""
    unit: str = "values"
    evidence: str = ""
    known: str = ""
    decides: str = ""


@dataclass
class Seen:
    """A known fault. outcome: "seen", "gone" (what is right was printed), or "other" with what was printed."""

    clause: str
    sentence: str
    script: str
    outcome: str
    printed: str
    right: str


@dataclass
class HeldPeer:
    """A peer. skipped: why it was not asked, empty where it was. problem: what ended it before it had answered."""

    name: str
    distribution: str
    held: str
    project: str
    version: str = ""
    skipped: str = ""
    problem: str = ""
    operations: list[Held] = field(default_factory=list)
    faults: list[Seen] = field(default_factory=list)


def installed(distribution: str) -> str:
    """Its version, empty where it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def hold(peer: Peer, exhaustive: bool = False) -> HeldPeer:
    """Everything about one peer."""
    done = HeldPeer(peer.name, peer.distribution, peer.held, peer.project, installed(peer.distribution))
    if not done.version:
        done.skipped = "not installed"
        return done
    try:
        rows = peer.operations()
    except Exception as problem:  # noqa: BLE001  (whatever a library raises while it is imported)
        done.skipped = f"{type(problem).__name__}: {_one_line(problem)}"
        return done
    done.operations = [held(row, done.version, exhaustive) for row in rows if exhaustive or not (isinstance(row, Sum) and row.further)]
    done.faults = [seen(fault) for fault in peer.faults]
    return done


def hold_apart(some: Sequence[Peer], exhaustive: bool, jobs: int) -> list[HeldPeer]:
    """Each in a process of its own and on one thread, so many at a time: what ends one ends no other, and no library meets another's threads."""
    with ThreadPoolExecutor(max(jobs, 1)) as at_work:
        return list(at_work.map(lambda peer: _hold_one(peer, exhaustive), some))


def asked_apart(*words: str) -> tuple[Any, subprocess.CompletedProcess[str]]:
    """What python -m mxact.peers answers to these words in a process of its own, on one thread; None where it gives no answer."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "mxact.peers", *words, "--alone", f"--json={answer}"]
        ended = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None, ended


def _hold_one(peer: Peer, exhaustive: bool) -> HeldPeer:
    done = HeldPeer(peer.name, peer.distribution, peer.held, peer.project, installed(peer.distribution))
    if not done.version:
        done.skipped = "not installed"
        return done
    answer, ended = asked_apart(peer.name, f"--seed={settings.seed}", *(["--exhaustive"] if exhaustive else []))
    if answer is not None:
        return read(answer)[0]
    last = next((line for line in reversed(ended.stderr.splitlines()) if line.strip()), "it said nothing")
    how = f"ended by {signal.Signals(-ended.returncode).name}" if ended.returncode < 0 else f"ended with {ended.returncode}"
    done.problem = f"{how}: {_one_line(last)}"
    return done


def read(values: dict[str, Any]) -> list[HeldPeer]:
    """The way back from document()."""

    def count(value: dict[str, Any] | None) -> Count | None:
        return None if value is None else Count(**value)

    def row(value: dict[str, Any]) -> Held:
        return Held(**{**value, "result": count(value["result"]), "documents": count(value["documents"])})

    return [
        HeldPeer(**{**peer, "operations": [row(value) for value in peer["operations"]], "faults": [Seen(**value) for value in peer["faults"]]})
        for peer in values["peers"]
    ]


def release_of(profile: str, package_version: str) -> tuple[str, bool]:
    """The profile of a release, and whether it was recorded from it; the newest one for a release that nobody ran."""
    if profile.startswith("ocp"):
        return profile, True
    release = re.match(r"\d+(\.\d+)*", package_version)
    while release and "." in release[0]:
        try:
            return _core.profile_name(f"{profile}@{release[0]}"), True
        except Error:
            release = re.match(r".*(?=\.\d+$)", release[0])
    return _core.profile_name(profile), False


def held(row: Operation, package_version: str, exhaustive: bool) -> Held:
    source, target = operation_words(row)
    if isinstance(row, Sum):
        expected, recorded = row.contract, row.release == package_version
    elif isinstance(row, Cast) and row.release:
        expected, recorded = _core.profile_name(row.profile), row.release == package_version
    else:
        expected, recorded = release_of(row.profile, package_version)
    done = Held(row.operation, source, target, "failed", expected, expected, recorded, why=row.why)
    done.unit = "sums" if isinstance(row, Sum) else "values" if isinstance(row, Cast | Back) else "blocks"
    try:
        if isinstance(row, Sum):
            done.evidence = _core.contract_facts(row.contract)[4]
            done.known, done.decides = (row.known.sentence, row.known.decides) if row.known else ("", "")
        trial = trial_of(row)
        result, *documents = counted(trial, [expected, *_DOCUMENTS], exhaustive)
        if result is None:
            raise Error(f"profile {expected} has no such operation")
        if wrong_units(trial, result):
            result = nearest_of(trial, result)
        done.result, done.profile = result, result.profile
        done.outcome = "differs" if wrong_units(trial, result) else "follows" if result.profile == expected else "changed"
        if not result.compared and result.special_different and done.known:
            done.outcome = "disagrees"
        # No document says how a number becomes a code of these.
        told = [count for count in documents if count is not None and target not in ("e8m0", "ue5m3")]
        done.documents = min(told, key=lambda count: count.different, default=None)
    except Exception as problem:  # noqa: BLE001  (the peer's own, of any kind)
        done.problem = f"{type(problem).__name__}: {_one_line(problem)}"
    return done


def wrong_units(trial: Trial, count: Count) -> int:
    """What a rule has to explain: with a NaN or an Inf in a block processors decide, in a cast the implementation does; a known disagreement is none of it."""
    return count.different + (count.special_different if trial.strict else 0)


def nearest_of(trial: Trial, expected: Count) -> Count:
    """Of all profiles that have the operation the one that fewest answers differ from, the expected one where none is nearer."""
    every = [count for count in counted(trial, candidates(trial), False, show=False) if count is not None]
    nearest = min(every, key=lambda count: wrong_units(trial, count))
    share = wrong_units(trial, expected) / max(expected.compared, 1)
    if nearest.profile == expected.profile or wrong_units(trial, nearest) / max(nearest.compared, 1) >= share:
        return expected
    return counted(trial, [nearest.profile], False)[0] or expected


def counted(trial: Trial, names: Sequence[str], exhaustive: bool, show: bool = True) -> list[Count | None]:
    """The peer's answers against each profile's; None for a profile that has not the operation."""
    counts: dict[str, Count] = {name: Count(name) for name in names}
    for piece in trial.pieces(np.random.default_rng(settings.seed), exhaustive):
        found = trial.answer(piece)
        for name, count in list(counts.items()):
            try:
                right = trial.right(piece, name)
            except Error:
                del counts[name]
                continue
            wrong = trial.wrong(found, right)
            ordinary = wrong & ~piece.special
            count.compared += int(np.count_nonzero(~piece.special))
            count.special += int(np.count_nonzero(piece.special))
            count.different += int(np.count_nonzero(ordinary))
            count.special_different += int(np.count_nonzero(wrong & piece.special))
            told = ordinary if ordinary.any() or not trial.strict else wrong
            if show and not count.first and told.any():
                count.first = trial.shown(piece, found, name, told)
    return [counts.get(name) for name in names]


def seen(fault: Fault) -> Seen:
    """The fault's script, run."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(fault.script, "fault", "exec"), {"__name__": "fault"})  # noqa: S102
        printed = out.getvalue().strip()
    except Exception as problem:  # noqa: BLE001
        printed = f"{type(problem).__name__}: {_one_line(problem)}"
    outcome = "seen" if printed == fault.shows else "gone" if printed == fault.right else "other"
    return Seen(fault.clause, fault.sentence, fault.script, outcome, printed, fault.right)


def document(peers: Sequence[HeldPeer]) -> dict[str, Any]:
    """The same as JSON's values."""
    return {"schema": "mxact.peers/1", "seed": settings.seed, "peers": [asdict(peer) for peer in peers], "counts": totals(peers)}


def totals(peers: Sequence[HeldPeer]) -> dict[str, int]:
    rows = [row for peer in peers for row in peer.operations]
    faults = [fault for peer in peers for fault in peer.faults]
    known = [row.result.special_different > 0 for row in rows if row.known and row.result]
    return {
        "peers": sum(not peer.skipped for peer in peers),
        "skipped": sum(bool(peer.skipped) for peer in peers),
        "operations": len(rows),
        **{word: sum(row.outcome == word for row in rows) for word in ("follows", "changed", "differs", "disagrees", "failed")},
        "compared": sum(row.result.compared for row in rows if row.result),
        "died": sum(bool(peer.problem) for peer in peers),
        "faults_seen": sum(fault.outcome == "seen" for fault in faults),
        "faults_gone": sum(fault.outcome != "seen" for fault in faults),
        "disagreements_seen": sum(known),
        "disagreements_gone": len(known) - sum(known),
    }


def _one_line(problem: object) -> str:
    text = " ".join(str(problem).split())
    return text if len(text) <= 200 else text[:197] + "..."
