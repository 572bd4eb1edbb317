"""Products a second of mxact.matmul beside mmasim's batched call (100,000 rows), one thread each, in one run.

usage: PYTHON bench/matmul_beside_mmasim.py   (a Python that has mxact, torch and mmasim)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch
from mmasim.nv_ptx import isa_mma, sim

import mxact

ROWS = 100_000
SHAPE = (256, 512)  # of mxact's results
LENGTHS = (1024, 4096)


def fastest(call: Callable[[], object], rounds: int) -> float:
    call()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def theirs(operation: Any, k: int, dtype: torch.dtype, scaled: bool) -> float:
    random = torch.Generator().manual_seed(1)
    if scaled:
        a, b = (torch.randint(0, 256, (ROWS, k // 2), dtype=torch.uint8, generator=random) for _ in range(2))
        scales = torch.randint(0x30, 0x40, (ROWS, k // 16), dtype=torch.uint8, generator=random).view(torch.float8_e4m3fn)
        more = (scales, scales)
    else:
        a, b = (torch.randn(ROWS, k, generator=random).to(dtype) for _ in range(2))
        more = ()
    c = torch.randn(ROWS, generator=random)
    return ROWS * k / fastest(lambda: operation.dpa(a, b, c, *more), 5)


def ours(contract: str, dtype: Any, k: int, scaled: bool) -> float:
    random = np.random.default_rng(1)
    (m, n), c = SHAPE, random.standard_normal(SHAPE, dtype=np.float32)
    if scaled:
        a, b = random.integers(0, 16, (m, k), dtype=np.uint8), random.integers(0, 16, (k, n), dtype=np.uint8)
        scales = tuple(random.integers(0x30, 0x40, (rows, k // 16), dtype=np.uint8) for rows in (m, n))
        return m * n * k / fastest(lambda: mxact.matmul(a, b, contract, scales=scales, c=c, source=("e2m1", "e2m1")), 5)
    left, right = (random.standard_normal(shape, dtype=np.float32).astype(dtype) for shape in ((m, k), (k, n)))
    return m * n * k / fastest(lambda: mxact.matmul(left, right, contract, c=c), 5)


def main() -> None:
    torch.set_num_threads(1)
    mxact.threads(1)
    nvf4 = next(name for name in isa_mma.mma_block_scale_shape_and_type["RTX Blackwell"] if "ue4m3" in name)
    rows = [
        ("hopper-fp8", sim.WGMMA("Hopper", "m64n8k32.f32.e4m3.e4m3"), 32, torch.float8_e4m3fn, ml_dtypes.float8_e4m3fn, False),
        ("hopper-bf16", sim.MMA("Hopper", "m16n8k16.f32.bf16.bf16.f32"), 16, torch.bfloat16, ml_dtypes.bfloat16, False),
        ("blackwell-nvf4", sim.MMABlockScale("RTX Blackwell", nvf4), 64, torch.uint8, None, True),
    ]
    print("| contract | tier | k | mmasim, million products a second | mxact, billion | times |\n|---|---|---|---|---|---|")
    for contract, operation, k, dtype, own, scaled in rows:
        for tier in ("avx2", "avx512"):
            os.environ["MXACT_ISA"] = tier
            base = theirs(operation, k, dtype, scaled)
            for length in LENGTHS:
                rate = ours(contract, own, length, scaled)
                print(f"| {contract} | {tier} | {length} | {base / 1e6:.1f} | {rate / 1e9:.2f} | {rate / base:.0f} |")


main()
