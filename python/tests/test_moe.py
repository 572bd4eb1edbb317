"""Activations, routers and layers: values by hand, refusals, and the committed layers, every stage of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import SOURCE, Recorded

Values = np.ndarray[Any, Any]
BF16, E2M1, E8M0 = ml_dtypes.bfloat16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu


def f32(*values: float) -> Values:
    return np.float32(values)


def test_activations_by_hand() -> None:
    # A gate of zero closes. With alpha 0 the sigmoid is 1/2, with beta 0 nothing is added to up: 4 is the limit, 4 / 2 * -4.
    assert mxact.activate(f32(0), f32(5))[0] == 0
    assert mxact.activate(f32(8), f32(-8), constants={"alpha": 0, "beta": 0, "limit": 4})[0] == -8
    assert np.array_equal(mxact.activate(f32(-1, 0, 3), activation="relu2_no_mul"), f32(0, 0, 9))
    assert "swiglu_oai" in mxact.activations()
    assert mxact.activate(np.empty((0, 3), np.float32), np.empty((0, 3), np.float32)).shape == (0, 3)


def test_routers_by_hand() -> None:
    ids, weights = mxact.route(f32(-1, 0, 0)[None], "gpt-oss", 2)
    assert ids.tolist() == [[1, 2]] and np.array_equal(weights, [[0.5, 0.5]])
    ids, weights = mxact.route(np.zeros((1, 4), np.float32), "deepseek-v3-vllm", 2, bias=f32(0, 0, 1, 2), groups=2)
    assert ids.tolist() == [[3, 2]] and np.array_equal(weights, [[0.5, 0.5]])
    assert mxact.route(np.zeros((0, 4), np.float32), "gpt-oss", 2)[0].shape == (0, 2)


def test_a_recorded_route() -> None:
    sets = Recorded("moe_0")
    entry = next(entry for entry in sets.entries if entry["op"] == "route")
    logits = (sets.tensor(entry["inputs"]["logits"]).astype(np.uint32) << 16).view(np.float32)
    output = entry["outputs"]["ids"]
    expected = np.fromfile(sets.folder / output["file"], np.int32).reshape(output["shape"])
    assert expected.shape == (7, 4)
    assert np.array_equal(mxact.route(logits, "gpt-oss", 4)[0], expected)


def small_layer() -> dict[str, Any]:
    """One expert, x = 2: gate 128 * 2 and up 2 through silu, which leaves 256, times a w2 of 1 and of 2; a weight of 1/2, and a slot of no expert."""
    w13 = mxact.Quantized(np.float32([[[4, 0], [1, 0]]]).astype(E2M1), np.float32([[[32], [1]]]).astype(E8M0), None, "mxfp4", "ocp", "f32", -1)
    return {
        "x": f32(2, 0)[None].astype(BF16),
        "ids": np.int32([[0, -1]]),
        "weights": f32(0.5, 0.5)[None],
        "w13": mxact.dequantize(wide(w13))[..., :2],
        "w2": np.float32([[[1], [2]]]).astype(E2M1),
        "activation": "silu_and_mul",
    }


def wide(q: mxact.Quantized) -> mxact.Quantized:
    """Zeros behind the numbers, as far as a block reaches."""
    codes = np.zeros((*q.codes.shape[:-1], 32), E2M1)
    codes[..., : q.codes.shape[-1]] = q.codes
    return mxact.Quantized(codes, q.scales, None, q.format, q.profile, q.source, q.axis)


def test_a_layer_by_hand() -> None:
    layer = small_layer()
    out, stages = mxact.moe_layer(**layer, stages=True)
    assert np.array_equal(out, [[256, 512]])
    assert np.array_equal(stages["gate_up"], [[[256, 2], [0, 0]]]) and np.array_equal(stages["act"], [[[512], [0]]])
    assert np.array_equal(stages["expert_out"], [[[512, 1024], [0, 0]]])
    # A factor of 1/2 of w2 and a bias: 256 + 1 and 512, by 1/2.
    assert np.array_equal(mxact.moe_layer(**layer, w2_scale=f32(0.5), w2_bias=f32(1, 0)[None]), [[128.5, 256]])
    assert np.array_equal(mxact.moe_layer(**layer, weight_on_input=True), [[128, 256]])


Change = tuple[dict[str, Any], str]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ids": np.int32([[0]])}, "weights has shape (1, 2), must have (1, 1)"),
        ({"ids": np.int32([[1, -1]])}, "ids has -1 to 1, must be -1 or one of 1 experts"),
        ({"ids": np.int64([[0, -1]])}, "ids is int64 of shape (1, 2), must be int32 [1, top_k]"),
        ({"w2_bias": f32(0)}, "w2_bias has shape (1,), must have (1, 2)"),
        ({"x": f32(2, 0)}, "x has 1 axes, must have 2 axes"),
        ({"x": f32(2, 0, 0)[None]}, "w13 has shape (1, 2, 2), must be [experts, 2 * intermediate, 3], as x has 3 numbers a token"),
        ({"activation": "gelu_and_mul"}, "activation: 'gelu_and_mul' is none that layers take: swiglu_oai or silu_and_mul"),
        ({"round_act": 2}, "round_act is 2, must be True or False"),
        ({"constants": {"gamma": 1}}, "constants has 'gamma', must be of alpha, beta, limit, linear_beta"),
        ({"w2": np.float32([[[1]]]).astype(E2M1)}, "w2 has shape (1, 1, 1), must have (1, 2, 1)"),
    ],
)
def test_refusals_of_layers(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mxact.Error) as caught:
        mxact.moe_layer(**{**small_layer(), **change})
    assert str(caught.value) == sentence


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: mxact.activate(np.float64([1]), f32(1)), "gate is float64, must be float32"),
    (lambda: mxact.activate(f32(1)), "activation swiglu_oai needs up"),
    (lambda: mxact.activate(f32(1), f32(1), activation="relu2_no_mul"), "activation relu2_no_mul takes no up"),
    (lambda: mxact.route(f32(1), "gpt-oss", 1), "logits has shape (1,), must be [tokens, experts]"),
    (lambda: mxact.route(f32(1, 2)[None], "gpt-oss", 1, bias=f32(1)), "bias has shape (1,), must have (2,)"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED)
def test_refusals(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(mxact.Error) as caught:
        call()
    assert str(caught.value) == sentence


def test_unknown_names_are_the_programs() -> None:
    for call in (lambda: mxact.route(f32(1, 2)[None], "gpt-os", 1), lambda: mxact.activate(f32(1), f32(1), activation="swiglu_oia")):
        with pytest.raises(mxact.Error, match="did you mean"):
            call()


def lanes(text: str, count: int, bits: int) -> Values:
    number = int(text, 16)
    return np.array([(number >> (i * bits)) & ((1 << bits) - 1) for i in range(count)], np.uint32)


def test_the_committed_layers() -> None:
    lines = (SOURCE / "golden/v1/moe/moe_layer.exact.directed.hex").read_text().splitlines()
    columns = [(name, *map(int, size.split("x"))) for name, size in (word.split(":") for word in lines[1].split()[2:])]
    assert f" n={len(lines) - 2} " in lines[0]
    for line in lines[2:]:
        lane = {name: lanes(text, count, bits) for (name, count, bits), text in zip(columns, line.split("_"), strict=True)}

        def quantized(name: str, shape: tuple[int, ...], lane: dict[str, Values] = lane) -> mxact.Quantized:
            codes, scales = lane[name].astype(np.uint8).reshape(shape), lane[f"{name}_scale"].astype(np.uint8).reshape(*shape[:-1], -1)
            return mxact.Quantized(codes.view(E2M1), scales.view(E8M0), None, "mxfp4", "ocp", "f32", -1)

        biases = {f"{name}_bias": (lane[f"{name}_bias"] << 16).view(np.float32).reshape(4, -1) for name in ("w13", "w2")}
        x = lane["x"].astype(np.uint16).view(BF16).reshape(1, 32)
        ids, weights = lane["experts"].astype(np.int32)[None], lane["weights"].view(np.float32)[None]
        out, stages = mxact.moe_layer(x, ids, weights, quantized("w13", (4, 64, 32)), quantized("w2", (4, 32, 32)), **biases, stages=True)
        assert np.array_equal(out.view(np.uint32).reshape(-1), lane["out"])
        for name in ("gate_up", "act"):
            assert np.array_equal(stages[name].view(np.uint32).reshape(-1), lane[name]), name
