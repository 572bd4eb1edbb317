"""torch on the CPU: Tensor.to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mxact._arguments import Array
from mxact.peers._rows import Cast, Fault, Operation, Peer, Speed
from mxact.peers.adapters.tensors import numbers, tensor, torch

_DTYPES = {
    "f32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "e4m3fn": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz",
    "e8m0": "float8_e8m0fnu",
}
_FP8 = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0")
_WHY = {
    "e4m3fn": "an Inf saturates, and a NaN keeps its sign",
    "e5m2": "overflow gives an Inf, and a NaN keeps its sign",
    "e8m0": "ties go up, the sign is ignored and 0 gives 2^-127",
}


def _cast(source: str, to: str) -> Cast:
    dtype = getattr(torch(), _DTYPES[to])

    def fn(x: Array) -> Array:
        return numbers(tensor(x).to(dtype))

    back = source in _FP8
    return Cast(f"Tensor.to({_DTYPES[to]})", source, to, "ocp" if back else "torch-cpu", fn, "" if back else _WHY.get(to, ""))


def _operations() -> Sequence[Operation]:
    down = [_cast(source, to) for source in ("f32", "bf16", "fp16") for to in _FP8]
    halves = [_cast("f32", "bf16"), _cast("f32", "fp16"), _cast("fp16", "bf16"), _cast("bf16", "fp16")]
    return down + halves + [_cast(source, "f32") for source in _FP8]


def _speed() -> Sequence[Speed]:
    def cast(to: str) -> Speed:
        dtype = getattr(torch(), _DTYPES[to])

        def theirs(x: Array) -> Callable[[], object]:
            values = tensor(x)
            return lambda: values.to(dtype)

        return Speed(_cast("f32", to), theirs)

    return [cast(to) for to in ("e4m3fn", "e5m2", "bf16")]


PEER = Peer(
    "torch",
    "torch",
    "2.13.0",
    "https://github.com/pytorch/pytorch",
    _operations,
    [
        Fault(
            "IEEE 754 section 4.3: every result is rounded once",
            "fp64 goes through fp32 on its way into a smaller format, which rounds twice",
            "import torch\nprint(torch.tensor(-431.999999999568, dtype=torch.float64).to(torch.float8_e4m3fn).item())",
            "-448.0",
            "-416.0",
        ),
        Fault(
            "IEEE 754 section 5.7.2: isFinite is false of a NaN",
            "the NaN of E8M0 is finite",
            "import torch\nprint(torch.isfinite(torch.tensor(255, dtype=torch.uint8).view(torch.float8_e8m0fnu)).item())",
            "True",
            "False",
        ),
    ],
    _speed,
)
