"""Formats and rules as strings: they stand wherever a name does."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mxact
from conftest import program

OWN = "e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f,tininess=after"


def test_what_a_profile_does_is_a_string_that_does_the_same() -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 4000, dtype=np.uint32)
    for profile in ("ocp", "torch-cpu", "hip-nosat", "onnxruntime-nosat", "riscv", "arm-sat"):
        for to in ("e4m3fn", "e5m2"):
            text = mxact.rules(to, profile=profile)
            named = mxact.convert(x, to, profile=profile, source="f32").view(np.uint8)
            assert mxact.convert(x, text, source="f32").tolist() == named.tolist(), text
            assert mxact.convert(x, to, profile=text, source="f32").view(np.uint8).tolist() == named.tolist(), text
            assert mxact.rules(text) == text


def test_a_format_of_ones_own_is_the_programs() -> None:
    x = np.random.default_rng(4).integers(0, 1 << 32, 300, dtype=np.uint32)
    codes = mxact.convert(x, OWN, source="f32")
    assert codes.dtype == np.uint8
    results = program("encode", OWN, values=x)["results"]
    assert [int(result["code"], 16) for result in results] == codes.tolist()
    one = mxact.converter("f32", OWN)
    assert [one(int(code)) for code in x[:50]] == codes[:50].tolist()
    # 2^(1 - 5 - 3) is the least number, 7.5 the largest.
    assert mxact.convert(np.array([0x01, 0x3F], np.uint8), "f32", source=OWN).tolist() == [2.0**-7, 7.5]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mxact.convert(np.float32([1]), "e3m3"), "does not say what its last codes are"),
        (lambda: mxact.convert(np.float32([1]), "e3m3,finite"), "rules do, as round=rne,overflow=ieee"),
        (lambda: mxact.convert(np.float32([1]), "e2m1", profile="round=rne,overflow=inf"), "overflow=inf needs a format with Inf"),
        (lambda: mxact.convert(np.float32([1]), OWN, profile="torch-cpu"), "says its own rules"),
        (lambda: mxact.convert(np.float32([1]), "e4m3fn", profile="rond=rne,overflow=ieee"), "did you mean round?"),
    ],
)
def test_what_cannot_be_is_told(call: object, words: str) -> None:
    with pytest.raises(mxact.Error, match=re.escape(words)):
        call()  # type: ignore[operator]
