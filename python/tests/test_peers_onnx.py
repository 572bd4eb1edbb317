"""ONNX models made by nvidia-modelopt: what its exporter wrote and onnxruntime does is named, and a sound model gives no word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxact


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("mode", "rules"), [("fp8", ["fp8 scale of an int8 scale"] * 2 + ["Relu before QuantizeLinear"]), ("int8", [])])
def test_a_model_of_modelopt_is_explained(tmp_path: Path, mode: str, rules: list[str]) -> None:
    quantization: Any = pytest.importorskip("modelopt.onnx.quantization", exc_type=ImportError)
    random = np.random.default_rng(5)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, size]) for name, size in (("x", 64), ("y", 32)))
    layers = [helper.make_node("MatMul", ["x", "w1"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("MatMul", ["b", "w2"], ["y"])]
    weights = [numpy_helper.from_array(random.standard_normal((64, size)).astype(np.float32), name) for name, size in (("w1", 64), ("w2", 32))]
    graph = helper.make_graph(layers, "layers", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), tmp_path / "base.onnx")
    inputs = {"x": random.standard_normal((64, 64)).astype(np.float32)}
    made = tmp_path / f"{mode}.onnx"
    quantization.quantize(str(tmp_path / "base.onnx"), quantize_mode=mode, calibration_data=inputs, output_path=str(made), calibration_method="max", high_precision_dtype="fp32")
    told = mxact.inspect(made)
    assert [weight["name"] for weight in told["weights"]] == ["w1", "w2"]
    assert [word["rule"] for word in told["words"]] == rules
    assert all(weight["largest_code"] == (36 if mode == "fp8" else 127) for weight in told["weights"])
