"""ONNX models made by nvidia-modelopt: what its exporter wrote and onnxruntime does is named, and a sound model gives no word."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxact
from mxact._onnx_compare import compare_onnx


def exported(exporter: str, nodes: list[Any], weight: Any) -> Any:
    """A layer of `layer.weight` as ModelOpt's torch export leaves it, through one of its exporters."""
    export: Any = pytest.importorskip("modelopt.onnx.export", exc_type=ImportError)
    x, w, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [4, 64]), ("w", [64, 128]), ("y", [4, 128])))
    graph = helper.make_graph([*nodes, helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "layer", [x], [y], [numpy_helper.from_array(weight, "layer.weight")], value_info=[w])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("trt", 1)]
    return getattr(export, exporter).process_model(helper.make_model(graph, opset_imports=opsets, ir_version=11))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("axis", "rules"), [(0, ["scales of other blocks"]), (1, [])])
def test_mxfp8_of_modelopt_has_its_own_scales_along_the_last_axis_alone(tmp_path: Path, axis: int, rules: list[str]) -> None:
    random = np.random.default_rng(5)
    weight = (random.standard_normal((64, 128)) * np.exp2(random.integers(-6, 6, (64, 1)))).astype(np.float32)
    constant = helper.make_node("Constant", [], ["s_Constant_output_0"], value=numpy_helper.from_array(np.float32(1), "v"))
    words = {"domain": "trt", "axis": axis, "block_size": 32, "output_dtype": TensorProto.FLOAT}
    node = helper.make_node("TRT_MXFP8DequantizeLinear", ["layer.weight", "s_Constant_output_0"], ["w"], name="back", **words)
    onnx.save(exported("MXFP8QuantExporter", [constant, node], weight), tmp_path / "made.onnx")
    told = mxact.inspect(tmp_path / "made.onnx")
    assert [word["rule"] for word in told["words"]] == rules
    assert (told["weights"][0]["axis"], told["weights"][0]["scale_type"]) == (axis, "E8M0 as UINT8")


@pytest.mark.filterwarnings("ignore")
def test_nvfp4_of_modelopt_is_the_numbers_of_its_codes(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    weight = (random.standard_normal((64, 128)) * np.exp2(random.integers(-20, 6, (64, 1)))).astype(np.float16)
    node = helper.make_node("TRT_FP4QDQ", ["layer.weight"], ["w"], domain="trt", block_size=16, name="both")
    onnx.save(exported("NVFP4QuantExporter", [node], weight), tmp_path / "made.onnx")
    told = mxact.inspect(tmp_path / "made.onnx")
    [one] = told["weights"]
    assert told["words"] == [] and (one["name"], one["type"], one["scale_type"], one["block_size"]) == ("layer.weight_f4", "FLOAT4E2M1", "FLOAT8E4M3FN", 16)
    # From the bytes: E2M1 by MX 1.0, table 5, the first code in the low half.
    tensors = {tensor.name: tensor for tensor in onnx.load(tmp_path / "made.onnx").graph.initializer}
    packed = np.frombuffer(tensors["layer.weight_f4"].raw_data, np.uint8)
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(64, 128)
    own = np.frombuffer(tensors["layer.weight_f8_scale"].raw_data, ml_dtypes.float8_e4m3fn).astype(np.float64).reshape(64, 8)
    numbers = np.where(codes > 7, -1, 1) * np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.repeat(own, 16, axis=1)
    numbers *= float(numpy_helper.to_array(tensors["layer.weight_f8_scale_f32_scale"])[0])
    [tensor] = compare_onnx(str(tmp_path / "made.onnx"), str(written(tmp_path / "w.safetensors", numbers.astype(np.float32))))["tensors"]
    assert tensor["values"] == 64 * 128
    assert tensor["cause"] == "the code times both scales at once, where DequantizeLinear rounds the scales' product first, rounded to fp32, nearest even"
    # ModelOpt's own numbers are those of the file, and its codes and scales those of its rule for tensors of torch.
    torch, of = pytest.importorskip("torch"), pytest.importorskip("modelopt.torch.quantization.qtensor").NVFP4QTensor
    tensor_scale = numpy_helper.to_array(tensors["layer.weight_f8_scale_f32_scale"])
    given = {"scale": torch.from_numpy(own.astype(np.float32)), "double_scale": torch.from_numpy(tensor_scale.copy()), "block_sizes": {-1: 16}}
    back = of(torch.Size([64, 128]), torch.float32, torch.from_numpy(packed.reshape(64, 64).copy())).dequantize(torch.float32, **given)
    [tensor] = compare_onnx(str(tmp_path / "made.onnx"), str(written(tmp_path / "w.safetensors", back.numpy())))["tensors"]
    assert tensor["cause"] == "the same numbers, rounded to fp32, nearest even"
    made = mxact.made_by(weight, packed.reshape(64, 64), np.frombuffer(tensors["layer.weight_f8_scale"].raw_data, np.uint8).reshape(64, 8), global_scale=float(tensor_scale[0]))
    assert "modelopt-nvfp4" in [one["profile"] for one in made["exact"]]


def written(path: Path, values: Any) -> Path:
    header = json.dumps({"layer.weight": {"dtype": "F32", "shape": list(values.shape), "data_offsets": [0, values.nbytes]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + values.tobytes())
    return path


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
