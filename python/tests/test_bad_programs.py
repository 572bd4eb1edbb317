"""Programs that go wrong after some right answers: whatever they do, exit status 1, the case, and the line that draws it again. Functions that do so."""

from __future__ import annotations

import itertools
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from mxact import testing
from test_pipes import QUANTIZER, laws, server

Array = np.ndarray[Any, np.dtype[Any]]
TIMEOUT = "2"
WRITE = "sys.stdout.buffer.write({}); sys.stdout.buffer.flush()"
SLEEP = "__import__('time').sleep(99)"
KILL = "__import__('os').kill(__import__('os').getpid(), {})"
CHILD = "__import__('subprocess').Popen(['sleep', '7'], start_new_session=True)"

# What a program does in the place of an answer, or before it, and what is said of it.
KINDS = {
    "exits": ("sys.exit(3)", "the command ended with exit status 3 before it had answered"),
    "exits as if all were well": ("sys.exit(0)", "the command ended with exit status 0 before it had answered"),
    "is killed": (KILL.format(9), "the command was ended by SIGKILL before it had answered"),
    "breaks its memory": (KILL.format(11), "the command was ended by SIGSEGV before it had answered"),
    "aborts": ("__import__('os').abort()", "the command was ended by SIGABRT before it had answered"),
    "raises": ("1 / 0", "the command ended with exit status 1 before it had answered"),
    "hangs": (SLEEP, "the command does not answer within 2 s"),
    "is stopped": (KILL.format(19), "the command does not answer within 2 s"),
    "closes its output": ("sys.stdout.close(); __import__('os').close(1); " + SLEEP, "the command closed its standard output"),
    "leaves a child with its pipes": (CHILD + "; sys.exit(4)", "the command ended with exit status 4 before it had answered"),
    "hangs in the head": (WRITE.format("b'{\"arr'") + "; " + SLEEP, "the command does not answer within 2 s"),
    "exits in the head": (WRITE.format("b'{\"arr'") + "; sys.exit(0)", "the command ended with exit status 0 before it had answered"),
    "exits in the bytes": (WRITE.format("json.dumps(answer).encode() + b'\\n' + data[:9]") + "; sys.exit(0)", "the command ended with exit status 0 before it had answered"),
    "hangs in the bytes": ("data = data[:-1]", "the command does not answer within 2 s"),
    "answers twice": (WRITE.format("json.dumps(answer).encode() + b'\\n' + data"), "the command answers more than it"),
    "a byte more": ("data += b'x'", "the command answers more than its arrays have"),
    "a line of its own": ("print('warning: hot')", "the command's answer is no JSON: b'warning: hot'"),
    "an empty line": ("print()", "the command's answer is no JSON: b''"),
    "no end of a line": (WRITE.format("b'x' * (3 << 20)"), "the command's answer begins with no line of JSON within 1048576 bytes"),
    "deep JSON": (WRITE.format("b'[' * 200000 + b'\\n'"), "the command's answer is no JSON"),
    "another kind of JSON": ("answer = 5", "the command's answer is no object"),
    "an endless extent": ("answer['arrays'][0]['shape'] = [float('inf')]", "the command's codes has shape [inf]"),
    "half an extent": ("answer['arrays'][0]['shape'][0] += 0.5", "the command's codes has shape"),
    "a negative extent": ("answer['arrays'][0]['shape'][0] *= -1", "the command's codes has shape"),
    "a shape of text": ("answer['arrays'][0]['shape'] = '12'", "the command's arrays are no list of name, dtype and shape"),
    "many axes": ("answer['arrays'][0]['shape'] += [1] * 70", "the command's codes has shape"),
    "arrays by name": ("answer['arrays'] = {}", "the command's arrays are no list of name, dtype and shape"),
    "one array twice": ("answer['arrays'][1]['name'] = 'codes'", "the command's answer has codes twice"),
    "no array": ("answer['arrays'], data = [], b''; del answer['bytes']", "the command's answer has no array codes"),
    "more bytes than there can be": ("answer['arrays'][0]['shape'] = answer['arrays'][1]['shape'] = [1 << 16, 1 << 15]; del answer['bytes']", "the command does not answer within 2 s"),
    "more bytes than are taken": ("answer['arrays'][0]['shape'] = answer['arrays'][1]['shape'] = [1 << 16, 1 << 16]", "the command's answer has more than 4294967296 bytes"),
    "an array of no elements": ("answer['arrays'][0]['shape'], data = [0, 32], b'\\0'; answer['arrays'][1]['shape'] = [1, 1]; del answer['bytes']", "the quantizer's codes have shape (0, 32)"),
    "another dtype": ("answer['arrays'][0]['dtype'] = 'float64'", "the command's codes is float64, must be one of uint8"),
    "an error": ("answer, data = {'error': 'not today'}, b''", "the quantizer raises RuntimeError: not today"),
}


# In a batch and in a case that is drawn, by turns; what ends a program or is too much of it, in both.
BOTH = ("exits", "hangs", "exits in the bytes", "answers twice")
CASES = [(kind, after) for number, kind in enumerate(KINDS) for after in ((1, 6) if kind in BOTH else (1 + 5 * (number % 2),))]


@pytest.mark.parametrize(("kind", "after"), CASES)
def test_whatever_it_does(tmp_path: Path, kind: str, after: int) -> None:
    how, sentence = KINDS[kind]
    command = server(tmp_path, f"if count > {after}: {how}")
    began = time.monotonic()
    text = laws([*QUANTIZER, "--timeout", TIMEOUT], command, 1)
    assert time.monotonic() - began < 20
    lines = text[text.index("FAILED\n") :].splitlines()
    assert sentence in lines[1]
    assert any(line.startswith(("for x = ", "x = zeros")) for line in lines) or "request" in text or "behind its answer" in text or kind == "an array of no elements"
    # Behind it stands what the program wrote to its standard error.
    assert f"replay: python -m mxact laws quantizer mxfp4 --profile ocp --examples 5 --timeout {TIMEOUT} --seed=0 -- {shlex.join(command)}" in lines
    assert "Group" not in text


AT_FIRST = ("a byte more", "another dtype", "a line of its own", "exits in the head", "exits in the bytes", "hangs in the bytes", "no array", "one array twice", "more bytes than are taken")


@pytest.mark.parametrize("kind", AT_FIRST)
def test_a_first_answer_that_is_none_is_wrong(tmp_path: Path, kind: str) -> None:
    how, sentence = KINDS[kind]
    command = server(tmp_path, how)
    text = laws([*QUANTIZER, "--timeout", TIMEOUT], command, 1)
    lines = text[text.index("FAILED\n") :].splitlines()
    assert sentence in lines[1]
    assert any(line.startswith("for x = ") for line in lines)
    assert f"replay: python -m mxact laws quantizer mxfp4 --profile ocp --examples 5 --timeout {TIMEOUT} --seed=0 -- {shlex.join(command)}" in lines
    assert "it answered nothing" not in text


@pytest.mark.parametrize("how", ["sys.exit(3)", SLEEP, KILL.format(9)])
def test_who_writes_nothing_at_all_answered_nothing(tmp_path: Path, how: str) -> None:
    assert "MISTRUSTED: it answered nothing\nthe command " in laws([*QUANTIZER, "--timeout", TIMEOUT], server(tmp_path, how), 5)


def test_a_hanging_program_takes_its_time_once(tmp_path: Path) -> None:
    began = time.monotonic()
    right = server(tmp_path)
    laws(QUANTIZER, right, 0)
    usual = time.monotonic() - began
    for after in (1, 6):
        command = server(tmp_path, f"if count > {after}: {SLEEP}")
        began = time.monotonic()
        laws([*QUANTIZER, "--timeout", "3"], command, 1)
        assert 3 < time.monotonic() - began < 3 + 2 * usual + 2


def test_its_last_answer_twice(tmp_path: Path) -> None:
    """What comes when nothing is asked any more."""
    (tmp_path / "twice.py").write_text((Path(server(tmp_path)[1])).read_text() + "\nsys.stdout.buffer.write(b'bye')\n")
    text = laws(QUANTIZER, [sys.executable, str(tmp_path / "twice.py")], 1)
    assert "the command answers more than it was asked: bytes behind its answer number " in text
    assert '"op": "quantize"' in text
    assert "replay: python -m mxact laws quantizer" in text


@pytest.mark.parametrize(
    ("words", "how", "sentence", "case"),
    [
        (["oracle", "--examples", "5"], "sys.exit(3)", "the command ended with exit status 3", "deployment: "),
        (["oracle", "--examples", "5"], "answer = {}", "the command's answer has neither backend nor refusal", "deployment: "),
        (["oracle", "--examples", "5"], "answer = {'error': 'no idea'}", "the command answers an error: no idea", "deployment: "),
        (["converter", "MARLIN", "--engine", "2026-08", "--format", "mxfp4", "--order", "standard"], "sys.exit(3)", "the command ended with exit status 3", "layer: w13_weight ("),
        (["converter", "MARLIN", "--engine", "2026-08", "--format", "mxfp4", "--order", "standard"], SLEEP, "the command does not answer within 2 s", "layer: w13_weight ("),
        (["kernel", "--order-proof", "--activation", "SILU", "--format", "mxfp4", "--no-bias"], "sys.exit(3)", "the command ended with exit status 3", "layer: w13_weight ("),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_every_subject(tmp_path: Path, words: list[str], how: str, sentence: str, case: str) -> None:
    after = 0 if words[0] == "kernel" else 2
    program = server(tmp_path, f"if count > {after}: {how}")
    text = laws([*words, "--timeout", TIMEOUT], program, 5 if words[0] == "kernel" else 1)
    assert sentence in text
    assert case in text
    assert "replay: python -m mxact laws " in text


def quantizer(wrong: Callable[[int], bool], how: Callable[[Array, Array], Any]) -> Callable[[Array], Any]:
    """Right, but in the calls of those numbers."""
    numbers = itertools.count()

    def fn(x: Array) -> Any:
        q = mxact.quantize(x, "mxfp4", profile="ocp")
        return how(q.codes.view(np.uint8), q.scales) if wrong(next(numbers)) else (q.codes, q.scales)

    return fn


def raises(*_: Array) -> Any:
    raise ValueError("not now")


FLAKY: dict[str, tuple[Callable[[int], bool], Callable[[Array, Array], Any], str]] = {
    "once in a batch": (lambda n: n == 2, lambda codes, scales: (codes ^ 1, scales), "asked again, it gives another answer; the first one was wrong: the quantizer of mxfp4 differs"),
    "once in a drawn case": (lambda n: n == 6, lambda codes, scales: (codes ^ 1, scales), "asked again, it gives another answer; the first one was wrong: the quantizer of mxfp4 differs"),
    "raises once": (lambda n: n == 6, raises, "asked again, it gives another answer; the first one was wrong: the quantizer raises ValueError: not now"),
    "wrong, then raises": (lambda n: n >= 6, lambda codes, scales: (codes ^ 1, scales) if codes.size % 3 else raises(), "the quantizer"),
    "leaves": (lambda n: n == 6, lambda codes, scales: sys.exit(3), "asked again, it gives another answer; the first one was wrong: the quantizer raises SystemExit: 3"),
    "always leaves": (lambda n: n >= 6, lambda codes, scales: sys.exit(3), "the quantizer raises SystemExit: 3"),
}


@pytest.mark.mxact(examples=20)
@pytest.mark.parametrize("kind", FLAKY)
def test_a_function_that_changes_its_mind(kind: str) -> None:
    wrong, how, sentence = FLAKY[kind]
    with pytest.raises(AssertionError) as failed:
        testing.assert_quantizer(quantizer(wrong, how), "mxfp4", profile="ocp")
    text = str(failed.value)
    assert text.startswith(sentence)
    assert text.splitlines()[-1].startswith("replay: pytest ")
    assert not isinstance(failed.value, BaseExceptionGroup)


BY_TURNS: dict[str, Callable[[int], bool]] = {"every second": lambda n: n % 2 == 0, "all but every second": lambda n: n % 2 == 1, "every third": lambda n: n % 3 == 0, "two of three": lambda n: n % 3 > 0}


@pytest.mark.mxact(examples=20)
@pytest.mark.parametrize("turns", BY_TURNS)
def test_a_function_that_is_wrong_by_turns(turns: str) -> None:
    changes = "asked again, it gives another answer; the first one was wrong: "
    for every in (False, True):
        with pytest.raises(AssertionError) as failed:
            testing.assert_quantizer(quantizer(BY_TURNS[turns], lambda codes, scales: (codes ^ 1, scales)), "mxfp4", profile="ocp", all_failures=every)
        text = str(failed.value)
        assert changes in text if every else text.startswith(changes)
        assert "matches" not in text or every
    turn = itertools.count()

    def pack(layer: dict[str, Array]) -> Any:
        packed = mxact.pack(layer, "MARLIN", engine="2026-08", format="mxfp4", order="standard", padded=f"{layer['w13_weight'].shape[1] // 2}x{layer['w2_weight'].shape[1]}")
        return {**packed.tensors, "w13_weight": packed.tensors["w13_weight"] ^ 1} if BY_TURNS[turns](next(turn)) else packed.tensors

    with pytest.raises(AssertionError) as failed:
        testing.assert_converter(pack, "MARLIN", engine="2026-08", format="mxfp4", order="standard")
    assert str(failed.value).startswith(changes)

    def moved(tensor: Array) -> Array:
        memory: Array = mxact.layout("sf_128x4", tensor.shape).apply(tensor)
        return memory ^ 1 if BY_TURNS[turns](next(turn)) else memory

    with pytest.raises(AssertionError) as failed:
        testing.assert_converter(moved, "sf_128x4")
    assert str(failed.value).startswith(changes)

    def choose(deployment: dict[str, Any]) -> Any:
        return "NOPE" if BY_TURNS[turns](next(turn)) else mxact.select(deployment)["choice"]["backend"]

    with pytest.raises(AssertionError) as failed:
        testing.assert_oracle(choose)
    assert str(failed.value).startswith(changes)


@pytest.mark.mxact(examples=10)
def test_others_that_change_their_mind() -> None:
    calls = itertools.count()

    def choose(deployment: dict[str, Any]) -> Any:
        return "NOPE" if next(calls) == 50 else mxact.select(deployment)["choice"]["backend"]

    with pytest.raises(AssertionError, match=r"(?s)^asked again, .*the answer is NOPE, .*deployment: .*replay: "):
        testing.assert_oracle(choose)
    calls = itertools.count(4090)
    with pytest.raises(AssertionError, match=r"(?s)the answer is None of type NoneType, must be the name of a backend.*deployment: .*replay: "):
        testing.assert_oracle(lambda deployment: None)  # type: ignore[arg-type,return-value]

    def pack(layer: dict[str, Array]) -> Any:
        packed = mxact.pack(layer, "MARLIN", engine="2026-08", format="mxfp4", order="standard", padded=f"{layer['w13_weight'].shape[1] // 2}x{layer['w2_weight'].shape[1]}")
        return {**packed.tensors, "w2_weight": packed.tensors["w2_weight"] * 0} if next(calls) == 4092 else packed.tensors

    with pytest.raises(AssertionError, match=r"(?s)^asked again, .*w2_weight byte .*layer: .*replay: "):
        testing.assert_converter(pack, "MARLIN", engine="2026-08", format="mxfp4", order="standard")


FLAKY_TEST = """
import mxact
from mxact.testing import assert_quantizer
calls = iter(range(10**9))
def mine(x):
    q = mxact.quantize(x, "mxfp4", profile="ocp")
    return q.codes, q.scales.view("u1") ^ (next(calls) == 5)
def test_mine():
    assert_quantizer(mine, "mxfp4", profile="ocp")
"""


def test_under_pytest_it_is_one_sentence_and_the_replay(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(FLAKY_TEST)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if line.startswith("E ")]
    assert said[0].startswith("E   AssertionError: asked again, it gives another answer; the first one was wrong: the quantizer of mxfp4 differs")
    assert said[-1] == 'E   replay: pytest "test_mine.py::test_mine" --mxact-seed=0'
    assert len(said) < 8
    assert "Flaky" not in done.stdout
    assert "+-" not in done.stdout
