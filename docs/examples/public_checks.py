"""What tolerances of public test suites let through: python docs/examples/public_checks.py [NAME ...]. Numbers are those of the thread or file that is named."""

from __future__ import annotations

import sys

import numpy as np

from mxact.testing import power


def f64(values):
    return values.astype(np.float64)


def is_close(candidate, expected, rtol, atol):
    return np.abs(f64(candidate) - f64(expected)) <= atol + rtol * np.abs(f64(expected))


def finite_norm(candidate, expected, limit):
    """The relative norm of the difference, over elements where both sides are finite; alike where there are none."""
    valid = np.isfinite(f64(candidate)) & np.isfinite(f64(expected))
    if not valid.any():
        return True
    a, b = f64(candidate)[valid], f64(expected)[valid]
    return np.linalg.norm(a - b) <= limit * np.linalg.norm(b)


# Name: where the numbers stand, results in, the comparison.
CHECKS = {
    "kernelbench": ("ScalingIntelligence/KernelBench#165", "bfloat16", lambda c, e: is_close(c, e, 1e-2, 1e-2).all()),
    "both-2e-2": ("ours", "bfloat16", lambda c, e: is_close(c, e, 2e-2, 2e-2).all()),
    "ck-tile-fp8": ("ROCm/rocm-libraries#10988", "bfloat16", lambda c, e: is_close(c, e, 0, 32).all()),
    "onnxruntime-gemv": ("microsoft/onnxruntime#31155", "float16", lambda c, e: is_close(c, e, 0, 0.05).all()),
    "flashinfer-scores": ("flashinfer-ai/flashinfer#4365", "bfloat16", lambda c, e: finite_norm(c, e, 0.01)),
    "tt-metal-sfpu": ("tenstorrent/tt-metal#54893", "float32", lambda c, e: is_close(c, e, 0.05, 0.05).all()),
    "supernpu-mse": ("PTO-ISA/SuperNPUBench#102", "bfloat16", lambda c, e: np.mean((f64(c) - f64(e)) ** 2) < 0.1),
    "flashinfer-bench": ("flashinfer-ai/flashinfer-bench#178", "bfloat16", lambda c, e: is_close(c, e, 0.01, 0.01).mean() >= 0.95),
    "flashinfer-dpsk": ("flashinfer-ai/flashinfer-bench#178", "bfloat16", lambda c, e: is_close(c, e, 0.2, 0.1).mean() >= 0.85),
    "flashinfer-trtllm": ("flashinfer-ai/flashinfer-bench#178", "bfloat16", lambda c, e: is_close(c, e, 0.85, 0.1).mean() >= 0.8),
    "vllm-mla-fp8": ("vllm-project/vllm#34597", "bfloat16", lambda c, e: is_close(c, e, 0.3, 0.02).all()),
}


def power_of(name):
    _, dtype, check = CHECKS[name]
    return power(check, format="mxfp4", activation="SILU", sizes=(4, 128, 128), tokens=2, dtype=dtype, data=["plain", "cancelling", "wide", "small", "ties", "subnormal"])


def row_of(name):
    """The wrong kernels that are caught and the right ones that pass, on data whose outputs are near 1; wrong ones that are caught on all data."""
    found = power_of(name)
    plain = [one for one in found.wrong if "plain" in one.passes]
    caught, right = sum(not one.passes["plain"] for one in plain), sum(one.passes["plain"] for one in found.right)
    everywhere = len(found.wrong) - len(found.passing)
    return f"{CHECKS[name][0]} {name}: {caught} of {len(plain)} wrong, {right} of {len(found.right)} right; on all data {everywhere} of {len(found.wrong)}"


if __name__ == "__main__":
    for asked in sys.argv[1:] or CHECKS:
        print(row_of(asked), flush=True)
