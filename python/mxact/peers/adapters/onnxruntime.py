"""ONNX Runtime on the CPU: the node Cast."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Fault, Operation, Peer
from mxact.peers.adapters.onnx import model_of_cast

_SATURATING = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0")
_OTHERS = ("e4m3fn", "e5m2", "e8m0")
_ELEMENT_TYPES = {"f32": (1, np.float32), "fp16": (10, np.float16), "bf16": (16, np.uint16)}
_BYTES = {"e4m3fn": 17, "e4m3fnuz": 18, "e5m2": 19, "e5m2fnuz": 20, "e8m0": 24}


def _cast(source: str, to: str, saturate: int) -> Cast:
    ort = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(model_of_cast(source, to, saturate).SerializeToString(), options, providers=["CPUExecutionProvider"])
    kind, dtype = _ELEMENT_TYPES[source]

    def fn(x: Array) -> Array:
        results = np.empty(x.shape, np.uint8)
        own = np.ascontiguousarray(x).view(dtype)
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, kind, own.shape, own.ctypes.data)
        binding.bind_output("y", "cpu", 0, _BYTES[to], results.shape, results.ctypes.data)
        session.run_with_iobinding(binding)
        return results

    why = "" if saturate else "one range above each format's largest number goes wrong"
    return Cast(f"Cast, saturate {saturate}", source, to, "onnxruntime" if saturate else "onnxruntime-nosat", fn, why)


def _operations() -> Sequence[Operation]:
    rows = [_cast("f32", to, 1) for to in _SATURATING] + [_cast("fp16", to, 1) for to in _SATURATING if to != "e8m0"]
    return rows + [_cast("f32", to, 0) for to in _OTHERS] + [_cast(source, to, 0) for source in ("fp16", "bf16") for to in ("e4m3fn", "e5m2")]


_SCRIPT = """import numpy as np, onnxruntime
from onnx import TensorProto, helper
node = helper.make_node("Cast", ["x"], ["z"], to=TensorProto.{type}, saturate=0)
back = helper.make_node("Cast", ["z"], ["y"], to=TensorProto.FLOAT)
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
model = helper.make_model(helper.make_graph([node, back], "cast", [x], [y]), opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print(float(session.run(None, {{"x": np.float32([{x}])}})[0][0]))"""

# A layer of FP8 with scales of 1: the node between its DequantizeLinear and its QuantizeLinear, beside the operands' own.
_LAYER = """import numpy as np, onnxruntime
from onnx import TensorProto, helper, numpy_helper
def through(x, y):
    return [helper.make_node("QuantizeLinear", [x, "s", "z"], [y + "q"]), helper.make_node("DequantizeLinear", [y + "q", "s", "z"], [y])]
given = [numpy_helper.from_array(np.float32(1), "s"), helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], b"\\0", raw=True)]
given += [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in {{"w": [[1]], "bias": [0.3125]}}.items()]
nodes = [{nodes}, *through("r", "y")]
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1]) for name in "xy")
model = helper.make_model(helper.make_graph(nodes, "layer", [x], [y], given), opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
print(float(session.run(None, {{"x": np.float32([[{x}]])}})[0][0, 0]))"""
_GEMM = '*through("x", "a"), *through("w", "b"), helper.make_node("Gemm", ["a", "b", "bias"], ["r"])'
_HALF = """import numpy as np, onnxruntime
from onnx import TensorProto, helper, numpy_helper
nodes = [helper.make_node("Mul", ["x", "k"], ["a"]), helper.make_node("Div", ["a", "k"], ["y"])]
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT16, [1]) for name in "xy")
graph = helper.make_graph(nodes, "half", [x], [y], [numpy_helper.from_array(np.float16(1000), "k")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print(float(session.run(None, {"x": np.float16([100])})[0][0]))"""

PEER = Peer(
    "onnxruntime",
    "onnxruntime",
    "1.32.0",
    "https://github.com/microsoft/onnxruntime",
    _operations,
    [
        Fault("ONNX Cast-25, saturate 0: what is out of range is a NaN in e4m3fn", "from 480 to 496 the result is 448", _SCRIPT.format(type="FLOAT8E4M3FN", x="488.0"), "448.0", "nan"),
        Fault("ONNX Cast-25, saturate 0: what is out of range is an Inf in e5m2", "from 61440 to 65536 the result is a NaN", _SCRIPT.format(type="FLOAT8E5M2", x="62000.0"), "nan", "inf"),
        Fault(
            "ONNX Relu-14 and QuantizeLinear-21",
            "a Relu before QuantizeLinear to FP8 is dropped by the default optimizations",
            _LAYER.format(nodes='helper.make_node("Relu", ["x"], ["r"])', x="-3.0"),
            "-3.0",
            "0.0",
        ),
        Fault(
            "ONNX Gemm-13: C is added as it is",
            "the fp32 bias of a Gemm of FP8 is rounded to a multiple of the scales' product",
            _LAYER.format(nodes=_GEMM, x="0.0"),
            "0.0",
            "0.3125",
        ),
        Fault(
            "ONNX IR: a tensor has its element type's numbers",
            "a float16 tensor between two nodes stays in fp32, and an overflow in it comes back",
            _HALF,
            "100.0",
            "inf",
        ),
    ],
)
