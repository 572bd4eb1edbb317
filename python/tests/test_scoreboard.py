"""A scoreboard in a loop: what it takes, what it counts, and that it says what `mxact ver` says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import PROGRAM, SOURCE, hard_f32

ONE, TWO = 0x3F800000, 0x40000000


class Bits:
    """Four-valued bits as simulators' packages have them: text, and whether all of it is 0 and 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_resolvable = set(text) <= {"0", "1"}

    def __str__(self) -> str:
        return self.text

    def __iter__(self) -> Any:
        return iter(self.text)


class OldBits:
    """As cocotb 1 had them."""

    def __init__(self, text: str) -> None:
        self.binstr = text
        self.value = None  # an integer there, where there is one


class Handle:
    """A signal, whose value is asked for."""

    def __init__(self, value: object) -> None:
        self.value = value


def bits(code: int, width: int) -> str:
    return f"{code:0{width}b}"


@pytest.mark.parametrize(
    "form",
    [
        int,
        np.uint32,
        lambda code: bits(code, 32),
        lambda code: "0b" + bits(code, 32),
        lambda code: Bits(bits(code, 32)),
        lambda code: OldBits(bits(code, 32)),
        lambda code: Handle(Bits(bits(code, 32))),
        lambda code: Handle(code),
        lambda code: np.uint32(code).view(np.float32),
    ],
)
def test_codes_come_in_any_form(form: Any) -> None:
    with mxact.scoreboard("f32_to_e4m3fn", expected=3) as board:
        assert board.check(form(ONE), 0x38)
        assert board.check(form(TWO), Bits("01000000"))
        assert board.check(form(TWO), ml_dtypes.float8_e4m3fn(2.0))


def test_x_and_z_are_wrong_and_a_kind_of_their_own() -> None:
    board = mxact.scoreboard("f32_to_e4m3fn")
    assert board.check(ONE, "00111000")
    for text in ("0011100x", "ZZZZZZZZ", "UU111000", "0011-000", "W0111000"):
        assert not board.check(ONE, Bits(text))
    assert not board.check(Bits("x" * 32), 0x38)
    report = board.report()
    assert (report.checked, report.wrong, report.kinds) == (7, 6, {"x or z": 6})
    assert report.rules == [] and report.compositions == []
    assert "r: device 0b0011100x: a bit that is x or z" in report.text


def test_wrong_answers_are_explained_as_ver_explains_them() -> None:
    right, wrong = "f32_to_e4m3fn", "f32_to_e4m3,bias=7,fn,round=rna,overflow=saturate,nan=7f"
    gen = subprocess.run([PROGRAM, "gen", wrong, "--no-header", "--with-expected"], capture_output=True, text=True, check=True).stdout
    lines = [line.split()[:2] for line in gen.splitlines()]
    board = mxact.scoreboard(right)
    for a, r in lines:
        board.check(int(a, 16), int(r, 16))
    arrays = mxact.scoreboard(right)
    columns = np.array([[int(word, 16) for word in line] for line in lines], np.uint32).T
    wrong_ones = arrays.check_arrays(columns[0].view(np.float32), columns[1].astype(np.uint8).view(ml_dtypes.float8_e4m3fn))
    stream = "".join(f"{a} {r}\n" for a, r in lines)
    ver = subprocess.run([PROGRAM, "ver", right], input=stream, capture_output=True, text=True, check=False).stdout
    report = board.report()
    assert report.verdict == "FAILED" and report.wrong == arrays.report().wrong == wrong_ones
    assert report.rules[0] == "rounding nearest_away"
    said = report.text.splitlines()
    for line in said:
        if line.startswith(("rounding: ", "rules that give ")):
            assert line in ver.splitlines()
    assert report.compositions and said[-1].startswith("FAILED: ")


def test_a_composition_of_two_other_choices_verifies_the_device() -> None:
    asked, device = "f32_to_e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f", "e3m3,bias=5,finite,round=rtz,overflow=ieee,nan=11/2a"
    x = hard_f32(20000, 3)
    answers = mxact.convert(x, device, profile=device, source="f32")
    board = mxact.scoreboard(asked)
    board.check_arrays(x, answers)
    (found,) = board.report().compositions
    named = mxact.scoreboard(found)
    assert named.check_arrays(x, answers) == 0
    assert named.finish().verdict == "PASSED"


def test_nothing_checked_never_passes() -> None:
    for board, reason in ((mxact.scoreboard("f32_to_e4m3fn"), "no vector came"), (mxact.scoreboard("f32_to_e4m3fn", expected=3), "2 of 3 vectors came")):
        if "2" in reason:
            board.check(ONE, 0x38)
            board.check(TWO, 0x40)
        assert board.report().verdict == "MISTRUSTED"
        with pytest.raises(AssertionError, match=reason):
            board.finish()
    with pytest.raises(AssertionError, match="no vector came"), mxact.scoreboard("f32_to_e4m3fn"):
        pass
    with pytest.raises(AssertionError, match="every right answer is the same"), mxact.scoreboard("f32_to_e4m3fn") as board:
        board.check(ONE, 0x38)
    with pytest.raises(ZeroDivisionError), mxact.scoreboard("f32_to_e4m3fn"):
        raise ZeroDivisionError


def test_flags_are_those_that_the_device_has() -> None:
    # 1 + 2^-23 is inexact, a signalling NaN invalid; this device has invalid as bit 0 and inexact nowhere.
    board = mxact.scoreboard("f32_to_e4m3fn", flags={"invalid": 0})
    assert board.check(ONE + 1, 0x38, 0) and board.check(0x7F800001, 0x7F, 1) and board.check(TWO, 0x40, "x0")
    assert not board.check(ONE + 1, 0x38, 1)
    assert not board.check(TWO, 0x40, "0x")
    assert board.report().kinds == {"flags": 1, "x or z": 1}
    arrays = mxact.scoreboard("f32_to_e4m3fn", flags={"invalid": 0})
    assert arrays.check_arrays(np.uint32([ONE, TWO, 0x7F800001]), np.uint8([0x38, 0x40, 0x7F]), np.uint8([0, 0, 1])) == 0
    with mxact.scoreboard("f32_to_e4m3fn", flags="ieee") as all_five:
        assert all_five.check(ONE + 1, 0x38, 1) and all_five.check(TWO, 0x40, 0)
    private = mxact.scoreboard("f32_to_e4m3fn", flags={"saturated": 2})
    assert private.check(0x7F7FFFFF, 0x7E, 4)


def test_nan_policy_is_the_operations() -> None:
    assert not mxact.scoreboard("f32_to_e4m3fn").check(0x7FC00000, 0xFF)
    assert mxact.scoreboard("f32_to_e4m3fn", nan="free").check(0x7FC00000, 0xFF)


def test_blocks_are_lists_or_one_number() -> None:
    x = np.zeros(32, np.float32)
    x[:2] = 12, 7
    quantized = mxact.quantize(x.reshape(1, 32), "mxfp4")
    codes, scale = [int(code) for code in np.asarray(quantized.codes).view(np.uint8).reshape(-1)], int(np.asarray(quantized.scales).view(np.uint8)[0, 0])
    board = mxact.scoreboard("quantize_mxfp4")
    assert board.check(x, scale, codes)
    assert board.check([int(code) for code in x.view(np.uint32)], scale, sum(code << 4 * i for i, code in enumerate(codes)))
    assert board.check(x, scale, Bits("".join(bits(code, 4) for code in reversed(codes))))
    assert not board.check(x, scale, [Bits(bits(codes[0] ^ 1, 4)), *codes[1:]])
    assert board.check_arrays(np.stack([x, x]), np.uint8([scale, scale]), np.uint8([codes, codes])) == 0
    product = mxact.scoreboard("fma_e4m3fn_to_f32", profile="ieee")
    assert product.check(0x38, 0x40, 0x38, 0x40400000)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mxact.scoreboard("f32_to_e4m3fx"), "e4m3fn"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", profil="ocp"), "profil"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", nan="any"), "any"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", flags={"invald": 0}), "invald"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", flags={}), "empty"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", flags={"invalid": -1}), "below 0"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn", expected=0), "expected is 0"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE), "1 values, f32_to_e4m3fn has 2: a, then the device's r"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE, 0x100), "r is 256, must be a code of 8 bits"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE, -1), "r is -1"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(1.0, 0x38), "a is 1.0"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE, "0111"), "4 bits, must be 8"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE, "0111000?"), "'?' is no bit"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check(ONE, None), "r is of type NoneType"),
        (lambda: mxact.scoreboard("quantize_mxfp4").check([0] * 31, 0, 0), "x has 31 elements, must have 32"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check_arrays(np.uint32([ONE]), np.uint8([1, 2])), "different lengths"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check_arrays(np.uint32([ONE]), np.int64([-1])), "r[0] is -1"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check_arrays(np.uint32([ONE]), np.float64([1.0])), "r is float64"),
        (lambda: mxact.scoreboard("f32_to_e4m3fn").check_arrays(np.uint32([[ONE, ONE]]), np.uint8([1])), "a has 2 elements a row"),
    ],
)
def test_what_is_no_answer_is_refused_by_name(call: Any, words: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert words in str(refused.value)


def test_a_refused_answer_is_not_counted() -> None:
    board = mxact.scoreboard("f32_to_e4m3fn")
    for values in ((ONE, 0x100), (ONE, "0111"), (ONE,)):
        with pytest.raises(mxact.Error):
            board.check(*values)
    assert board.report().checked == 0


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    script = SOURCE / "docs/examples/cocotb_scoreboard.py"
    path = os.pathsep.join([str(script.parent), *sys.path])
    return subprocess.run([sys.executable, script, *words], cwd=SOURCE, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="no tool: iverilog")
def test_a_bench_of_cocotb_passes_its_device_and_names_what_the_broken_one_does() -> None:
    done = bench()
    assert done.returncode == 0, done.stdout + done.stderr
    broken = bench("broken")
    assert broken.returncode == 1, broken.stdout + broken.stderr
    said = broken.stdout + broken.stderr
    assert "rounding: matches rounding nearest_away: " in said
    assert "round=rna" in said
    assert said.count("0.5 ulp off, the right answer 0.5 ulp") > 1
