"""Layers whose sums are exact in any order: few small integers, and activations that no arithmetic rounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact._conversions import convert
from mxact._error import Error

Layer = dict[str, Array]
# How a number becomes a code where a whole row has one scale; the scale's code of 1 and of each power of two more.
_CODES: dict[str, tuple[str, int, int]] = {"mxfp4": ("e2m1", 127, 1), "nvfp4": ("e2m1", 0x38, 8), "mxfp8": ("e4m3fn", 127, 1)}
_FP8 = ("fp8_tensor", "fp8_channel", "fp8_block")
FORMATS = (*_CODES, *_FP8)
# Weights of up on tokens of zeros and ones: every sum, and every sum and 1, is 0 or a power of two, but a 3 that OAI's activation never sees.
_UPS = np.array([[1, -1], [1, -2], [1, -3], [3, -2], [3, -3], [-2, -1]], np.float32)
_LARGE_UPS = np.array([8, 16], np.float32)
# From here on 1 / (1 + exp(-g)) is 1 in fp64 too.
_SATURATED = 64.0
_OAI_LIMIT, _OAI_ALPHA = 7.0, 1.702


@dataclass(frozen=True)
class Exact:
    """The activation's rule on data of this kind. limit: of gate and up, or infinity."""

    oai: bool
    limit: float

    @staticmethod
    def of(activation: str, limit: float | None) -> Exact:
        """Raises mxact.Error for a limit at which no gate's activation is exact, rounded or not."""
        rule = Exact(activation == "SWIGLUOAI", limit if limit is not None else _OAI_LIMIT if activation == "SWIGLUOAI" else math.inf)
        if math.isinf(rule.limit):
            return rule
        significand, _ = math.frexp(rule.limit)
        if significand * 8 != int(significand * 8) or not 1 <= rule.limit <= 256:
            raise Error(f"limit is {rule.limit:g}: order_proof takes one of three significant bits from 1 to 256, whose sums are exact", place="limit")
        if rule.lost >= 2.0**-10:
            raise Error(f"limit is {rule.limit:g}: {activation} of it is not exact, even when it is rounded to bf16", place="limit")
        return rule

    @property
    def lost(self) -> float:
        """The part of a gate that its activation takes away: 1 - 1 / (1 + exp(-alpha g))."""
        gate = min(self.gate, self.limit) * (_OAI_ALPHA if self.oai else 1)
        return 0.0 if gate >= _SATURATED else 1 / (1 + math.exp(gate))

    @property
    def gate(self) -> float:
        """What gates are that are not 0: a power of two that the limit cuts, where there is one."""
        return max(_SATURATED, 2.0 ** math.ceil(math.log2(self.limit))) if math.isfinite(self.limit) else _SATURATED

    @property
    def arithmetic(self) -> str:
        """In which the right answer is one."""
        if not self.lost:
            return "activations exact in fp64, fp32 and bf16"
        return f"activations rounded to bf16 or less: at the limit {self.limit:g} none but 0 is exact in fp32"

    def activated(self, gate: Array, up: Array) -> Array:
        """Of exact sums, in float64."""
        cut_gate, cut_up = np.minimum(gate, self.limit), np.clip(up, -self.limit, self.limit)
        cut: Array = cut_gate * (cut_up + 1 if self.oai else cut_up)
        return cut


@dataclass(frozen=True)
class ExactLayer:
    """tensors: in a checkpoint's form; the matrices and biases that they stand for."""

    tensors: Layer
    gate: Array
    up: Array
    down: Array
    gate_bias: Array
    up_bias: Array
    down_bias: Array
    rule: Exact

    def out(self, x: Array, ids: Array, weights: Array) -> tuple[Array, Array]:
        """Of every token, in float64, exactly; and how far an activation that is not rounded may lie from it."""
        tokens = x.astype(np.float64)
        out, slack = np.zeros(x.shape), np.zeros(x.shape)
        for expert in np.unique(ids):
            token, slot = np.nonzero(ids == expert)
            gate = tokens[token] @ self.gate[expert].T + self.gate_bias[expert]
            act = self.rule.activated(gate, tokens[token] @ self.up[expert].T + self.up_bias[expert])
            factor = weights[token, slot].astype(np.float64)[:, None]
            np.add.at(out, token, factor * (act @ self.down[expert].T + self.down_bias[expert]))
            np.add.at(slack, token, factor * (np.abs(act) @ np.abs(self.down[expert]).T) * self.rule.lost * 1.01)
        return out, slack


def tokens_of_ones(count: int, hidden: int, random: np.random.Generator) -> Array:
    """Zeros and ones, three ones for a zero; ones alone in the first, which leaves no activation of a last row 0."""
    ones = random.random((count, hidden)) < 0.75
    ones[0] = True
    return ones.astype(ml_dtypes.bfloat16)


def _places(rows: int, columns: int, nonzero: int, random: np.random.Generator) -> Array:
    """Different columns of each row."""
    return np.argpartition(random.random((rows, columns)), nonzero - 1, axis=1)[:, :nonzero]


def _sparse(shape: tuple[int, int, int], values: Array, random: np.random.Generator) -> Array:
    """These values [experts * rows, a few] in each row, the rest 0."""
    experts, rows, columns = shape
    matrix = np.zeros((experts * rows, columns), np.float32)
    np.put_along_axis(matrix, _places(experts * rows, columns, values.shape[1], random), values, axis=1)
    return matrix.reshape(shape)


def exact_layer(like: Layer, format: str, order: str, rule: Exact, random: np.random.Generator) -> ExactLayer:
    """A layer for tokens of zeros and ones, in the form of another one. Gates are 0 or large enough that their activation is what the limit leaves of
    them, ups few small integers, of which some exceed OAI's limit, outputs of an expert three activations."""
    shapes = {name: values.shape for name, values in like.items()}
    experts, rows = shapes["w13_weight"][:2]
    hidden, intermediate = shapes["w2_weight"][1], rows // 2
    every = experts * intermediate
    gate = _sparse((experts, intermediate, hidden), np.full((every, 1), rule.gate, np.float32), random)
    pairs = random.choice(_UPS, every)
    # Above the limit: 7 and 1 are 8, where the square of another limit would have more bits.
    is_cut = rule.oai and rule.limit == _OAI_LIMIT
    if is_cut:
        pairs[random.random(every) < 0.125] = _LARGE_UPS
    # The last row of up, 1 where all are ones, is the last output.
    pairs[intermediate - 1 :: intermediate] = [3, -2]
    up = _sparse((experts, intermediate, hidden), pairs, random)
    down = _down(experts, hidden, intermediate, random)
    unit = min(rule.gate, rule.limit)
    has_bias = float("w13_bias" in shapes)
    gate_bias = has_bias * random.choice(np.array([0, rule.gate]), (experts, intermediate))
    up_bias = has_bias * is_cut * random.choice(np.array([0.0, 16.0]), (experts, intermediate))
    down_bias = has_bias * random.choice(np.array([-unit, 0, unit]), (experts, hidden))
    tensors: Layer = {}
    for name, matrix in (("w13", _joined(gate, up, order)), ("w2", down)):
        tensors |= _encoded(name, matrix, shapes, format)
    if has_bias:
        biases = {"w13_bias": _joined(gate_bias, up_bias, order), "w2_bias": down_bias}
        tensors |= {name: values.astype(like[name].dtype) for name, values in biases.items()}
    wide = np.float64
    return ExactLayer(tensors, gate.astype(wide), up.astype(wide), down.astype(wide), gate_bias, up_bias, down_bias, rule)


def _down(experts: int, hidden: int, intermediate: int, random: np.random.Generator) -> Array:
    """Three of -1 and 1 in each row but the last, which has 1 behind zeros; where there are fewer rows than columns need, the last columns have them."""
    down = np.zeros((experts, hidden, intermediate), np.float32)
    for matrix in down:
        used = random.permutation(intermediate)[: 3 * hidden]
        used[: len(used) // 2] = np.arange(intermediate - len(used) // 2, intermediate)
        columns = np.resize(random.permutation(np.unique(used)), (hidden, 3))
        np.put_along_axis(matrix, columns, random.choice(np.array([-1, 1], np.float32), columns.shape), axis=1)
        matrix[-1] = 0
        matrix[-1, -1] = 1
    return down


def _joined(gate: Array, up: Array, order: str) -> Array:
    """Rows of gate and up as a checkpoint has them."""
    if order != "gpt_oss":
        return np.concatenate([gate, up], axis=1)
    return np.stack([gate, up], axis=2).reshape(gate.shape[0], -1, *gate.shape[2:])


def _encoded(name: str, matrix: Array, shapes: Mapping[str, tuple[int, ...]], format: str) -> Layer:
    scales = f"{name}_weight_scale"
    if format in _FP8:
        return {f"{name}_weight": convert(matrix, "e4m3fn").view(np.uint8), scales: np.ones(shapes[scales], np.float32)}
    element, unit, step = _CODES[format]
    largest = np.abs(matrix).max(axis=-1)
    powers = np.where(largest > 6, np.log2(np.maximum(largest, 1)), 0).astype(np.int64)
    codes = convert(np.ldexp(matrix, -powers[..., None]).astype(np.float32), element).view(np.uint8)
    if element == "e2m1":
        codes = codes[..., ::2] | codes[..., 1::2] << 4
    made: Layer = {f"{name}_weight": codes}
    made[scales] = np.broadcast_to((unit + step * powers).astype(np.uint8)[..., None], shapes[scales]).copy()
    if format == "nvfp4":
        made[f"{name}_global_scale"] = np.ones(shapes[f"{name}_global_scale"], np.float32)
    return made


def keeps_more(found: Array, right: Array, slack: Array) -> bool:
    """Whether every output lies where an activation that is not rounded may put it, which is no answer about sums."""
    rounding = 0.0 if found.dtype == np.float32 else 2.0**-8
    return bool(slack.any() and (np.abs(found.astype(np.float64) - right) <= slack + rounding * np.abs(right)).all())
