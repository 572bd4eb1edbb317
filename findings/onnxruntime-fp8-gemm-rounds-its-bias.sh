#!/usr/bin/env bash
# version: onnxruntime 1.32.0 (onnx 1.23.2 checks the model and has the reference)
# source: microsoft/onnxruntime, onnxruntime/core/optimizer/qdq_transformer/weight_bias_quantization.cc, WeightBiasQuantization
# behaviour: where Gemm's two operands come out of DequantizeLinear, the fp32 bias is rounded to int32 multiples of the product of their scales. That is what
#   int8 layers want, whose scales are small; FP8 operands get it too, and with scales of 1 every bias becomes a whole number.
# seen: 2026-11-29
# | bias          [0.3125, 0.75, -0.25, 1.625]
# | reference     [0.3125, 0.75, -0.25, 1.625]
# | optimized     [0.0, 1.0, 0.0, 2.0]
# | not optimized [0.3125, 0.75, -0.25, 1.625]
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

bias = np.array([0.3125, 0.75, -0.25, 1.625], np.float32)


def through_fp8(number, result):
    return [helper.make_node("QuantizeLinear", [number, "scale", "zero"], [result + "_code"]), helper.make_node("DequantizeLinear", [result + "_code", "scale", "zero"], [result])]


nodes = [*through_fp8("x", "a"), *through_fp8("w", "b"), helper.make_node("Gemm", ["a", "b", "bias"], ["sum"]), *through_fp8("sum", "y")]
given = [numpy_helper.from_array(np.float32(1), "scale"), helper.make_tensor("zero", TensorProto.FLOAT8E4M3FN, [], b"\0", raw=True)]
given += [numpy_helper.from_array(np.eye(4, dtype=np.float32), "w"), numpy_helper.from_array(bias, "bias")]
ends = [[helper.make_tensor_value_info(end, TensorProto.FLOAT, [1, 4])] for end in "xy"]
model = helper.make_model(helper.make_graph(nodes, "gemm", *ends, given), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
onnx.checker.check_model(model, full_check=True)
x = np.zeros((1, 4), np.float32)
print("bias         ", bias.tolist())
print("reference    ", ReferenceEvaluator(model).run(None, {"x": x})[0][0].tolist())
for words, level in (("optimized    ", "ORT_ENABLE_ALL"), ("not optimized", "ORT_DISABLE_ALL")):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    print(words, session.run(None, {"x": x})[0][0].tolist())
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
