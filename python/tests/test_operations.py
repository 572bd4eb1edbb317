"""Operations in any format: NumPy's own arithmetic of float32 and float16, and the program's vectors."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from typing import Any

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


def hold(operation: str, rules: list[str], answer: Callable[..., tuple[Any, Any]]) -> None:
    """The program's vectors, answered by the package, pass; answered wrongly they fail."""
    lines = subprocess.run([PROGRAM, "gen", operation, *rules, "--no-header"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    columns = np.array([[int(word, 16) for word in line.split()] for line in lines], np.uint64).T
    results, flags = answer(*columns)
    unsigned = results.view(f"u{results.itemsize}")
    for wrong, status in ((0, 0), (1, 1)):
        answers = "".join(f"{line} {int(r) ^ wrong:x} {int(f):x}\n" for line, r, f in zip(lines, unsigned, flags, strict=True))
        done = subprocess.run([PROGRAM, "ver", operation, *rules], input=answers, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr


@pytest.mark.parametrize("operation", ["add_e4m3fn", "fma_e5m2", "div_e3m3,bias=5,finite"])
def test_vectors_of_the_program_are_answered(operation: str) -> None:
    name, form = operation.split("_", 1)
    profile = "round=rne,overflow=ieee,nan=3f" if "finite" in form else "ieee"
    rules = ["--profile", profile, "--flags", "ieee"]
    hold(operation, rules, lambda *columns: mxact.operate(name, *(one.astype(np.uint8) for one in columns), profile=profile, source=form))


def test_vectors_of_mixed_operands_comparisons_and_integers_are_answered() -> None:
    forms, types = ["e4m3fn", "e5m2", "f32"], [np.uint8, np.uint8, np.uint32]
    hold(
        "fma_e4m3fn_e5m2_f32_to_f32",
        ["--profile", "riscv", "--flags", "ieee"],
        lambda *columns: mxact.operate("fma", *(one.astype(dtype) for one, dtype in zip(columns, types, strict=True)), to="f32", profile="riscv", source=forms),
    )
    hold("signalling-less_e5m2", ["--flags", "ieee"], lambda a, b: mxact.operate("signalling-less", a.astype(np.uint8), b.astype(np.uint8), source="e5m2"))
    whole = "i16,round=rtz,overflow=riscv"
    hold(f"bf16_to_{whole}", ["--flags", "ieee"], lambda x: mxact.to_integer(x.astype(np.uint16), whole, source="bf16"))
    hold("i64_to_bf16", ["--profile", "ieee", "--flags", "ieee"], lambda x: mxact.from_integer(x.view(np.int64), "bf16", profile="ieee"))


def test_operands_of_two_formats_are_those_numbers() -> None:
    half, single = np.arange(0, 65536, 7, dtype=np.uint16).view(np.float16), finite_f32(9363, 9)
    with np.errstate(all="ignore"):
        expected = half.astype(np.float32) + single
    results, _ = mxact.operate("add", half, single, to="f32", profile="ieee")
    assert np.array_equal(results, expected, equal_nan=True)


@pytest.mark.parametrize(("name", "relation"), [("less", np.less), ("less-equal", np.less_equal), ("equal", np.equal), ("not-equal", np.not_equal)])
def test_comparisons_are_numpys(name: str, relation: np.ufunc) -> None:
    codes = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(codes, 256), np.tile(codes, 256)
    values = mxact.convert(codes, "f32", source="e4m3fn")
    with np.errstate(all="ignore"):
        expected = relation(np.repeat(values, 256), np.tile(values, 256))
    quiet, of_quiet = mxact.operate(f"quiet-{name}", a, b, source="e4m3fn")
    signalling, raised = mxact.operate(f"signalling-{name}", a, b, source="e4m3fn")
    assert quiet.dtype == np.bool_
    assert np.array_equal(quiet, expected)
    assert np.array_equal(signalling, expected)
    nan = np.isnan(np.repeat(values, 256)) | np.isnan(np.tile(values, 256))
    assert not of_quiet.any()
    assert np.array_equal(raised, np.where(nan, 16, 0))


def test_integers_are_numpys_rounding_in_range_and_the_rule_beyond() -> None:
    x = np.concatenate([np.arange(-200, 200, dtype=np.float32) / 8, np.float32([127.49, 127.5, -128.5, -129, 1e9, np.inf, -np.inf, np.nan])])
    for word, rounded in (("rne", np.rint(x)), ("rtz", np.trunc(x)), ("rup", np.ceil(x)), ("rdn", np.floor(x))):
        whole, flags = mxact.to_integer(x, f"int8,round={word},overflow=riscv")
        assert whole.dtype == np.int8
        inside = (rounded >= -128) & (rounded <= 127)
        assert np.array_equal(whole[inside], rounded[inside].astype(np.int8))
        assert np.array_equal(whole[~inside], np.where(rounded[~inside] < 0, -128, 127).astype(np.int8))
        assert np.array_equal(flags, np.where(~inside, 16, np.where(rounded != x, 1, 0)))
    eighths, flags = mxact.to_integer(np.float32([0.3, -1.9375]), "q2.3,round=rne,overflow=saturate")
    assert eighths.tolist() == [2, -16]
    assert flags.tolist() == [1, 1]
    back, flags = mxact.from_integer(eighths, "f32", source="q2.3")
    assert back.tolist() == [0.25, -2.0]
    assert not flags.any()
    numbers = np.random.default_rng(3).integers(-(1 << 63), 1 << 63, 2000, dtype=np.int64) >> np.arange(2000) % 63
    assert np.array_equal(mxact.from_integer(numbers, "f32", profile="ieee")[0], numbers.astype(np.float32))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: mxact.operate("ad", x, x), "did you mean add?"),
        (lambda x: mxact.operate("add", x), "1 operands: add has 2"),
        (lambda x: mxact.operate("add", x, x.astype(np.float16)), "operands of add are f32, fp16: say in to"),
        (lambda x: mxact.operate("add", x, x[:2]), "one shape, not (3,), (2,)"),
        (lambda x: mxact.operate("add", x, x, source=["f32"]), "1 formats for 2 operands"),
        (lambda x: mxact.operate("quiet-less", x, x, to="f32"), "True or False"),
        (lambda x: mxact.operate("less", x, x), "unknown operation 'less'"),
        (lambda x: mxact.to_integer(x, "i32"), "round= is missing"),
        (lambda x: mxact.to_integer(x, "i32,round=rtz,overflow=inf"), "unknown overflow of an integer"),
        (lambda x: mxact.to_integer(x, "i128,round=rtz,overflow=wrap"), "integers have 2 to 64 bits"),
        (lambda x: mxact.from_integer(x, "f32"), "x is float32, must be integers"),
        (lambda x: mxact.from_integer(x.astype(np.int8) + 8, "f32", source="i4"), "element 0 has more bits than i4"),
        (lambda x: mxact.from_integer(x.astype(np.int16), "f32", source="i4"), "i4 is held by int8"),
        (lambda x: mxact.operate("div", x, x, to="e2m1", profile="round=rne,overflow=ieee"), "refuse"),
    ],
)
def test_what_cannot_be_is_told(call: object, words: str) -> None:
    with pytest.raises(mxact.Error, match=re.escape(words)):
        call(np.zeros(3, np.float32))  # type: ignore[operator]
