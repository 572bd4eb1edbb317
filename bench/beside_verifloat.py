"""Conversions into formats that nobody's table has, beside VeriFloat 0.2: an array of fp32 numbers, and single numbers through a handle; in one run, by turns.

usage: PYTHON bench/beside_verifloat.py   (a Python 3.12 that has mxact, numpy and verifloat; run it with taskset, so that it stays on one processor)

Both give the same codes, or nothing is measured.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from verifloat import FPFormat, Rounding

import mxact

ELEMENTS = 1 << 16
SINGLES = 2000
ROUNDS = 15

# A format with its rules in both languages.
ROWS = [
    ("e4m3fn,bias=9,round=rtz,overflow=saturate", FPFormat(4, 3, bias=9, inf_nan="fn", rounding=Rounding.RTZ, saturate=True)),
    ("e3m4,bias=5,ieee,round=rne,overflow=ieee", FPFormat(3, 4, bias=5, inf_nan=True, rounding=Rounding.RNE)),
    ("e5m6,bias=11,ieee,round=rup,overflow=ieee", FPFormat(5, 6, bias=11, inf_nan=True, rounding=Rounding.RUP)),
]


def seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def by_turns(ours: Callable[[int], object], theirs: Callable[[int], object]) -> tuple[float, float, float]:
    """Medians of both, and of their ratio in each turn, which is told its number."""
    pairs = [(seconds(lambda: ours(turn)), seconds(lambda: theirs(turn))) for turn in range(ROUNDS)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs), statistics.median(b / a for a, b in pairs)


def main() -> None:
    mxact.threads(1)
    random = np.random.default_rng(1)
    x = (random.standard_normal(ELEMENTS) * np.exp2(random.integers(-12, 13, ELEMENTS))).astype(np.float32)
    copied = np.empty_like(x)
    print("| rules | call | mxact | VeriFloat 0.2 | times |\n|---|---|---|---|---|")
    for rules, format in ROWS:
        single = mxact.converter("f32", rules)
        turns = [slice(turn * SINGLES, (turn + 1) * SINGLES) for turn in range(ROUNDS)]  # numbers that no turn before had
        numbers, words = [[float(one) for one in x[turn]] for turn in turns], [[int(one) for one in x[turn].view(np.uint32)] for turn in turns]
        codes, right = mxact.convert(x, rules), np.asarray(format.array(x).raw)
        if not np.array_equal(codes.astype(np.uint32), right.astype(np.uint32)) or single(words[-1][-1]) != int(right[turns[-1].stop - 1]):
            raise SystemExit(f"{rules}: other codes than VeriFloat's")
        ours, theirs, times = by_turns(lambda _, rules=rules: mxact.convert(x, rules), lambda _, format=format: format.array(x))
        print(f"| {rules} | array of {ELEMENTS} | {ELEMENTS / ours / 1e6:.1f} M/s | {ELEMENTS / theirs / 1e6:.1f} M/s | {times:.1f} |")
        ours, theirs, times = by_turns(
            lambda turn, single=single, words=words: [single(one) for one in words[turn]], lambda turn, format=format, numbers=numbers: [format(one) for one in numbers[turn]]
        )
        print(f"| {rules} | one number | {ours / SINGLES * 1e9:.0f} ns | {theirs / SINGLES * 1e9:.0f} ns | {times:.1f} |")
    took = statistics.median(seconds(lambda: np.copyto(copied, x)) for _ in range(ROUNDS))
    print(f"a copy of the array: {ELEMENTS / took / 1e6:.0f} M/s")


main()
