#!/usr/bin/env bash
# version: nncf 3.4.0, openvino 2026.4.1 (CPU)
# source: openvinotoolkit/nncf, src/nncf/quantization/algorithms/weight_compression/weight_lowering.py, _can_run_optimized
# behaviour: a weight of 10,000 elements or more is compressed by an OpenVINO model, a smaller one by NumPy, and the two have other rules. The model puts its
#   least number under amax and not under the scale, and its logarithm is off at powers of two: a row of 6 * 2^-13, which FP4 holds exactly under 2^-13, gets
#   twice that scale where the weight is larger. NNCF_DISABLE_OPTIMIZED_COMPRESSION=1 gives one rule for all.
# seen: 2026-11-29
# | MXFP8, a row of 2^-20: byte 104 of a weight of 9984 elements, 99 of one of 10016
# | MXFP4, a row of 6 * 2^-13: byte 114 of a weight of 9984 elements, 115 of one of 10016
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check nncf==3.4.0 openvino==2026.4.1 numpy==2.4.6
"$work/venv/bin/python" -W ignore - > "$work/all" 2> "$work/errors" <<'PY' || { cat "$work/errors"; exit 1; }
import nncf
import numpy as np
import openvino
from openvino import opset13

nncf.set_log_level(40)


def byte(mode, number, rows):
    weight = np.full((rows, 32), number, np.float32)
    x = opset13.parameter([1, 32], np.float32)
    model = openvino.Model([opset13.matmul(x, opset13.constant(weight), False, True)], [x])
    model = nncf.compress_weights(model, mode=mode, all_layers=True, group_size=32)
    [scale] = [op for op in model.get_ordered_ops() if op.get_friendly_name().endswith("/scale")]
    return int(np.asarray(scale.data).view(np.uint8).reshape(-1)[0])


modes = nncf.CompressWeightsMode
for words, mode, number in (("MXFP8, a row of 2^-20", modes.MXFP8_E4M3, 2.0**-20), ("MXFP4, a row of 6 * 2^-13", modes.MXFP4, 6 * 2.0**-13)):
    small, large = byte(mode, number, 312), byte(mode, number, 313)
    print(f"{words}: byte {small} of a weight of {312 * 32} elements, {large} of one of {313 * 32}")
PY
grep -a "^MXFP[48]" "$work/all" > "$work/printed"
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
