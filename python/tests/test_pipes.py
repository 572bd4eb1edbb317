"""Programs of other languages under the laws: what holds, what fails, and what is no answer, each with its exit status."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SOURCE

# A program of Python's that answers as the package does, or wrong: `how` is an expression that sees the answer's head, its bytes and the count.
SERVER = """
import json, sys, numpy as np, mxact, ml_dtypes
def arrays(head, data):
    at, made = 0, {}
    for one in head["arrays"]:
        dtype = np.dtype(getattr(ml_dtypes, one["dtype"], one["dtype"]))
        size = int(np.prod(one["shape"])) * dtype.itemsize
        made[one["name"]] = np.frombuffer(data[at:at + size], dtype).reshape(one["shape"]); at += size
    return made
count = 0
while line := sys.stdin.buffer.readline():
    head = json.loads(line); given = arrays(head, sys.stdin.buffer.read(head["bytes"])); count += 1
    out, answer = {}, {}
    if head["op"] == "quantize":
        q = mxact.quantize(given["x"], head["format"], profile=head["profile"], tensor_scale=head.get("tensor_scale"))
        out = {"codes": q.codes.view(np.uint8), "scales": q.scales}
    if head["op"] == "convert":
        sizes = f"{given['w13_weight'].shape[1] // 2}x{given['w2_weight'].shape[1]}"
        out = mxact.pack(given, head["backend"], engine=head.get("engine"), format=head["format"], order=head["order"], padded=sizes).tensors
    if head["op"] == "select":
        found = mxact.select(head["deployment"], oracle=head["oracle"])
        answer = {"backend": found["choice"]["backend"]} if "choice" in found else {"refusal": found["refusal"]["text"]}
    if head["op"] == "kernel":
        out = {"out": np.zeros(given["x"].shape, np.float32)}
    if head["op"] == "compare":
        one, two = given["candidate"], given["expected"]
        answer = {"alike": one.tobytes() == two.tobytes()}
    data = b"".join(np.ascontiguousarray(v).tobytes() for v in out.values())
    answer = {**answer, "arrays": [{"name": n, "dtype": str(v.dtype), "shape": list(v.shape)} for n, v in out.items()], "bytes": len(data)}
    HOW
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\\n" + data); sys.stdout.buffer.flush()
"""
QUANTIZER = ["quantizer", "mxfp4", "--profile", "ocp", "--examples", "5"]


def laws(words: list[str], command: list[str], expected: int) -> str:
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([sys.executable, "-m", "mxact", "laws", *words, "--", *command], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def server(tmp_path: Path, how: str = "pass") -> list[str]:
    (tmp_path / "server.py").write_text(SERVER.replace("HOW", how))
    return [sys.executable, str(tmp_path / "server.py")]


@pytest.mark.parametrize(
    "words",
    [
        QUANTIZER,
        ["quantizer", "nvfp4", "--profile", "vllm-nvfp4", "--source", "bf16", "--tensor-scale", "given", "--examples", "5"],
        ["quantizer", "nvfp4", "--profile", "vllm-nvfp4", "--tensor-scale", "3.5", "--examples", "5"],
        ["converter", "MARLIN", "--engine", "2026-08", "--format", "mxfp4", "--order", "standard", "--examples", "5"],
        ["oracle", "--examples", "5"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_what_holds(tmp_path: Path, words: list[str]) -> None:
    text = laws(words, server(tmp_path), 0)
    assert text.startswith(f"PASSED {words[0]} ")
    assert "compared, seed 0" in text


POWER = ["power", "--format", "mxfp4", "--activation", "SILU", "--sizes", "4,128,128", "--data", "plain,small", "--contract", "bf16-chain"]
BATCH = ["batch", "--format", "mxfp4", "--activation", "SILU", "--sizes", "4,128,128", "--most", "8"]
CLOSE = "answer = {'alike': bool(np.allclose(one.astype('f4'), two.astype('f4'), rtol=1e-2, atol=1e-2))}"


def test_a_comparison(tmp_path: Path) -> None:
    text = laws([*POWER, "--passes-right"], server(tmp_path), 0)
    assert "45 of 45 wrong kernels are caught, 1 of 1 right ones pass" in text
    assert "\nPASSED comparison mxfp4" in text
    # One hundredth is more than the whole output of small data.
    text = laws([*POWER, "--never-passes", "zeros,sign"], server(tmp_path, CLOSE), 1)
    assert "FAILED\nthe comparison passes zeros (every output is 0) on small data of 1 token" in text
    assert text.splitlines()[-1].startswith("replay: python -m mxact laws power --format mxfp4")
    # The whole of an output is what zeros are off.
    far = "answer = {'alike': one.tobytes() == two.tobytes(), 'distance': float(np.abs(one.astype('f8') - two.astype('f8')).max() / np.abs(two.astype('f8')).max())}"
    text = laws([*POWER, "--measure", "--at-least", "0.9"], server(tmp_path, far), 0)
    assert "a limit between 0 and " in text
    assert laws([*POWER, "--wrong", "zeros", "--measure"], server(tmp_path, far), 0).count("a limit between 0 and 1 by the measure") == 1


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("answer = {}", "the command's answer has no alike, true or false: {}"),
        ("answer = {'alike': 1}", "the command's answer has no alike, true or false: "),
        ("answer = {'error': 'no'}", "the command answers an error: no"),
        ("sys.exit(3)", "the command ended with exit status 3 before it had answered"),
        ("answer = {'alike': one.tobytes() == two.tobytes(), 'distance': 'far'}", "the command's answer has no number distance: "),
    ],
)
def test_a_program_that_is_no_comparison(tmp_path: Path, how: str, sentence: str) -> None:
    text = laws([*POWER, "--measure"], server(tmp_path, f"if count > 1: {how}"), 1)
    assert sentence in text
    assert text.splitlines()[-1].startswith("replay: ")


def test_a_layer_whatever_the_batch(tmp_path: Path) -> None:
    assert laws(BATCH, server(tmp_path), 0).startswith("PASSED batch invariance of a kernel, mxfp4, up to 8 tokens: ")
    scaled = "if head['op'] == 'kernel': data = (given['x'].astype(np.float32) / np.abs(given['x'].astype(np.float32)).max()).tobytes()"
    text = laws([*BATCH, "--varies", "among"], server(tmp_path, scaled), 1)
    assert "a dynamic scale over the batch" in text


def test_a_program_in_c(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    assert compiler is not None
    program = tmp_path / "pipe_quantizer"
    subprocess.run([compiler, "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", SOURCE / "docs/examples/pipe_quantizer.c", "-o", program, "-lm"], check=True)
    assert laws(QUANTIZER, [str(program)], 0).startswith("PASSED quantizer mxfp4 ocp f32: ")
    text = laws(["quantizer", "mxfp4", "--profile", "torchao-rceil", "--examples=5", "--seed", "3"], [str(program)], 1)
    assert text.startswith("FAILED\nthe quantizer of mxfp4 differs from profile torchao-rceil@0.18:\nscales[0, 0]")
    line = text.strip().splitlines()[-1].removeprefix("replay: ")
    assert line.startswith("python -m mxact laws quantizer mxfp4 --profile torchao-rceil --examples=5 --seed=3 -- ")
    words = shlex.split(line)[4:]
    at = words.index("--")
    assert laws(words[:at], words[at + 1 :], 1) == text


WRONG = {
    "exits": ("sys.exit(3) if count > 1 else None", "the command ended with exit status 3 before it had answered"),
    "hangs": ("__import__('time').sleep(60) if count > 1 else None", "the command does not answer within 5 s"),
    "too little": ("data = data[:-1] if count > 1 else data", "the command does not answer within 5 s"),
    "less than it says": ("data = data[:-1] if count > 1 else data; answer['bytes'] = len(data)", "the command's answer has"),
    "too much": ("data += b'x' if count > 1 else b''", "the command answers more than its arrays have"),
    "another dtype": ("answer['arrays'][0]['dtype'] = 'int8'", "the command's codes is int8, must be one of uint8"),
    "a dtype of another format": ("answer['arrays'][0]['dtype'] = 'float8_e5m2'", "the quantizer's codes is float8_e5m2, which has codes of e5m2"),
    "another shape": ("answer['arrays'][0]['shape'] = answer['arrays'][0]['shape'][::-1]", "the quantizer's codes have shape"),
    "no JSON": ("answer = 'x' if count > 1 else answer", "the command's answer is no object"),
    "no array": ("answer['arrays'][1]['name'] = 'scale'", "the command's answer has no array scales"),
    "no shape": ("del answer['arrays'][0]['shape']", "the command's arrays are no list of name, dtype and shape"),
    "an error": ("answer, data = {'error': 'not today'}, b''", "the quantizer raises RuntimeError: not today"),
    "a huge shape": ("answer['arrays'][0]['shape'] = [1 << 40, 1 << 40]", "the command's codes has shape"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_answer_fails_with_its_replay_line(tmp_path: Path, wrong: str) -> None:
    how, sentence = WRONG[wrong]
    text = laws([*QUANTIZER, "--timeout", "5"], server(tmp_path, how), 1)
    assert sentence in text
    assert "replay: python -m mxact laws quantizer mxfp4 --profile ocp --examples 5 --timeout 5 --seed=0 -- " in text


@pytest.mark.parametrize(
    ("words", "command", "sentence"),
    [
        (QUANTIZER, ["/nowhere/mine"], "mxact: command: /nowhere/mine cannot be started: No such file or directory"),
        (QUANTIZER, [], "which command is held? It stands behind --"),
        (["quantizer", "mxfp5", "--profile", "ocp"], ["cat"], "unknown block format 'mxfp5'"),
        (["quantizer", "mxfp4"], ["cat"], "the following arguments are required: --profile"),
        (["converter", "MARLIN"], ["cat"], "format is missing"),
        (["oracle", "--oracle", "fp9"], ["cat"], "fp9"),
        (["kernel", "--activation", "SILU"], ["cat"], "one of contract, backend and order_proof is asked"),
        (["quantise"], ["cat"], "invalid choice: 'quantise'"),
        ([*QUANTIZER, "--timeout", "0"], ["cat"], "--timeout: '0' is no number of seconds above 0"),
        ([*QUANTIZER, "--timeout", "nan"], ["cat"], "--timeout: 'nan' is no number of seconds above 0"),
        ([*QUANTIZER, "--examples", "0"], ["cat"], "--examples: '0' is no whole number from 1"),
        ([*QUANTIZER, "--seed", "-1"], ["cat"], "--seed"),
        ([*QUANTIZER, "--tensor-scale", "much"], ["cat"], "--tensor-scale: 'much' is neither a number nor 'given'"),
    ],
)
def test_a_wrong_command_line_is_refused(words: list[str], command: list[str], sentence: str) -> None:
    assert sentence in laws(words, command, 2)


def test_a_command_that_answers_nothing_at_all() -> None:
    for command in (["true"], ["sleep", "9"]):
        assert laws([*QUANTIZER, "--timeout", "0.5"], command, 5).startswith("MISTRUSTED: it answered nothing\nthe command ")


def test_kernels_and_wrong_choices_over_a_pipe(tmp_path: Path) -> None:
    assert "the kernel differs from contract exact:" in laws(["kernel", "--order-proof", "--activation", "SILU", "--format", "mxfp4", "--no-bias"], server(tmp_path), 1)
    limited = ["kernel", "--order-proof", "--activation", "SWIGLUOAI", "--format", "mxfp4", "--limit", "96"]
    said = "answer, data = {'error': f\"limit {head['limit']}, biases {'w2_bias' in given}\"}, b''"
    assert "the kernel raises RuntimeError: limit 96.0, biases True" in laws(limited, server(tmp_path, said), 1)
    assert "the answer is NOPE, the engine" in laws(["oracle", "--examples", "5"], server(tmp_path, "answer = {'backend': 'NOPE'}"), 1)
    swapped = "data = bytes(reversed(data))"
    assert ", must be 0x" in laws(["converter", "MARLIN", "--engine", "2026-08", "--format", "mxfp4", "--order", "standard"], server(tmp_path, swapped), 1)
