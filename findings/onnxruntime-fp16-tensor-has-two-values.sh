#!/usr/bin/env bash
# version: onnxruntime 1.32.0 (onnx 1.23.2 checks the model and has the reference)
# source: microsoft/onnxruntime, onnxruntime/core/optimizer/insert_cast_transformer.cc, InsertCastTransformer
# behaviour: on a CPU fp16 operators run in fp32 between inserted casts, and a pair of casts that meet is taken out, whatever the optimization level. So one
#   float16 tensor has two values in one run: as an output of the graph it was rounded to fp16 (here to an Inf), where the next node reads it it was not.
# seen: 2026-11-29
# | reference       a = inf, a / 1000 = inf
# | ORT_DISABLE_ALL a = inf, a / 1000 = 100.0
# | ORT_ENABLE_ALL  a = inf, a / 1000 = 100.0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6 ml_dtypes==0.6.0 protobuf==7.36.2 flatbuffers==25.12.19 packaging==26.4 typing_extensions==4.15.0
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

nodes = [helper.make_node("Mul", ["x", "k"], ["a"]), helper.make_node("Div", ["a", "k"], ["y"])]
infos = [helper.make_tensor_value_info(end, TensorProto.FLOAT16, [1]) for end in ("x", "a", "y")]
graph = helper.make_graph(nodes, "half", infos[:1], infos[1:], [numpy_helper.from_array(np.float16(1000), "k")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
onnx.checker.check_model(model, full_check=True)
given = {"x": np.array([100], np.float16)}
answers = {"reference": ReferenceEvaluator(model).run(None, given)}
for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL"):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    answers[level] = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, given)
for who, (a, y) in answers.items():
    print(f"{who:15} a = {a[0]}, a / 1000 = {y[0]}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
