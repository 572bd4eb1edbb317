#!/usr/bin/env bash
# version: onnx 1.23.2 (onnx.reference, x86-64; ml_dtypes 0.6.0, numpy 2.4.6)
# source: onnx/onnx, onnx/reference/ops/op_quantize_linear.py, _QuantizeLinear
# behaviour: QuantizeLinear into integers becomes int32 before it saturates. From 2^31 on a positive quotient is the least number of the type, on x86. A
#   quotient in fp16 is Inf much earlier: 19664 under a scale of 0.3 is the least number, 19600 the largest.
# seen: 2026-11-30
# | FLOAT 2147483520 under 1: INT4 7, INT8 127, INT16 32767, UINT8 255
# | FLOAT 2147483648 under 1: INT4 -8, INT8 -128, INT16 -32768, UINT8 0
# | FLOAT16 19600 under 0.3: INT4 7, INT8 127, INT16 32767, UINT8 255
# | FLOAT16 19664 under 0.3: INT4 -8, INT8 -128, INT16 -32768, UINT8 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps onnx==1.23.2 ml_dtypes==0.6.0 numpy==2.4.6 protobuf==7.36.2 typing_extensions==4.15.0
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def code(x, scale, kind):
    of = numpy_helper.from_array(np.array(scale, x.dtype), "s").data_type
    zero = helper.make_tensor("z", getattr(TensorProto, kind), [], bytes(2 if kind == "INT16" else 1), raw=True)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("Cast", ["q"], ["y"], to=TensorProto.INT32)]
    ends = [helper.make_tensor_value_info("x", of, [1]), helper.make_tensor_value_info("y", TensorProto.INT32, [1])]
    graph = helper.make_graph(nodes, "quantize", ends[:1], ends[1:], [numpy_helper.from_array(np.array(scale, x.dtype), "s"), zero])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    return int(ReferenceEvaluator(model).run(None, {"x": x})[0][0])


for words, dtype, scale, numbers in (("FLOAT", np.float32, 1, (2147483520, 2147483648)), ("FLOAT16", np.float16, 0.3, (19600, 19664))):
    for number in numbers:
        codes = [f"{kind} {code(np.array([number], dtype), scale, kind)}" for kind in ("INT4", "INT8", "INT16", "UINT8")]
        print(f"{words} {number} under {scale}: {', '.join(codes)}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
