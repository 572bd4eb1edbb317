#!/usr/bin/env python3
"""The last step of docs/walk.md: one weight in the dot product of its row, under several arithmetic contracts.

walk.py CHECKPOINT_FILE: reads the row of gate 70 of expert 3 in layer 0, multiplies it with activations that are small integers, so that every partial
sum is exact, once as it is and once with the sign of element 37 turned. Ends with 1 when a contract does not see exactly that change."""

import json
import struct
import sys

import ml_dtypes
import numpy as np

import mxact

EXPERT, ROW, K = 3, 140, 37  # gpt-oss rows alternate: gate 70 is row 2 * 70
CONTRACTS = ["exact", "f32-sequential", "bf16-chain", "hopper-bf16"]


def tensor(file, name, first, count):
    """Bytes of a tensor of a safetensors file."""
    with open(file, "rb") as stream:
        size = struct.unpack("<Q", stream.read(8))[0]
        begin, _ = json.loads(stream.read(size))[name]["data_offsets"]
        stream.seek(8 + size + begin + first)
        return np.frombuffer(stream.read(count), np.uint8)


def row_of(codes, scales):
    e2m1, e8m0 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu
    return mxact.Quantized(codes.view(e2m1), scales.view(e8m0), None, "mxfp4", "ocp", "f32", -1)


def main():
    prefix = "model.layers.0.mlp.experts.gate_up_proj_"
    packed = tensor(sys.argv[1], prefix + "blocks", (EXPERT * 512 + ROW) * 128, 128)
    scales = tensor(sys.argv[1], prefix + "scales", (EXPERT * 512 + ROW) * 8, 8)
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)
    turned = codes.copy()
    turned[K] ^= 8
    activations = (np.arange(256) % 7 - 3).astype(ml_dtypes.bfloat16)
    weight = mxact.dequantize(row_of(codes, scales))[K]
    print(f"element 0x{codes[K]:x} with scale 0x{scales[K // 32]:x} is {weight}; its activation is {activations[K]}")
    wrong = 0
    for contract in CONTRACTS:
        right, other = (mxact.dot(row_of(row, scales), activations, contract) for row in (codes, turned))
        print(f"{contract:15} {right:12} with the sign turned {other:12}")
        wrong += right - other != 2 * weight * float(activations[K]) or right == other
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
