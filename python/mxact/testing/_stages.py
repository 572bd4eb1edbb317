"""A layer of experts stage by stage, so that something can be made wrong at each of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of, f32_bits
from mxact._blocks import Quantized, dequantize, quantize
from mxact._conversions import convert
from mxact._error import Error
from mxact._moe import activate
from mxact._products import matmul
from mxact.testing._converters import Layer
from mxact.testing._kernels import BF16

# What enters a product beside 16-bit numbers: block format, profile and whether the product sees 16-bit numbers again, by the names of the table of executions
# (model/families/arithmetic.cpp). Those that need a number of the whole tensor are not here.
_QUANTIZERS = {
    "mxfp8": ("mxfp8_e4m3", "flashinfer-mx", False),
    "mxfp4": ("mxfp4", "vllm-quark-even", False),
    "mxfp4-emulated": ("mxfp4", "vllm-quark-even", True),
    "fp8-token": ("fp8_e4m3", "vllm-fp8-token", False),
    "fp8-group128": ("fp8_e4m3_g128", "vllm-group", False),
    "fp8-group128-ue8m0": ("fp8_e4m3_g128", "vllm-group-ue8m0", False),
}
QUANTIZERS = ("none", *_QUANTIZERS)
# Scales of a checkpoint's form that are codes.
SCALE_CODES = {"mxfp4": "e8m0", "mxfp8": "e8m0", "nvfp4": "e4m3fn"}
FOUR_BITS = ("mxfp4", "nvfp4")
# The layer's activations: the model's row, and that of one with a limit where the row has none.
ACTIVATIONS = {"SWIGLUOAI": "swiglu_oai", "SILU": "silu_and_mul"}
_LIMITED = {"SILU": "silu_and_mul_clamp_torch"}


def quantized(x: Array, name: str) -> Array:
    """fp32 numbers, rounded to bf16, as they are behind a quantizer, whose scale is multiplied in again."""
    if name == "none":
        return x
    format, profile, back = _QUANTIZERS[name]
    made = quantize(x.astype(BF16), format, profile)
    numbers: Array = dequantize(Quantized(made.codes, made.scales, None, made.format, "ocp", made.source, made.axis))
    return rounded(numbers, "bf16") if back else numbers


def rounded(values: Array, format: str) -> Array:
    """fp32 numbers, each the nearest of a format."""
    result: Array = convert(convert(values, format), "f32")
    return result


def unpacked(codes: Array) -> Array:
    """4-bit codes two in a byte, the even one low, as a byte each."""
    both = np.stack([codes & 15, codes >> 4], axis=-1)
    return both.reshape(*codes.shape[:-1], -1)


def packed(codes: Array) -> Array:
    return np.asarray(codes[..., ::2] | codes[..., 1::2] << 4)


def scale_numbers(layer: Layer, name: str, format: str) -> Array:
    scales = layer[f"{name}_weight_scale"]
    numbers: Array = convert(scales, "f32", source=SCALE_CODES[format]) if format in SCALE_CODES else scales
    return numbers


def spread(scales: Array, shape: tuple[int, ...]) -> Array:
    """Of each element of a matrix its scale: one for an expert, a row, a block of a row, or a square."""
    scales = scales.reshape(*scales.shape, *[1] * (3 - scales.ndim))
    repeats = [-(-shape[axis] // scales.shape[axis]) for axis in (1, 2)]
    return np.repeat(np.repeat(scales, repeats[0], axis=1), repeats[1], axis=2)[:, : shape[1], : shape[2]]


def code_numbers(layer: Layer, name: str, format: str) -> Array:
    codes = layer[f"{name}_weight"]
    numbers: Array = convert(unpacked(codes), "f32", source="e2m1") if format in FOUR_BITS else convert(codes, "f32", source="e4m3fn")
    return numbers


def numbers_of(layer: Layer, name: str, format: str, scales: Array | None = None, codes: Array | None = None) -> Array:
    """A matrix of a checkpoint's form in fp32, [experts, rows, columns]: each code times its scales, which fp32 has exactly for layers of case_of()."""
    values = code_numbers(layer, name, format) if codes is None else codes
    with np.errstate(all="ignore"):
        product = values * spread(scale_numbers(layer, name, format) if scales is None else scales, values.shape)
        if format == "nvfp4":
            product = product * layer[f"{name}_global_scale"][:, None, None]
    return np.asarray(product, np.float32)


def _lowest(values: Array) -> tuple[int, float] | None:
    """The exponent of the lowest bit that is set in any of fp32 numbers, and the largest magnitude; none where one is no number."""
    if not np.isfinite(values).all():
        return None
    some = values[values != 0].astype(np.float64)
    if not some.size:
        return 0, 0.0
    fractions, exponents = np.frexp(some)
    whole = np.abs(fractions * 2.0**24).astype(np.int64)
    return int((exponents - 24 + np.log2(whole & -whole).astype(np.int64)).min()), float(np.abs(some).max())


def _exact_in_fp64(a: Array, b: Array, added: Array) -> bool:
    """Whether every partial sum of products of the rows, and what is added, has at most 53 bits."""
    first, second, third = _lowest(a), _lowest(b), _lowest(added)
    if first is None or second is None or third is None:
        return False
    return a.shape[-1] * first[1] * second[1] + third[1] < 2.0 ** (53 + min(first[0] + second[0], third[0] if third[1] else 2000))


def product(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
    """Of each row the product with the matrix of its expert under a contract, [rows, matrix rows] in fp32; zeros where there is no expert."""
    results = np.zeros((len(rows), matrices.shape[1]), np.float32)
    for expert in np.unique(experts[experts >= 0]):
        at = experts == expert
        bias = np.zeros(matrices.shape[1], np.float32) if biases is None else biases[expert]
        if contract == "exact" and _exact_in_fp64(rows[at], matrices[expert], bias):
            results[at] = (rows[at].astype(np.float64) @ matrices[expert].T.astype(np.float64) + bias).astype(np.float32)
        else:
            results[at] = matmul(rows[at], matrices[expert].T, contract, bias=None if biases is None else bias)
    return results


@dataclass(frozen=True)
class Arithmetic:
    """What a layer is computed by. contract: of both products. constants: as of
    mxact.activate(). quantizer: of QUANTIZERS, in front of both products."""

    format: str
    activation: str
    contract: str = "exact"
    constants: dict[str, float] = field(default_factory=dict)
    quantizer: str = "none"

    @property
    def row(self) -> str:
        """Of the model's activations."""
        own = ACTIVATIONS[self.activation]
        return _LIMITED.get(self.activation, own) if "limit" in self.constants else own

    @property
    def limit(self) -> int | None:
        """fp32 bits."""
        return f32_bits("constants.limit", self.constants["limit"]) if "limit" in self.constants else None


@dataclass(frozen=True)
class Case:
    """A layer in a checkpoint's form in "standard" order, its tokens, and what computes it; stages are worked out once. x: bfloat16."""

    how: Arithmetic
    layer: Layer
    x: Array
    ids: Array
    weights: Array

    @property
    def experts(self) -> int:
        return len(self.layer["w2_weight"])

    @property
    def tokens(self) -> int:
        return len(self.x)

    @cached_property
    def inputs(self) -> Array:
        return self.x.astype(np.float32)

    def matrix(self, name: str) -> Array:
        return self.w13 if name == "w13" else self.w2

    @cached_property
    def w13(self) -> Array:
        return numbers_of(self.layer, "w13", self.how.format)

    @cached_property
    def w2(self) -> Array:
        return numbers_of(self.layer, "w2", self.how.format)

    def bias(self, name: str) -> Array | None:
        values = self.layer.get(f"{name}_bias")
        return None if values is None else values.astype(np.float32)

    @cached_property
    def gate_up(self) -> Array:
        """[slots, 2 * intermediate], a token's slots behind one another, gate before up."""
        return self.first({})

    @cached_property
    def act(self) -> Array:
        return self.activated({}, self.gate_up)

    @cached_property
    def down(self) -> Array:
        return self.second({}, self.act, self.ids)

    @cached_property
    def right(self) -> Array:
        return self.out()

    def first(self, other: dict[str, Any]) -> Array:
        ids, x = other.get("ids", self.ids), other.get("inputs", self.inputs)
        rows = quantized(np.ascontiguousarray(np.repeat(x, ids.shape[1], axis=0) * other.get("input_weights", np.float32(1))), self.how.quantizer)
        sums: Array = other.get("first", product)(rows, other.get("w13", self.w13), ids.reshape(-1), other.get("bias13", self.bias("w13")), self.how.contract)
        return sums

    def activated(self, other: dict[str, Any], gate_up: Array) -> Array:
        gate, up = (np.ascontiguousarray(half) for half in np.split(gate_up, 2, axis=1))
        result: Array = activate(gate, up, self.how.row, constants={**self.how.constants, **other.get("constants", {})})
        return result

    def second(self, other: dict[str, Any], act: Array, ids: Array) -> Array:
        rows = quantized(act, self.how.quantizer)
        sums: Array = other.get("second", product)(rows, other.get("w2", self.w2), ids.reshape(-1), other.get("bias2", self.bias("w2")), self.how.contract)
        return sums

    def out(self, **other: Any) -> Array:
        """[tokens, hidden] in fp32. other: what is put in the place of inputs (tokens in fp32), ids, weights, input_weights (a factor of each slot's token),
        w13, w2, bias13, bias2, constants, the products first and second, or of what the stages gate_up, act and down gave."""
        gate_up, act, down = (other.get(name) for name in ("gate_up", "act", "down"))
        if down is None:
            if act is None:
                if gate_up is None:
                    changed = {"inputs", "ids", "input_weights", "w13", "bias13", "first"} & other.keys()
                    gate_up = self.first(other) if changed else self.gate_up
                act = self.act if gate_up is self.gate_up and "constants" not in other else self.activated(other, gate_up)
            changed = {"ids", "w2", "bias2", "second"} & other.keys()
            down = self.second(other, act, other.get("ids", self.ids)) if changed or act is not self.act else self.down
        return self.summed(down, other.get("weights", self.weights))

    def summed(self, down: Array, weights: Array) -> Array:
        """The sum of a token's slots: one fp32 fused multiply-add each, in their order from +0, as assert_kernel's contracts have it."""
        slots = down.reshape(*weights.shape, -1)
        return np.concatenate([matmul(weights[token : token + 1], slots[token], "f32-sequential") for token in range(len(weights))])


def numbers_in(values: Array, format: str) -> Array:
    """fp32 numbers in a dtype of results: f32, bf16 or fp16."""
    if format not in ("f32", "bf16", "fp16"):
        raise Error(f"dtype is {format!r}, must be f32, bf16 or fp16", place="dtype")
    result: Array = convert(values, format).astype(dtype_of(format))
    return result
