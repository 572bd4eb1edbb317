"""Parts of a layer of experts: its activation, its router, and the layer itself, every stage of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, contract_word, f32_bits, flag, flat_bytes, integer, listed, shown, word
from mxact._error import Error
from mxact._libraries import like, like_any
from mxact._products import operand

_F32 = np.dtype(np.float32)
_CONSTANTS = ("alpha", "beta", "limit", "linear_beta")


def _constants(given: object) -> tuple[int | None, int | None, int | None, int | None]:
    if given is None:
        return None, None, None, None
    if not isinstance(given, Mapping):
        raise Error(f"constants is {shown(given)}, must be a mapping of {', '.join(_CONSTANTS)}", place="constants")
    for name in given:
        if name not in _CONSTANTS:
            raise Error(f"constants has {shown(name)}, must be of {', '.join(_CONSTANTS)}", place="constants")
    alpha, beta, limit, linear = (f32_bits(f"constants.{name}", given[name]) if name in given else None for name in _CONSTANTS)
    return alpha, beta, limit, linear


def _numbers(name: str, value: object, shape: tuple[int, ...] | None = None) -> Array:
    values = listed(name, value, _F32)
    if values.dtype != _F32:
        raise Error(f"{name} is {values.dtype}, must be float32", place=name)
    if shape is not None and values.shape != shape:
        raise Error(f"{name} has shape {values.shape}, must have {shape}", place=name)
    return values


def _optional(name: str, value: object, shape: tuple[int, ...]) -> Array:
    return np.empty(0, np.uint8) if value is None else flat_bytes(_numbers(name, value, shape))


def activate(gate: object, up: object = None, activation: str = "swiglu_oai", type: str = "f32", constants: object = None) -> Any:
    """The activation of each pair of gate and up, every rounding in its place.

    gate, up: float32 of one shape, numbers of `type`; up is left out where the activation has no gate.
    activation: a name of mxact.activations(). type: "f32", "bf16" or "fp16", what results are rounded to.
    constants: numbers by name, of alpha, beta, limit, linear_beta; those left out are the activation's own.
    Returns float32 of gate's shape; a NaN is 0x7FC00000.
    Raises mxact.Error: unknown names, another dtype or shape, a constant that the implementation has compiled in another value of, a limit that is not above 0.
    Source: the activation's row (model/moe/activation_table.cpp names implementation and line).
    """
    gates = _numbers("gate", gate)
    ups = gates if up is None else _numbers("up", up, gates.shape)
    given = word("activation", activation)
    if _core.takes_up(given) != (up is not None):
        raise Error(f"activation {given} {'needs' if up is None else 'takes no'} up", place="up")
    results: Any = _core.activate(given, word("type", type), _constants(constants), flat_bytes(gates), flat_bytes(ups))
    return like(gate, results.view(np.float32).reshape(gates.shape))


def route(logits: object, router: str, top_k: int, bias: object = None, groups: int = 1, topk_groups: int = 1, factor: object = 1.0) -> tuple[Any, Any]:
    """The experts of each token and their weights, by descending choice.

    logits: [tokens, experts], float32. router: a name of mxact.routers(). top_k: experts of a token. bias: [experts], float32, where the choice adds one.
    groups, topk_groups: equal groups of consecutive experts, and how many of them stay eligible. factor: multiplied into every weight at last (fp32).
    Returns ids, int32, and weights, float32, [tokens, top_k] each.
    Raises mxact.Error: unknown names, another dtype or shape, a bias that the router does not add or lacks, sizes that the router does not take.
    Source: the router's row (model/moe/routers.cpp names implementation and line).
    """
    scores = _numbers("logits", logits)
    if scores.ndim != 2 or scores.shape[1] == 0:
        raise Error(f"logits has shape {scores.shape}, must be [tokens, experts]", place="logits")
    tokens, experts = scores.shape
    added = _optional("bias", bias, (experts,))
    count = integer("top_k", top_k)
    sizes = count, integer("groups", groups), integer("topk_groups", topk_groups), f32_bits("factor", factor)
    found: tuple[Any, Any] = _core.route(word("router", router), *sizes, experts, flat_bytes(scores), added)
    shape = tokens, count
    return like(logits, found[0].view(np.int32).reshape(shape)), like(logits, found[1].view(np.float32).reshape(shape))


def moe_layer(
    x: object,
    ids: object,
    weights: object,
    w13: object,
    w2: object,
    contract: str | os.PathLike[str] = "exact",
    activation: str = "swiglu_oai",
    constants: object = None,
    w13_bias: object = None,
    w2_bias: object = None,
    w13_scale: object = None,
    w2_scale: object = None,
    quantize_x: bool = False,
    round_gate_up: bool = False,
    round_act: bool = False,
    quantize_act: bool = False,
    round_expert_out: bool = False,
    weight_on_input: bool = False,
    stages: bool = False,
) -> Any:
    """A layer of experts: gate and up, activation, down, the weighted sum of a token's slots in their order.

    x: [tokens, hidden]. w13: [experts, 2 * intermediate, hidden], gate rows before up. w2: [experts, hidden, intermediate]. Each an array as convert()
    takes it, or Quantized along its last axis. ids: [tokens, top_k], int32, -1 for a slot of no expert. weights: the same shape, float32.
    contract: a name of mxact.contracts() that takes numbers, a record, or the path of a file with one. activation: "swiglu_oai" or "silu_and_mul". constants: as of activate().
    w13_bias: [experts, 2 * intermediate], w2_bias: [experts, hidden], float32. w13_scale, w2_scale: [experts], float32, a factor of each expert.
    quantize_x, quantize_act: in blocks of 32, e4m3fn under 2^ceil(log2(amax / 448)). round_*: to bf16, ties to even. weight_on_input: x is multiplied by it.
    Returns out, float32 [tokens, hidden]; with stages, also a dict of gate_up [tokens, top_k, 2 * intermediate], act and expert_out, float32.
    Raises mxact.Error: unknown names, dtypes and shapes that do not fit, an expert that does not exist.
    Source: model/moe/layer.hpp; packed tensors of a backend are computed by mxact.testing.assert_kernel.
    """
    given_x, of_x = operand("x", x, 2)
    given_13, of_13 = operand("w13", w13, 3)
    given_2, of_2 = operand("w2", w2, 3)
    tokens, hidden = given_x
    experts, rows = given_13[:2]
    if given_13[2] != hidden or rows % 2 or not experts * rows * hidden:
        raise Error(f"w13 has shape {given_13}, must be [experts, 2 * intermediate, {hidden}], as x has {hidden} numbers a token", place="w13")
    if given_2 != (experts, hidden, rows // 2):
        raise Error(f"w2 has shape {given_2}, must have {(experts, hidden, rows // 2)}", place="w2")
    chosen = listed("ids", ids, np.dtype(np.int32))
    if chosen.dtype != np.int32 or chosen.ndim != 2 or len(chosen) != tokens or not chosen.shape[1]:
        raise Error(f"ids is {chosen.dtype} of shape {chosen.shape}, must be int32 [{tokens}, top_k]", place="ids")
    if chosen.size and not -1 <= chosen.min() <= chosen.max() < experts:
        raise Error(f"ids has {chosen.min()} to {chosen.max()}, must be -1 or one of {experts} experts", place="ids")
    slots = flat_bytes(_numbers("weights", weights, chosen.shape))
    factors = _optional("w13_scale", w13_scale, (experts,)), _optional("w2_scale", w2_scale, (experts,))
    biases = _optional("w13_bias", w13_bias, (experts, rows)), _optional("w2_bias", w2_bias, (experts, hidden))
    switches = {
        "quantize_x": quantize_x,
        "round_gate_up": round_gate_up,
        "round_act": round_act,
        "quantize_act": quantize_act,
        "round_expert_out": round_expert_out,
        "weight_on_input": weight_on_input,
    }
    first, second, third, fourth, fifth, sixth = (flag(name, value) for name, value in switches.items())
    how = contract_word(contract), word("activation", activation), _constants(constants), (first, second, third, fourth, fifth, sixth)
    layer = of_13, of_2, *factors, *biases
    kept = _core.moe_layer(*how, (experts, rows // 2, hidden), layer, of_x, chosen.shape[1], flat_bytes(chosen), slots, flag("stages", stages))
    out, *made = (np.asarray(words).view(np.float32) for words in kept)
    if not stages:
        return like(x, out.reshape(tokens, hidden))
    names = "gate_up", "act", "expert_out"
    return like(x, out.reshape(tokens, hidden)), like_any([x], {name: rows.reshape(*chosen.shape, -1) for name, rows in zip(names, made, strict=True)})
