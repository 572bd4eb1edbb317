"""Libraries of this field held against the model: whichever of them is installed, operation by operation, bit for bit.

    python -m mxact.peers                  # a table of every peer that is installed
    python -m mxact.peers torch torchao    # of these

Each peer is one file of mxact.peers.adapters: its calls, the profile that each is known to follow, its faults. What is compared are all codes, all 65,536
inputs of 16 bits, every 4096th of 32 bits with every border of the target and its neighbours (all 2^32 with --exhaustive), and for quantizers the hard
blocks of mxact.testing.assert_quantizer. Of matrix units tiles of sums are compared, each under the contract that stands for the peer's class. Needs hypothesis: `pip install mxact[testing]`.
"""

from __future__ import annotations

from importlib import import_module

from mxact.peers._hold import Count, Held, HeldPeer, Seen, document, hold, hold_apart, totals
from mxact.peers._rows import Back, Cast, Disagreement, Emulation, Fault, Operation, Peer, Quantizer, Speed, Sum

_ADAPTERS = (
    "torch",
    "torchao",
    "compressed_tensors",
    "modelopt",
    "flashinfer",
    "auto_round",
    "quark",
    "transformers",
    "mlx",
    "gguf",
    "jax",
    "ml_dtypes",
    "numpy",
    "gfloat",
    "apytypes",
    "bitstring",
    "tinygrad",
    "onnx",
    "onnxruntime",
    "openvino",
    "nncf",
    "iree",
    "quanto",
    "triton",
    "mmasim",
    "mmaemu",
)


def peers() -> list[Peer]:
    """All that there is an adapter for, in the order of the table."""
    return [import_module(f"mxact.peers.adapters.{name}").PEER for name in _ADAPTERS]


__all__ = [
    "Back",
    "Cast",
    "Count",
    "Disagreement",
    "Emulation",
    "Fault",
    "Held",
    "HeldPeer",
    "Operation",
    "Peer",
    "Quantizer",
    "Seen",
    "Speed",
    "Sum",
    "document",
    "hold",
    "hold_apart",
    "peers",
    "totals",
]
