"""What vLLM computes between products: activations, quantized groups, sums over a token's slots, routers. Each is held to every row that the model has of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._blocks import quantize
from mxact._error import Error
from mxact._layer import layer
from mxact._layers import pack
from mxact._moe import activate, route
from mxact._tables import activations, profiles, routers
from mxact.hwcheck._questions import StageQuestion
from mxact.hwcheck._tensors import back, dtype, library, numbers_on_card, on_card, torch

Arrays = tuple[Array, ...]
_BF16 = dtype_of("bf16")
_HALVES, _EXPERTS = 512, 32


def _ops() -> object:
    """The operators that vLLM registers when its module is imported."""
    library("vllm._custom_ops")
    return torch().ops


def _every_gate(random: np.random.Generator) -> Arrays:
    """Every finite bf16 beside an ordinary one, [rows, gate and up]."""
    every = np.arange(1 << 16, dtype=np.uint16).view(_BF16)
    gates = np.asarray(np.where(np.isfinite(every.astype(np.float32)), every, _BF16.type(0))).reshape(-1, _HALVES)
    ups = random.normal(0, 4, gates.shape).astype(np.float32).astype(_BF16)
    return gates, ups


def _activated(word: str, by_turns: bool, *constants: float) -> Callable[[Arrays], Arrays]:
    def ask(given: Arrays) -> Arrays:
        gates, ups = given
        pairs = np.stack([gates, ups], axis=-1).reshape(gates.shape[0], -1) if by_turns else np.concatenate([gates, ups], axis=1)
        operator = getattr(_ops()._C, word)  # type: ignore[attr-defined]
        out = torch().empty(gates.shape, dtype=dtype("bf16"), device="cuda")
        operator(out, on_card(np.ascontiguousarray(pairs), "bf16"), *constants)
        return (back(out, "bf16"),)

    return ask


def _activation_way(name: str, given: Arrays) -> Arrays:
    gates, ups = (one.astype(np.float32) for one in given)
    return (np.asarray(activate(gates, ups, name, "bf16")).astype(_BF16),)


def _far_apart(random: np.random.Generator) -> Arrays:
    """Rows of groups of every size, and one of zeros."""
    x = random.normal(0, 1, (256, 1024)) * np.exp2(random.integers(-30, 31, (256, 8))).repeat(128, axis=1)
    x[7, :128] = 0
    return (x.astype(np.float32).astype(_BF16),)


def _grouped(powers: bool) -> Callable[[Arrays], Arrays]:
    def ask(given: Arrays) -> Arrays:
        x = on_card(given[0], "bf16")
        codes = torch().empty(x.shape, dtype=dtype("e4m3fn"), device="cuda")
        scales = torch().empty((x.shape[0], x.shape[1] // 128), dtype=torch().float32, device="cuda")
        _ops()._C.per_token_group_fp8_quant(x, codes, scales, 128, 1e-10, -448.0, 448.0, powers, False, False)  # type: ignore[attr-defined]
        return back(codes, "e4m3fn").view(np.uint8), back(scales, "f32")

    return ask


def _group_way(profile: str, given: Arrays) -> Arrays:
    found = quantize(given[0].astype(np.float32), "fp8_e4m3_g128", profile=profile)
    return np.asarray(found.codes).view(np.uint8), np.asarray(found.scales)


def _times_reciprocal() -> bool:
    """Whether vLLM is here whose quantizer of groups multiplies by the scale's reciprocal. Source: outputs of an H200, 0.32.0 and 0.33.0."""
    try:
        release = version("vllm")
    except PackageNotFoundError:
        return False
    return tuple(int(part) for part in re.findall(r"\d+", release)[:2]) >= (0, 33)


def _entry_way(powers: int, engine: str, given: Arrays) -> Arrays:
    """x as it enters TRITON's first product of FP8 in blocks by a version of the engine."""
    tokens, hidden = given[0].shape
    layer_of_one = {
        "w13_weight": np.zeros((1, 256, hidden), np.uint8),
        "w13_weight_scale": np.ones((1, 2, hidden // 128), np.float32),
        "w2_weight": np.zeros((1, hidden, 128), np.uint8),
        "w2_weight_scale": np.ones((1, hidden // 128, 1), np.float32),
    }
    packed = pack(layer_of_one, "TRITON", engine=engine, format="fp8_block", order="standard", platform="sm90")
    ids = np.zeros((tokens, 1), np.int32)
    run = layer(packed, given[0], ids, activation="SILU", stages=["a1_codes", "a1_scales"], launch={"e8m0": powers})
    return np.asarray(run["a1_codes"]), np.asarray(run["a1_scales"])


def _slots(top_k: int, random: np.random.Generator) -> Arrays:
    """Slots of every size, half of which cancel the one before but for its last bits."""
    slots = random.normal(0, 1, (256, top_k, 256)) * np.exp2(random.integers(-9, 10, (256, top_k, 256)))
    for slot in range(1, top_k):
        near = -slots[:, slot - 1] * (1 + 2.0**-7)
        slots[:, slot] = np.where(random.random(near.shape) < 0.5, near, slots[:, slot])
    return (slots.astype(np.float32).astype(_BF16),)


def _summed(given: Arrays) -> Arrays:
    slots = on_card(given[0], "bf16")
    out = torch().empty((slots.shape[0], slots.shape[2]), dtype=dtype("bf16"), device="cuda")
    library("vllm._custom_ops").moe_sum(slots, out)
    return (back(out, "bf16"),)


def _sum_way(each: str, lanes: int, given: Arrays) -> Arrays:
    """Slots in their order from +0, each sum rounded to `each`; slot s goes to the sum s modulo `lanes`, sums are added in their order."""
    kind = dtype_of(each)
    slots = given[0].astype(np.float32)
    sums = [np.zeros(slots[:, 0].shape, kind) for _ in range(lanes)]
    for slot in range(slots.shape[1]):
        sums[slot % lanes] = (sums[slot % lanes].astype(np.float32) + slots[:, slot]).astype(kind)
    total = sums[0].astype(np.float32)
    for one in sums[1:]:
        total = total + one.astype(np.float32)
    return (total.astype(_BF16),)


def _logits(random: np.random.Generator) -> Arrays:
    return (random.normal(0, 3, (256, _EXPERTS)).astype(np.float32),)


def _routed(renormalize: bool) -> Callable[[Arrays], Arrays]:
    def ask(given: Arrays) -> Arrays:
        logits = numbers_on_card(given[0])
        weights = torch().empty((logits.shape[0], 4), dtype=torch().float32, device="cuda")
        ids, places = (torch().empty_like(weights, dtype=torch().int32) for _ in range(2))
        library("vllm._custom_ops").topk_softmax(weights, ids, places, logits, renormalize)
        return ids.cpu().numpy().astype(np.uint32), back(weights, "f32")

    return ask


def _router_way(name: str, given: Arrays) -> Arrays:
    ids, weights = route(given[0], name, 4)
    return np.asarray(ids).astype(np.uint32), np.asarray(weights)


def _lanes_way(renormalize: bool, given: Arrays) -> Arrays:
    """Softmax by lanes of four experts, with the exp that torch computes on the card: a lane adds its own, lanes meet by exchange with l ^ 4, l ^ 2, l ^ 1; times
    the sum's reciprocal. Renormalized: times the reciprocal of the chosen ones' sum, in their order."""
    logits = given[0]
    exponentials = back(torch().exp(numbers_on_card(logits - logits.max(axis=1, keepdims=True))), "f32").reshape(len(logits), -1, 4)
    sums = np.zeros(exponentials.shape[:2], np.float32)
    for place in range(4):
        sums = sums + exponentials[:, :, place]
    step = sums.shape[1] // 2
    while step:
        sums = sums + sums[:, np.arange(sums.shape[1]) ^ step]
        step //= 2
    scores = exponentials.reshape(logits.shape) * (np.float32(1) / sums[:, :1])
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :4]
    weights = np.take_along_axis(scores, ids, axis=1)
    if renormalize:
        total = np.zeros(len(weights), np.float32)
        for one in weights.T:
            total = total + one
        weights = weights * (np.float32(1) / total)[:, None]
    return ids.astype(np.uint32), weights


def _ways(names: list[str], way: Callable[[str, Arrays], Arrays], given: Arrays) -> dict[str, Callable[[Arrays], Arrays]]:
    """Those that take such inputs."""
    found: dict[str, Callable[[Arrays], Arrays]] = {}
    for name in names:
        try:
            way(name, given)
        except Error:
            continue
        found[name] = partial(way, name)
    return found


def stage_questions() -> Iterator[StageQuestion]:
    """The steps; whether vLLM is here is seen when they are asked."""
    few = np.random.default_rng(0)
    gate = _ways(list(activations()), _activation_way, tuple(one[:1] for one in _every_gate(few)))
    yield StageQuestion("vllm.silu_and_mul", "vllm", "silu_and_mul", "bf16 -> bf16", _every_gate, _activated("silu_and_mul", False), gate, "silu_and_mul")
    yield StageQuestion("vllm.swigluoai_and_mul", "vllm", "swigluoai_and_mul", "bf16 -> bf16", _every_gate, _activated("swigluoai_and_mul", True, 1.702, 7.0), gate, "swiglu_oai_cuda")
    groups = _ways(list(profiles()), _group_way, (_far_apart(few)[0][:1],))
    divided, multiplied, power = (f"a1 of TRITON, fp8_block, {word}" for word in ("e8m0=0", "e8m0=0, vllm@2026-11", "e8m0=1"))
    groups |= {divided: partial(_entry_way, 0, "2026-08"), multiplied: partial(_entry_way, 0, "2026-11"), power: partial(_entry_way, 1, "2026-08")}
    for suffix, powers, rule in (("", False, multiplied if _times_reciprocal() else divided), (".ue8m0", True, power)):
        yield StageQuestion(f"vllm.per_token_group_fp8_quant{suffix}", "vllm", "per_token_group_fp8_quant", "bf16 -> e4m3fn, f32", _far_apart, _grouped(powers), groups, rule)
    sums = {
        "fp32 in order": partial(_sum_way, "f32", 1),
        "bf16 in order": partial(_sum_way, "bf16", 1),
        "fp32 in four sums": partial(_sum_way, "f32", 4),
    }
    for top_k in (4, 6, 8):
        yield StageQuestion(f"vllm.moe_sum.{top_k}", "vllm", f"moe_sum of {top_k} slots", "bf16 -> bf16", partial(_slots, top_k), _summed, sums, "fp32 in order")
    lanes = {"softmax by lanes": partial(_lanes_way, False), "softmax by lanes, renormalized": partial(_lanes_way, True)}
    routing = _ways(list(routers()), _router_way, (_logits(few)[0][:1],)) | lanes
    for suffix, renormalize, rule in zip(("", ".renormalized"), (False, True), lanes, strict=True):
        yield StageQuestion(f"vllm.topk_softmax{suffix}", "vllm", "topk_softmax of 32 experts", "f32 -> f32", _logits, _routed(renormalize), routing, rule)
