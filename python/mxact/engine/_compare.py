"""An engine's own choices beside those of a version of the tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mxact import _core
from mxact._error import Error
from mxact._select import select
from mxact._tables import engines
from mxact.engine._deployments import as_file, oracles, sampled
from mxact.engine._tree import Tree

_READS = {"mxfp4": {"activation_key"}, "nvfp4": {"weight_key", "activation_key"}, "fp8": {"weight_key", "activation_key"}}
_READS |= {"int_wna16": {"weight_key"}}
_READS |= {"w4a8": {"weight_key", "activation_key"}, "int8": {"weight_key", "activation_key"}, "w4a8_int8": {"weight_key", "activation_key"}}


@dataclass(frozen=True)
class Difference:
    """Decisions that differ alike: what the tree answers where the version answers otherwise."""

    oracle: str
    version_answers: str
    tree_answers: str
    times: int
    smallest: str  #: a deployment as one line, which `mxact select` reads


@dataclass
class Report:
    """What a tree and a version of the tables say of the same deployments."""

    version: str
    compared: int = 0
    equal: int = 0
    refused_by_version: int = 0  #: deployments that the version has no words for
    missing: dict[str, str] = field(default_factory=dict)  #: by oracle: why it could not be asked
    unrecorded: dict[str, int] = field(default_factory=dict)  #: by reason: decisions that could not be run
    differences: list[Difference] = field(default_factory=list)


def check(tree: str, engine: str | None = None, oracle: str | None = None, most: int = 0) -> Report:
    """Puts deployments to the sources of an engine and to a version of the tables.

    tree: the folder above vllm/, or a wheel. engine: the version to compare with; without it that of which the fewest decisions differ. oracle: of
    _deployments.oracles(); without it all. most: deployments an oracle, evenly spread; 0: all.
    Raises mxact.Error: a tree that is none, unknown names, an engine whose code cannot be run at all.
    """
    Tree(tree)
    if oracle is not None and oracle not in oracles():
        raise Error(f"oracle {oracle} is not one of {', '.join(oracles())}", place="oracle")
    asked = list(_asked([oracle] if oracle else oracles(), most))
    missing, answers = _recorded(tree, asked)
    names = [engine] if engine else engines()
    reports = [_compared(name, asked, answers, missing) for name in names]
    return min(reports, key=lambda report: (report.compared == 0, sum(one.times for one in report.differences) / max(report.compared, 1)))


def _asked(names: Iterable[str], most: int) -> Iterator[dict[str, Any]]:
    for name in names:
        yield from sampled(name, most)


def _recorded(tree: str, asked: list[dict[str, Any]]) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The tree's answers, in order. FP8 has another form on gfx94x, which the engine decides as it is imported: those are asked of a process of their own."""
    answers: list[dict[str, Any]] = [{} for _ in asked]
    missing: dict[str, str] = {}
    for form in ("plain", "fnuz"):
        places = [i for i, one in enumerate(asked) if ("gfx94" in one["hardware"].get("gcn_arch", "")) == (form == "fnuz")]
        if not places:
            continue
        command = [sys.executable, "-m", "mxact.engine._recorder", tree, form]
        text = "".join(json.dumps(asked[i]) + "\n" for i in places)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        if done.returncode != 0 or len(lines) != len(places) + 1:
            last = (done.stderr.strip().splitlines() or ["no word"])[-1]
            raise Error(f"the engine's code stopped: {last}", place="TREE")
        missing |= json.loads(lines[0])["missing"]
        for i, line in zip(places, lines[1:], strict=True):
            answers[i] = json.loads(line)
    return missing, answers


def _compared(version: str, asked: list[dict[str, Any]], answers: list[dict[str, Any]], missing: dict[str, str]) -> Report:
    report = Report(version, missing=missing)
    words = _core.deployment_words(version)
    unrecorded: Counter[str] = Counter()
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for one, answer in zip(asked, answers, strict=True):
        if one["oracle"] in missing:
            continue
        if "unrecorded" in answer:
            unrecorded[answer["unrecorded"]] += 1
            continue
        file = as_file(one, words["software"], frozenset(_READS.get(one["oracle"], ())))
        try:
            expected = _answer_of(select(file, engine=version, oracle=one["oracle"]))
        except Error:
            report.refused_by_version += 1
            continue
        report.compared += 1
        found = _text(answer)
        if found == expected:
            report.equal += 1
        else:
            groups.setdefault((one["oracle"], *_cause(expected, found)), []).append(file)
    report.unrecorded = dict(unrecorded)
    for (name, expected, found), files in sorted(groups.items(), key=lambda group: -len(group[1])):
        smallest = min(files, key=lambda file: len(json.dumps(file["parallel"]) + json.dumps(file["env"])))
        line = _core.deployment_line(smallest, version, name)
        report.differences.append(Difference(name, expected, found, len(files), line))
    return report


def _cause(expected: str, found: str) -> tuple[str, str]:
    """What differs: the backend and class, or where these are the same the sizes."""
    shorter = expected.partition(", hidden")[0], found.partition(", hidden")[0]
    return shorter if shorter[0] != shorter[1] else (expected, found)


def _text(answer: dict[str, Any]) -> str:
    if "error_type" in answer:
        return str(answer["error_type"])
    sizes = f", hidden {answer['hidden']}, intermediate {answer['intermediate']}" if "hidden" in answer else ""
    return f"{answer['backend']} ({answer['kernel_class']}){sizes}"


def _answer_of(selected: dict[str, Any]) -> str:
    """The version's answer in the same words."""
    refusal = selected.get("refusal")
    if refusal:
        return str(refusal["error_type"])
    choice = selected["choice"]
    answer = {"backend": choice["backend"], "kernel_class": choice.get("kernel_class") or ""}
    if selected["oracle"].startswith("mxfp4"):
        answer |= {"hidden": choice["rounded_hidden"], "intermediate": choice["rounded_intermediate"]}
    return _text(answer)
