"""mxact laws: the program's own verb, which asks this package and says what it answered as every verb does."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import PROGRAM
from test_pipes import QUANTIZER, server

ENVIRONMENT = {**os.environ, "PYTHONPATH": "", "MXACT_PYTHON": sys.executable}


def verb(*words: str, expected: int, environment: dict[str, str] | None = None) -> tuple[str, str]:
    done = subprocess.run([PROGRAM, "laws", *words], capture_output=True, text=True, check=False, env=environment or ENVIRONMENT)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_what_holds(tmp_path: Path) -> None:
    text, _ = verb(*QUANTIZER, "--json", "--", *server(tmp_path), expected=0)
    said = json.loads(text)
    assert said["schema"] == "mxact-laws/1"
    assert (said["subject"], said["law"], said["verdict"], said["seed"]) == ("quantizer", "quantizer mxfp4 ocp f32", "PASSED", 0)
    assert said["compared"] > 1000
    assert said["failure"] == ""
    text, _ = verb("oracle", "--examples", "5", "--", *server(tmp_path), expected=0)
    assert text.endswith("\nPASSED\n")


def test_what_fails_is_said_in_every_form_and_replayed(tmp_path: Path) -> None:
    wrong = server(tmp_path, "data = b'\\x01' + data[1:]")
    report, page = tmp_path / "laws.xml", tmp_path / "laws.md"
    text, _ = verb(*QUANTIZER, "--seed", "3", "--junit", str(report), "--markdown", str(page), "--", *wrong, expected=1)
    assert "the quantizer of mxfp4 differs from profile ocp:\ncodes[0, 0]" in text
    replay = next(line for line in text.splitlines() if line.startswith("replay: "))
    words = shlex.split(replay.removeprefix("replay: "))
    assert words[:2] == ["mxact", "laws"]
    assert "--seed=3" in words
    assert verb(*words[2:], expected=1)[0] == text
    case = ElementTree.parse(report).getroot().find(".//testcase/failure")
    assert case is not None
    assert case.attrib["message"] == "the quantizer of mxfp4 differs from profile ocp:"
    assert case.text is not None
    assert replay.removeprefix("replay: ") in case.text
    assert "FAILED" in page.read_text()


def test_what_is_refused(tmp_path: Path) -> None:
    for words, sentence in [
        ([*QUANTIZER, "--", "/nowhere/mine"], "/nowhere/mine cannot be started: No such file or directory"),
        ([*QUANTIZER], "COMMAND"),
        (["quantizer", "mxfp5", "--profile", "ocp", "--", "cat"], "unknown block format 'mxfp5'"),
        (["quantizer", "mxfp4", "--", "cat"], "--profile"),
        (["quantizer", "mxfp4", "--profile", "ocp", "--seed", "x", "--", "cat"], "--seed: 'x' is no whole number"),
        (["quantise", "--", "cat"], "quantise"),
    ]:
        _, errors = verb(*words, expected=2)
        assert errors.startswith("mxact: error: ")
        assert sentence in errors
        assert errors.count("\n") == 1
    _, errors = verb(*QUANTIZER, "--", "cat", expected=4, environment={**ENVIRONMENT, "MXACT_PYTHON": "/nowhere/python"})
    assert errors == "mxact: error: /nowhere/python: cannot be started: No such file or directory\n"
    for engine, sentence, status in [("2026-12", "engine vllm@2026-12 is not known", 4), ("vllm==0.40.0", "release vllm==0.40.0 is not known", 4), ("foo", "'foo' is no version of an engine", 2)]:
        _, errors = verb("converter", "MARLIN", "--format", "mxfp4", "--engine", engine, "--", "cat", expected=status)
        assert sentence in errors
        # As every other verb says it.
        assert subprocess.run([PROGRAM, "layout", "list", "--engine", engine], capture_output=True, check=False).returncode == status
    lacks = tmp_path / "python"
    lacks.write_text(f"#!/bin/sh\nexec {sys.executable} -S -I \"$@\"\n")
    lacks.chmod(0o755)
    _, errors = verb(*QUANTIZER, "--", "cat", expected=4, environment={**ENVIRONMENT, "MXACT_PYTHON": str(lacks)})
    assert "the laws are the package's for Python: No module named 'mxact'" in errors


def test_the_words_of_the_command_are_its_own(tmp_path: Path) -> None:
    script, seen = tmp_path / "seen.sh", tmp_path / "seen"
    script.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {seen}\n")
    script.chmod(0o755)
    words = ["-inf", "--seed", "5", "--json", "a b", "--", "-x"]
    text, _ = verb(*QUANTIZER, "--", str(script), *words, expected=5)
    assert seen.read_text().splitlines() == words
    assert f"--seed=0 -- {shlex.join([str(script), *words])}\n" in text


def test_what_answers_nothing_at_all() -> None:
    text, _ = verb(*QUANTIZER, "--timeout", "0.5", "--", "sleep", "9", expected=5)
    assert "it answered nothing\nthe command does not answer within 0.5 s" in text
    assert text.endswith("\nMISTRUSTED\n")


def still_there(word: str) -> bool:
    """Whether a process has that word."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in place.read_bytes().split(b"\0"):
                return True
        except OSError:  # it ended meanwhile
            continue
    return False


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_leaves_nothing(tmp_path: Path, number: signal.Signals, status: int) -> None:
    """The program, the package and what the command started end together."""
    marker = f"7{os.getpid()}.{int(number)}"
    script = tmp_path / "hangs"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nsleep {marker} | sleep {marker}\n")
    script.chmod(0o755)
    run = subprocess.Popen([PROGRAM, "laws", *QUANTIZER, "--", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    while not (tmp_path / "started").exists():
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(number)
    run.communicate(timeout=20)
    assert run.returncode == status
    for _ in range(500):
        if not still_there(marker):
            break
        time.sleep(0.02)
    assert not still_there(marker)
