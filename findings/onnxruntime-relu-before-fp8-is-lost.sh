#!/usr/bin/env bash
# version: onnxruntime 1.32.0 (onnx 1.23.2 checks the model and has the reference)
# source: microsoft/onnxruntime, onnxruntime/core/optimizer/qdq_transformer/relu_quantizelinear.cc, ReluQuantFusion::SatisfyCondition
# behaviour: with its default optimizations a Relu before QuantizeLinear is dropped where the zero point is 0. That is right for uint8, whose least number
#   is then 0; FP8 has negative numbers, and they come through. The checker takes the model, and the session says nothing.
# seen: 2026-11-29
# | e4m3fn reference     [0.0, 0.0, 0.0, 2.0]
# | e4m3fn optimized     [-3.0, -0.5, 0.0, 2.0]
# | e4m3fn not optimized [0.0, 0.0, 0.0, 2.0]
# | e5m2 reference     [0.0, 0.0, 0.0, 2.0]
# | e5m2 optimized     [-3.0, -0.5, 0.0, 2.0]
# | e5m2 not optimized [0.0, 0.0, 0.0, 2.0]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0 protobuf==7.36.2 flatbuffers==25.12.19 packaging==26.4 typing_extensions==4.15.0
"$work/venv/bin/python" - > "$work/printed" <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

x = np.array([-3, -0.5, 0, 2], np.float32)
for name, element in (("e4m3fn", TensorProto.FLOAT8E4M3FN), ("e5m2", TensorProto.FLOAT8E5M2)):
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"]),
        helper.make_node("QuantizeLinear", ["positive", "scale", "zero"], ["code"]),
        helper.make_node("DequantizeLinear", ["code", "scale", "zero"], ["y"]),
    ]
    given = [numpy_helper.from_array(np.float32(1), "scale"), helper.make_tensor("zero", element, [], b"\0", raw=True)]
    ends = [[helper.make_tensor_value_info(end, TensorProto.FLOAT, [4])] for end in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "relu", *ends, given), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    print(name, "reference    ", ReferenceEvaluator(model).run(None, {"x": x})[0].tolist())
    for words, level in (("optimized    ", "ORT_ENABLE_ALL"), ("not optimized", "ORT_DISABLE_ALL")):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        print(name, words, session.run(None, {"x": x})[0].tolist())
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
