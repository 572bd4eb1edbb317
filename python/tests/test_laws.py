"""The laws for the outside: what they say of wrong answers, what they refuse, how a failure is repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import hypothesis
import numpy as np
import pytest

import mxact
from mxact import testing

Array = np.ndarray[Any, np.dtype[Any]]


pytestmark = pytest.mark.mxact(examples=10)


def test_bits_are_compared_and_not_values() -> None:
    a = np.array([[0.0, 1.0], [np.nan, 2.0]], np.float32)
    testing.assert_bits_equal(a, a.copy())
    testing.assert_bits_equal(a.T, np.ascontiguousarray(a.T))
    for wrong, sentence in [
        (np.array([[-0.0, 1.0], [np.nan, 2.0]], np.float32), r"result\[0, 0\], byte 0 of its memory is 0x80000000 \(-0\), must be 0x0 \(0\); 1 of 4 differ"),
        (np.array([[0.0, 1.0], [np.nan, 2.5]], np.float32), r"result\[1, 1\], byte 12 of its memory is 0x40200000 \(2.5\), must be 0x40000000 \(2\)"),
        (a.astype(np.float64), "result is float64, must be float32"),
        (a[:1], r"result has shape \(1, 2\), must have \(2, 2\)"),
    ]:
        with pytest.raises(AssertionError, match=sentence):
            testing.assert_bits_equal(wrong, a)
    with pytest.raises(AssertionError, match=r"codes\[1\], byte 1 of its memory is 0x3 \(1.5\), must be 0x7 \(6\)"):
        testing.assert_bits_equal(np.uint8([0, 3]), np.uint8([0, 7]), format="e2m1", name="codes")
    with pytest.raises(AssertionError, match=r"result\[0\], byte 0 of its memory is 0x1, must be 0x2"):
        testing.assert_bits_equal(np.int64([1]), np.int64([2]))
    with pytest.raises(mxact.Error, match="has no bits to compare"):
        testing.assert_bits_equal(np.zeros(1, np.complex128), np.zeros(1, np.complex128))
    with pytest.raises(mxact.Error, match="an array of object has no bits to compare"):
        testing.assert_bits_equal(None, None)


def test_a_failure_says_what_is_right_and_whose_rule_it_is() -> None:
    with pytest.raises(AssertionError) as failed:
        testing.assert_quantizer(mxact_as("torchao-floor@36027d8"), "mxfp4", profile="torchao-rceil@36027d8")
    text = str(failed.value)
    assert "the quantizer of mxfp4 differs from profile torchao-rceil@36027d8:" in text
    assert "scales[0, 0], byte 0 of its memory: 0x" in text
    # One element is enough: where floor and rceil part depends on the largest alone.
    assert ") but [0, " in text
    assert ", [0, " not in text
    assert "it is profile torchao-floor@36027d8 on 2000 hard blocks" in text
    assert "test_laws.py::test_a_failure_says_what_is_right_and_whose_rule_it_is" in text


def mxact_as(profile: str, format: str = "mxfp4") -> Any:
    def quantizer(x: Array) -> tuple[Array, Array]:
        q = mxact.quantize(x, format, profile=profile)
        return q.codes, q.scales

    return quantizer


def test_what_is_not_an_answer() -> None:
    right = mxact_as("ocp")
    for fn, sentence in [
        (lambda x: right(x)[0], "returns ndarray, must return codes and scales"),
        (lambda x: (right(x)[0][:, :-1], right(x)[1]), "codes have shape"),
        (lambda x: (right(x)[0].astype(np.float32), right(x)[1]), "codes is float32, which has codes of f32, not of e2m1"),
        (lambda x: (right(x)[0], right(x)[1].view(np.int8)), "scales is int8"),
        (lambda x: 1 / 0, "raises ZeroDivisionError"),
        (lambda: None, "raises TypeError"),
    ]:
        with pytest.raises(AssertionError, match=sentence):
            testing.assert_quantizer(fn, "mxfp4")
    for call, sentence in [
        (lambda: testing.assert_quantizer(right, "mxfp5"), "unknown block format 'mxfp5'"),
        (lambda: testing.assert_quantizer(right, "nvfp4"), "profile 'ocp'"),
        (lambda: testing.assert_quantizer(right, "mxfp4", source="f64"), "source is 'f64', must be f32, bf16 or fp16"),
        (lambda: testing.assert_quantizer(right, "mxfp4", tensor_scale="given"), "none can be given"),
        (lambda: testing.assert_quantizer(right, "nvfp4", profile="vllm-nvfp4"), "needs the encode scale of the tensor"),
        (lambda: testing.assert_quantizer(3, "mxfp4"), "fn is of type int, must be a function"),  # type: ignore[arg-type]
        (lambda: testing.assert_quantizer(right, "mxfp4", profile="aiter-floor"), "gives scales alone"),
        (lambda: testing.assert_oracle(lambda d: "", oracle="mxfp5"), "oracle is 'mxfp5', must be one of mxfp4"),
        (lambda: testing.assert_oracle(lambda d: "", engine="vllm@2026-05", oracle="int8"), "oracle is 'int8', must be one of mxfp4"),
    ]:
        with pytest.raises(mxact.Error, match=sentence):
            call()


def test_a_quantizer_that_holds() -> None:
    testing.assert_quantizer(mxact_as("torchao-rceil"), "mxfp4", profile="torchao-rceil", source="bf16")
    testing.assert_quantizer(lambda x, g: mxact_with(x, g, "vllm-nvfp4"), "nvfp4", profile="vllm-nvfp4", source="bf16", tensor_scale="given")
    testing.assert_quantizer(lambda x, g: mxact_with(x, g, "vllm-nvfp4"), "nvfp4", profile="vllm-nvfp4", tensor_scale=3.5)
    testing.assert_quantizer(mxact_as("deepgemm", "fp8_e4m3_128x128"), "fp8_e4m3_128x128", profile="deepgemm")
    testing.assert_quantizer(mxact_as("torchao-fp8", "fp8_e4m3"), "fp8_e4m3", profile="torchao-fp8")


def mxact_with(x: Array, g: Any, profile: str) -> tuple[Array, Array]:
    q = mxact.quantize(x, "nvfp4", profile=profile, tensor_scale=g)
    return q.codes, q.scales


def test_a_quantizer_that_looks_at_neighbours() -> None:
    def quantizer(x: Array) -> tuple[Array, Array]:
        codes, scales = mxact_as("ocp")(x)
        return codes, np.broadcast_to(scales[:1], scales.shape)

    with pytest.raises(AssertionError, match="differs from profile ocp"):
        testing.assert_quantizer(quantizer, "mxfp4")


@hypothesis.given(testing.blocks("mxfp4"), testing.formats(), testing.formats(block=True))
def test_strategies(x: Array, format: str, block: str) -> None:
    assert x.dtype == np.float32
    assert x.shape[0] in (1, 2)
    assert x.shape[1] in (32, 64)
    assert format in mxact.formats()
    assert block in mxact.block_formats()


@pytest.mark.parametrize("oracle", ["mxfp4", "mxfp4_deepseek_v4", "nvfp4", "fp8", "mxfp8", "w4a8"])
def test_the_engine_holds_to_itself(oracle: str) -> None:
    testing.assert_oracle(lambda deployment: mxact.select(deployment)["choice"]["backend"], oracle=oracle)


def test_needs_alone() -> None:
    testing.assert_oracle(lambda deployment: mxact.select(deployment, strict=True)["choice"]["backend"], needs_only=True)
    with pytest.raises(AssertionError, match="(?s)which breaks a need of .*deployment: "):
        testing.assert_oracle(lambda deployment: mxact.select(deployment)["choice"]["backend"], needs_only=True)
    with pytest.raises(AssertionError, match="unknown backend 'NOPE'"):
        testing.assert_oracle(lambda deployment: "NOPE", needs_only=True)


LAWS = """
import sys
import pytest

def test_nothing_is_loaded_before_it_is_used():
    assert not {"mxact", "numpy", "hypothesis"} & set(sys.modules)

@pytest.mark.mxact(seed=7)
def test_the_first_to_import_the_laws():
    from mxact.testing import settings
    assert (settings.seed, settings.examples) == (7, 5)
"""
LAWS_OF_TWO = """
import mxact, pytest
from mxact.testing import assert_quantizer

def of(profile):
    def quantizer(x):
        q = mxact.quantize(x, "mxfp4", profile=profile)
        return q.codes, q.scales
    return quantizer

@pytest.mark.mxact(seed=5)
def test_right():
    assert_quantizer(of("ocp"), "mxfp4")

def test_wrong():
    assert_quantizer(of("torchao-ceil"), "mxfp4")
"""


def test_the_plugin_brings_nothing_in(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(LAWS)
    # hypothesis has a plugin of its own.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--mxact-examples=5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_plugin_replays_and_reports(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(LAWS_OF_TWO)

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={tmp_path}/theirs.xml", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stdout
        return done.stdout

    first = run("--mxact-examples=5")
    line = next(line for line in first.splitlines() if "replay: " in line).split("replay: ")[1]
    assert line == 'pytest "test_theirs.py::test_wrong" --mxact-seed=0'
    properties = {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in ElementTree.parse(tmp_path / "theirs.xml").iter("testcase")}
    assert properties["test_right"]["mxact.seed"] == "5"
    assert properties["test_right"]["mxact.held"] == "quantizer mxfp4 ocp f32"
    assert int(str(properties["test_right"]["mxact.cases"])) > 20_000
    case = [text for text in first.splitlines() if "x = zeros of shape" in text]
    assert [text for text in run("test_theirs.py::test_wrong", "--mxact-seed=0", "--mxact-examples=5").splitlines() if "x = zeros of shape" in text] == case
    assert [text for text in run("test_theirs.py::test_wrong", "--mxact-seed=1").splitlines() if "x = zeros of shape" in text] != case
