"""Threads, forks and the lock of the interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import mxact
from conftest import hard_f32


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_results_do_not_depend_on_threads() -> None:
    x = hard_f32(1 << 20, 9).view(np.float32).reshape(1024, 1024)
    before = mxact.threads()
    try:
        answers = []
        for count in (1, 2, 5):
            assert mxact.threads(count) == count == mxact.threads()
            q = mxact.quantize(x, "mxfp4", profile="torchao-rceil")
            answers.append((q.codes.tobytes(), q.scales.tobytes(), mxact.dequantize(q).tobytes(), mxact.convert(x, "e5m2").tobytes()))
        assert answers[0] == answers[1] == answers[2]
    finally:
        mxact.threads(before)


def test_the_first_wrong_code_is_named_by_any_number_of_threads() -> None:
    codes = np.zeros((4096, 1024), np.uint8)
    codes[1000, 3] = codes[4000, 0] = 16
    q = mxact.Quantized(codes, np.zeros((4096, 32), np.uint8), None, "mxfp4", "ocp", "f32", 1)
    before = mxact.threads()
    try:
        for count in (1, 4):
            mxact.threads(count)
            for call in (lambda: mxact.convert(codes, "f32", source="e2m1"), lambda: mxact.dequantize(q)):
                with pytest.raises(mxact.Error, match="element 1024003 is 16, but codes of e2m1 have 4 bits"):
                    call()
    finally:
        mxact.threads(before)


def test_a_forked_child_has_one_thread_and_ends() -> None:
    assert run("""
        import os, numpy, mxact
        x = numpy.random.default_rng(0).standard_normal((512, 512), dtype=numpy.float32)
        mxact.threads(4)
        weights = numpy.random.default_rng(0).integers(0, 256, (2, 256, 512), dtype=numpy.uint8)
        scales = weights[:, :, :32] >> 1
        layer = {"w13_weight": weights, "w13_weight_scale": scales, "w2_weight": weights[:, :, :64].repeat(4, 1), "w2_weight_scale": scales[:, :, :4].repeat(4, 1)}
        memory = mxact.pack(layer, "FLASHINFER_TRTLLM_MXFP4_BF16", order="standard")["w13_weight"].tobytes()
        first = mxact.quantize(x, "mxfp4", profile="torchao-rceil").codes.tobytes()
        child = os.fork()
        if child == 0:
            good = mxact.threads() == 1
            for _ in range(3):
                q = mxact.quantize(x, "mxfp4", profile="torchao-rceil")
                good = good and q.codes.tobytes() == first
                mxact.dequantize(q), mxact.convert(x, "e4m3fn")
                mxact.quantize(x, "fp8_e4m3", profile="torchao-fp8"), mxact.dot(x[0], x[1], "exact")
                good = good and mxact.pack(layer, "FLASHINFER_TRTLLM_MXFP4_BF16", order="standard")["w13_weight"].tobytes() == memory
            try:
                mxact.threads(2)
                good = False
            except mxact.Error as error:
                good = good and error.code == "unsupported"
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert mxact.threads() == 4
        print("both")
    """) == "both"


def test_other_threads_run_while_a_kernel_does() -> None:
    x = np.zeros(1 << 22, np.float32)
    done = threading.Event()

    def work() -> None:
        for _ in range(20):
            mxact.convert(x, "fp16")
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    ticks = 0
    while not done.is_set():
        time.sleep(0.0005)
        ticks += 1
    worker.join()
    assert ticks > 3


def test_many_threads_ask_at_once() -> None:
    x = hard_f32(1 << 16, 2).view(np.float32).reshape(-1, 64)
    expected = mxact.quantize(x, "mxfp4").codes.tobytes()
    wrong: list[int] = []

    def ask() -> None:
        for _ in range(20):
            if mxact.quantize(x, "mxfp4").codes.tobytes() != expected:
                wrong.append(1)

    workers = [threading.Thread(target=ask) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
