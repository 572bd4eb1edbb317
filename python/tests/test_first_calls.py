"""What a user tries first: seven answers, and three refusals whose sentence names what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxact

X = np.random.RandomState(0).randn(256, 1024).astype(np.float32)
DEPLOYMENT = "platform SM100\nlayer {\nexperts 128\ntop_k 4\nhidden 2880\nintermediate 2880\n}\n"


def test_seven_answers() -> None:
    assert mxact.convert(X.ravel(), "e4m3fn").shape == (256 * 1024,)
    assert mxact.convert(X, "e4m3fn").shape == (256, 1024)
    q = mxact.quantize(X, "mxfp4")
    assert (q.codes.shape, q.scales.shape) == ((256, 1024), (256, 32))
    layout = mxact.layout("FLASHINFER_TRTLLM_MXFP4_BF16", (1, 256, 256), tensor="w13_weight", format="mxfp4")
    assert layout.where(E=0, half=0, I=0, K=0) >= 0
    empty = mxact.convert(np.zeros(0, np.float32), "e4m3fn")
    assert (empty.size, empty.dtype.name) == (0, "float8_e4m3fn")
    assert "e4m3fn" in mxact.formats()
    assert mxact.select(DEPLOYMENT)["choice"]["backend"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        # ocp has no such recipe: the sentence lists those that have.
        (lambda: mxact.quantize(X[0, :16], "nvfp4"), ["profile 'ocp'", "nvfp4", "vllm-nvfp4"]),
        (lambda: mxact.quantize(X[0, :16], "nvfp4", profile="vllm-nvfp4"), ["needs the encode scale of the tensor"]),
        (lambda: mxact.convert(X[0, :4], "e4m3fn", profile="hip-stochastic"), ["random bits"]),
    ],
)
def test_three_refusals_name_what_is_missing(call: Any, words: list[str]) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert all(word in str(refused.value) for word in words), str(refused.value)
    assert refused.value.code == "usage"
