"""Kernels of engines that are installed: their products on the same codes. What is not installed is SKIPPED; nothing of an engine is stored or built here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact._layers import pack
from mxact.hwcheck._engine_stages import stage_questions
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, NotHere, Question
from mxact.hwcheck._tensors import back, bytes_on_card, dtype, library, numbers_on_card, on_card, torch

_FP8 = "e4m3fn"
_ROWS = 64  # rows of a product, but where its name says otherwise


def _own(name: str) -> Any:
    """A library, or the copy of it that vLLM brings, under its own name as vLLM has it."""
    whole = name.partition(".")[0]
    try:
        library(whole)
    except NotHere as missing:
        try:
            sys.modules[whole] = library(f"vllm.third_party.{whole}")
        except NotHere as other:
            raise NotHere(f"{missing}; {other}") from None
    return library(name)


def _scales(case: Case, scaling: str) -> tuple[Any, Any]:
    """fp32 scales as cutlass_scaled_mm takes them: those of blocks of a column by column, of b transposed."""
    a, b = numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)
    if scaling == "tensor":
        return a.reshape(1, 1), b.reshape(1, 1)
    return (a.reshape(-1, 1), b.reshape(1, -1)) if scaling == "row_col" else (a.t().contiguous().t(), b.t())


def _cutlass(scaling: str) -> Callable[[Case], Array]:
    """CUTLASS through vllm._custom_ops; of its results fp16 shows more of the sum than bf16."""

    def ask(case: Case) -> Array:
        ops = library("vllm._custom_ops")
        return back(ops.cutlass_scaled_mm(on_card(case.a, _FP8), on_card(case.b, _FP8).t(), *_scales(case, scaling), dtype("fp16")), "fp16")

    return ask


def _quantized(source: str) -> Callable[[Array], Array]:
    """scaled_fp8_quant with a given scale of 1: the cast alone."""

    def ask(x: Array) -> Array:
        ops = library("vllm._custom_ops")
        codes, _ = ops.scaled_fp8_quant(on_card(x.reshape(1, -1), source), torch().ones(1, device="cuda"))
        return back(codes, _FP8).view(np.uint8).reshape(-1)

    return ask


def _deep_gemm(case: Case) -> Array:
    """fp8_gemm_nt, blocks 1x128 by 128x128."""
    kernels = _own("deep_gemm")
    out = torch().empty((case.a.shape[0], case.b.shape[0]), dtype=torch().bfloat16, device="cuda")
    call = getattr(kernels, "fp8_gemm_nt", None) or getattr(kernels, "gemm_fp8_fp8_bf16_nt", None)
    if call is None:
        raise NotHere("this deep_gemm has neither fp8_gemm_nt nor gemm_fp8_fp8_bf16_nt")
    call((on_card(case.a, _FP8), numbers_on_card(case.scale_a)), (on_card(case.b, _FP8), numbers_on_card(case.scale_b)), out)
    return back(out, "bf16")


def _triton_kernels(case: Case) -> Array:
    """matmul_ogs of 16-bit numbers, without routing."""
    product: Any = _own("triton_kernels.matmul_ogs").matmul_ogs
    return back(product(on_card(case.a, "bf16"), on_card(case.b, "bf16").t().contiguous(), None), "bf16")


def _packed(case: Case, backend: str, order: str, platform: str | None = None) -> tuple[Any, Any]:
    """b and its scales where the backend's converter puts them, as w13 of a layer of one expert: the kernel's memory is mxact's."""
    rows, k = case.b.shape
    codes = np.ascontiguousarray(case.b).view(np.uint8)
    packed = pack(
        {
            "w13_weight": (codes[:, ::2] | codes[:, 1::2] << 4)[None],
            "w13_weight_scale": np.asarray(case.scale_b, np.uint8)[None],
            "w2_weight": np.zeros((1, k, rows // 4), np.uint8),
            "w2_weight_scale": np.zeros((1, k, rows // 64), np.uint8),
        },
        backend,
        format="mxfp4",
        order=order,
        platform=platform,
    )

    def placed(name: str) -> Any:
        form = packed.forms[name]
        return bytes_on_card(packed[name]).reshape(-1).view(getattr(torch(), form.dtype)).as_strided(form.shape, form.strides)

    return placed("w13_weight"), placed("w13_weight_scale")


def _triton_mxfp4(case: Case) -> Array:
    """matmul_ogs with weights and scales swizzled for Hopper, a batch of one."""
    if torch().cuda.get_device_capability()[0] != 9:
        raise NotHere("weights are swizzled here as Hopper's kernel reads them")
    tensors, layouts = _own("triton_kernels.tensor"), _own("triton_kernels.tensor_details.layout")
    ogs = _own("triton_kernels.matmul_ogs")
    weight, scale = _packed(case, "TRITON", order="gpt_oss", platform="sm90")
    rows, k = case.b.shape
    values = tensors.Storage(weight, layouts.HopperMXValueLayout([1, k // 2, rows], mx_axis=1))
    bytes_of_scale = tensors.Storage(scale, layouts.HopperMXScaleLayout([1, k // 32, rows], mx_axis=1))
    config = ogs.PrecisionConfig(weight_scale=tensors.Tensor(bytes_of_scale, shape=[1, k // 32, rows]))
    product = ogs.matmul_ogs(on_card(case.a, "bf16")[None], tensors.Tensor(values, dtype=tensors.FP4, shape=[1, k, rows]), None, precision_config=config)
    return back(product.reshape(-1, rows), "bf16")


def _block_of(rows: int) -> int:
    """Tokens in a block, as vLLM chooses them for one expert."""
    return next((block for block in (8, 16, 32, 48) if rows < 0.9 * block), 64)


def _marlin(case: Case) -> Array:
    """moe_wna16_marlin_gemm of one expert: every row once, no routing weight."""
    ops, types = library("vllm._custom_ops"), library("vllm.scalar_type").scalar_types
    a = on_card(case.a, "bf16")
    weight, scale = _packed(case, "MARLIN", order="standard")
    rows, (n, k) = a.shape[0], case.b.shape
    block = _block_of(rows)
    slots = -(-rows // block) * block
    ids = torch().arange(slots, dtype=torch().int32, device="cuda").clamp(max=rows)
    workspace = torch().zeros(4 * torch().cuda.get_device_properties(0).multi_processor_count, dtype=torch().int32, device="cuda")
    out = torch().empty((rows, n), dtype=a.dtype, device="cuda")
    words = {name: None for name in ("b_bias", "a_scales", "global_scale", "b_qzeros", "g_idx", "perm")}
    product = ops.moe_wna16_marlin_gemm(
        a,
        out,
        weight,
        b_scales=scale,
        workspace=workspace,
        sorted_token_ids=ids,
        expert_ids=torch().zeros(slots // block, dtype=torch().int32, device="cuda"),
        num_tokens_past_padded=torch().tensor([slots], dtype=torch().int32, device="cuda"),
        topk_weights=torch().ones((rows, 1), device="cuda"),
        moe_block_size=block,
        top_k=1,
        mul_topk_weights=False,
        b_q_type=types.float4_e2m1f,
        size_m=rows,
        size_n=n,
        size_k=k,
        is_k_full=True,
        use_atomic_add=False,
        use_fp32_reduce=True,
        is_zp_float=False,
        **words,
    )
    return back(product, "bf16")


def _humming(invariant: bool) -> Callable[[Case], Array]:
    """HummingLayer of MXFP4 weights as a checkpoint has them (two codes in a byte, the even one low; a byte of scale for 32), bf16 activations, tiles of its own choice."""

    def ask(case: Case) -> Array:
        n, k = case.b.shape
        layer = library("humming.layer").HummingLayer(shape_n=n, shape_k=k, weight_config={"quant_method": "mxfp4"}, torch_dtype=dtype("bf16")).cuda()
        codes = np.ascontiguousarray(case.b).view(np.uint8)
        layer.load_from_tensors({"weight": bytes_on_card(codes[:, ::2] | codes[:, 1::2] << 4), "weight_scale": bytes_on_card(np.asarray(case.scale_b, np.uint8))})
        layer.transform()
        return back(layer(on_card(case.a, "bf16"), compute_config={"use_batch_invariant": True} if invariant else None), "bf16")

    return ask


def _fp8(name: str, engine: str, operation: str, ask: Callable[[Case], Array], scaling: str, rule: str, to: str, m: int = _ROWS, k: int = 512) -> Question:
    words = f"{operation}, {m} rows"
    return Question(name, "engines", engine, words, _FP8, _FP8, to, k, m, 256, ask, rule, scaling=scaling, rows=_ROWS, columns=128, build=engine, batched=False)


def _mxfp4(name: str, engine: str, operation: str, ask: Callable[[Case], Array], rule: str, m: int = _ROWS, k: int = 512) -> Question:
    """A product of MXFP4 weights and bf16 activations; a row alone is asked too, whose tiles are others."""
    return Question(name, "engines", engine, f"{operation}, {m} rows", "bf16", "e2m1", "bf16", k, m, 256, ask, rule, scaling="e8m0_shift", rows=_ROWS, columns=64 if m == _ROWS else 256, build=engine)


def questions() -> list[Asked]:
    """Products of the engines; each is SKIPPED where its package is not here. Raises NotHere without a card."""
    if not torch().cuda.is_available():
        raise NotHere("torch sees no card")
    blocks, marlin, cutlass = "block_1x128_128x128", "moe_wna16_marlin_gemm, MXFP4 weights", "cutlass_scaled_mm"
    made: list[Asked] = []
    for word, scaling in (("tensor", "tensor"), ("rows", "row_col"), ("blocks", blocks)):
        name, operation, rule = f"vllm.{cutlass}.{word}", f"{cutlass}, scales of {word}", f"vllm.cutlass.{word}"
        made += [_fp8(name, "vllm", operation, _cutlass(scaling), scaling, rule, "fp16"), _fp8(f"{name}.m16", "vllm", operation, _cutlass(scaling), scaling, rule, "fp16", 16, 4096)]
    for source in ("f32", "bf16", "fp16"):
        made.append(CastQuestion(f"vllm.scaled_fp8_quant.{source}", "casts", "vllm", "scaled_fp8_quant, a scale of 1", source, _FP8, _quantized(source), f"vllm.{source}.{_FP8}", "vllm"))
    for suffix, m, k in (("", _ROWS, 512), (".m8", 8, 2048)):
        made += [
            _mxfp4(f"vllm.marlin.mxfp4{suffix}", "vllm", marlin, _marlin, "vllm.marlin.mxfp4", m, k),
            _fp8(f"deep_gemm.fp8_gemm_nt{suffix}", "deep_gemm", "fp8_gemm_nt", _deep_gemm, blocks, "deep_gemm.blocks", "bf16", m, k),
            _mxfp4(f"triton_kernels.matmul_ogs.mxfp4{suffix}", "triton_kernels", "matmul_ogs, MXFP4 weights", _triton_mxfp4, "triton_kernels.mxfp4", m, k),
        ]
    return [
        *made,
        *stage_questions(),
        Question("triton_kernels.matmul_ogs", "engines", "triton_kernels", "matmul_ogs", "bf16", "bf16", "bf16", 512, _ROWS, 256, _triton_kernels, "triton_kernels.bf16", rows=_ROWS, columns=64, build="triton_kernels"),
        _mxfp4("humming.mxfp4", "humming", "HummingLayer, MXFP4 weights, k of two slices", _humming(False), "humming.mxfp4"),
        _mxfp4("humming.mxfp4.invariant", "humming", "HummingLayer, MXFP4 weights, batch-invariant", _humming(True), "humming.mxfp4.invariant", k=2048),
    ]
