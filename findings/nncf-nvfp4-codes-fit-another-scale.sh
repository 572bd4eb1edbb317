#!/usr/bin/env bash
# version: nncf 3.4.0, openvino 2026.4.1 (CPU)
# source: openvinotoolkit/nncf, src/nncf/quantization/algorithms/weight_compression/weight_lowering.py, do_float_quantization
# behaviour: NVFP4: a weight becomes its FP4 code by the block's scale in fp32, amax / 6, and only afterwards is that scale rounded to E4M3. The file has the
#   rounded one, for which other codes are nearer: the same scales with codes that fit them are a better weight.
# seen: 2026-11-30
# | 6354 of 131072 codes are not the nearest under the scale of the file: error 0.0977, with the nearest ones 0.0953
# | under amax / 6 0 are not
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check nncf==3.4.0 openvino==2026.4.1 numpy==2.4.6 ml_dtypes==0.6.0
"$work/venv/bin/python" -W ignore - > "$work/all" 2> "$work/errors" <<'PY' || { cat "$work/errors"; exit 1; }
import ml_dtypes
import nncf
import numpy as np
import openvino
from openvino import opset13

nncf.set_log_level(40)
weight = np.random.default_rng(0).standard_normal((256, 512)).astype(np.float32)
x = opset13.parameter([1, 512], np.float32)
model = openvino.Model([opset13.matmul(x, opset13.constant(weight), False, True)], [x])
model = nncf.compress_weights(model, mode=nncf.CompressWeightsMode.NVFP4, all_layers=True, group_size=16)
constants = {op.get_friendly_name(): op for op in model.get_ordered_ops() if op.get_type_name() == "Constant"}
[name] = [name.removesuffix("/scale") for name in constants if name.endswith("/scale")]
packed = np.asarray(constants[name].data).view(np.uint8).reshape(-1)
codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1, 16)
own = np.asarray(constants[name + "/scale"].data).view(np.uint8).reshape(-1, 1).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
scales = own * float(np.asarray(constants[name + "/second_order_scale"].data).reshape(-1)[0])
table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
table = np.append(table, -table)
blocks = weight.reshape(-1, 16).astype(np.float64)
fitting = np.abs(blocks[..., None] / scales[..., None] - table).argmin(axis=-1)


def error(of):
    return np.linalg.norm(table[of] * scales - blocks) / np.linalg.norm(blocks)


unlike = table[codes] != table[fitting]
print(f"{unlike.sum()} of {codes.size} codes are not the nearest under the scale of the file: error {error(codes):.4f}, with the nearest ones {error(fitting):.4f}")
wanted = np.abs(blocks).max(axis=1, keepdims=True).astype(np.float32) / np.float32(6)
by_wanted = np.abs(blocks[..., None] / wanted[..., None] - table).argmin(axis=-1)
print(f"under amax / 6 {(table[codes] != table[by_wanted]).sum()} are not")
PY
grep -aE "codes are not|under amax" "$work/all" > "$work/printed"
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
