#!/usr/bin/env bash
# c_layer_test.sh MXACT C_LAYER CHECKPOINT: the C program's stages are those of `mxact layer`.
set -euo pipefail
mxact=$1 program=$2 checkpoint=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# x, ids and weights as arrays, and without their heads as the C program reads them.
python3 - "$work" <<'PYTHON'
import struct
import sys

work = sys.argv[1]
x = [(0x3F80 + 7 * i % 256) | (i % 3 == 0) << 15 for i in range(4 * 256)]
arrays = {"x": ("<u2", "H", (4, 256), x), "ids": ("<i4", "i", (4, 2), [0, 5, -1, 3, 7, 7, 2, 1]), "weights": ("<f4", "f", (4, 2), [0.75, 0.25, 0.5, 0.5, 1, 2, 0.125, 0.625])}
for name, (dtype, kind, shape, values) in arrays.items():
    raw = struct.pack(f"<{len(values)}{kind}", *values)
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(f"{work}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + raw)
    with open(f"{work}/{name}.raw", "wb") as file:
        file.write(raw)
PYTHON
"$program" "$checkpoint" "$work/x.raw" "$work/ids.raw" "$work/weights.raw" "$work"

compared=0
hold() { # SET STAGE WORDS...
  local set=$1 stage=$2
  shift 2
  "$mxact" layer "$checkpoint" "$@" --layer 0 --x "$work/x.npy" --ids "$work/ids.npy" --weights "$work/weights.npy" --stages "$stage" -o "$work/$set-$stage.npy" > "$work/log" || { cat "$work/log"; exit 1; }
  local bytes
  bytes=$(stat -c %s "$work/$set.$stage")
  tail -c "$bytes" "$work/$set-$stage.npy" | cmp - "$work/$set.$stage" || { echo "$set: $stage is not the program's"; exit 1; }
  compared=$((compared + bytes))
}
for stage in h13 act y out; do hold backend $stage --backend TRITON --platform SM90 --engine 2026-05; done
for stage in h13 act y out; do hold launched $stage --backend MARLIN --platform SM90 --launch blocks=3,w2.blocks=5; done
for stage in h13 act act_codes act_scales y out; do hold contract $stage --contract int8-block; done
echo "$compared bytes are the program's"
