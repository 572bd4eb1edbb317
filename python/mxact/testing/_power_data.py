"""Data of which a wrong kernel must be told from right ones: rows of how a layer and its tokens are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mxact._arguments import Array
from mxact.testing._converters import Layer, plain_layer
from mxact.testing._exact import Exact, exact_layer
from mxact.testing._kernels import BF16
from mxact.testing._stages import FOUR_BITS, SCALE_CODES, Arithmetic, Case, packed

_Random = np.random.Generator


@dataclass(frozen=True)
class Sizes:
    """Of a layer and its tokens."""

    experts: int
    intermediate: int
    hidden: int
    tokens: int
    top_k: int
    bias: bool

    def text(self) -> str:
        many = "token" if self.tokens == 1 else "tokens"
        return f"{self.tokens} {many}, {self.top_k} of {self.experts} experts, {self.intermediate} x {self.hidden}"


@dataclass(frozen=True)
class _Drawn:
    layer: Layer
    x: Array
    ids: Array
    weights: Array


@dataclass(frozen=True)
class Data:
    """name: what power() calls them. what: in words. change: of an ordinary layer. special: shows what a row of wrong kernels names; others are not judged on it.
    takes: whether a layer can be like that."""

    name: str
    what: str
    change: Callable[[_Drawn, Arithmetic, _Random], _Drawn]
    special: bool = False
    takes: Callable[[Arithmetic, Sizes], bool] = lambda how, sizes: True


def _as_it_is(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    return drawn


def _scaled(layer: Layer, how: Arithmetic, name: str, power: int) -> Layer:
    """A matrix times a power of two, by its scales; of nvfp4 by its global scale."""
    if how.format == "nvfp4":
        scale = f"{name}_global_scale"
    else:
        scale = f"{name}_weight_scale"
        if how.format in SCALE_CODES:
            codes = np.clip(layer[scale].astype(np.int32) + power, 1, 254)
            return layer | {scale: codes.astype(np.uint8)}
    return layer | {scale: np.ldexp(layer[scale], power)}


def _cancelling(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """The second half of k takes away what the first half gave, but for some elements."""
    layer = dict(drawn.layer)
    for name in ("w13", "w2"):
        for tensor in (f"{name}_weight", f"{name}_weight_scale"):
            values = layer[tensor].copy()
            if values.ndim == 3 and values.shape[2] > 1:
                half = values.shape[2] // 2
                values[..., half : 2 * half] = values[..., :half]
                if tensor.endswith("weight"):
                    changed = random.random(values[..., half : 2 * half].shape) < 1 / 32
                    values[..., half : 2 * half] = np.where(changed, values[..., :half][..., ::-1], values[..., half : 2 * half])
            layer[tensor] = values
    x = drawn.x.copy()
    half = x.shape[1] // 2
    x[:, half : 2 * half] = -x[:, :half]
    return _Drawn(layer, x, drawn.ids, drawn.weights)


def _wide(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """Scales and tokens' elements of all sizes."""
    layer = dict(drawn.layer)
    for name in ("w13", "w2"):
        scale = f"{name}_weight_scale"
        powers = random.integers(-6, 4, layer[scale].shape)
        if how.format == "nvfp4":
            layer[scale] = (layer[scale].astype(np.int32) + 8 * np.clip(powers, -5, 3)).astype(np.uint8)
        elif how.format in SCALE_CODES:
            layer[scale] = (layer[scale].astype(np.int32) + powers).astype(np.uint8)
        else:
            layer[scale] = np.ldexp(layer[scale], powers).astype(np.float32)
    x = drawn.x.astype(np.float32) * np.ldexp(np.float32(1), random.integers(-6, 5, drawn.x.shape))
    return _Drawn(layer, x.astype(BF16), drawn.ids, drawn.weights)


def _small(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """Outputs near 2^-10, biases and all."""
    layer = _scaled(drawn.layer, how, "w2", -10)
    if "w2_bias" in layer:
        layer["w2_bias"] = (layer["w2_bias"].astype(np.float32) * np.float32(2.0**-10)).astype(layer["w2_bias"].dtype)
    return _Drawn(layer, drawn.x, drawn.ids, drawn.weights)


def _subnormal(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """Tokens' elements are subnormal in bf16, and the first matrix is as much larger."""
    x = drawn.x.astype(np.float32)
    x = np.clip(x * np.float32(2.0**-128), -(2.0**-126.5), 2.0**-126.5)
    return _Drawn(_scaled(drawn.layer, how, "w13", 127), x.astype(BF16), drawn.ids, drawn.weights)


def _with_nan(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """A NaN in the second matrix of each expert."""
    codes = drawn.layer["w2_weight"].copy()
    codes[:, 0, 0] = 0x7F
    return _Drawn(drawn.layer | {"w2_weight": codes}, drawn.x, drawn.ids, drawn.weights)


def _ties(drawn: _Drawn, how: Arithmetic, random: _Random) -> _Drawn:
    """Sums of slots with a bit more than bf16 has: the second product is its bias, or everything is exact."""
    weights = np.resize(np.array([0.5, 0.25], np.float32), drawn.ids.shape)
    if "w2_bias" in drawn.layer:
        bias = drawn.layer["w2_bias"]
        odd = (random.integers(64, 128, bias.shape) * 2 + 1) / 128
        layer = drawn.layer | {"w2_weight": np.zeros_like(drawn.layer["w2_weight"]), "w2_bias": odd.astype(np.float32).astype(bias.dtype)}
        return _Drawn(layer, drawn.x, drawn.ids, weights)
    layer = exact_layer(drawn.layer, how.format, "standard", Exact.of("SILU", None), random).tensors
    return _Drawn(layer, random.integers(1, 8, drawn.x.shape).astype(np.float32).astype(BF16), drawn.ids, weights)


ORDINARY = (
    Data("plain", "normal tokens, outputs near 1", _as_it_is),
    Data("cancelling", "what half of k adds the other half takes away again, nearly", _cancelling),
    Data("wide", "block scales and tokens over ten powers of two", _wide),
    Data("small", "as plain, and every output 2^-10 times that", _small),
)
SPECIAL = (
    Data("subnormal", "subnormal tokens", _subnormal, True, lambda how, sizes: how.quantizer == "none"),
    Data("nan", "NaNs among the weights", _with_nan, True, lambda how, sizes: how.format not in FOUR_BITS),
    Data("ties", "outputs that lie between two of bf16", _ties, True, lambda how, sizes: sizes.bias or (how.activation == "SILU" and not how.constants)),
)


def _weights(layer: Layer, format: str, random: _Random) -> Layer:
    """Codes of numbers near 1, scales near what makes gates and outputs near 1, biases up to 1/2."""
    made = dict(layer)
    for name in ("w13", "w2"):
        if f"{name}_bias" in layer:
            made[f"{name}_bias"] = (layer[f"{name}_bias"].astype(np.float32) / 8).astype(BF16)
        shape = layer[f"{name}_weight"].shape
        k = shape[2] * (2 if format in FOUR_BITS else 1)
        power = -int(np.log2(k)) // 2 - (1 if format in FOUR_BITS else 0)
        scale = f"{name}_weight_scale"
        steps = random.integers(0, 2, layer[scale].shape)
        if format in FOUR_BITS:
            made[f"{name}_weight"] = packed(random.integers(0, 16, (*shape[:2], k), dtype=np.uint8))
        else:  # magnitudes from 1/8 to 4
            codes = random.integers(0x20, 0x48, shape, dtype=np.uint8)
            made[f"{name}_weight"] = codes | random.choice(np.array([0, 0x80], np.uint8), shape)
        if format == "nvfp4":
            made[scale] = np.asarray(random.integers(0x34, 0x44, layer[scale].shape, dtype=np.uint8))
            made[f"{name}_global_scale"] = np.ldexp(np.float32(1), power - 1 + random.integers(0, 2, len(layer["w2_weight"]))).astype(np.float32)
        elif format in SCALE_CODES:
            made[scale] = np.asarray(127 + power - steps).astype(np.uint8)
        else:
            made[scale] = np.ldexp(np.float32(1), power - steps).astype(np.float32)
    return made


def case_of(how: Arithmetic, sizes: Sizes, data: Data, seed: int) -> Case:
    """A layer and tokens with all their numbers drawn from the seed."""
    random = np.random.default_rng([seed, sizes.experts, sizes.intermediate, sizes.hidden, sizes.tokens])
    layer = plain_layer(how.format, "standard", sizes.bias, (sizes.experts, sizes.intermediate, sizes.hidden), seed)
    layer = _weights(layer, how.format, random)
    ids = np.stack([random.permutation(sizes.experts)[: sizes.top_k] for _ in range(sizes.tokens)]).astype(np.int32)
    logits = np.exp(random.standard_normal(ids.shape))
    weights = (logits / logits.sum(axis=1, keepdims=True) * 0.9).astype(np.float32)
    x = random.standard_normal((sizes.tokens, sizes.hidden)).astype(np.float32).astype(BF16)
    drawn = data.change(_Drawn(layer, x, ids, weights), how, random)
    return Case(how, drawn.layer, drawn.x, drawn.ids, drawn.weights)

