#!/usr/bin/env python3
"""What calls of the Python package cost, beside calls that do nothing and beside the kernels alone. Prints a table of docs/measured/performance.json.

usage: build/release/python/venv/bin/python bench/python_calls.py     (on one thread, a machine that does nothing else)
"""

from __future__ import annotations

import timeit
from typing import Any

import numpy as np

import mxact
from mxact import _core


def nanoseconds(call: str, names: dict[str, Any], repeats: int = 7) -> float:
    """Of the fastest of some rounds that take a tenth of a second each."""
    timer = timeit.Timer(call, globals=names)
    count, _ = timer.autorange()
    count = max(1, count // 2)
    return min(timer.repeat(repeats, count)) / count * 1e9


def row(what: str, call: str, beside: str, base: str, names: dict[str, Any], unit: float = 1, name: str = "ns") -> None:
    first, second = nanoseconds(base, names), nanoseconds(call, names)
    print(f"| {what} | {second / unit:.4g} {name} | {beside} | {first / unit:.4g} {name} | {second / first:.2f} |")


def main() -> None:
    mxact.threads(1)
    print("| call | takes | beside | takes | times |")
    print("| --- | --- | --- | --- | --- |")
    small = np.linspace(-4, 4, 32, dtype=np.float32)
    of_calls = {"c": mxact.converter("f32", "e4m3fn", profile="torch-cpu"), "nothing": _core.Nothing(), "mxact": mxact, "core": _core, "x": small}
    row("`c(code)` of `mxact.converter`", "c(0x3FD9999A)", "a call of nanobind that does nothing", "nothing(0x3FD9999A)", of_calls)
    few = mxact.quantize(small, "mxfp4", profile="ocp")
    of_calls |= {"few": few, "few_codes": few.codes.view(np.uint8), "few_scales": few.scales.view(np.uint8)}
    empty = "one with the same arguments that does nothing"
    row("`mxact.convert` of 32 numbers", "mxact.convert(x, 'e4m3fn', profile='torch-cpu')", empty, "core.nothing(x, 'e4m3fn', profile='torch-cpu')", of_calls)
    row("`mxact.quantize` of 32 numbers", "mxact.quantize(x, 'mxfp4', profile='ocp')", empty, "core.nothing(x, 'mxfp4', profile='ocp')", of_calls)
    row("`mxact.dequantize` of them", "mxact.dequantize(few, 'f32')", "one with codes, scales and name", "core.nothing(few_codes, few_scales, 'f32')", of_calls)

    x = np.random.default_rng(1).standard_normal((4096, 4096), dtype=np.float32)
    q = mxact.quantize(x, "mxfp4", profile="ocp")
    of_kernels = {"mxact": mxact, "core": _core, "x": x, "q": q, "bytes": x.reshape(-1).view(np.uint8), "numbers": np.empty(x.size * 4, np.uint8)}
    of_kernels |= {"codes": q.codes.reshape(-1).view(np.uint8), "scales": q.scales.reshape(-1).view(np.uint8)}
    of_kernels |= {"made": np.empty(x.size, np.uint8), "of_blocks": np.empty(x.size // 32, np.uint8)}
    quantizes = "core.quantize('mxfp4', 'ocp', 'f32', 4096, 4096, None, None, None, bytes, made, of_blocks)"
    row("`mxact.quantize`, 4096 x 4096 to MXFP4", "mxact.quantize(x, 'mxfp4')", "the kernel into memory that is there", quantizes, of_kernels, 1e6, "ms")
    decodes = "core.dequantize('mxfp4', 'ocp', 'f32', 4096, 4096, None, None, codes, scales, numbers)"
    row("`mxact.dequantize` of it", "mxact.dequantize(q, profile='ocp')", "the same", decodes, of_kernels, 1e6, "ms")


if __name__ == "__main__":
    main()
