"""optimum-quanto: FP8 weights."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from mxact._arguments import Array
from mxact.peers._rows import Fault, Operation, Peer, Quantizer
from mxact.peers.adapters.tensors import codes, numbers, tensor


def _quantizer(source: str, format: str, words: str) -> Quantizer:
    quanto = import_module("optimum.quanto")
    kind = getattr(quanto, words)

    def fn(x: Array) -> tuple[Array, Array]:
        weight = tensor(x)
        scales = quanto.AbsmaxOptimizer()(weight, kind, axis=0)
        done = quanto.quantize_weight(weight, qtype=kind, axis=0, scale=scales, optimized=False)
        return codes(done._data), numbers(scales.float())

    return Quantizer(f"quantize_weight({words})", format, source, "quanto-fp8", fn, why="a scale of 0 makes NaNs of zeros")


def _operations() -> Sequence[Operation]:
    kinds = (("fp8_e4m3", "qfloat8_e4m3fn"), ("fp8_e5m2", "qfloat8_e5m2"))
    return [_quantizer(source, *kind) for kind in kinds for source in ("f32", "bf16", "fp16")]


PEER = Peer(
    "quanto",
    "optimum-quanto",
    "0.2.7",
    "https://github.com/huggingface/optimum-quanto",
    _operations,
    [
        Fault(
            "OFP8 section 5.1: 0 is a number of E4M3, and so is 0 times a scale",
            "qfloat8: a row of zeros has the scale 0 and comes back as NaN",
            "import torch\nfrom optimum.quanto import AbsmaxOptimizer, qfloat8, quantize_weight\nw = torch.ones(2, 32)\nw[0] = 0\n"
            "scale = AbsmaxOptimizer()(w, qfloat8, axis=0)\nprint(quantize_weight(w, qtype=qfloat8, axis=0, scale=scale).dequantize()[0, 0].item())",
            "nan",
            "0.0",
        )
    ],
    further=True,
)
