"""A kernel in NumPy, written as one in Triton would be, held against TRITON on Hopper stage by stage.

python docs/examples/layer_kernel.py golden/witness/checkpoints/tiny-gpt-oss
"""

import json
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import mxact

BF16 = ml_dtypes.bfloat16
E2M1 = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
CHECKPOINT = Path(sys.argv[1])


def tensor(file: str, name: str) -> np.ndarray:
    raw = (CHECKPOINT / file).read_bytes()
    head = 8 + int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8:head])[name]
    begin, end = (head + offset for offset in entry["data_offsets"])
    return np.frombuffer(raw[begin:end], {"U8": np.uint8, "BF16": BF16}[entry["dtype"]]).reshape(entry["shape"])


def weights_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of each expert as the kernel unpacks it, [experts, rows, k], and its bias."""
    file = "model-00001-of-00002.safetensors"
    prefix = f"model.layers.0.mlp.experts.{name}_proj"
    blocks = tensor(file, f"{prefix}_blocks")
    codes = np.stack([blocks & 15, blocks >> 4], axis=-1).reshape(*blocks.shape[:3], 32)
    scales = np.exp2(tensor(file, f"{prefix}_scales").astype(np.float32) - 127)[..., None]
    return (E2M1[codes] * scales).reshape(*blocks.shape[:2], -1), tensor(file, f"{prefix}_bias").astype(np.float32)


def product(rows: np.ndarray, experts: np.ndarray, matrix: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A row each of some experts' matrices: k ascending in fp32, the bias last."""
    sums = np.zeros((len(rows), matrix.shape[1]), np.float32)
    for k in range(matrix.shape[2]):
        sums += rows[:, k : k + 1] * matrix[experts, :, k]
    return sums + bias[experts]


def kernel_h13(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    sums = product(x.astype(np.float32).repeat(ids.shape[1], axis=0), ids.reshape(-1), *weights_of("gate_up"))
    return np.concatenate([sums[:, ::2], sums[:, 1::2]], axis=1)  # gpt-oss has gate and up by turns


def kernel_act(h13: np.ndarray) -> np.ndarray:
    gate, up = np.split(h13, 2, axis=1)
    gate, up = np.minimum(gate, np.float32(7)), np.clip(up, np.float32(-7), np.float32(7))
    swish = gate / (1 + np.exp(-(np.float32(1.702) * gate).astype(np.float64)).astype(np.float32))
    return (swish.astype(np.float64) * up + swish).astype(np.float32).astype(BF16)


def kernel_y(act: np.ndarray, ids: np.ndarray, weights: np.ndarray, stored_first: bool) -> np.ndarray:
    sums = product(act.astype(np.float32), ids.reshape(-1), *weights_of("down"))
    if stored_first:  # the product is stored in bf16 before the epilogue weighs it
        sums = sums.astype(BF16).astype(np.float32)
    return (sums * weights.astype(BF16).astype(np.float32).reshape(-1, 1)).astype(BF16)


def kernel_out(y: np.ndarray, ids: np.ndarray) -> np.ndarray:
    order = np.argsort(ids, axis=1)  # slots by ascending expert, as they were sorted
    slots = np.take_along_axis(y.astype(np.float32).reshape(*ids.shape, -1), order[..., None], axis=1)
    sums = np.zeros_like(slots[:, 0])
    for slot in range(ids.shape[1]):
        sums += slots[:, slot]
    return sums.astype(BF16)


def compare(name: str, mine: np.ndarray, right: np.ndarray) -> None:
    wrong = np.flatnonzero((mine != right).reshape(-1))
    place = "" if not wrong.size else f", first at row {wrong[0] // mine.shape[1]}, column {wrong[0] % mine.shape[1]}"
    print(f"{name}: {wrong.size} of {mine.size} differ{place}")


x = np.linspace(-2, 2, 3 * 256, dtype=np.float32).reshape(3, 256).astype(BF16)
how = {"layer": 0, "backend": "TRITON", "platform": "sm90", "engine": "2026-05"}
right = mxact.layer(CHECKPOINT, x, router=True, **how)
ids, weights = right.ids, right.weights
print(right.arithmetic)

# Each stage alone, from the right stage before it: what differs is of this step.
compare("h13", kernel_h13(x, ids), right["h13"])
compare("act", kernel_act(right["h13"]), right["act"])
compare("y, stored before it is weighed", kernel_y(right["act"], ids, weights, stored_first=True), right["y"])
compare("y", kernel_y(right["act"], ids, weights, stored_first=False), right["y"])
compare("out", kernel_out(right["y"], ids), right["out"])

# The kernel's own h13, and what follows from it: its order of sums is its own, and all else is right.
mine = kernel_h13(x, ids)
after = mxact.layer(CHECKPOINT, ids=ids, weights=weights, start={"h13": mine}, **how)
compare("act of this h13", kernel_act(mine), after["act"])
