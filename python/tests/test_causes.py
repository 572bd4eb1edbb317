"""What assert_quantizer says of a wrong quantizer: the rule, what that leaves over, every kind of failure, finite numbers alone, and whose profile it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mxact
from mxact.testing import assert_quantizer
from test_pipes import QUANTIZER, laws, server

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=10)
GRID = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def ties_away(x: Array) -> tuple[Array, Array]:
    """MXFP4 with OCP's scales, and elements whose ties go away from zero: by comparisons with midpoints, which are exact in float64."""
    codes, scales = floor(x)
    blocks = x.reshape(len(x), -1, 32)
    with np.errstate(all="ignore"):
        values = np.abs(np.ldexp(blocks.astype(np.float64), 127 - scales[..., None].astype(int)))
        away = np.searchsorted((GRID[1:] + GRID[:-1]) / 2, values, side="right").reshape(x.shape)
    finite = np.isfinite(blocks).all(axis=-1, keepdims=True)
    kept = np.broadcast_to(finite, blocks.shape).reshape(x.shape)
    return np.where(kept, away.astype(np.uint8) | (codes & 8), codes), scales


def floor(x: Array) -> tuple[Array, Array]:
    q = mxact.quantize(x, "mxfp4", profile="ocp")
    return q.codes.view(np.uint8).copy(), q.scales.view(np.uint8).copy()


def said(fn: Callable[..., Any], format: str = "mxfp4", **words: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_quantizer(fn, format, **words)
    return str(failed.value)


def test_the_rule_is_named() -> None:
    text = said(ties_away, profile="ocp")
    assert re.search(r"\nrounding: matches elements rounded nearest_away: (\d+) of \1 wrong answers, and all of \d+ right ones\nreplay: ", text)
    assert "it is profile" not in text

    def rceil(x: Array) -> tuple[Array, Array]:
        q = mxact.quantize(x, "mxfp8_e4m3", profile="torchao-rceil")
        return q.codes, q.scales

    text = said(rceil, "mxfp8_e4m3", profile="torchao-floor")
    assert re.search(r"\ndialect: matches profile torchao-rceil@0.18: (\d+) of \1 wrong answers, and all of \d+ right ones\nit is profile torchao-rceil@0.18 on 2000 hard blocks\n", text)


def test_what_the_rule_leaves_over_is_named() -> None:
    def two(x: Array) -> tuple[Array, Array]:
        codes, scales = ties_away(x)
        nan = np.isnan(x.reshape(len(x), -1, 32)).any(axis=-1)
        scales[nan] = 0
        return codes, scales

    text = said(two, profile="ocp")
    assert "elements rounded nearest_away" in text
    both = "elements rounded nearest_away, and the scale of a block with a NaN is code 0, its codes as they were"
    assert re.search(rf"\nrounding: matches {both}: (\d+) of \1 wrong answers, and all of \d+ right ones\n", text)

    def three(x: Array) -> tuple[Array, Array]:
        codes, scales = two(x)
        scales[(x.reshape(len(x), -1, 32) == 0).all(axis=-1)] = 127
        return codes, scales

    text = said(three, profile="ocp")
    assert "\nwhat that leaves over: " in text
    for cause in ("elements rounded nearest_away", "a block with a NaN is code 0, its codes as they were", "a block of zeros is 1, its codes as they were"):
        assert cause in text


def test_finite_numbers_alone() -> None:
    def of_nan(x: Array) -> tuple[Array, Array]:
        codes, scales = floor(x)
        scales[~np.isfinite(x.reshape(len(x), -1, 32)).all(axis=-1)] = 7
        return codes, scales

    assert_quantizer(of_nan, "mxfp4", profile="ocp", finite=True)
    text = said(of_nan, profile="ocp")
    # On ordinary blocks it is every profile that is OCP's there, and OCP's too: nothing is told apart.
    assert "it is profile" not in text
    with pytest.raises(AssertionError, match="nearest_away"):
        assert_quantizer(ties_away, "mxfp4", profile="ocp", finite=True)
    with pytest.raises(mxact.Error, match="finite is 'yes', must be True or False"):
        assert_quantizer(floor, "mxfp4", finite="yes")  # type: ignore[arg-type]


def test_all_failures_in_one_run() -> None:
    def three(x: Array) -> tuple[Array, Array]:
        codes, scales = ties_away(x)
        blocks = x.reshape(len(x), -1, 32)
        scales[np.isnan(blocks).any(axis=-1)] = 7
        scales[(blocks == 0).all(axis=-1)] = 127
        return codes, scales

    text = said(three, profile="ocp", all_failures=True)
    kinds = dict(re.findall(r"^\* ([A-Za-z ]+: [a-z ]+), (\d+) blocks?$", text, re.MULTILINE))
    assert set(kinds) == {"numbers: codes", "subnormals alone: codes", "a NaN: scale", "zeros: scale"}
    assert text.startswith("the quantizer of mxfp4 differs from profile ocp in 4 kinds of failure:\n* ")
    assert all(int(count) > 0 for count in kinds.values())
    parts = text.split("* ")[1:]
    of_nan = next(part for part in parts if part.startswith("a NaN"))
    assert "scales[0, 0], byte 0 of its memory: 0x7 (" in of_nan
    assert "nan (0x" in of_nan
    assert len(re.findall(r"\[0, \d+\] ", of_nan.split("but ")[1].split("\n")[0])) == 1
    assert text.splitlines()[-1].startswith("replay: pytest ")
    assert_quantizer(floor, "mxfp4", profile="ocp", all_failures=True)

    def raising(x: Array) -> tuple[Array, Array]:
        if x.shape[0] < 100:
            raise ValueError("too few rows")
        return ties_away(x)

    text = said(raising, profile="ocp", all_failures=True)
    assert "* numbers: codes, " in text
    assert "* the quantizer raises ValueError: too few rows, " in text


def test_each_kind_shows_a_block_of_that_kind() -> None:
    """Codes are wrong in the second block of a row and the ones behind it, scales in blocks with a NaN of tensors with more than four rows."""

    def beside(x: Array) -> tuple[Array, Array]:
        codes, scales = floor(x)
        codes[:, 32:] ^= 1
        if len(x) > 4:
            scales[np.isnan(x.reshape(len(x), -1, 32)).any(axis=-1)] = 7
        return codes, scales

    text = said(beside, profile="ocp", all_failures=True)
    parts = text.split("\n* ")[1:]
    assert len(parts) > 3
    for part in parts:
        kind, found = part.split(",", 1)
        about, wrong = kind.split(": ")
        assert ("  scales[" in found) == ("scale" in wrong), part
        assert ("  codes[" in found) == ("codes" in wrong), part
        shown = [line for line in found.splitlines() if "= zeros of shape" in line][-1]
        assert ("nan (" in shown) == (about == "a NaN"), part
        # A block with a NaN may have infinities too.
        assert about == "a NaN" or ("inf (" in shown) == (about == "an infinity"), part


def test_codes_that_are_all_one() -> None:
    def empty(x: Array) -> tuple[Array, Array]:
        codes, scales = floor(x)
        return codes * 0, scales

    text = said(empty, profile="ocp")
    assert re.search(r"\nvalue: matches elems stuck at 0x0: (\d+) of \1 wrong answers, and all of \d+ right ones\n", text), text
    assert "constant difference" not in text


def test_a_profile_is_named_where_what_is_wrong_tells_it_apart() -> None:
    def other(x: Array) -> tuple[Array, Array]:
        q = mxact.quantize(x, "mxfp4", profile="torchao-ceil")
        return q.codes, q.scales

    text = said(other, profile="ocp")
    named = re.search(r"it is profile (.*) on 2000 hard blocks", text)
    assert named is not None
    assert "torchao-ceil@0.18" in named[1].split(", ")


def test_over_a_pipe(tmp_path: Any) -> None:
    text = laws(QUANTIZER, server(tmp_path, "data = bytes(b & 7 for b in data[:given['x'].size]) + data[given['x'].size:]"), 1)
    assert "sign: matches sign dropped: " in text
