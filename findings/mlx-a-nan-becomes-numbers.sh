#!/usr/bin/env bash
# version: mlx 0.32.4, mlx-cpu 0.32.4 (the CPU's stream)
# source: ml-explore/mlx, mlx/backend/cpu/quantized.cpp, fp_quantize
# behaviour: to_fp8 makes a NaN 448, though E4M3 has a NaN. quantize of a block with one NaN leaves no NaN and no number of the block: MXFP4 and NVFP4 become zeros, MXFP8 becomes 896 in
#   every place, the places that held 1 too. A weight that a diverged run spoilt comes out as ordinary numbers, and a test for NaN behind the quantizer passes. E8M0 has a NaN for such
#   a block (OCP MX 1.0 section 5.4.1), and other libraries give it.
# seen: 2026-11-29
# | to_fp8 of [1, nan, -nan] is [1.0, 448.0, -448.0]
# | [1, 1, 1, nan, 1, ...] as mxfp4 is [0.0, 0.0, 0.0, 0.0, 0.0]
# | [1, 1, 1, nan, 1, ...] as mxfp8 is [896.0, 896.0, 896.0, 896.0, 896.0]
# | [1, 1, 1, nan, 1, ...] as nvfp4 is [0.0, 0.0, 0.0, 0.0, 0.0]
# | without the nan: mxfp4 [1.0, 1.0], mxfp8 [1.0, 1.0], nvfp4 [1.03125, 1.03125]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check mlx==0.32.4 mlx-cpu==0.32.4 numpy==2.4.6
cd "$work"
venv/bin/python - > printed <<'PY'
import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
casts = mx.from_fp8(mx.to_fp8(mx.array([1.0, float("nan"), -float("nan")])), dtype=mx.float32)
print("to_fp8 of [1, nan, -nan] is", np.array(casts).tolist())


def back(x, mode, count):
    quantized = mx.quantize(mx.array(x), mode=mode)
    return np.array(mx.dequantize(*quantized, mode=mode).astype(mx.float32))[0, :count].tolist()


ones = np.ones((1, 64), np.float32)
spoilt = ones.copy()
spoilt[0, 3] = np.nan
modes = ("mxfp4", "mxfp8", "nvfp4")
for mode in modes:
    print(f"[1, 1, 1, nan, 1, ...] as {mode} is", back(spoilt, mode, 5))
print("without the nan:", ", ".join(f"{mode} {back(ones, mode, 2)}" for mode in modes))
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
