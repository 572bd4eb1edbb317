"""Single instructions of a card: matrix units, elementary functions, conversions."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_void_p
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact.hwcheck._compile import compiled
from mxact.hwcheck._cuda_text import CONVERSIONS, FUNCTIONS, INSTRUCTIONS, Instruction, conversion_text, function_text, text_of
from mxact.hwcheck._driver import driver
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, FunctionQuestion, NotHere, Question

_RIGHT: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "exp2": (np.exp2, -120, 120),
    "reciprocal": (lambda x: 1 / x, 2.0**-120, 2.0**120),
    "log2": (np.log2, 2.0**-120, 2.0**120),
    "sqrt": (np.sqrt, 2.0**-120, 2.0**120),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2.0**-120, 2.0**120),
    "tanh": (np.tanh, -8, 8),
}


class _Kernels:
    """Texts that are compiled together at the first call; where they do not compile together, each alone."""

    def __init__(self, texts: dict[str, str], unit: str) -> None:
        self.texts, self.unit = texts, unit
        self.together: bytes | None = None
        self.failed = False
        self.functions: dict[str, c_void_p] = {}

    def function(self, name: str) -> c_void_p:
        if self.together is None and not self.failed:
            try:
                self.together = compiled("\n".join(self.texts.values()), self.unit)[0]
            except NotHere:
                self.failed = True
        if name not in self.functions:
            driver().use()
            code = self.together if self.together is not None else compiled(self.texts[name], self.unit)[0]
            self.functions[name] = driver().function(code, name)
        return self.functions[name]


def _words(codes: Array) -> Array:
    return np.ascontiguousarray(codes).view(np.uint8).reshape(codes.shape[0], -1).view(np.uint32)


def _instruction(one: Instruction, kernels: _Kernels) -> Callable[[Case], Array]:
    def ask(case: Case) -> Array:
        m, n = case.a.shape[0], case.b.shape[0]
        if m % one.rows or n % 8:
            raise NotHere(f"tiles of {one.rows} by 8")
        assert case.c is not None
        c = np.ascontiguousarray(case.c)
        grid = (m // one.rows, n // 8)
        found = driver().launch(kernels.function(one.symbol), grid, 128 if one.form == "wgmma" else 32, [_words(case.a), _words(case.b), c], np.zeros_like(c), [n])
        return found.view(dtype_of(one.to))

    return ask


def _elementwise(name: str, kernels: _Kernels, dtype: Any) -> Callable[[Array], Array]:
    def ask(x: Array) -> Array:
        return driver().launch(kernels.function(name), (-(-x.size // 256), 1), 256, [x], np.zeros(x.size, dtype), [x.size])

    return ask


def questions() -> list[Asked]:
    """Every instruction that this card has. Raises NotHere: no driver, no compiler."""
    unit = driver().unit()
    some = [one for one in INSTRUCTIONS if one.has(unit)]
    texts = {one.symbol: text_of(one) for one in some} | {word.replace(".", "_"): function_text(word) for word in FUNCTIONS}
    if int(unit) >= 89:
        texts |= {word.replace(".", "_"): conversion_text(word) for word in CONVERSIONS}
    kernels = _Kernels(texts, unit)
    found: list[Asked] = []
    for one in some:
        c = "fp16" if one.to == "fp16" else "f32"
        tiny = one.a in ("bf16", "tf32")
        found.append(Question(one.name, "instructions", "cuda", one.shape, one.a, one.b, one.to, one.k, 64, 32, _instruction(one, kernels), c=c, rows=64, columns=32, tiny=tiny, batched=False, build=one.form))
    for word, function in FUNCTIONS.items():
        right, low, high = _RIGHT[function]
        found.append(FunctionQuestion(f"cuda.{word}", "functions", "cuda", word, right, _elementwise(word.replace(".", "_"), kernels, np.float32), low, high))
    if int(unit) >= 89:
        found += [CastQuestion(f"cuda.{word}", "casts", "cuda", word, "f32", to, _elementwise(word.replace(".", "_"), kernels, np.uint8), "cuda.f32." + to) for word, to in CONVERSIONS.items()]
    return found
