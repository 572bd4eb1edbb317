"""Wrong kernels: rows of what a kernel of experts can get wrong, each a change of one stage of a right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact._conversions import convert
from mxact._products import matmul
from mxact._record import swizzle_128x4
from mxact.testing._bits import bits_of
from mxact.testing._stages import FOUR_BITS, SCALE_CODES, Case, code_numbers, numbers_in, numbers_of, product, scale_numbers, unpacked

Make = Callable[[Case, str], Array]
_EXPONENTS = {"f32": (23, -126), "bf16": (7, -126), "fp16": (10, -14)}
_BLOCK = 32


@dataclass(frozen=True)
class Wrong:
    """name: what assert_power() calls it. what: in words. make: of a layer and the dtype of its results (f32, bf16, fp16) what the kernel gives, in fp32 or in
    that dtype. needs: whether the layer has what it gets wrong. data: the data that show it, where no ordinary ones do."""

    name: str
    what: str
    make: Make
    needs: Callable[[Case], bool] = lambda case: True
    data: str = ""


def _cut(values: Array, dtype: str, how: str) -> Array:
    """fp64 numbers in a dtype's bits: "truncated", or "away": ties away from zero."""
    digits, least = _EXPONENTS[dtype]
    with np.errstate(all="ignore"):
        _, exponents = np.frexp(values)
        unit = np.ldexp(1.0, np.maximum(exponents - 1, least) - digits)
        steps = np.abs(values) / unit
        whole = np.trunc(steps) if how == "truncated" else np.floor(steps + 0.5)
        return np.asarray(np.where(np.isfinite(values), np.copysign(whole * unit, values), values))


def _unrounded(case: Case) -> Array:
    """The weighted sum of the slots before it is rounded, as near as fp64 has it."""
    slots = case.down.astype(np.float64).reshape(*case.weights.shape, -1)
    return np.asarray((slots * case.weights[:, :, None]).sum(axis=1))


def _rounded_otherwise(how: str) -> Make:
    def make(case: Case, dtype: str) -> Array:
        return numbers_in(_cut(_unrounded(case), dtype, how).astype(np.float32), dtype)

    return make


def _rounded_twice(case: Case, dtype: str) -> Array:
    """First to one bit more than the dtype has."""
    with np.errstate(all="ignore"):
        values = _unrounded(case)
        unit = np.ldexp(1.0, np.maximum(np.frexp(values)[1] - 1, _EXPONENTS[dtype][1]) - _EXPONENTS[dtype][0] - 1)
        first = np.rint(values / unit) * unit
        if dtype == "f32":
            return np.asarray(np.where(np.isfinite(first), first, values), np.float32)
    return numbers_in(first.astype(np.float32), dtype)


def _one_code_higher(case: Case, dtype: str) -> Array:
    right = numbers_in(case.right, dtype)
    return np.asarray(bits_of(right) + 1).astype(bits_of(right).dtype).view(right.dtype)


def _halves(rows: Array, axis: int = 1) -> tuple[Array, Array]:
    first, second = np.split(rows, 2, axis=axis)
    return first, second


def _exchanged(case: Case) -> Array:
    return np.concatenate(_halves(case.gate_up)[::-1], axis=1)


def _by_turns(case: Case) -> Array:
    """What lies gate before up is read by turns."""
    return np.concatenate([case.gate_up[:, ::2], case.gate_up[:, 1::2]], axis=1)


def _with_scales(change: Callable[[Array, Case, str], Array], names: tuple[str, ...] = ("w13", "w2")) -> Make:
    def make(case: Case, dtype: str) -> Array:
        of = {name: change(scale_numbers(case.layer, name, case.how.format), case, name) for name in names}
        return case.out(**{name: numbers_of(case.layer, name, case.how.format, scales=scales) for name, scales in of.items()})

    return make


def _with_codes(change: Callable[[Array, Case, str], Array]) -> Make:
    def make(case: Case, dtype: str) -> Array:
        values = {name: change(code_numbers(case.layer, name, case.how.format), case, name) for name in ("w13", "w2")}
        return case.out(**{name: numbers_of(case.layer, name, case.how.format, codes=codes) for name, codes in values.items()})

    return make


def _with_global(change: Callable[[Array], Array]) -> Make:
    def make(case: Case, dtype: str) -> Array:
        layer = case.layer | {name: change(case.layer[name]) for name in ("w13_global_scale", "w2_global_scale")}
        return case.out(w13=numbers_of(layer, "w13", case.how.format), w2=numbers_of(layer, "w2", case.how.format))

    return make


def _scale_codes(change: Callable[[Array], Array]) -> Callable[[Array, Case, str], Array]:
    def make(scales: Array, case: Case, name: str) -> Array:
        codes = change(case.layer[f"{name}_weight_scale"])
        numbers: Array = convert(np.ascontiguousarray(codes), "f32", source=SCALE_CODES[case.how.format])
        return numbers

    return make


def _first_block_higher(codes: Array) -> Array:
    higher = codes.copy()
    higher[..., 0] += 1
    return higher


def _read_swizzled(codes: Array) -> Array:
    return np.stack([swizzle_128x4(expert).reshape(expert.shape) for expert in codes])


def _other_format(format: str) -> Callable[[Array, Case, str], Array]:
    def make(values: Array, case: Case, name: str) -> Array:
        numbers: Array = convert(case.layer[f"{name}_weight"], "f32", source=format)
        return numbers

    return make


def _integers(values: Array, case: Case, name: str) -> Array:
    codes = unpacked(case.layer[f"{name}_weight"]).astype(np.int32)
    return np.where(codes < 8, codes, codes - 16).astype(np.float32)


def _nibbles(values: Array, case: Case, name: str) -> Array:
    return np.ascontiguousarray(values.reshape(*values.shape[:-1], -1, 2)[..., ::-1]).reshape(values.shape)


def _nan_as_480(values: Array, case: Case, name: str) -> Array:
    return np.where(np.isnan(values), np.copysign(np.float32(480), values), values)


def _product(change: Callable[[Array, Array, Array, Array | None, str], Array], *where: str) -> Make:
    return lambda case, dtype: case.out(**dict.fromkeys(where, change))


def _zero_from(rows: Array, start: int) -> Array:
    kept = rows.copy()
    kept[:, start:] = 0
    return kept


def _last_block_dropped(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
    return product(_zero_from(rows, rows.shape[1] - _BLOCK), matrices, experts, biases, contract)


def _split_lost(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
    whole = product(rows, matrices, experts, biases, contract)
    tile = whole.shape[1] // 4
    whole[:, :tile] = product(_zero_from(rows, rows.shape[1] // 2), matrices[:, :tile], experts, None if biases is None else biases[:, :tile], contract)
    return whole


def _padding_read(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
    """A block behind the end of each row, which is the next row's first, with the token's own first block."""
    beside = np.roll(matrices, -1, axis=1)[:, :, :_BLOCK]
    return product(np.concatenate([rows, rows[:, :_BLOCK]], axis=1), np.concatenate([matrices, beside], axis=2), experts, biases, contract)


def _under(record: str) -> Callable[..., Array]:
    def make(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
        results = np.zeros((len(rows), matrices.shape[1]), np.float32)
        for expert in np.unique(experts[experts >= 0]):
            at = experts == expert
            results[at] = matmul(rows[at], matrices[expert].T, record, bias=None if biases is None else biases[expert])
        return results

    return make


def _accumulated_in(dtype: Any) -> Callable[..., Array]:
    """k ascending, every sum rounded."""

    def make(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
        sums = np.zeros((len(rows), matrices.shape[1]), np.float32)
        with np.errstate(all="ignore"):
            for k in range(rows.shape[1]):
                sums = (sums + rows[:, k : k + 1] * matrices[experts, :, k]).astype(dtype).astype(np.float32)
        sums[experts < 0] = 0
        return sums if biases is None else sums + biases[experts]

    return make


def _not_cleared(case: Case) -> Array:
    sums = case.gate_up.copy()
    sums[1:] += case.gate_up[:-1]
    return sums


def _one_elsewhere(case: Case) -> Array:
    """The first slot's expert is read where the one behind it lies."""
    first = case.ids[case.ids >= 0][0]
    return np.where(case.ids == first, (first + 1) % case.experts, case.ids).astype(np.int32)


def _slot_dropped(case: Case) -> Array:
    weights = case.weights.copy()
    weights[:, -1] = 0
    return weights


def _flushed(case: Case) -> Array:
    return np.where(np.abs(case.inputs) < np.float32(2.0**-126), np.float32(0) * case.inputs, case.inputs)


def _has_bias(case: Case) -> bool:
    return "w13_bias" in case.layer


def _oai(case: Case) -> bool:
    return case.how.activation == "SWIGLUOAI"


def _limited(case: Case) -> bool:
    return _oai(case) or "limit" in case.how.constants


def _several(case: Case) -> bool:
    return case.experts > 1 and case.ids.shape[1] > 1


def _many_tokens(case: Case) -> bool:
    return case.tokens > 1


def _blocks(case: Case) -> bool:
    scales = case.layer["w13_weight_scale"]
    return scales.ndim == 3 and scales.shape[2] > 1


def _rows(case: Case) -> bool:
    return case.layer["w13_weight_scale"].ndim > 1


def _coded(case: Case) -> bool:
    return case.how.format in SCALE_CODES


def _tiled(case: Case) -> bool:
    return _coded(case) and all(case.layer[f"{name}_weight_scale"].shape[1] % 128 == 0 and case.layer[f"{name}_weight_scale"].shape[2] % 4 == 0 for name in ("w13", "w2"))


def _e8m0(case: Case) -> bool:
    return SCALE_CODES.get(case.how.format) == "e8m0"


def _four_bits(case: Case) -> bool:
    return case.how.format in FOUR_BITS


def _eight_bits(case: Case) -> bool:
    return not _four_bits(case)


def _nvfp4(case: Case) -> bool:
    return case.how.format == "nvfp4"


def _square(case: Case) -> bool:
    return case.layer["w2_weight_scale"].ndim > 0 and case.w2.shape[1] == case.w2.shape[2]


def _ones(case: Case) -> Array:
    return np.ones_like(case.weights)


_OUTPUTS = [
    Wrong("zeros", "every output is 0", lambda case, dtype: np.zeros_like(case.right)),
    Wrong("nan", "every output is a NaN", lambda case, dtype: np.full_like(case.right, np.nan)),
    Wrong("infinity", "every output is infinite", lambda case, dtype: np.full_like(case.right, np.inf)),
    Wrong("sign", "every output has the other sign", lambda case, dtype: -case.right),
    Wrong("gain-0.72", "every output is 0.72 times what it must be", lambda case, dtype: case.right * np.float32(0.72)),
    Wrong("gain-1.05", "every output is 1.05 times what it must be", lambda case, dtype: case.right * np.float32(1.05)),
    Wrong("previous-output", "the memory has what an earlier batch left", lambda case, dtype: case.out(inputs=np.ascontiguousarray(case.inputs[:, ::-1]))),
    Wrong("transposed-output", "the memory is written column by column", lambda case, dtype: np.ascontiguousarray(case.right.T).reshape(case.right.shape), _many_tokens),
    Wrong("tokens-exchanged", "each token gets what belongs to the one before", lambda case, dtype: np.roll(case.right, 1, axis=0), _many_tokens),
    Wrong("column-off-by-one", "each output is that of the column before", lambda case, dtype: np.roll(case.right, 1, axis=1)),
    Wrong("one-code-higher", "every output is the next code of its format", _one_code_higher),
    Wrong("truncated", "the last rounding is toward zero", _rounded_otherwise("truncated")),
    Wrong("ties-away", "the last rounding takes ties away from zero", _rounded_otherwise("away"), data="ties"),
    Wrong("rounded-twice", "the last rounding comes behind one to a bit more", _rounded_twice),
]
_ROUTING = [
    Wrong("expert-off-by-one", "every slot has the next expert", lambda case, dtype: case.out(ids=(case.ids + 1) % case.experts), lambda case: case.experts > 1),
    Wrong("one-expert-elsewhere", "one expert is read in another's place", lambda case, dtype: case.out(ids=_one_elsewhere(case)), lambda case: case.experts > 1),
    Wrong("weight-forgotten", "the slots are added without routing weights", lambda case, dtype: case.out(weights=_ones(case))),
    Wrong("weight-squared", "the routing weight is multiplied in twice", lambda case, dtype: case.out(weights=case.weights * case.weights)),
    Wrong("weight-on-input", "the routing weight enters in front of the first product", lambda case, dtype: case.out(input_weights=case.weights.reshape(-1, 1), weights=_ones(case))),
    Wrong("weight-before-activation", "the routing weight enters between first product and activation", lambda case, dtype: case.out(gate_up=case.gate_up * case.weights.reshape(-1, 1), weights=_ones(case))),
    Wrong("slot-dropped", "a token's last slot is not added", lambda case, dtype: case.out(weights=_slot_dropped(case)), _several),
    Wrong("weights-exchanged", "slots have each other's routing weights", lambda case, dtype: case.out(weights=np.ascontiguousarray(case.weights[:, ::-1])), _several),
    Wrong("neighbour-routing", "tokens have the experts of the token before", lambda case, dtype: case.out(ids=np.roll(case.ids, 1, axis=0)), _many_tokens),
]
_MIDDLE = [
    Wrong("gate-up-exchanged", "up goes through the activation in the place of gate", lambda case, dtype: case.out(gate_up=_exchanged(case))),
    Wrong("interleaved-as-halves", "rows of gate and up are taken in the wrong order", lambda case, dtype: case.out(gate_up=_by_turns(case))),
    Wrong("w2-transposed", "the second matrix is read column by column", lambda case, dtype: case.out(w2=np.ascontiguousarray(case.w2.transpose(0, 2, 1))), _square),
    Wrong("activation-forgotten", "gate times up, without the activation", lambda case, dtype: case.out(act=np.multiply(*_halves(case.gate_up)))),
    Wrong("up-forgotten", "the activation of gate is not multiplied by up", lambda case, dtype: case.out(gate_up=np.concatenate([_halves(case.gate_up)[0], np.ones_like(_halves(case.gate_up)[1])], axis=1))),
    Wrong("bias-1-forgotten", "the first product has no bias", lambda case, dtype: case.out(bias13=None), _has_bias),
    Wrong("bias-1-twice", "the first product's bias is added twice", lambda case, dtype: case.out(bias13=2 * case.layer["w13_bias"].astype(np.float32)), _has_bias),
    Wrong("bias-2-forgotten", "the second product has no bias", lambda case, dtype: case.out(bias2=None), _has_bias),
    Wrong("bias-2-twice", "the second product's bias is added twice, as two ranks would", lambda case, dtype: case.out(bias2=2 * case.layer["w2_bias"].astype(np.float32)), _has_bias),
    Wrong("limit-forgotten", "gate and up are not clamped", lambda case, dtype: case.out(constants={"limit": np.inf}), _limited),
    Wrong("alpha-forgotten", "alpha is 1", lambda case, dtype: case.out(constants={"alpha": 1.0}), _oai),
    Wrong("beta-forgotten", "nothing is added to up", lambda case, dtype: case.out(constants={"beta": 0.0}), _oai),
]
_SCALES = [
    Wrong("scale-forgotten", "codes are multiplied without block scales", _with_scales(lambda scales, case, name: np.ones_like(scales))),
    Wrong("scale-block-off-by-one", "each block has the scale of the block before", _with_scales(lambda scales, case, name: np.roll(scales, 1, axis=2)), _blocks),
    Wrong("scale-row-off-by-one", "each row has the scales of the row before", _with_scales(lambda scales, case, name: np.roll(scales, 1, axis=1)), _rows),
    Wrong("scale-of-another-expert", "each expert has the scales of the expert before", _with_scales(lambda scales, case, name: np.roll(scales, 1, axis=0)), lambda case: case.experts > 1),
    Wrong("scales-unswizzled", "scales in 128x4 tiles are read row by row", _with_scales(_scale_codes(_read_swizzled)), _tiled),
    Wrong("scale-byte-higher", "the first scale of each row of w2 is one code too high", _with_scales(_scale_codes(_first_block_higher), ("w2",)), _coded),
    Wrong("e8m0-as-integer", "a scale's code is taken for the number", _with_scales(lambda scales, case, name: case.layer[f"{name}_weight_scale"].astype(np.float32)), _e8m0),
    Wrong("global-scale-squared", "the expert's global scale enters twice", _with_global(lambda scale: scale * scale), _nvfp4),
    Wrong("global-scale-reciprocal", "the expert's global scale is divided by", _with_global(lambda scale: 1 / scale), _nvfp4),
    Wrong("global-scale-forgotten", "the expert's global scale does not enter", _with_global(np.ones_like), _nvfp4),
]
_CODES = [
    Wrong("nibbles-exchanged", "the two codes of a byte change places", _with_codes(_nibbles), _four_bits),
    Wrong("e2m1-as-integer", "4-bit codes are read as integers", _with_codes(_integers), _four_bits),
    Wrong("e4m3-as-e5m2", "8-bit codes are read as e5m2", _with_codes(_other_format("e5m2")), _eight_bits),
    Wrong("e4m3-as-fnuz", "8-bit codes are read as e4m3fnuz", _with_codes(_other_format("e4m3fnuz")), _eight_bits),
    Wrong("nan-as-480", "the NaN of e4m3 is read as 480", _with_codes(_nan_as_480), _eight_bits, "nan"),
    Wrong("subnormals-flushed", "subnormal inputs are taken for 0", lambda case, dtype: case.out(inputs=_flushed(case)), data="subnormal"),
]
_SUMS = [
    Wrong("last-k-dropped-1", "the first product leaves out the last 32 of k", _product(_last_block_dropped, "first")),
    Wrong("last-k-dropped-2", "the second product leaves out the last 32 of k", _product(_last_block_dropped, "second")),
    Wrong("padding-read", "the first product reads 32 of k behind the end of each row", _product(_padding_read, "first")),
    Wrong("split-k-lost-1", "a quarter of the first product's columns lacks half of k", _product(_split_lost, "first")),
    Wrong("split-k-lost-2", "a quarter of the second product's columns lacks half of k", _product(_split_lost, "second")),
    Wrong("not-cleared", "the first product's accumulator still has the slot before", lambda case, dtype: case.out(gate_up=_not_cleared(case)), lambda case: case.ids.size > 1),
    Wrong("accumulator-14-bits", "both products keep 14 bits of each sum of 16", _product(_under("step=aligned:cast=bf16:group=16:align=13:keep=14"), "first", "second")),
    Wrong("accumulator-fp16", "both products' sums are fp16", _product(_accumulated_in(np.float16), "first", "second")),
    Wrong("accumulator-bf16", "both products' sums are bf16", _product(_accumulated_in(ml_dtypes.bfloat16), "first", "second")),
]
ALL = (*_OUTPUTS, *_ROUTING, *_MIDDLE, *_SCALES, *_CODES, *_SUMS)
