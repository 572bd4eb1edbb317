"""Kernels whose rows depend on the batch, in each way that has a name; ones whose rows do not; two kernels side by side."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from mxact.testing import assert_batch_invariant, assert_equal_kernels

Array = np.ndarray[Any, np.dtype[Any]]
ASKED: dict[str, Any] = {"format": "mxfp4", "activation": "SILU", "sizes": (8, 128, 128), "most": 32}
NO_SLOTS = ("repeated", "padding", "among", "place", "load")


@lru_cache(maxsize=8)
def numbers(codes: bytes, scales: bytes, shape: tuple[int, ...]) -> Array:
    pairs = np.frombuffer(codes, np.uint8).reshape(shape)
    single = np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(*shape[:-1], -1).view(ml_dtypes.float4_e2m1fn)
    blocks = np.frombuffer(scales, np.uint8).reshape(*shape[:-1], -1)
    return np.asarray(mxact.dequantize(mxact.Quantized(single, blocks, None, "mxfp4", "ocp", "f32", -1)))


def matrix(tensors: dict[str, Array], name: str) -> Array:
    codes = tensors[f"{name}_weight"]
    return numbers(codes.tobytes(), tensors[f"{name}_weight_scale"].tobytes(), codes.shape)


def sums(rows: Array, weights: Array, contract: str, parts: int = 1) -> Array:
    total = np.zeros((len(rows), len(weights)), np.float32)
    for cut in np.split(np.arange(rows.shape[1]), parts):
        total = total + mxact.matmul(rows[:, cut], weights[:, cut].T, contract)
    return total


class Kernel:
    """Of the layer under a contract, with what a subclass has of the batch in it."""

    def contract(self, tokens: int, rows: int) -> str:
        return "ampere-bf16"

    def parts(self, tokens: int, rows: int) -> int:
        return 1

    def inputs(self, x: Array) -> Array:
        return x.astype(np.float32)

    def order(self, ids: Array, token: int) -> list[int]:
        return list(range(ids.shape[1]))

    def __call__(self, x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
        w13, w2 = matrix(tensors, "w13"), matrix(tensors, "w2")
        down = np.zeros((*ids.shape, x.shape[1]), np.float32)
        inputs = self.inputs(x)
        for expert in np.unique(ids[ids >= 0]):
            at = np.argwhere(ids == expert)
            how = self.contract(len(x), len(at)), self.parts(len(x), len(at))
            gate, up = np.split(sums(inputs[at[:, 0]], w13[expert], *how), 2, axis=1)
            act = mxact.activate(np.ascontiguousarray(gate), np.ascontiguousarray(up), "silu_and_mul")
            down[at[:, 0], at[:, 1]] = sums(act, w2[expert], *how)
        out = np.zeros(x.shape, np.float32)
        for token in range(len(x)):
            for slot in self.order(ids, token):
                out[token] += weights[token, slot] * down[token, slot]
        return out


class TileHeight(Kernel):
    def contract(self, tokens: int, rows: int) -> str:
        return "hopper-bf16" if rows >= 8 else "ampere-bf16"


class UnknownTileHeight(Kernel):
    def contract(self, tokens: int, rows: int) -> str:
        return "step=aligned:cast=bf16:group=4:align=20:keep=21" if rows >= 8 else "step=aligned:cast=bf16:group=4:align=19:keep=20"


class SplitOfK(Kernel):
    def parts(self, tokens: int, rows: int) -> int:
        return 2 if tokens >= 16 else 1


class DynamicScale(Kernel):
    def inputs(self, x: Array) -> Array:
        numbers = x.astype(np.float32)
        scale = np.float32(np.abs(numbers).max() / 448)
        return (numbers / scale).astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale


class OrderOfSlots(Kernel):
    def order(self, ids: Array, token: int) -> list[int]:
        """The busiest expert first."""
        return sorted(range(ids.shape[1]), key=lambda slot: (-np.count_nonzero(ids == ids[token, slot]), slot))


class Atomics(Kernel):
    def __init__(self) -> None:
        self.random = np.random.default_rng(1)

    def order(self, ids: Array, token: int) -> list[int]:
        return [int(slot) for slot in self.random.permutation(ids.shape[1])]


class Leak(Kernel):
    """Each token's first number is that of its neighbour."""

    def inputs(self, x: Array) -> Array:
        numbers = x.astype(np.float32)
        numbers[:, 0] = numbers[::-1, 0]
        return numbers


class Padded(Kernel):
    """Rows of no expert enter what all tokens share."""

    def inputs(self, x: Array) -> Array:
        return x.astype(np.float32) + (np.float32(0.25) if np.abs(x.astype(np.float32)).max() >= 100 else np.float32(0))


def failure(kernel: Any, **other: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_batch_invariant(kernel, **{**ASKED, **other})
    return str(failed.value)


@pytest.mark.parametrize(
    ("kernel", "varies", "top_k", "named"),
    [
        (TileHeight(), NO_SLOTS, 2, "tile height: alone contract ampere-bf16; in the batch contract hopper-bf16"),
        (UnknownTileHeight(), NO_SLOTS, 2, "tile height: it depends on how many tokens share its experts"),
        (SplitOfK(), NO_SLOTS, 2, "split of k: alone contract ampere-bf16; in the batch contract ampere-bf16, k in 2 parts"),
        (DynamicScale(), NO_SLOTS, 2, "a dynamic scale over the batch: larger numbers in other tokens change it"),
        (OrderOfSlots(), NO_SLOTS, 3, "order of slots: the batch changes it to "),
        (Atomics(), NO_SLOTS, 3, "atomics: the same batch does not give the same bits again"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Kernel) else None,
)
def test_each_way_is_caught_and_named(kernel: Any, varies: Any, top_k: int, named: str) -> None:
    text = failure(kernel, varies=varies, top_k=top_k)
    assert named in text
    lines = text.splitlines()
    assert lines[0].startswith("token 0 parts from what it is alone at place ")
    assert "differ" in lines[1] and "alone 0x" in lines[1]
    assert lines[-1].startswith('replay: pytest "')


def test_where_it_parts_is_the_smallest_batch() -> None:
    assert "at place 0 of 16 tokens (among)" in failure(SplitOfK(), varies=["among"]).splitlines()[0]
    assert "at place 0 of 8 tokens, all on its experts (load)" in failure(TileHeight(), varies=["load"]).splitlines()[0]


def test_what_no_rule_explains_is_said_so() -> None:
    assert "no rule that is known explains it" in failure(Leak(), varies=["among", "place"])
    assert "at place 0 of the token and 1 rows of padding (padding)" in failure(Padded(), varies=["padding"])


def test_the_order_of_slots_alone() -> None:
    assert 'order of slots: a token\'s slots are summed in the order in which they come (varies without "slots"' in failure(Kernel(), top_k=3)


def test_a_kernel_that_does_not_depend_on_it() -> None:
    assert_batch_invariant(Kernel(), **ASKED, varies=NO_SLOTS)


def test_up_to_1024_tokens() -> None:
    """Each token by itself, whatever the batch; and one that goes another way from 1,024 tokens on."""

    def alone(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        inputs = x.astype(np.float64)
        scales = tensors["w2_weight_scale"].astype(np.float64).sum(axis=(1, 2))
        return np.asarray((inputs * (weights * scales[ids] * (ids >= 0)).sum(axis=1, keepdims=True)), np.float32)

    def not_1024(*given: Any) -> Array:
        out = alone(*given)
        return np.nextafter(out, np.float32(np.inf)) if len(out) == 1024 else out

    assert_batch_invariant(alone, format="mxfp4", activation="SILU", varies=NO_SLOTS)
    assert "of 1024 tokens (among)" in failure(not_1024, most=1024, varies=NO_SLOTS)
    assert_batch_invariant(not_1024, format="mxfp4", activation="SILU", most=512, varies=NO_SLOTS)


@pytest.mark.parametrize(
    ("asked", "place", "message"),
    [({"most": 1}, "most", "most is 1, must be 2 to 1024"), ({"varies": []}, "varies", "varies is empty"), ({"varies": ["odd"]}, "varies", "varies is 'odd'"), ({"format": "int4"}, "format", "format is 'int4'")],
)
def test_errors(asked: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(mxact.Error, match=message) as error:
        assert_batch_invariant(Kernel(), **{**ASKED, **asked})
    assert error.value.place == place


def test_kernels_that_answer_nothing_are_said_so() -> None:
    assert "the kernel returns NoneType" in failure(lambda *given: None)
    assert "train: the kernel raises ValueError: no" in _unequal(_raising, Kernel())


def _raising(*given: Any) -> Any:
    raise ValueError("no")


def _unequal(train: Any, rollout: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_equal_kernels(train, rollout, format="mxfp4", activation="SILU", sizes=(4, 128, 128), tokens=3)
    return str(failed.value)


class Staged(Kernel):
    """Shows its stages; the activation is rounded to bf16 where asked."""

    def __init__(self, rounds: bool, contract: str = "hopper-bf16") -> None:
        self.rounds, self.under = rounds, contract

    def __call__(self, x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
        biases = {f"{name}_bias": None for name in ("w13", "w2")}
        out, stages = mxact.moe_layer(x, ids, weights, matrix(tensors, "w13"), matrix(tensors, "w2"), self.under, "silu_and_mul", round_act=self.rounds, stages=True, **biases)
        return out, stages


def test_equal_kernels_say_which_contract_they_follow() -> None:
    asked: dict[str, Any] = {"format": "mxfp4", "activation": "SILU", "sizes": (4, 128, 128), "tokens": 3}
    equal = assert_equal_kernels(Staged(False), Staged(False), **asked)
    assert equal == ("contract hopper-bf16", "contract hopper-bf16")
    assert assert_equal_kernels(Staged(True), Staged(True), **asked)[0] == "contract hopper-bf16, act in bf16"
    assert assert_equal_kernels(lambda *given: Staged(False)(*given)[0] * 2, lambda *given: Staged(False)(*given)[0] * 2, **asked)[0] == "no contract that is known"


def test_kernels_part_in_the_first_stage_that_differs() -> None:
    text = _unequal(Staged(False), Staged(True))
    assert "the kernels part in act:\nact[0, 0, 0], byte 0 of its memory: train 0x" in text
    assert "train follows contract hopper-bf16\nrollout follows contract hopper-bf16, act in bf16" in text
    assert "the kernels part in gate_up:" in _unequal(Staged(False), Staged(False, "f32-sequential"))
    assert "the kernels part in out:" in _unequal(Staged(False, "f32-sequential"), lambda *given: Staged(True, "f32-sequential")(*given)[0])
    assert "train's out is float32, rollout's bfloat16" in _unequal(Staged(False), lambda *given: Staged(False)(*given)[0].astype(ml_dtypes.bfloat16))
    assert "train shows a stage 'gate'" in _unequal(lambda *given: (Staged(False)(*given)[0], {"gate": np.zeros(1)}), Staged(False))
    assert "train's act is float32 (1,), must be bfloat16 or float32 (3, 2, 128)" in _unequal(lambda *given: (Staged(False)(*given)[0], {"act": np.zeros(1, np.float32)}), Staged(False))
