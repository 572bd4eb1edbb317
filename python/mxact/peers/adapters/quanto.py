"""optimum-quanto: FP8 weights."""

from __future__ import annotations

from mxact.peers._rows import Fault, Peer

PEER = Peer(
    "quanto",
    "optimum-quanto",
    "0.2.7",
    "https://github.com/huggingface/optimum-quanto",
    list,
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
