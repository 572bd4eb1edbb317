#!/usr/bin/env python3
"""The last step of docs/walk.md: one weight in the dot product of its row, under several arithmetic contracts.

walk.py CHECKPOINT_FILE: reads the row of gate 70 of expert 3 in layer 0, multiplies it with activations that are small integers, so that every partial
sum is exact, once as it is and once with the sign of element 37 turned. Ends with 1 when a contract does not see exactly that change."""

import json
import struct
import sys

import mxact

EXPERT, ROW, K = 3, 140, 37  # gpt-oss rows alternate: gate 70 is row 2 * 70
CONTRACTS = ["exact", "f32-sequential", "bf16-chain", "hopper-bf16"]


def tensor(file, name, first, count):
    """Bytes of a tensor of a safetensors file."""
    with open(file, "rb") as stream:
        size = struct.unpack("<Q", stream.read(8))[0]
        begin, _ = json.loads(stream.read(size))[name]["data_offsets"]
        stream.seek(8 + size + begin + first)
        return stream.read(count)


def as_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def main():
    prefix = "model.layers.0.mlp.experts.gate_up_proj_"
    packed = tensor(sys.argv[1], prefix + "blocks", (EXPERT * 512 + ROW) * 128, 128)
    scales = list(tensor(sys.argv[1], prefix + "scales", (EXPERT * 512 + ROW) * 8, 8))
    codes = [byte >> shift & 0xF for byte in packed for shift in (0, 4)]
    turned = [code ^ 8 if k == K else code for k, code in enumerate(codes)]
    x = [k % 7 - 3 for k in range(256)]
    activations, _ = mxact.convert([struct.unpack("<I", struct.pack("<f", value))[0] for value in x], "f32", "bf16")
    weight = as_float(mxact.dequantize(scales[K // 32], [codes[K]] * 32, "mxfp4")[0])
    print(f"element 0x{codes[K]:x} with scale 0x{scales[K // 32]:x} is {weight}; its activation is {x[K]}")
    wrong = 0
    for contract in CONTRACTS:
        right, other = (as_float(mxact.dot(contract, mxact.Matrix("e2m1", row, "e8m0", scales, 32), mxact.Matrix("bf16", activations)))
                        for row in (codes, turned))
        print(f"{contract:15} {right:12} with the sign turned {other:12}")
        wrong += right - other != 2 * weight * x[K] or right == other
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
