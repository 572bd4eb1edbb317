"""What torch computes on a card: products through cuBLASLt and its own kernels, casts, functions; eager and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, FunctionQuestion, NotHere, Question
from mxact.hwcheck._tensors import back, dtype, numbers_on_card, on_card, torch

_PAIRS = (("e4m3fn", "e4m3fn"), ("e5m2", "e4m3fn"), ("e4m3fn", "e5m2"))
_BLOCKS = ("block_1x128_128x128", "block_128x128_1x128", "block_1x128_1x128")


def _scales(case: Case, scaling: str) -> tuple[Any, Any]:
    """As `_scaled_mm` takes them: a number, a column and a row, or blocks with the rows next to each other in memory."""
    if scaling == "tensor":
        return numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)
    a, b = numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)
    if scaling == "col_row":
        return a.reshape(-1, 1), b.reshape(1, -1)
    # 1x128: outer dimension fastest; 128x128: as the matrix lies.
    first = a if scaling.startswith("block_128x128") else a.t().contiguous().t()
    second = b.t() if scaling.endswith("_128x128") else b.t().contiguous()
    return first, second


def _scaled(scaling: str, fast: bool, a: str, b: str, to: str) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        left, right = on_card(case.a, a), on_card(case.b, b)
        scale_a, scale_b = _scales(case, scaling)
        bias = None if case.bias is None else on_card(case.bias, to)
        return back(torch()._scaled_mm(left, right.t(), scale_a=scale_a, scale_b=scale_b, bias=bias, out_dtype=dtype(to), use_fast_accum=fast), to)

    return ask


def _functional(scaling: str, a: str, b: str, to: str) -> Callable[[Case], Array]:
    """torch.nn.functional.scaled_mm, which is told the recipe."""

    def ask(case: Case) -> Array:
        functional: Any = torch().nn.functional
        if not hasattr(functional, "scaled_mm"):
            raise NotHere("this torch has no torch.nn.functional.scaled_mm")
        kind = functional.ScalingType
        names = {"1x128": "BlockWise1x128", "128x128": "BlockWise128x128"}
        recipes = [getattr(kind, names[word]) for word in scaling.removeprefix("block_").split("_")]
        # 1x128: [rows, K/128], the rows next to each other; 128x128: [K/128, rows/128].
        given = [numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)]
        scale_a, scale_b = (part.t() if word == "128x128" else part.t().contiguous().t() for part, word in zip(given, scaling.removeprefix("block_").split("_"), strict=True))
        product = functional.scaled_mm(on_card(case.a, a), on_card(case.b, b).t(), scale_a, recipes[0], scale_b, recipes[1], output_dtype=dtype(to))
        return back(product, to)

    return ask


def _scaled_questions() -> Iterator[Question]:
    for a, b in _PAIRS:
        for speed in ("fast", "slow"):
            fast = speed == "fast"
            for to, k, m, n in (("f32", 512, 16, 128), ("bf16", 256, 128, 256)):
                for scaling, kind in (("tensor", "tensor"), ("col_row", "rows")):
                    name = f"torch._scaled_mm.{kind}.{speed}.{a}.{b}.{to}.m{m}n{n}k{k}"
                    yield Question(name, "libraries", "torch", f"_scaled_mm {kind} {speed}", a, b, to, k, m, n, _scaled(scaling, fast, a, b, to), f"torch.{kind}.{speed}", scaling=scaling, rows=64, columns=64)
    for speed in ("fast", "slow"):
        ask = _scaled("tensor", speed == "fast", "e4m3fn", "e4m3fn", "bf16")
        yield Question(f"torch._scaled_mm.bias.{speed}", "libraries", "torch", f"_scaled_mm tensor {speed}, bias", "e4m3fn", "e4m3fn", "bf16", 256, 128, 256, ask, f"torch.tensor.{speed}", scaling="tensor", bias="bf16", rows=64, columns=64)
        ask = _scaled("tensor", speed == "fast", "e4m3fn", "e4m3fn", "f32")
        for m, n, k in ((16, 128, 8192), (1, 128, 512)):
            yield Question(f"torch._scaled_mm.tensor.{speed}.m{m}n{n}k{k}", "libraries", "torch", f"_scaled_mm tensor {speed}", "e4m3fn", "e4m3fn", "f32", k, m, n, ask, f"torch.tensor.{speed}", scaling="tensor", rows=8 if k > 1000 else 1, columns=24 if k > 1000 else 128)
    for scaling in _BLOCKS:
        for k in (512, 5632):
            for call, made in (("scaled_mm", _functional), ("_scaled_mm", lambda scaling, a, b, to: _scaled(scaling, False, a, b, to))):
                name = f"torch.{call}.{scaling}.k{k}"
                yield Question(name, "libraries", "torch", f"{call} {scaling}", "e4m3fn", "e4m3fn", "f32", k, 128, 256, made(scaling, "e4m3fn", "e4m3fn", "f32"), f"torch.{scaling}", scaling=scaling, rows=8 if k > 1000 else 16, columns=16 if k > 1000 else 32, batched=False)


def _grouped(speed: str) -> Question:
    def ask(case: Case) -> Array:
        ends = torch().tensor([case.a.shape[0]], dtype=torch().int32, device="cuda")
        right = on_card(case.b, "e4m3fn")[None].transpose(-2, -1)
        scale_a, scale_b = numbers_on_card(case.scale_a), numbers_on_card(case.scale_b)[None]
        product = torch()._scaled_grouped_mm(on_card(case.a, "e4m3fn"), right, scale_a, scale_b, offs=ends, out_dtype=torch().bfloat16, use_fast_accum=speed == "fast")
        return back(product, "bf16")

    return Question(f"torch._scaled_grouped_mm.{speed}", "libraries", "torch", f"_scaled_grouped_mm {speed}", "e4m3fn", "e4m3fn", "bf16", 512, 64, 128, ask, f"torch.grouped.{speed}", scaling="row_col", rows=64, columns=128, build="cutlass-grouped", batched=False)


def _grouped_16() -> Question:
    def ask(case: Case) -> Array:
        ends = torch().tensor([case.a.shape[0]], dtype=torch().int32, device="cuda")
        return back(torch()._grouped_mm(on_card(case.a, "bf16"), on_card(case.b, "bf16")[None].transpose(-2, -1), offs=ends), "bf16")

    return Question("torch._grouped_mm", "libraries", "torch", "_grouped_mm", "bf16", "bf16", "bf16", 512, 64, 128, ask, "torch.bf16", rows=64, columns=64, build="cutlass-grouped", batched=False)


def _mm(format: str, to: str) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        left, right = on_card(case.a, format), on_card(case.b, format).t()
        return back(torch().mm(left, right) if to == format else torch().mm(left, right, out_dtype=torch().float32), to)

    return ask


@contextmanager
def _fp16_accumulators() -> Iterator[None]:
    flags = torch().backends.cuda.matmul
    if not hasattr(flags, "allow_fp16_accumulation"):
        raise NotHere("this torch has no allow_fp16_accumulation")
    before = flags.allow_fp16_accumulation
    flags.allow_fp16_accumulation = True
    try:
        yield
    finally:
        flags.allow_fp16_accumulation = before


def _with_fp16_accumulators(case: Case) -> Array:
    with _fp16_accumulators():
        return _mm("fp16", "fp16")(case)


def _linear(case: Case) -> Array:
    product = torch().nn.functional.linear(on_card(case.a, "bf16"), on_card(case.b, "bf16"), on_card(case.bias, "bf16"))  # type: ignore[arg-type]
    return back(product, "bf16")


def _compiled(case: Case) -> Array:
    product = torch().compile(lambda a, b: torch().mm(a, b))
    return back(product(on_card(case.a, "bf16"), on_card(case.b, "bf16").t()), "bf16")


def _products() -> Iterator[Question]:
    for format in ("bf16", "fp16"):
        for to in (format, "f32"):
            for m, n, k in ((16, 128, 512), (1, 256, 512), (128, 256, 512), (16, 128, 4096)):
                rows, columns = (16, 64) if k > 1000 else (32, 64) if m > 1 else (1, 128)
                yield Question(f"torch.mm.{format}.{to}.m{m}n{n}k{k}", "libraries", "torch", "mm", format, format, to, k, m, n, _mm(format, to), f"torch.{format}", rows=rows, columns=columns, tiny=format == "bf16" and k == 512)
    for n, to in ((1001, "f32"), (1001, "bf16"), (50257, "bf16")):
        yield Question(f"torch.mm.bf16.{to}.m16n{n}k768", "libraries", "torch", "mm, N odd", "bf16", "bf16", to, 768, 16, n, _mm("bf16", to), "torch.bf16.odd", rows=16, columns=64, batched=False)
    yield Question("torch.mm.fp16.k1001", "libraries", "torch", "mm, K odd", "fp16", "fp16", "f32", 1001, 128, 250, _mm("fp16", "f32"), "torch.fp16", rows=16, columns=32, batched=False)
    for m, n, k in ((16, 64, 128), (128, 256, 1024)):
        yield Question(f"torch.mm.fp16_accumulators.m{m}n{n}k{k}", "libraries", "torch", "mm, fp16 accumulators", "fp16", "fp16", "fp16", k, m, n, _with_fp16_accumulators, "torch.fp16.accumulators", rows=16, columns=48, batched=False)
    yield Question("torch.linear.bf16.bias", "libraries", "torch", "linear, bias", "bf16", "bf16", "bf16", 256, 128, 256, _linear, "torch.bf16", bias="bf16", rows=64, columns=64)
    yield Question("torch.compile.mm.bf16", "libraries", "torch", "compile(mm)", "bf16", "bf16", "bf16", 512, 128, 256, _compiled, "torch.bf16", rows=64, columns=64, build="inductor", batched=False)


def _casts() -> Iterator[CastQuestion]:
    def eager(source: str, to: str) -> Callable[[Array], Array]:
        return lambda x: back(on_card(x, source).to(dtype(to)), to)

    def compiled(source: str, to: str) -> Callable[[Array], Array]:
        made: list[Any] = []

        def ask(x: Array) -> Array:
            if not made:
                target = dtype(to)
                made.append(torch().compile(lambda values: values.to(target)))
            return back(made[0](on_card(x, source)), to)

        return ask

    for source in ("f32", "bf16", "fp16"):
        for to in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0"):
            yield CastQuestion(f"torch.to.{source}.{to}", "casts", "torch", f"Tensor.to, {source} to {to}", source, to, eager(source, to), f"torch.{source}.{to}")
        for to in ("e4m3fn", "e5m2"):
            yield CastQuestion(f"torch.compile.to.{source}.{to}", "casts", "torch", f"compiled Tensor.to, {source} to {to}", source, to, compiled(source, to), f"inductor.{source}.{to}", build="inductor")
    for to in ("bf16", "fp16"):
        yield CastQuestion(f"torch.to.f32.{to}", "casts", "torch", f"Tensor.to, f32 to {to}", "f32", to, eager("f32", to), f"torch.f32.{to}")


def _functions() -> Iterator[FunctionQuestion]:
    rows: tuple[tuple[str, Any, float, float], ...] = (
        ("exp", np.exp, -80, 80),
        ("exp2", np.exp2, -120, 120),
        ("log2", np.log2, 2.0**-120, 2.0**120),
        ("sqrt", np.sqrt, 2.0**-120, 2.0**120),
        ("rsqrt", lambda x: 1 / np.sqrt(x), 2.0**-120, 2.0**120),
        ("reciprocal", lambda x: 1 / x, 2.0**-120, 2.0**120),
        ("tanh", np.tanh, -8, 8),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), -20, 20),
    )
    for name, right, low, high in rows:
        yield FunctionQuestion(f"torch.{name}", "functions", "torch", name, right, lambda x, name=name: back(getattr(torch(), name)(on_card(x, "f32")), "f32"), low, high)  # type: ignore[misc]


def questions() -> list[Asked]:
    """Everything that is asked of torch. Raises NotHere."""
    if not torch().cuda.is_available():
        raise NotHere("torch sees no card")
    return [*_scaled_questions(), _grouped("fast"), _grouped("slow"), _grouped_16(), *_products(), *_casts(), *_functions()]
