#!/usr/bin/env bash
# version: gguf 0.19.0, ml_dtypes 0.6.0
# source: ggml-org/llama.cpp, gguf-py/gguf/quants.py, MXFP4.quantize_blocks; OCP MX 1.0 section 5.4.1: E8M0 code 0xFF is NaN
# behaviour: an MXFP4 block whose largest magnitude is below 2^-125 gets a scale byte that wrapped around: 255, 254, ... in the place of 0. gguf reads its own block as zeros, because all
#   codes are 0; to who takes the byte for E8M0, as the format's document has it, a block just below 2^-125 is NaN from end to end, and 0 times NaN is one. From 2^-125 on all is well.
# seen: 2026-11-29
# | largest  ['2^-125', '2^-126', '2^-127', '2^-130', '0']
# | byte     [0, 255, 254, 251, 0]
# | gguf     [2.350988701644575e-38, 0.0, 0.0, 0.0, 0.0]
# | by E8M0  [2.350988701644575e-38, nan, 0.0, 0.0, 0.0]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check gguf==0.19.0 numpy==2.4.6 ml_dtypes==0.6.0
cd "$work"
venv/bin/python -W ignore - > printed <<'PY'
import gguf
import ml_dtypes
import numpy as np
from gguf import quants

names = ["2^-125", "2^-126", "2^-127", "2^-130", "0"]
blocks = np.zeros((5, 32), np.float32)
blocks[:4, 0] = [2.0**-125, 2.0**-126, 2.0**-127, 2.0**-130]
kind = gguf.GGMLQuantizationType.MXFP4
packed = quants.quantize(blocks, kind)
print("largest ", names)
print("byte    ", packed[:, 0].tolist())
print("gguf    ", quants.dequantize(packed, kind)[:, 0].tolist())
codes = (packed[:, 1] & 15).astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)
scales = np.ascontiguousarray(packed[:, 0]).view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
print("by E8M0 ", (codes * scales).tolist())
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
