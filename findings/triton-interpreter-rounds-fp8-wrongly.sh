#!/usr/bin/env bash
# version: triton 3.9.0 with TRITON_INTERPRET=1, torch 2.13.0 (CPU)
# source: triton-lang/triton, python/triton/runtime/interpreter.py, _convert_float
# behaviour: the interpreter, which runs kernels where there is no GPU, casts FP8 by a rule of its own. e5m2's bits are the upper half of fp16's, yet two of its
#   three subnormal numbers become 0 in fp16 and the third a wrong one; into e4m3fn a mantissa that rounds up past its end gives half the number (1.97
#   becomes 1), and what is too large loses its exponent (500 becomes 256).
# seen: 2026-11-29
# | e5m2 codes 0 to 5 as fp16 bits: kernel 0x0 0x0 0x0 0x200 0x400 0x500
# | e5m2 codes 0 to 5 as fp16 bits: torch  0x0 0x100 0x200 0x300 0x400 0x500
# | [1.9, 1.97, -1.97, 3.97, 500.0] into e4m3fn: kernel [1.875, 1.0, -1.0, 4.0, 256.0]
# | [1.9, 1.97, -1.97, 3.97, 500.0] into e4m3fn: torch  [1.875, 2.0, -2.0, 4.0, 448.0]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps triton==3.9.0 numpy==2.4.6
cat > "$work/kernels.py" <<'PY'
import torch
import triton
import triton.language as tl


@triton.jit
def widen(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(tl.float16))


@triton.jit
def narrow(x, y, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(tl.float8e4nv))


def bits(halves):
    return " ".join(hex(code) for code in halves.view(torch.int16).tolist()[:6])


codes = torch.arange(8, dtype=torch.uint8).view(torch.float8_e5m2)
halves = torch.zeros(8, dtype=torch.float16)
widen[(1,)](codes, halves, 8)
print("e5m2 codes 0 to 5 as fp16 bits: kernel", bits(halves))
print("e5m2 codes 0 to 5 as fp16 bits: torch ", bits(codes.half()))
numbers = [1.9, 1.97, -1.97, 3.97, 500.0]
x = torch.tensor(numbers + [0.0, 0.0, 0.0])
narrowed = torch.zeros(8, dtype=torch.float8_e4m3fn)
narrow[(1,)](x, narrowed, 8)
print(numbers, "into e4m3fn: kernel", narrowed.float().tolist()[:5])
print(numbers, "into e4m3fn: torch ", x.to(torch.float8_e4m3fn).float().tolist()[:5])
PY
TRITON_INTERPRET=1 "$work/venv/bin/python" -W ignore "$work/kernels.py" > "$work/printed"
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
