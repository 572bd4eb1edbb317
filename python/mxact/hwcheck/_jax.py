"""What JAX computes on a card: dots of 16 and 8 bits, one row alone, casts; under jit. Unless XLA_FLAGS says otherwise, without autotuning: with it, sums are
not the same from process to process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, NotHere, Question
from mxact.hwcheck._tensors import library


def _jax() -> Any:
    # Beside other libraries it must not take the card's memory before it is needed.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
    return library("jax")


def _dot(a: str, b: str, to: str) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        jax = _jax()
        numbers = jax.numpy
        left, right = (numbers.asarray(np.ascontiguousarray(codes).view(dtype_of(format))) for codes, format in ((case.a, a), (case.b, b)))
        product = jax.jit(lambda x, y: jax.lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=dtype_of(to)))
        return np.asarray(product(left, right)).view(dtype_of(to))

    return ask


def _cast(source: str, to: str) -> Callable[[Array], Array]:
    def ask(x: Array) -> Array:
        jax = _jax()
        return np.asarray(jax.jit(lambda values: jax.lax.convert_element_type(values, dtype_of(to)))(jax.numpy.asarray(x))).view(dtype_of(to))

    return ask


def questions() -> list[Asked]:
    """Everything that is asked of JAX. Raises NotHere."""
    if not any(device.platform in ("gpu", "cuda", "rocm") for device in _jax().devices()):
        raise NotHere("JAX sees no card")
    found: list[Asked] = []
    for to, rule in (("f32", "jax.bf16.m1"), ("bf16", "jax.bf16.m1.bf16")):
        found.append(Question(f"jax.dot.bf16.{to}.m1k512", "libraries", "jax", "dot, one row", "bf16", "bf16", to, 512, 1, 256, _dot("bf16", "bf16", to), rule, columns=128))
    for to, k in (("f32", 512), ("bf16", 512), ("f32", 4096)):
        found.append(Question(f"jax.dot.bf16.{to}.m16k{k}", "libraries", "jax", "dot", "bf16", "bf16", to, k, 16, 256, _dot("bf16", "bf16", to), "jax.bf16", rows=16, columns=24 if k > 1000 else 64))
    found.append(Question("jax.dot.e4m3fn.f32.m16k512", "libraries", "jax", "dot", "e4m3fn", "e4m3fn", "f32", 512, 16, 256, _dot("e4m3fn", "e4m3fn", "f32"), "jax.e4m3fn", rows=16, columns=64))
    for source in ("f32", "bf16", "fp16"):
        for target in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0"):
            found.append(CastQuestion(f"jax.cast.{source}.{target}", "casts", "jax", f"convert_element_type, {source} to {target}", source, target, _cast(source, target), f"jax.{source}.{target}", build="xla-jit"))
    return found
