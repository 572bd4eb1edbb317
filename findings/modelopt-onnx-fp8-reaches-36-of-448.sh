#!/usr/bin/env bash
# version: nvidia-modelopt 0.47.0 (onnx 1.23.2, onnxruntime 1.32.0, torch 2.13.0, numpy 2.4.6, ml_dtypes 0.6.0)
# source: NVIDIA/Model-Optimizer, modelopt/onnx/quantization/fp8.py, int8_to_fp8
# behaviour: an ONNX model in FP8 is made of one in INT8, and its scales are those of INT8 times 448 / 127 where 127 / 448 is meant: amax / 36, not
#   amax / 448. No code is above 36, and small numbers beside large ones become zeros and subnormals that FP8 would have held.
# seen: 2026-11-30
# | 64 scales: the largest code is 36 for 448, and 991 of 4096 numbers are 0 for 241
# | error of numbers below a 4096th of the largest: 0.1728 for 0.0291
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps nvidia-modelopt==0.47.0 numpy==2.4.6 ml_dtypes==0.6.0 onnx==1.23.2 onnxruntime==1.32.0 onnx_graphsurgeon==0.6.1 onnx-ir==1.1.0 onnxscript==0.7.2 \
  onnxslim==0.1.98 lief==1.0.0 packaging==26.4 protobuf==7.36.2 flatbuffers==25.12.19 nvidia-ml-py==13.615.71 tqdm==4.70.1 psutil==7.2.2
"$work/venv/bin/python" -W ignore - "$work" > "$work/all" 2> "$work/said" <<'PY' || { tail -n 20 "$work/said"; exit 1; }
import os
import sys

import ml_dtypes
import numpy as np
import onnx
from modelopt.onnx.quantization import quantize
from onnx import TensorProto, helper, numpy_helper

os.chdir(sys.argv[1])
random = np.random.default_rng(0)
weight = (random.standard_normal((64, 64)) * np.exp2(random.integers(-18, 1, (64, 64)))).astype(np.float32)
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 64]) for name in "xy")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "layer", [x], [y], [numpy_helper.from_array(weight, "w")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), "base.onnx")
inputs = {"x": random.standard_normal((64, 64)).astype(np.float32)}
quantize("base.onnx", quantize_mode="fp8", calibration_data=inputs, output_path="fp8.onnx", calibration_method="max", high_precision_dtype="fp32")
made = onnx.load("fp8.onnx").graph
constants = {tensor.name: tensor for tensor in made.initializer}
[scale] = [node.input[1] for node in made.node if node.op_type == "DequantizeLinear" and node.input[1].startswith("w")]
scale = numpy_helper.to_array(constants[scale]).reshape(-1)


def back(scale):
    codes = (weight / scale).astype(np.float32).clip(-448, 448).astype(ml_dtypes.float8_e4m3fn)
    return codes.astype(np.float64), codes.astype(np.float64) * scale


codes, numbers = back(scale)
right, better = back(np.abs(weight).max(axis=0) / np.float32(448))
print(f"{scale.size} scales: the largest code is {np.abs(codes).max():g} for {np.abs(right).max():g}, and {(codes == 0).sum()} of {codes.size} numbers are 0 for {(right == 0).sum()}")
small = np.abs(weight) < np.abs(weight).max(axis=0) / 4096
print(f"error of numbers below a 4096th of the largest: {np.linalg.norm((numbers - weight)[small]) / np.linalg.norm(weight[small]):.4f} for {np.linalg.norm((better - weight)[small]) / np.linalg.norm(weight[small]):.4f}")
PY
grep -aE "^[0-9]+ scales|^error" "$work/all" > "$work/printed"
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
