#!/usr/bin/env bash
# version: onnx 1.23.2
# source: onnx/onnx, onnx/numpy_helper.py, to_float8e8m0
# behaviour: with round_mode "up", its default, float8e8m0's own least number 2^-127 becomes code 1, which is 2^-126: twice as much. So does every positive number below it. E8M0 has
#   2^-127 as code 0, and the modes "down" and "nearest" give it. What rounds a scale up must leave a power of two that the format has as it is, as it does from 2^-126 on.
# seen: 2026-11-29
# | x        ['2^-149', '2^-130', '2^-127', '1.5*2^-127', '2^-126', '1']
# | up       [1, 1, 1, 1, 1, 127]
# | nearest  [0, 0, 0, 1, 1, 127]
# | down     [0, 0, 0, 0, 1, 127]
# | exact up [0, 0, 0, 1, 1, 127]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0
cd "$work"
venv/bin/python - > printed <<'PY'
from fractions import Fraction

import numpy as np
from onnx import numpy_helper

names = ["2^-149", "2^-130", "2^-127", "1.5*2^-127", "2^-126", "1"]
x = np.array([2.0**-149, 2.0**-130, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126, 1], np.float32)
print("x       ", names)
for mode in ("up", "nearest", "down"):
    print(f"{mode:8}", np.asarray(numpy_helper.to_float8e8m0(x, round_mode=mode)).view(np.uint8).tolist())
# The least code whose number is not below x.
print("exact up", [next(code for code in range(255) if Fraction(2) ** (code - 127) >= Fraction(float(one))) for one in x])
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
