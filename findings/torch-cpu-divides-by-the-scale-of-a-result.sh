#!/usr/bin/env bash
# version: torch 2.13.0 (CPU)
# source: pytorch/pytorch, aten/src/ATen/native/ScaledBlas.cpp, _scaled_mm_out_cpu_emulated; for a GPU torch hands scale_result to cuBLASLt as the scale of D
# behaviour: torch._scaled_mm with an FP8 result divides by scale_result on a CPU, and ignores it for a float32 result. cuBLASLt's documentation multiplies D by
#   that scale, and what an H100 gave was the same with any scale_result: who tests an FP8 layer on a CPU sees numbers that no GPU gives.
# seen: 2026-11-29
# | scale_result None: float8_e4m3fn 32.0, float32 32.0
# | scale_result 0.5: float8_e4m3fn 64.0, float32 32.0
# | scale_result 2.0: float8_e4m3fn 16.0, float32 32.0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy==2.4.6
cd "$work"
venv/bin/python - > printed 2> warned <<'PY'
import torch

a = torch.full((1, 16), 2.0).to(torch.float8_e4m3fn)
b = torch.ones(16, 16).to(torch.float8_e4m3fn).t()
one = torch.tensor(1.0)
for scale in (None, 0.5, 2.0):
    given = None if scale is None else torch.tensor(scale)
    results = [torch._scaled_mm(a, b, one, one, scale_result=given, out_dtype=dtype) for dtype in (torch.float8_e4m3fn, torch.float32)]
    print(f"scale_result {scale}: " + ", ".join(f"{str(y.dtype).removeprefix('torch.')} {y.float()[0, 0].item()}" for y in results))
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
