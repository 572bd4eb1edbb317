#!/usr/bin/env bash
# version: ml_dtypes 0.6.0 under numpy 2.4.6
# source: jax-ml/ml_dtypes, ml_dtypes/_src/custom_float.h, the dot function and the ufuncs that it registers with NumPy
# behaviour: a thousand ones in FP8 have four sums. sum() and mean() round to FP8 after each step and stop at 16; np.dot, inner and vdot add in fp32 and round
#   the 1000 into FP8, which has no such number, to NaN; x @ x and matmul, which NumPy says are the same as np.dot, give 1000 in float32.
# seen: 2026-11-29
# | sum       16 float8_e4m3fn
# | mean      0.015625 float8_e4m3fn
# | np.dot    nan float8_e4m3fn
# | np.inner  nan float8_e4m3fn
# | x @ x     1000 float32
# | bfloat16: sum 256, np.dot 1000
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps numpy==2.4.6 ml_dtypes==0.6.0
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import ml_dtypes
import numpy as np

ones = np.ones(1000, ml_dtypes.float8_e4m3fn)
answers = {"sum": ones.sum(), "mean": ones.mean(), "np.dot": np.dot(ones, ones), "np.inner": np.inner(ones, ones), "x @ x": ones @ ones}
for call, answer in answers.items():
    print(f"{call:9} {float(answer):g} {answer.dtype}")
wide = np.ones(1000, ml_dtypes.bfloat16)
print(f"bfloat16: sum {float(wide.sum()):g}, np.dot {float(np.dot(wide, wide)):g}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
