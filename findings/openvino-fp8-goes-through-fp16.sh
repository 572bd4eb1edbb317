#!/usr/bin/env bash
# version: openvino 2026.4.1 (CPU; ml_dtypes 0.6.0 beside it)
# source: openvinotoolkit/openvino, src/plugins/intel_cpu/src/nodes/convert.cpp, Convert of f32 to f8e4m3
# behaviour: fp32 becomes fp16 first and FP8 then, rounding to nearest twice. What lies a little above the middle of two FP8 numbers is moved onto it by the
#   first rounding and goes to the even one by the second: 249 of 65,536 ordinary numbers have another code than one rounding gives.
# seen: 2026-11-29
# | 1.0625 + 2^-14: openvino 1.0, rounded once 1.125
# | 432 - 2^-6: openvino 448.0, rounded once 416.0
# | of 65536 normal numbers 249 differ
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps openvino==2026.4.1 openvino-telemetry==2025.2.0 numpy==2.4.6 ml_dtypes==0.6.0 packaging==26.4
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import ml_dtypes
import numpy as np
import openvino
from openvino import opset13


def convert(x):
    number = opset13.parameter([x.size], np.float32)
    model = openvino.Model([opset13.convert(opset13.convert(number, "f8e4m3"), "f32")], [number])
    return openvino.Core().compile_model(model, "CPU")([x])[0]


def once(x):
    return x.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)


x = np.array([1.0625 + 2.0**-14, 432 - 2.0**-6], np.float32)
for words, theirs, right in zip(("1.0625 + 2^-14", "432 - 2^-6"), convert(x), once(x)):
    print(f"{words}: openvino {theirs}, rounded once {right}")
normal = np.random.default_rng(0).standard_normal(65536).astype(np.float32)
print("of", normal.size, "normal numbers", int((convert(normal) != once(normal)).sum()), "differ")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
