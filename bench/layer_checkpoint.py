#!/usr/bin/env python3
"""Writes a checkpoint of one gpt-oss layer, 424 MB by default, from a seed: what verbs are measured on at real size.

usage: layer_checkpoint.py DIRECTORY [EXPERTS INTERMEDIATE HIDDEN]
"""

import json
import math
import pathlib
import random
import sys


PIECE = 1 << 24  # bytes that are made at once


def scales(count):
    """e8m0 bytes around one."""
    return bytes(118 + byte % 5 for byte in random.randbytes(count))


def bf16(count):
    """bf16 numbers of 2^-7 to 2^-1, either sign."""
    words = (int.from_bytes(pair, "little") for pair in zip(*[iter(random.randbytes(count))] * 2))
    return b"".join(((word & 1) << 15 | (120 + (word >> 8) % 6) << 7 | word >> 1 & 0x7F).to_bytes(2, "little") for word in words)


def main(directory, experts=32, intermediate=2880, hidden=2880):
    random.seed(1)
    folder = pathlib.Path(directory)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(
        json.dumps(
            {
                "architectures": ["GptOssForCausalLM"],
                "model_type": "gpt_oss",
                "hidden_size": hidden,
                "intermediate_size": intermediate,
                "num_hidden_layers": 1,
                "num_local_experts": experts,
                "num_experts_per_tok": min(4, experts),
                "quantization_config": {"quant_method": "mxfp4"},
            }
        )
    )
    mlp = "model.layers.0.mlp."
    tensors = [
        (mlp + "experts.gate_up_proj_blocks", "U8", [experts, 2 * intermediate, hidden // 32, 16], random.randbytes),
        (mlp + "experts.gate_up_proj_scales", "U8", [experts, 2 * intermediate, hidden // 32], scales),
        (mlp + "experts.gate_up_proj_bias", "BF16", [experts, 2 * intermediate], bf16),
        (mlp + "experts.down_proj_blocks", "U8", [experts, hidden, intermediate // 32, 16], random.randbytes),
        (mlp + "experts.down_proj_scales", "U8", [experts, hidden, intermediate // 32], scales),
        (mlp + "experts.down_proj_bias", "BF16", [experts, hidden], bf16),
        (mlp + "router.weight", "BF16", [experts, hidden], bf16),
        (mlp + "router.bias", "BF16", [experts], bf16),
    ]
    header, end = {}, 0
    for name, dtype, shape, _ in tensors:
        begin = end
        end += math.prod(shape) * (1 if dtype == "U8" else 2)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, _, _, make in tensors:
            begin, end = header[name]["data_offsets"]
            for at in range(begin, end, PIECE):
                file.write(make(min(PIECE, end - at)))


if len(sys.argv) not in (2, 5):
    sys.exit(__doc__)
main(sys.argv[1], *map(int, sys.argv[2:]))
