# mypy: ignore-errors
"""Small kernels of ours in Triton: one product of a tile, in the forms in which `tl.dot` and `tl.dot_scaled` are written; casts. Imported only where Triton is."""

import triton
import triton.language as tl


@triton.jit
def dot(a, b, d, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr, ADDED: tl.constexpr, IMPRECISE: tl.constexpr):
    """d = a [M, K] times b [N, K] transposed; IMPRECISE -1: not said."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, K, BLOCK_K):
        k = first + tl.arange(0, BLOCK_K)
        x = tl.load(a + rows[:, None] * K + k[None, :])
        y = tl.load(b + columns[None, :] * K + k[:, None])
        if IMPRECISE < 0:
            if ADDED:
                acc += tl.dot(x, y)
            else:
                acc = tl.dot(x, y, acc)
        else:
            acc = tl.dot(x, y, acc, max_num_imprecise_acc=IMPRECISE)
    tl.store(d + rows[:, None] * N + columns[None, :], acc)


@triton.jit
def dot_scaled(a, sa, b, sb, d, A: tl.constexpr, B: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, HAS_A: tl.constexpr, HAS_B: tl.constexpr, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr, FAST: tl.constexpr):
    """The same with scale bytes for each 32 of k; PA, PB: codes in a byte."""
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, K, BLOCK_K):
        ka = first // PA + tl.arange(0, BLOCK_K // PA)
        kb = first // PB + tl.arange(0, BLOCK_K // PB)
        ks = first // 32 + tl.arange(0, BLOCK_K // 32)
        x = tl.load(a + rows[:, None] * (K // PA) + ka[None, :])
        y = tl.load(b + columns[None, :] * (K // PB) + kb[:, None])
        if HAS_A and HAS_B:
            u = tl.load(sa + rows[:, None] * (K // 32) + ks[None, :])
            v = tl.load(sb + columns[:, None] * (K // 32) + ks[None, :])
            acc = tl.dot_scaled(x, u, A, y, v, B, acc, fast_math=FAST)
        elif HAS_A:
            u = tl.load(sa + rows[:, None] * (K // 32) + ks[None, :])
            acc = tl.dot_scaled(x, u, A, y, None, B, acc, fast_math=FAST)
        else:
            v = tl.load(sb + columns[:, None] * (K // 32) + ks[None, :])
            acc = tl.dot_scaled(x, None, A, y, v, B, acc, fast_math=FAST)
    tl.store(d + rows[:, None] * N + columns[None, :], acc)


@triton.jit
def cast(x, y, n, TO: tl.constexpr, BLOCK: tl.constexpr):
    """y = x in another dtype."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + place, mask=place < n)
    tl.store(y + place, values.to(TO), mask=place < n)
