"""Operations in any format: NumPy's own arithmetic of float32 and float16, and the program's vectors."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

import mxact
from conftest import PROGRAM, finite_f32


def test_float32_is_the_processors() -> None:
    a, b = finite_f32(4000, 7), finite_f32(4000, 8)
    with np.errstate(all="ignore"):
        for name, expected in (("add", a + b), ("sub", a - b), ("mul", a * b), ("div", a / b)):
            results, flags = mxact.operate(name, a, b, profile="ieee")
            assert results.dtype == np.float32
            same = (results.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(results) & np.isnan(expected))
            assert same.all(), name
            assert np.array_equal((flags & 8) != 0, (b == 0) & (a != 0) if name == "div" else np.zeros(a.shape, bool))
        roots, flags = mxact.operate("sqrt", a, profile="ieee")
        assert np.array_equal(np.isnan(roots), a < 0)
        assert np.array_equal((flags & 16) != 0, a < 0)


def test_narrow_operands_into_a_wider_format() -> None:
    codes = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(codes, 256), np.tile(codes, 256)
    products, _ = mxact.operate("mul", a, b, to="f32", profile="ieee", source="e4m3fn")
    values = mxact.convert(codes, "f32", source="e4m3fn")
    with np.errstate(all="ignore"):
        expected = np.repeat(values, 256) * np.tile(values, 256)
    assert np.array_equal(products, expected, equal_nan=True)


@pytest.mark.parametrize("operation", ["add_e4m3fn", "fma_e5m2", "div_e3m3,bias=5,finite"])
def test_vectors_of_the_program_are_answered(operation: str) -> None:
    name, form = operation.split("_", 1)
    rules = ["--profile", "round=rne,overflow=ieee,nan=3f" if "finite" in form else "ieee", "--flags", "ieee"]
    lines = subprocess.run([PROGRAM, "gen", operation, *rules, "--no-header"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    columns = np.array([[int(word, 16) for word in line.split()] for line in lines], np.uint8).T
    results, flags = mxact.operate(name, *columns, profile=rules[1], source=form)
    answers = "".join(f"{line} {int(r):x} {int(f):x}\n" for line, r, f in zip(lines, results.view(np.uint8), flags, strict=True))
    done = subprocess.run([PROGRAM, "ver", operation, *rules], input=answers, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: mxact.operate("ad", x, x), "did you mean add?"),
        (lambda x: mxact.operate("add", x), "1 operands: add has 2"),
        (lambda x: mxact.operate("add", x, x.astype(np.float16)), "one format and one shape"),
        (lambda x: mxact.operate("div", x, x, to="e2m1", profile="round=rne,overflow=ieee"), "refuse"),
    ],
)
def test_what_cannot_be_is_told(call: object, words: str) -> None:
    with pytest.raises(mxact.Error, match=re.escape(words)):
        call(np.zeros(3, np.float32))  # type: ignore[operator]
