"""What is known of each library's and each unit's sums: rows of data, which answers are held to after they were found without them.

Sources: outputs of an H100 80GB HBM3 (driver 580.159.04): torch 2.11.0+cu130 (cublasLtGetVersion 130100), Triton 3.6.0, JAX 0.11.2; recorded in golden/witness/hardware/gpu_peers_h100 and
golden/witness/numerics-tensor-cores. Of an H200 (the same driver): humming-kernels 0.1.20, recorded in golden/witness/hardware/humming_layer_h200; kernels of
vLLM 0.26.0 and the deep_gemm and triton_kernels that it brings, on the memory that mxact.pack makes, recorded in golden/witness/hardware/engines_h200. Of units beside Hopper's: docs/numerics.md, "Sums as records".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mxact._error import Error
from mxact.hwcheck._cuts import of_warps, split
from mxact.hwcheck._ways import PAIRS, QUADS, Way, fields_of, named, record_from

_LIBRARIES = "gpu_peers_h100"


@dataclass(frozen=True)
class Rule:
    """library, operation: whose call; shapes: of which sizes; release: that it was recorded from; units: compute capabilities without their dot, "" any.
    way: its sum. cut: a heuristic of the library chooses how k is cut, so the way takes the pieces as an input; cut_scales: where scales enter then, where
    that is another place. turns: parts share k in numbers that the library chooses: `split` of a loop, `warps` of a block. source: of the recordings."""

    key: str
    library: str
    operation: str
    shapes: str
    release: str
    way: Way
    cut: bool = False
    cut_scales: str = ""
    turns: str = ""
    units: tuple[str, ...] = ("90",)
    source: str = _LIBRARIES


_TORCH, _TRITON, _JAX = "2.11.0", "3.6.0", "0.11.2"
_FAST, _SLOW = "hopper-fp8", "hopper-fp8-promoted"


def _fp8(kind: str, operation: str, scales: str, cut: bool) -> list[Rule]:
    return [
        Rule(f"torch.{kind}.{speed}", "torch", f"{operation}, use_fast_accum={speed == 'fast'}", "any M, N, K", _TORCH, named(core, scales=scales), cut, "total" if cut else "")
        for speed, core in (("fast", _FAST), ("slow", _SLOW))
    ]


def _scaled(upcast: str, order: str, records: str) -> Rule:
    way = Way(named(f"hopper-{upcast}:order={records}").core, upcast=upcast)
    return Rule(f"triton.dot_scaled.{upcast}.{order}", "triton", "tl.dot_scaled", {"ascending": "64 rows and more", "pairs": "8-bit codes, fewer than 64 rows", "quads": "e2m1, fewer than 64 rows"}[order], _TRITON, way)


_CHAIN128 = "hopper-fp8:restart=128"
_HUMMING = Way(named("hopper-bf16").core, upcast="bf16")
_SHIFTED = Way(named("hopper-bf16").core, upcast="bf16", fast_math=True)
_VLLM, _ENGINES = "0.26.0", "engines_h200"
RULES: tuple[Rule, ...] = (
    *_fp8("tensor", "_scaled_mm with scales of the tensor", "total-plus-zero", True),
    *_fp8("rows", "_scaled_mm with scales of rows and columns", "total-b-a", False),
    *_fp8("grouped", "_scaled_grouped_mm", "total-a-b", False),
    Rule("torch.block_1x128_128x128", "torch", "scaled_mm, blocks 1x128 by 128x128", "M a multiple of 4", _TORCH, named(_CHAIN128, scales="chain"), True),
    Rule("torch.block_128x128_1x128", "torch", "scaled_mm, blocks 128x128 by 1x128", "N a multiple of 4", _TORCH, named(_CHAIN128, scales="chain"), True),
    Rule("torch.block_1x128_1x128", "torch", "scaled_mm, blocks 1x128 by 1x128", "M a multiple of 4", _TORCH, named(_CHAIN128, scales="chain-one-by-one"), True),
    Rule("torch.bf16", "torch", "mm, linear, _grouped_mm", "N and K multiples of 8", _TORCH, named("hopper-bf16"), True),
    Rule("torch.fp16", "torch", "mm, linear", "N and K multiples of 8", _TORCH, named("hopper-fp16"), True),
    Rule("torch.bf16.odd", "torch", "mm, N odd", "kernels named s1688", _TORCH, named("cublas-bf16-odd"), True),
    Rule("torch.fp16.accumulators", "torch", "mm with allow_fp16_accumulation", "any", _TORCH, named("hopper-f16-f16"), True),
    Rule("triton.bf16", "triton", "tl.dot", "any tile", _TRITON, named("hopper-bf16")),
    Rule("triton.fp16", "triton", "tl.dot", "any tile", _TRITON, named("hopper-fp16")),
    Rule("triton.fp8.acc", "triton", "tl.dot(a, b, acc)", "64 rows and more", _TRITON, named(_FAST)),
    Rule("triton.fp8.added", "triton", "acc += tl.dot(a, b), BLOCK_K 128", "64 rows and more", _TRITON, named(_CHAIN128)),
    Rule("triton.fp8.imprecise32", "triton", "tl.dot, max_num_imprecise_acc=32", "64 rows and more", _TRITON, named("hopper-fp8:restart=32")),
    Rule("triton.fp8.imprecise96", "triton", "tl.dot, max_num_imprecise_acc=96, BLOCK_K 128", "64 rows and more", _TRITON, named(_FAST, chain=96, step_k=128)),
    Rule("triton.fp8.imprecise0", "triton", "tl.dot, max_num_imprecise_acc=0", "any tile", _TRITON, named("hopper-fp8-as-fp16")),
    Rule("triton.fp8.rows16.acc", "triton", "tl.dot(a, b, acc)", "16 and 32 rows", _TRITON, named("hopper-fp8-as-fp16")),
    Rule("triton.fp8.rows16.added", "triton", "acc += tl.dot(a, b), BLOCK_K 128", "16 and 32 rows", _TRITON, named("hopper-fp8-as-fp16:restart=128")),
    *(_scaled(upcast, order, record) for upcast in ("bf16", "fp16") for order, record in (("ascending", "0"), ("pairs", PAIRS), ("quads", QUADS))),
    Rule("jax.bf16", "jax", "dot, without autotuning", "M of 2 and more", _JAX, named("hopper-bf16"), True),
    Rule("jax.bf16.m1", "jax", "dot, f32 results, without autotuning", "M of 1, K 512", _JAX, named("f32-sequential", lanes=(4, 32, 1, ""))),
    Rule("jax.bf16.m1.bf16", "jax", "dot, bf16 results, without autotuning", "M of 1, K 512", _JAX, named("f32-sequential", lanes=(4, 32, 1, "bf16"))),
    Rule("jax.e4m3fn", "jax", "dot, without autotuning", "M of 2 and more", _JAX, named("hopper-fp16"), True),
    *(Rule(f"vllm.cutlass.{kind}", "vllm", f"cutlass_scaled_mm, scales of {kind}", "N and K multiples of 16", _VLLM, named(core, scales=scales), source=_ENGINES) for kind, core, scales in (("tensor", _FAST, "total-a-b"), ("rows", _FAST, "total-a-b"), ("blocks", _CHAIN128, "chain"))),
    Rule("vllm.marlin.mxfp4", "vllm", "moe_wna16_marlin_gemm, MXFP4 weights", "any", _VLLM, _SHIFTED, turns="warps", source=_ENGINES),
    Rule("deep_gemm.blocks", "deep_gemm", "fp8_gemm_nt", "any", _VLLM, named(_CHAIN128, scales="chain"), source=_ENGINES),
    Rule("triton_kernels.bf16", "triton_kernels", "matmul_ogs", "split_k of its own choice", _VLLM, named("hopper-bf16"), turns="split", source=_ENGINES),
    Rule("triton_kernels.mxfp4", "triton_kernels", "matmul_ogs, MXFP4 weights", "any", _VLLM, _SHIFTED, turns="split", source=_ENGINES),
    Rule("humming.mxfp4", "humming", "HummingLayer, MXFP4 weights", "64 rows, K 512: two slices, rounded before they meet", "0.1.20", _HUMMING, True, source="humming_layer_h200"),
    Rule("humming.mxfp4.invariant", "humming", "HummingLayer, MXFP4 weights, batch-invariant", "2 to 256 rows, K 256 to 4096", "0.1.20", _HUMMING, source="humming_layer_h200"),
)

# Sums of single instructions: what stands for (unit, form of the instruction, operands, result). Units beside sm_90 are others' recordings or a simulator's.
_NVIDIA = {"70": "volta", "75": "turing", "80": "ampere", "86": "ampere", "87": "ampere", "89": "ada", "90": "hopper", "100": "blackwell", "103": "blackwell", "120": "blackwell", "121": "blackwell"}


def instruction_rule(unit: str, form: str, operand: str, result: str, k: int) -> Way | None:
    """The way of an instruction of that k; None where nothing is known."""
    family = _NVIDIA.get(unit)
    if family is None:
        return None
    half = "-f16" if result == "fp16" else ""
    eight = operand in ("e4m3fn", "e5m2")
    if eight and form == "wgmma":
        name = "hopper-fp8" + half
    elif eight and family == "hopper":
        name = "hopper-mma-fp8" + ("-k16" if k == 16 else "") + half
    elif eight and unit in ("100", "103"):
        name = "blackwell-mma-fp8" + half
    elif eight:
        name = "ada-fp8" + half if family == "ada" else "blackwell-f8f6f4" + half
    else:
        name = f"{family}-{'f16' if operand == 'fp16' else operand}{half}"
    try:
        core = named(name).core
        fields = fields_of(core)
        return Way(record_from({**fields, "group": str(min(int(fields["group"]), k))}) if not eight else core)
    except Error:
        return None


def _casts() -> dict[str, dict[str, str]]:
    """Of casts to eight bits what becomes of too large numbers and of NaN; of formats whose rule is no such words, a profile."""
    found: dict[str, dict[str, str]] = {}
    for source in ("f32", "bf16", "fp16"):
        for to, end in (("e4m3fn", "nan"), ("e5m2", "inf")):
            found[f"torch.{source}.{to}"] = {"overflow": end, "nan_pos": "0x7F", "nan_neg": "0x7F" if source == "fp16" else "0xFF"}
            found[f"jax.{source}.{to}"] = {"overflow": end, "nan_pos": "0x7F", "nan_neg": "0x7F"}
            found[f"inductor.{source}.{to}"] = {"overflow": "saturate", "nan_pos": "0x7F", "nan_neg": "0x7F"}
        for to in ("e4m3fnuz", "e5m2fnuz", "e8m0"):
            found[f"torch.{source}.{to}"] = {"profile": "torch-cuda"}
            found[f"jax.{source}.{to}"] = {"profile": "jax-cuda"}
    found |= {f"vllm.{source}.e4m3fn": {"overflow": "saturate", "nan_pos": "0x7E", "nan_neg": "0x7E"} for source in ("f32", "bf16", "fp16")}
    found |= {f"cuda.f32.{to}": found[f"inductor.f32.{to}"] for to in ("e4m3fn", "e5m2")}
    return found | {f"torch.f32.{to}": {"overflow": "inf", "nan_pos": "0x7FFF", "nan_neg": "0x7FFF"} for to in ("bf16", "fp16")}


# Casts of torch (eager), inductor and Triton, JAX, and cvt.satfinite: outputs of an H100, all inputs. Of vLLM's scaled_fp8_quant: of an H200.
CASTS = _casts()


def rule(key: str, unit: str = "90") -> Rule | None:
    """The row of that key for a card of that compute capability."""
    return next((row for row in RULES if row.key == key and (not row.units or unit in row.units)), None)


def with_cut(row: Rule, found: Way | None, k: int, lengths: Iterable[int]) -> Iterator[Way]:
    """The row's way, and where the library cuts k, that in pieces: first those that an answer showed, then of these lengths."""
    cuts = [row.way]
    if row.cut:
        half = fields_of(row.way.core).get("result") == "fp16"
        plain = "ascending_fp16" if half else "ascending"
        if found is not None and found.piece_k:
            cuts.append(replace(row.way, piece_k=found.piece_k, join=found.join, piece_rounded=found.piece_rounded, rest_first=found.rest_first))
        for length in lengths:
            cuts.append(replace(row.way, piece_k=length, join=plain))
            cuts += [] if half else [replace(row.way, piece_k=length, piece_rounded=True), replace(row.way, piece_k=length, join="halves")]
    if row.turns:
        cuts += (split if row.turns == "split" else of_warps)(row.way, k)
    for way in dict.fromkeys(cuts):
        yield way
        if row.cut_scales:
            yield replace(way, scales=row.cut_scales)


def record(key: str, piece_k: int = 0, pieces: int = 1, unit: str = "90") -> str:
    """The record by which mxact.dot, mxact.matmul and mxact.layer compute a library's product, its scales included.

    key: of rules(), as "torch.tensor.fast". piece_k, pieces: how the library's heuristic cut k, where it did: what is not said is one chain.
    Raises mxact.Error: an unknown key, a way that no record has (steps, scale bytes by shifts, sums by lanes), pieces of a library that cuts nothing.
    Source: golden/witness/hardware/gpu_peers_h100.
    """
    row = rule(key, unit)
    if row is None:
        raise Error(f"there is no rule {key!r} of sm_{unit}; these are: {' '.join(one.key for one in RULES)}", place="key")
    if row.way.step_k or row.turns or row.way.upcast or row.way.lanes is not None:
        raise Error(f"{key}: no record has this way: {row.way.text()}", place="key")
    if pieces > 1 and not row.cut:
        raise Error(f"{key}: k is never cut, {pieces} pieces were asked for", place="pieces")
    if (pieces > 1) != (piece_k > 0):
        raise Error(f"{pieces} pieces of {piece_k}: both say how k is cut, or neither", place="pieces")
    fields = fields_of(row.way.core)
    if row.way.scales:
        fields["scales"] = row.cut_scales if pieces > 1 and row.cut_scales else row.way.scales
    if pieces > 1:
        fields |= {"split": str(pieces), "split-tile": str(piece_k)}
    return record_from(fields)
