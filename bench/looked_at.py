#!/usr/bin/env python3
"""How long `mxact inspect` and `mxact compare` take beside the plainest reading of the bytes that they read, on files made from a seed.

usage: looked_at.py PROGRAM WORK [TURNS]     with the Python of the package (build/release/python/venv/bin/python); needs 13 GB below WORK

A checkpoint of gpt-oss-20b's sizes in MXFP4 is inspected; 8 of its experts in BF16 are compared with what torchao makes of them. Turns of either go by turns with
preads of a megabyte, as `cat` makes them, of the same places; medians of the clock: out of the page cache (dropped before each, where that is allowed) and in it.
Prints rows of docs/measured/performance.json.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import ml_dtypes
import numpy as np

import mxact

LAYERS, EXPERTS, INTERMEDIATE, HIDDEN = 24, 32, 2880, 2880
CONFIG = {"architectures": ["GptOssForCausalLM"], "model_type": "gpt_oss", "hidden_size": HIDDEN, "intermediate_size": INTERMEDIATE, "num_experts_per_tok": 4}


def write(path, tensors):
    """A container of {name: (dtype, shape, maker of bytes)}."""
    header, end = {}, 0
    for name, (dtype, shape, _) in tensors.items():
        begin, end = end, end + int(np.prod(shape)) * (1 if dtype == "U8" else 2)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, make in tensors.values():
            file.write(make())


def model(folder, layers, experts, tensors_of, quantized):
    folder.mkdir(parents=True)
    config = CONFIG | {"num_hidden_layers": layers, "num_local_experts": experts} | ({"quantization_config": {"quant_method": "mxfp4"}} if quantized else {})
    (folder / "config.json").write_text(json.dumps(config))
    index = {}
    for layer in range(layers):
        name = f"model-{layer + 1:05d}-of-{layers:05d}.safetensors"
        tensors = tensors_of(f"model.layers.{layer}.mlp.")
        write(folder / name, tensors)
        index |= dict.fromkeys(tensors, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))


def matrices():
    return (("gate_up_proj", 2 * INTERMEDIATE, HIDDEN), ("down_proj", HIDDEN, INTERMEDIATE))


def large(random):
    def tensors(prefix):
        made = {}
        for name, rows, columns in matrices():
            made[f"{prefix}experts.{name}_blocks"] = ("U8", (EXPERTS, rows, columns // 32, 16), lambda n=EXPERTS * rows * columns // 2: random.bytes(n))
            made[f"{prefix}experts.{name}_scales"] = ("U8", (EXPERTS, rows, columns // 32), lambda n=EXPERTS * rows * columns // 32: random.integers(118, 123, n, np.uint8).tobytes())
        return made

    return tensors


def pair(random, experts):
    """Tensors of a base and of what torchao makes of it."""
    base, quantized = {}, {}
    for name, rows, columns in matrices():
        x = random.standard_normal((experts, rows, columns), np.float32).astype(ml_dtypes.bfloat16)
        done = mxact.quantize(x, "mxfp4", profile="torchao-floor")
        codes = done.codes.view(np.uint8)
        # The base has gate's rows before up's, gpt-oss's codes have them by turns.
        base[name] = np.concatenate([x[:, ::2], x[:, 1::2]], axis=1) if name == "gate_up_proj" else x
        quantized[f"{name}_blocks"] = (codes[..., ::2] | codes[..., 1::2] << 4).reshape(experts, rows, columns // 32, 16)
        quantized[f"{name}_scales"] = done.scales.view(np.uint8)
    return base, quantized


def places(folder, ending):
    """(file, first byte, bytes) of the tensors whose name ends so."""
    for path in sorted(folder.glob("*.safetensors")):
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(size))
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            if name.endswith(ending):
                yield path, 8 + size + begin, end - begin


def drop():
    subprocess.run(["sync"], check=True)
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("1")


def seconds_of(command):
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    taken = time.perf_counter() - begin
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stderr.decode()}")
    return taken


def seconds_to_read(where):
    buffer = memoryview(bytearray(1 << 20))
    begin = time.perf_counter()
    for path, first, size in where:
        file = os.open(path, os.O_RDONLY)
        at = first
        while at < first + size:
            at += os.preadv(file, [buffer[: min(len(buffer), first + size - at)]], at)
        os.close(file)
    return time.perf_counter() - begin


def rows(what, where, command, turns, may_drop):
    where = list(where)
    for cold in [True, False] if may_drop else [False]:
        times = []
        for _ in range(turns + 1):
            pair_of_times = []
            for run in (lambda: seconds_of(command), lambda: seconds_to_read(where)):
                if cold:
                    drop()
                pair_of_times.append(run())
            times.append(pair_of_times)
        mine, theirs = (statistics.median(column) for column in zip(*times[1:], strict=True))
        read = sum(size for _, _, size in where)
        print(json.dumps([what, "not in the page cache" if cold else "in it", f"{read / 1e6:,.0f} MB", f"{mine:.2f}", f"{theirs:.2f}", f"{mine / theirs:.1f}"]), flush=True)


def main(program, work, turns=5):
    random = np.random.default_rng(1)
    work = pathlib.Path(work)
    model(work / "large", LAYERS, EXPERTS, large(random), True)
    base, quantized = pair(random, 8)
    model(work / "base", 1, 8, lambda prefix: {f"{prefix}experts.{name}": ("BF16", x.shape, x.tobytes) for name, x in base.items()}, False)
    model(work / "quantized", 1, 8, lambda prefix: {f"{prefix}experts.{name}": ("U8", x.shape, x.tobytes) for name, x in quantized.items()}, True)
    try:
        drop()
        may_drop = True
    except OSError:
        may_drop = False
    rows("inspect", places(work / "large", "_scales"), [program, "inspect", str(work / "large")], turns, may_drop)
    both = [*places(work / "base", ""), *places(work / "quantized", "")]
    rows("compare", both, [program, "compare", str(work / "base"), str(work / "quantized")], turns, may_drop)


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
