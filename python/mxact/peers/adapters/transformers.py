"""transformers: MXFP4 weights of gpt-oss back to numbers, weights in FP8."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace

from mxact._arguments import Array
from mxact.peers._rows import Back, Fault, Operation, Peer, Quantizer
from mxact.peers.adapters.tensors import codes, numbers, packed, tensor, torch


def _back(to: str) -> Back:
    convert = import_module("transformers.integrations.mxfp4").convert_moe_packed_tensors
    target = {"f32": torch().float32, "bf16": torch().bfloat16}[to]

    def fn(elements: Array, scales: Array) -> Array:
        data = packed(elements).reshape(1, *scales.shape, 16)
        values = convert(data, tensor(scales).reshape(1, *scales.shape), dtype=target)
        # It gives the transpose, as its matrix products want it.
        return numbers(values.transpose(1, 2).reshape(elements.shape))

    return Back("convert_moe_packed_tensors", "mxfp4", to, "transformers-mxfp4", fn, why="byte 255 is 2^128")


def _quantizer(source: str, words: str) -> Quantizer:
    quantize = import_module("transformers.integrations.finegrained_fp8").Fp8Quantize

    def fn(x: Array) -> tuple[Array, Array]:
        config = SimpleNamespace(weight_block_size=(1, x.shape[1]), scale_fmt=words)
        done = quantize(SimpleNamespace(quantization_config=config))._quantize_one("x.weight", tensor(x))
        return codes(done["x.weight"]), numbers(done["x.weight_scale_inv"].float())

    profile = "transformers-fp8" if words == "float" else "transformers-fp8-ue8m0"
    why = "the factor is 448 times the reciprocal of amax, and 1 where that is 0"
    return Quantizer(f'Fp8Quantize, scale_fmt "{words}"', "fp8_e4m3", source, profile, fn, why=why)


def _operations() -> Sequence[Operation]:
    rows: list[Operation] = [_back(to) for to in ("f32", "bf16")]
    rows += [_quantizer(source, "float") for source in ("f32", "bf16", "fp16")]
    return rows + [_quantizer(source, "ue8m0") for source in ("bf16", "fp16")]


PEER = Peer(
    "transformers",
    "transformers",
    "5.24.0",
    "https://github.com/huggingface/transformers",
    _operations,
    [
        Fault(
            "MX 1.0 section 5.2: under a NaN scale every element is a NaN",
            "scale byte 255 is 2^128: 0.5 becomes 2^127",
            "import torch\nfrom transformers.integrations.mxfp4 import convert_moe_packed_tensors\nblocks = torch.full((1, 1, 1, 16), 0x11, dtype=torch.uint8)\n"
            "print(convert_moe_packed_tensors(blocks, torch.full((1, 1, 1), 255, dtype=torch.uint8), dtype=torch.float32).max().item())",
            "1.7014118346046923e+38",
            "nan",
        ),
        Fault(
            "README_WEIGHTS of DeepSeek-V3: blocks of 128 x 128, the last one cut short",
            "FP8 weights turned into bf16 on a CPU: 192 rows are cut at 96",
            "import torch\nfrom transformers.integrations.finegrained_fp8 import Fp8Dequantize\ncodes = torch.ones(192, 128).to(torch.float8_e4m3fn)\n"
            "print(Fp8Dequantize(None)._dequantize_one(codes, torch.tensor([[1.0], [2.0]]))[:, 0].tolist().index(2.0))",
            "96",
            "128",
        ),
    ],
)
