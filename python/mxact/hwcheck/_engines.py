"""Kernels of engines that are installed: their products on the same codes. What is not installed is SKIPPED; nothing of an engine is stored or built here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, NotHere, Question
from mxact.hwcheck._tensors import back, bytes_on_card, dtype, library, numbers_on_card, on_card, torch

_FP8 = "e4m3fn"


def _vllm(scaling: str) -> Callable[[Case], Array]:
    """CUTLASS through vllm._custom_ops: scales of the tensor, or of rows and columns."""

    def ask(case: Case) -> Array:
        ops = library("vllm._custom_ops")
        a, b = numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)
        shaped = (a.reshape(1, 1), b.reshape(1, 1)) if scaling == "tensor" else (a.reshape(-1, 1), b.reshape(1, -1))
        return back(ops.cutlass_scaled_mm(on_card(case.a, _FP8), on_card(case.b, _FP8).t(), *shaped, dtype("bf16")), "bf16")

    return ask


def _deep_gemm(case: Case) -> Array:
    """fp8_gemm_nt, blocks 1x128 by 128x128."""
    kernels = library("deep_gemm")
    out = torch().empty((case.a.shape[0], case.b.shape[0]), dtype=torch().bfloat16, device="cuda")
    call = getattr(kernels, "fp8_gemm_nt", None) or getattr(kernels, "gemm_fp8_fp8_bf16_nt", None)
    if call is None:
        raise NotHere("this deep_gemm has neither fp8_gemm_nt nor gemm_fp8_fp8_bf16_nt")
    call((on_card(case.a, _FP8), numbers_on_card(case.scale_a)), (on_card(case.b, _FP8), numbers_on_card(case.scale_b)), out)
    return back(out, "bf16")


def _triton_kernels(case: Case) -> Array:
    """matmul_ogs of 16-bit numbers, without routing."""
    product: Any = library("triton_kernels.matmul_ogs").matmul_ogs
    return back(product(on_card(case.a, "bf16"), on_card(case.b, "bf16").t().contiguous(), None), "bf16")


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


def _made(name: str, engine: str, operation: str, ask: Callable[[Case], Array], formats: str, scaling: str, rule: str) -> Question:
    return Question(name, "engines", engine, operation, formats, formats, "bf16", 512, 64, 256, ask, rule, scaling=scaling, rows=64, columns=64, build=engine, batched=False)


def _mxfp4(name: str, how: str, invariant: bool, m: int, k: int) -> Question:
    """A product of Humming's; a row alone is asked too, whose tiles are others."""
    operation = f"HummingLayer, MXFP4 weights, {how}, {m} rows"
    return Question(name, "engines", "humming", operation, "bf16", "e2m1", "bf16", k, m, 256, _humming(invariant), f"humming.mxfp4{'.invariant' if invariant else ''}", scaling="e8m0_shift", rows=64, columns=64, build="humming")


def questions() -> list[Asked]:
    """Products of the engines; each is SKIPPED where its package is not here. Raises NotHere without a card."""
    if not torch().cuda.is_available():
        raise NotHere("torch sees no card")
    return [
        _made("vllm.cutlass_scaled_mm.tensor", "vllm", "cutlass_scaled_mm tensor", _vllm("tensor"), _FP8, "tensor", ""),
        _made("vllm.cutlass_scaled_mm.rows", "vllm", "cutlass_scaled_mm rows", _vllm("row_col"), _FP8, "row_col", ""),
        _made("deep_gemm.fp8_gemm_nt", "deep_gemm", "fp8_gemm_nt", _deep_gemm, _FP8, "block_1x128_128x128", "torch.block_1x128_128x128"),
        _made("triton_kernels.matmul_ogs", "triton_kernels", "matmul_ogs", _triton_kernels, "bf16", "none", "triton.bf16"),
        _mxfp4("humming.mxfp4", "k of two slices", False, 64, 512),
        _mxfp4("humming.mxfp4.invariant", "batch-invariant", True, 64, 2048),
    ]

