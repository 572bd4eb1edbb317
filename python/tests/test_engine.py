"""The recorder of an engine's choices, on a small engine of our own that is shaped as one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import mxact
from conftest import SOURCE
from mxact.engine import check
from mxact.engine._deployments import as_file, sampled

TREE = SOURCE / "python" / "tests" / "engine_tree"
VERSION = "vllm@2026-05"
MOST = 60


def asked() -> list[dict[str, object]]:
    return sampled("mxfp8", MOST)


def expected() -> Counter[str]:
    """What the small engine's three rules give beside the version's answers."""
    probes = mxact._core.deployment_words(VERSION)["software"]
    counts: Counter[str] = Counter()
    for one in asked():
        if one["backend"] == "flashinfer_trtllm":
            counts["guessed"] += 1
            continue
        answer = mxact.select(as_file(one, probes, frozenset()), engine=VERSION, oracle="mxfp8")
        version = answer["choice"]["backend"] if answer.get("choice") else answer["refusal"]["error_type"]
        counts["equal" if version == ("MARLIN" if one["hardware"]["platform"] == "cuda" else "ValueError") else "differs"] += 1
    return counts


def test_decisions_are_compared_one_by_one() -> None:
    report, counts = check(str(TREE), engine=VERSION, oracle="mxfp8", most=MOST), expected()
    assert report.version == VERSION
    assert report.equal == counts["equal"] > 0
    assert sum(one.times for one in report.differences) == counts["differs"] > 0
    assert report.compared == counts["equal"] + counts["differs"]
    assert {one.tree_answers for one in report.differences} <= {"MARLIN (MarlinExperts)", "ValueError"}
    for one in report.differences:
        answer = mxact.select(f"{one.smallest}\n", engine=VERSION)
        assert one.version_answers.startswith(answer["choice"]["backend"] if answer.get("choice") else answer["refusal"]["error_type"])


def test_nothing_is_guessed() -> None:
    report, counts = check(str(TREE), engine=VERSION, oracle="mxfp8", most=MOST), expected()
    assert report.unrecorded == {"Guessed: a substitute was asked for its truth": counts["guessed"]}


def test_what_is_not_there_is_named() -> None:
    report = check(str(TREE), engine=VERSION, most=2)
    assert report.missing["fp8"] == "the tree has no vllm.model_executor.layers.fused_moe.oracle.fp8"
    assert "a_package_of_another_date" in report.missing["nvfp4"]
    assert "mxfp8" not in report.missing


def test_the_nearest_version_is_taken() -> None:
    assert check(str(TREE), oracle="mxfp8", most=MOST).version in mxact.engines()


def test_a_wheel_is_read_in_place(tmp_path: Path) -> None:
    wheel = shutil.make_archive(str(tmp_path / "vllm-0.0"), "zip", TREE)
    before = sorted(tmp_path.iterdir())
    assert check(wheel, engine=VERSION, oracle="mxfp8", most=MOST) == check(str(TREE), engine=VERSION, oracle="mxfp8", most=MOST)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("words,status,text", [
    (["check", "nowhere"], 3, "nowhere is neither a folder nor a wheel"),
    (["check", str(SOURCE / "docs")], 3, "holds no vllm/envs.py"),
    (["check", str(SOURCE / "README.md")], 3, "is no wheel"),
    (["check", str(TREE), "--oracle", "mxfp9"], 2, "oracle mxfp9 is not one of"),
    (["check", str(TREE), "--oracle", "fp8"], 5, "could not be asked"),
    ([], 2, "required: VERB"),
])  # fmt: skip
def test_the_command_line(words: list[str], status: int, text: str) -> None:
    done = subprocess.run([sys.executable, "-m", "mxact.engine", *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert text in done.stdout + done.stderr


def test_json() -> None:
    words = [sys.executable, "-m", "mxact.engine", "check", str(TREE), "--engine", VERSION, "--oracle", "mxfp8", "--most", str(MOST), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["equal"] == expected()["equal"]
