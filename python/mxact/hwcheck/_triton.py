"""What Triton makes of `tl.dot`, `tl.dot_scaled` and casts on a card: small kernels of ours, compiled by the Triton that is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, NotHere, Question
from mxact.hwcheck._tensors import back, bytes_on_card, dtype, library, on_card, torch

_SCALED = {"e4m3fn": "e4m3", "e5m2": "e5m2", "e2m1": "e2m1", "bf16": "bf16", "fp16": "fp16"}


def _kernels() -> Any:
    return import_module("mxact.hwcheck._triton_kernels")


def _dot(a: str, b: str, block_k: int, added: bool, imprecise: int) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        (m, k), n = case.a.shape, case.b.shape[0]
        out = torch().empty((m, n), dtype=torch().float32, device="cuda")
        _kernels().dot[(1,)](on_card(case.a, a), on_card(case.b, b), out, k, m, n, block_k, added, imprecise)
        return back(out, "f32")

    return ask


def _packed(codes: Array) -> Array:
    return np.asarray(codes[:, ::2] | codes[:, 1::2] << 4)


def _side(codes: Array, format: str) -> Any:
    """Codes as `tl.dot_scaled` takes them: bytes, or numbers of 16 bits."""
    if format == "e2m1":
        return bytes_on_card(_packed(codes))
    return bytes_on_card(codes) if codes.dtype.itemsize == 1 else on_card(codes, format)


def _dot_scaled(a: str, b: str, fast: bool) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        (m, k), n = case.a.shape, case.b.shape[0]
        out = torch().empty((m, n), dtype=torch().float32, device="cuda")
        scales = [None if part is None else bytes_on_card(part) for part in (case.scale_a, case.scale_b)]
        filler = scales[0] if scales[0] is not None else scales[1]
        packs = [2 if format == "e2m1" else 1 for format in (a, b)]
        _kernels().dot_scaled[(1,)](
            _side(case.a, a), filler if scales[0] is None else scales[0], _side(case.b, b), filler if scales[1] is None else scales[1], out,
            _SCALED[a], _SCALED[b], *packs, scales[0] is not None, scales[1] is not None, k, m, n, min(k, 128), fast,
        )  # fmt: skip
        return back(out, "f32")

    return ask


def _products() -> Iterator[Question]:
    for format in ("bf16", "fp16"):
        for m in (16, 64):
            yield Question(f"triton.dot.{format}.m{m}", "libraries", "triton", f"tl.dot, {m} rows", format, format, "f32", 512, m, 64, _dot(format, format, 64, False, -1), f"triton.{format}", tiny=format == "bf16", rows=64, columns=64, batched=False)
    forms = (
        ("acc", 64, False, -1, "triton.fp8.acc", 64),
        ("added", 128, True, -1, "triton.fp8.added", 64),
        ("imprecise32", 128, False, 32, "triton.fp8.imprecise32", 64),
        ("imprecise96", 128, False, 96, "triton.fp8.imprecise96", 64),
        ("imprecise0", 128, False, 0, "triton.fp8.imprecise0", 64),
        ("rows16.acc", 128, False, -1, "triton.fp8.rows16.acc", 16),
        ("rows16.added", 128, True, -1, "triton.fp8.rows16.added", 16),
    )
    for name, block_k, added, imprecise, rule, m in forms:
        ask = _dot("e4m3fn", "e4m3fn", block_k, added, imprecise)
        yield Question(f"triton.dot.e4m3fn.{name}", "libraries", "triton", f"tl.dot, {name}", "e4m3fn", "e4m3fn", "f32", 512, m, 64, ask, rule, rows=64, columns=64, batched=False)
    ask = _dot("e5m2", "e4m3fn", 128, False, -1)
    yield Question("triton.dot.e5m2.e4m3fn.acc", "libraries", "triton", "tl.dot, acc", "e5m2", "e4m3fn", "f32", 512, 64, 64, ask, "triton.fp8.acc", batched=False)


def _scaled_products() -> Iterator[Question]:
    # A left operand of 16 bits is exchanged with the right one: the columns decide then.
    rows = (
        ("e2m1", "bf16", "bf16", 64, 64, "ascending", False),
        ("e2m1", "bf16", "bf16", 16, 64, "quads", False),
        ("e4m3fn", "e4m3fn", "bf16", 64, 64, "ascending", False),
        ("e4m3fn", "e4m3fn", "bf16", 16, 64, "pairs", False),
        ("e2m1", "e4m3fn", "bf16", 16, 64, "quads", False),
        ("e2m1", "fp16", "fp16", 64, 64, "ascending", False),
        ("e4m3fn", "bf16", "bf16", 64, 64, "ascending", True),
    )
    for a, b, upcast, m, n, order, fast in rows:
        name = f"triton.dot_scaled.{a}.{b}.m{m}" + (".fast_math" if fast else "")
        yield Question(name, "libraries", "triton", f"tl.dot_scaled, {m} rows", a, b, "f32", 256, m, n, _dot_scaled(a, b, fast), f"triton.dot_scaled.{upcast}.{order}", scaling="e8m0_shift", batched=False)


def _casts() -> Iterator[CastQuestion]:
    def cast(source: str, to: str) -> Callable[[Array], Array]:
        def ask(x: Array) -> Array:
            names = {"e4m3fn": "float8e4nv", "e5m2": "float8e5", "bf16": "bfloat16", "fp16": "float16"}
            given = on_card(x, source)
            out = torch().empty(given.shape, dtype=dtype(to), device="cuda")
            target = getattr(library("triton.language"), names[to])
            _kernels().cast[(-(-x.size // 1024),)](given, out, x.size, target, 1024)
            return back(out, to)

        return ask

    for source in ("f32", "bf16", "fp16"):
        for to in ("e4m3fn", "e5m2"):
            yield CastQuestion(f"triton.to.{source}.{to}", "casts", "triton", f".to, {source} to {to}", source, to, cast(source, to), f"inductor.{source}.{to}", build="triton-kernel")


def questions() -> list[Asked]:
    """Everything that is asked of Triton. Raises NotHere."""
    library("triton")
    if not torch().cuda.is_available():
        raise NotHere("torch sees no card")
    return [*_products(), *_scaled_products(), *_casts()]
