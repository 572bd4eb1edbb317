"""JAX (XLA) on the CPU: convert_element_type under jit."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import dtype_of
from mxact.peers._rows import Cast, Fault, Operation, Peer

_SMALL = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0", "e2m1")
_WHY = {"e4m3fn": "overflow gives a NaN", "e5m2": "a NaN's code follows the source", "e2m1": "a NaN becomes -0", "e8m0": "ties go up; zero and negative numbers are NaNs"}


def _cast(source: str, to: str) -> Cast:
    jax = import_module("jax")
    dtype = dtype_of(to)
    compiled = jax.jit(lambda values: jax.lax.convert_element_type(values, dtype))
    back = dtype_of(source).itemsize == 1
    return Cast(f"convert_element_type({dtype})", source, to, "ocp" if back else "jax-cpu", lambda x: np.asarray(compiled(x)), "" if back else _WHY.get(to, ""))


def _operations() -> Sequence[Operation]:
    import_module("jax").config.update("jax_platforms", "cpu")
    down = [_cast(source, to) for source in ("f32", "bf16", "fp16") for to in _SMALL]
    return [*down, _cast("f32", "bf16"), _cast("f32", "fp16"), *(_cast(source, "f32") for source in _SMALL)]


PEER = Peer(
    "jax",
    "jax",
    "0.10.2",
    "https://github.com/jax-ml/jax",
    _operations,
    [
        Fault(
            "StableHLO convert: 6 is in int32's range",
            "FP4's 6 becomes the integer type's largest number",
            "import jax.numpy as jnp\nprint(jnp.array([6], jnp.float4_e2m1fn).astype(jnp.int32)[0])",
            "2147483647",
            "6",
        )
    ],
)
