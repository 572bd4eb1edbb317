"""Kernels of engines that are installed: their products on the same codes. What is not installed is SKIPPED; nothing of an engine is stored or built here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mxact._arguments import Array
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, NotHere, Question
from mxact.hwcheck._tensors import back, dtype, library, numbers_on_card, on_card, torch

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


def _made(name: str, engine: str, operation: str, ask: Callable[[Case], Array], formats: str, scaling: str, rule: str) -> Question:
    return Question(name, "engines", engine, operation, formats, formats, "bf16", 512, 64, 256, ask, rule, scaling=scaling, rows=64, columns=64, build=engine, batched=False)


def questions() -> list[Asked]:
    """Products of the engines; each is SKIPPED where its package is not here. Raises NotHere without a card."""
    if not torch().cuda.is_available():
        raise NotHere("torch sees no card")
    return [
        _made("vllm.cutlass_scaled_mm.tensor", "vllm", "cutlass_scaled_mm tensor", _vllm("tensor"), _FP8, "tensor", ""),
        _made("vllm.cutlass_scaled_mm.rows", "vllm", "cutlass_scaled_mm rows", _vllm("row_col"), _FP8, "row_col", ""),
        _made("deep_gemm.fp8_gemm_nt", "deep_gemm", "fp8_gemm_nt", _deep_gemm, _FP8, "block_1x128_128x128", "torch.block_1x128_128x128"),
        _made("triton_kernels.matmul_ogs", "triton_kernels", "matmul_ogs", _triton_kernels, "bf16", "none", "triton.bf16"),
        _made("humming", "humming", "products of its launcher", _humming, "bf16", "none", ""),
    ]


def _humming(case: Case) -> Array:
    library("humming")
    raise NotHere("humming's launcher is asked by its recordings (golden/witness/hardware/humming_product_h100) alone")
