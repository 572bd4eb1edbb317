"""ONNX models: sound ones give no word; a bridge that went wrong is named with its node."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import TensorProto, helper, numpy_helper

import mxact
from mxact import _onnx, _onnx_compare
from mxact._onnx_compare import compare_onnx

FP8 = TensorProto.FLOAT8E4M3FN


def saved(path: Path, nodes: list[Any], constants: list[Any]) -> str:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy")
    model = helper.make_model(helper.make_graph(nodes, "layer", [x], [y], constants), opset_imports=[helper.make_opsetid("", 25)])
    onnx.save(model, path)
    return str(path)


def raw(name: str, kind: int, codes: Any) -> Any:
    return helper.make_tensor(name, kind, codes.shape, np.ascontiguousarray(codes).tobytes(), raw=True)


def weight(codes: Any, scales: Any, **covers: int) -> tuple[list[Any], list[Any]]:
    """A DequantizeLinear of e4m3fn codes and its constants; scales are fp32, or bytes of E8M0."""
    kind = TensorProto.FLOAT8E8M0 if scales.dtype == np.uint8 else TensorProto.FLOAT
    words = {"output_dtype": TensorProto.FLOAT} if kind == TensorProto.FLOAT8E8M0 else {}
    node = helper.make_node("DequantizeLinear", ["w", "s"], ["y"], name="back", **covers, **words)
    return [node], [raw("w", FP8, codes.view(np.uint8)), raw("s", kind, scales)]


def numbers(shape: tuple[int, ...]) -> Any:
    spread = np.exp2(np.random.default_rng(0).integers(-12, 12, (shape[0], 1)))
    return (np.random.default_rng(1).standard_normal(shape) * spread).astype(np.float32)


def in_blocks(w: Any, axis: int) -> tuple[Any, Any]:
    """Blocks of 32 along the axis, each with 2^ceil(log2(amax / 448))."""
    blocks = np.moveaxis(w, axis, -1).reshape(*np.moveaxis(w, axis, -1).shape[:-1], -1, 32)
    exponents = np.ceil(np.log2(np.abs(blocks).max(axis=-1) / 448)).astype(int)
    codes = (blocks / np.exp2(exponents)[..., None]).astype(np.float32).astype(ml_dtypes.float8_e4m3fn).reshape(np.moveaxis(w, axis, -1).shape)
    return np.ascontiguousarray(np.moveaxis(codes, -1, axis)), np.moveaxis(exponents + 127, -1, axis).astype(np.uint8)


def test_sound_weights_are_told_without_a_word(tmp_path: Path) -> None:
    w = numbers((64, 96))
    scale = np.abs(w).max(axis=1) / np.float32(448)
    rows = (w / scale[:, None]).astype(ml_dtypes.float8_e4m3fn)
    told = mxact.inspect(saved(tmp_path / "rows.onnx", *weight(rows, scale, axis=0)))
    assert told["words"] == [] and told["weights"] == [
        {
            "name": "w", "node": "back", "type": "FLOAT8E4M3FN", "shape": [64, 96], "scale_type": "FLOAT", "scale_shape": [64], "tensor_scale": None, "scales": "one of each index of the axis", "axis": 0,
            "block_size": None, "zero_point": None, "largest_code": 448.0, "nan_codes": 0, "zero_scales": 0, "nan_scales": 0,
        }
    ]  # fmt: skip
    for axis in (0, 1):
        codes, scales = in_blocks(w, axis)
        told = mxact.inspect(saved(tmp_path / "blocks.onnx", *weight(codes, scales, axis=axis, block_size=32)))
        assert told["words"] == [] and told["weights"][0]["block_size"] == 32 and told["weights"][0]["scale_type"] == "FLOAT8E8M0"


def test_scales_of_other_blocks_are_named(tmp_path: Path) -> None:
    w = numbers((64, 64))
    codes, scales = in_blocks(w, 1)
    other = np.roll(scales, 1, axis=0)
    codes = (w / np.repeat(np.exp2(other.astype(int) - 127), 32, axis=1)).clip(-448, 448).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    [word] = mxact.inspect(saved(tmp_path / "other.onnx", *weight(codes, other, axis=1, block_size=32)))["words"]
    largest = np.abs(codes.astype(np.float32)).reshape(64, 2, 32).max(axis=2)
    assert word["rule"] == "scales of other blocks" and word["node"] == "back"
    assert word["says"].startswith(f"{((largest > 0) & (largest < 112)).sum()} of 128 blocks of w along axis 1 have no code above 112")


def test_an_fp8_scale_of_an_int8_scale_is_named(tmp_path: Path) -> None:
    w = np.random.default_rng(3).standard_normal((32, 32)).astype(np.float32)
    for factor, rules in ((448 / 127, ["fp8 scale of an int8 scale"]), (127 / 448, [])):
        scale = np.float32(np.abs(w).max() / 127 * factor)
        codes = (w / scale).astype(ml_dtypes.float8_e4m3fn)
        told = mxact.inspect(saved(tmp_path / "scale.onnx", *weight(codes, np.array(scale))))
        assert [word["rule"] for word in told["words"]] == rules


def layer(path: Path, middle: list[Any], bias: float = 0.0, scale: float = 1.0, zero: int = FP8) -> str:
    def through(x: str, y: str) -> list[Any]:
        return [helper.make_node("QuantizeLinear", [x, "s", "z"], [y + "q"]), helper.make_node("DequantizeLinear", [y + "q", "s", "z"], [y])]

    byte = np.zeros((), np.uint8)
    constants = [numpy_helper.from_array(np.float32(scale), "s"), raw("z", zero, byte), numpy_helper.from_array(np.ones((1, 1), np.float32), "w"), numpy_helper.from_array(np.float32([bias]), "bias")]
    return saved(path, [*through("x", "a"), *through("w", "b"), *middle, *through("r", "y")], constants)


def test_what_onnxruntime_does_otherwise_is_named(tmp_path: Path) -> None:
    relu = [helper.make_node("Relu", ["a"], ["r"], name="rectified")]
    gemm = [helper.make_node("Gemm", ["a", "b", "bias"], ["r"], name="product")]
    [word] = mxact.inspect(layer(tmp_path / "relu.onnx", relu))["words"]
    assert (word["node"], word["rule"]) == ("rectified", "Relu before QuantizeLinear") and "FLOAT8E4M3FN" in word["says"] and "1.32.0" in word["source"]
    assert mxact.inspect(layer(tmp_path / "relu.onnx", relu, zero=TensorProto.UINT8))["words"] == []
    [word] = mxact.inspect(layer(tmp_path / "gemm.onnx", gemm, bias=0.3125))["words"]
    assert (word["node"], word["rule"]) == ("product", "float bias between FP8") and "multiples of the scales' product, 1: up to 0.3125 off" in word["says"]
    assert mxact.inspect(layer(tmp_path / "gemm.onnx", gemm, bias=0.3125, scale=0.25))["words"] == []  # a multiple of 1/16
    assert mxact.inspect(layer(tmp_path / "gemm.onnx", gemm, bias=0.3125, zero=TensorProto.INT8))["words"] == []


def test_numbers_that_no_sound_file_has_are_named(tmp_path: Path) -> None:
    codes = np.ones((2, 32), np.int8)
    codes[1] = 0

    def words(scales: Any, zero: int | None = None) -> list[tuple[str, str]]:
        constants = [numpy_helper.from_array(codes, "w"), numpy_helper.from_array(np.float32(scales), "s")]
        if zero is not None:
            constants.append(numpy_helper.from_array(np.full(2, zero, np.int8), "z"))
        node = helper.make_node("DequantizeLinear", ["w", "s", *(["z"] if zero is not None else [])], ["y"], name="back", axis=0)
        return [(word["rule"], word["says"]) for word in mxact.inspect(saved(tmp_path / "unsound.onnx", [node], constants))["words"]]

    assert words([1, 1]) == []
    assert words([np.nan, np.inf]) == [("numbers that are none", "2 of 2 scales of w are NaN or Inf")]
    assert words([1, -1]) == [("a negative scale", "1 of 2 scales of w are negative")]
    assert words([1, 0]) == []  # over codes that are 0
    assert words([0, 1]) == words([0, 1], zero=0) == [("a scale of 0 over codes that are not 0", "1 of 2 scales of w are 0 over codes that are not 0")]
    assert words([0, 1], zero=1) == []  # codes that stand for 0


def test_what_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cut.onnx").write_bytes(b"\xff\xff\xff\xff not a model")
    with pytest.raises(mxact.Error, match="cut.onnx is no ONNX model that the package onnx"):
        mxact.inspect(tmp_path / "cut.onnx")
    with pytest.raises(mxact.Error, match="no ONNX model"):
        mxact.inspect(tmp_path / "missing.onnx")
    with pytest.raises(mxact.Error, match="deep and engine are not taken"):
        mxact.inspect(tmp_path / "cut.onnx", deep=True)
    codes, scales = in_blocks(numbers((64, 64)), 1)
    with pytest.raises(mxact.Error, match=r"scales of \[64, 2\] for a weight of \[64, 64\] in blocks of 16 along axis 1: must be \[64, 4\]"):
        mxact.inspect(saved(tmp_path / "blocks.onnx", *weight(codes, scales, axis=1, block_size=16)))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(mxact.Error, match="takes the package onnx, and that is not installed: pip install onnx"):
        mxact.inspect(tmp_path / "cut.onnx")


def test_the_command(tmp_path: Path) -> None:
    relu = [helper.make_node("Relu", ["a"], ["r"], name="rectified")]

    def asked(*words: str) -> Any:
        return subprocess.run([sys.executable, "-m", "mxact", "inspect", *words], capture_output=True, text=True, check=False)

    done = asked(layer(tmp_path / "relu.onnx", relu))
    assert done.returncode == 1 and "rectified: Relu before QuantizeLinear to FLOAT8E4M3FN is dropped" in done.stdout and done.stdout.endswith("1 weights behind DequantizeLinear, 1 words\n")
    codes, scales = in_blocks(numbers((64, 64)), 1)
    done = asked(saved(tmp_path / "blocks.onnx", *weight(codes, scales, axis=1, block_size=32)))
    assert done.returncode == 0 and "w  FLOAT8E4M3FN [64, 64]  scales FLOAT8E8M0 [64, 2], of blocks of 32 along axis 1" in done.stdout
    (tmp_path / "empty.onnx").write_bytes(b"")
    none, empty = asked(str(tmp_path / "none.onnx")), asked(str(tmp_path / "empty.onnx"))
    assert asked("model.safetensors").returncode == 2 and none.returncode == 3
    assert (empty.returncode, empty.stdout) == (3, "") and "empty.onnx is no ONNX model: it has no graph" in empty.stderr


def test_weights_that_are_quantized_as_the_model_is_loaded(tmp_path: Path) -> None:
    # As nvidia-modelopt 0.47 writes them: fp32 through QuantizeLinear, scales along axis 1.
    w = np.random.default_rng(4).standard_normal((16, 8)).astype(np.float32)
    most = np.abs(w).max(axis=0)
    cases = [
        (FP8, most / 448, (w / (most / 448)).astype(ml_dtypes.float8_e4m3fn), []),
        (FP8, most / 127 * np.float32(448) / 127, (w / (most / 127 * np.float32(448) / 127)).astype(ml_dtypes.float8_e4m3fn), ["fp8 scale of an int8 scale"]),
        (TensorProto.INT8, most / 127, np.rint(w / (most / 127)).astype(np.int8), []),
    ]
    for kind, scale, codes, rules in cases:
        nodes = [helper.make_node("QuantizeLinear", ["w", "s", "z"], ["c"], axis=1), helper.make_node("DequantizeLinear", ["c", "s", "z"], ["y"], name="back", axis=1)]
        constants = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(scale.astype(np.float32), "s"), raw("z", kind, np.zeros(8, np.uint8))]
        path = saved(tmp_path / "late.onnx", nodes, constants)
        told = mxact.inspect(path)
        assert [word["rule"] for word in told["words"]] == rules
        [one] = told["weights"]
        assert (one["name"], one["shape"], one["axis"]) == ("w", [16, 8], 1) and one["largest_code"] == np.abs(codes.astype(np.float64)).max()
        numbers_of_it = (codes.astype(np.float32) * scale.astype(np.float32)).astype(ml_dtypes.bfloat16)
        [tensor] = compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "BF16", numbers_of_it.view(np.uint16)))["tensors"]
        assert tensor["cause"] == "the same numbers, rounded to bf16, nearest even"


def safetensors(path: Path, name: str, dtype: str, values: Any) -> str:
    data = np.ascontiguousarray(values).tobytes()
    header = json.dumps({name: {"dtype": dtype, "shape": list(values.shape), "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return str(path)


def test_a_weight_is_compared_with_a_tensor_and_what_stands_between_is_named(tmp_path: Path) -> None:
    w = numbers((64, 64))
    codes, scales = in_blocks(w, 1)
    first = saved(tmp_path / "blocks.onnx", *weight(codes, scales, axis=1, block_size=32))
    own = np.exp2(scales.astype(np.float64) - 127)
    plain = codes.astype(np.float64)
    exact = plain * np.repeat(own, 32, axis=1)
    # By each the numbers of the second file and the cause.
    cases: list[tuple[Any, str]] = [
        (exact, ""),
        (exact.astype(ml_dtypes.bfloat16), ""),  # four bits of significand: bf16 has them
        (plain * np.repeat(np.roll(own, -1, axis=1), 32, axis=1), "scales of the next blocks"),
        (plain, "the codes without their scales"),
        (plain / np.repeat(own, 32, axis=1), "divided by each scale instead of multiplied"),
        (3 * exact, "every number of the second is 3 times that of the first"),
    ]
    for values, cause in cases:
        bits = values if values.dtype == ml_dtypes.bfloat16 else values.astype(np.float32)
        told = compare_onnx(first, safetensors(tmp_path / "w.safetensors", "w", "BF16" if bits.dtype == ml_dtypes.bfloat16 else "F32", bits.view(np.uint16) if bits.dtype == ml_dtypes.bfloat16 else bits))
        [tensor] = told["tensors"]
        assert tensor["cause"] == cause and (tensor["differing"] == 0) == (cause == "")
    changed = exact.astype(np.float32)
    changed[7, 40] += 1
    [tensor] = compare_onnx(first, safetensors(tmp_path / "w.safetensors", "w", "F32", changed))["tensors"]
    assert (tensor["differing"], tensor["first"], tensor["cause"], tensor["a"]) == (1, [7, 40], "", exact[7, 40])
    # Another file may be an ONNX model too.
    assert compare_onnx(first, first)["tensors"][0]["differing"] == 0
    assert compare_onnx(first, safetensors(tmp_path / "w.safetensors", "v", "F32", changed))["omitted"] == [("w", "only in the first")]


def test_planted_bridges_of_an_onnx_weight_are_named(tmp_path: Path) -> None:
    # A cut block: 96 columns in blocks of 64, cut at 48.
    random = np.random.default_rng(5)
    w = random.standard_normal((8, 96)).astype(np.float32)
    scales = (np.abs(np.stack([w[:, :64].max(axis=1), w[:, 64:].max(axis=1)], axis=1)) / 448).astype(np.float32)
    codes = (w / np.repeat(scales, 64, axis=1)[:, :96]).astype(ml_dtypes.float8_e4m3fn)
    first = saved(tmp_path / "cut.onnx", *weight(codes, scales, axis=1, block_size=64))
    single = codes.astype(np.float32) * np.repeat(scales, 48, axis=1)
    [tensor] = compare_onnx(first, safetensors(tmp_path / "w.safetensors", "w", "BF16", single.astype(ml_dtypes.bfloat16).view(np.uint16)))["tensors"]
    assert tensor["cause"] == "blocks cut at n / ceil(n / block_size) instead of block_size, rounded to bf16, nearest even"
    # An exchanged axis: scales of rows for those of columns.
    w = random.standard_normal((32, 32)).astype(np.float32)
    of_rows = (np.abs(w).max(axis=1) / 448).astype(np.float32)
    codes = (w / of_rows[:, None]).astype(ml_dtypes.float8_e4m3fn)
    first = saved(tmp_path / "axis.onnx", *weight(codes, of_rows, axis=0))
    single = codes.astype(np.float32) * of_rows[None, :]
    [tensor] = compare_onnx(first, safetensors(tmp_path / "w.safetensors", "w", "F16", single.astype(np.float16)))["tensors"]
    assert tensor["cause"] == "scales along the other axis, rounded to fp16, nearest even"
    # The scale of an int8 quantizer in the other file.
    other = saved(tmp_path / "int8.onnx", *weight(codes, of_rows * np.float32(448 / 127), axis=0))
    [tensor] = compare_onnx(first, other)["tensors"]
    assert "times that of the first, 448 / 127: an int8 scale taken for one of FP8" in tensor["cause"]


def fields(code: int, exponent: int, mantissa: int, bias: int) -> float:
    """A number by its fields: MX 1.0 section 5.3, OFP8 section 5; of the FNUZ formats by their bias."""
    e, m = code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
    number = (m / 2**mantissa) * 2.0 ** (1 - bias) if e == 0 else (1 + m / 2**mantissa) * 2.0 ** (e - bias)
    return -number if code >> (exponent + mantissa) else number


# By type its width, and the number of a code.
TYPES: dict[str, tuple[int, Any]] = {
    "FLOAT8E4M3FN": (8, lambda code: fields(code, 4, 3, 7)),
    "FLOAT8E5M2": (8, lambda code: fields(code, 5, 2, 15)),
    "FLOAT8E4M3FNUZ": (8, lambda code: fields(code, 4, 3, 8)),
    "FLOAT8E5M2FNUZ": (8, lambda code: fields(code, 5, 2, 16)),
    "FLOAT6E2M3": (6, lambda code: fields(code, 2, 3, 1)),
    "FLOAT6E3M2": (6, lambda code: fields(code, 3, 2, 3)),
    "FLOAT4E2M1": (4, lambda code: fields(code, 2, 1, 1)),
    "INT4": (4, lambda code: code - 16 * (code > 7)),
    "UINT4": (4, lambda code: code),
    "INT8": (8, lambda code: code - 256 * (code > 127)),
}


@pytest.mark.parametrize("kind", TYPES)
def test_codes_of_every_type_are_their_numbers(tmp_path: Path, kind: str) -> None:
    width, number = TYPES[kind]
    random = np.random.default_rng(6)
    # A byte whose exponent field is all ones may be no number.
    codes = random.integers(0, 1 << width, (4, 32)) & (0xBF if width == 8 and "FLOAT" in kind else 0xFF)
    codes = np.where(codes == 0x80, 0, codes)  # NaN of the FNUZ formats
    zeros = random.integers(0, 1 << width, (4, 2)) if "INT" in kind else None

    def stored(name: str, of: Any) -> Any:
        # The first code in the lowest bits, without gaps: ONNX raw_data.
        bits = sum(int(code) << width * i for i, code in enumerate(of.reshape(-1)))
        return helper.make_tensor(name, getattr(TensorProto, kind), of.shape, bits.to_bytes(of.size * width // 8, "little"), raw=True)

    scales = np.exp2(random.integers(-9, 9, (4, 2))).astype(np.float32)
    constants = [stored("w", codes), raw("s", TensorProto.FLOAT, scales), *([] if zeros is None else [stored("z", zeros)])]
    node = helper.make_node("DequantizeLinear", ["w", "s", "z"][: len(constants)], ["y"], name="back", axis=1, block_size=16)
    first = saved(tmp_path / "typed.onnx", [node], constants)
    plain = np.array([[number(int(code)) for code in row] for row in codes], np.float64)
    less = 0 if zeros is None else np.repeat(np.array([[number(int(code)) for code in row] for row in zeros], np.float64), 16, axis=1)
    exact = (plain - less) * np.repeat(scales, 16, axis=1)
    told = mxact.inspect(first)["weights"][0]
    assert (told["type"], told["largest_code"], told["zero_point"]) == (kind, np.abs(plain).max(), None if zeros is None else kind)
    [tensor] = compare_onnx(first, safetensors(tmp_path / "w.safetensors", "w", "F32", exact.astype(np.float32)))["tensors"]
    assert (tensor["values"], tensor["differing"]) == (128, 0)


def test_tensorrts_nodes_and_scales_of_two_levels_are_read(tmp_path: Path) -> None:
    # As nvidia-modelopt 0.47 writes MXFP8: bytes of E8M0, blocks of 32 along the last axis where nothing is said.
    codes, scales = in_blocks(numbers((64, 96)), 1)
    exact = codes.astype(np.float64) * np.repeat(np.exp2(scales.astype(np.float64) - 127), 32, axis=1)
    node = helper.make_node("TRT_MXFP8DequantizeLinear", ["w", "s"], ["y"], name="back", domain="trt")
    path = saved(tmp_path / "mxfp8.onnx", [node], [raw("w", FP8, codes.view(np.uint8)), raw("s", TensorProto.UINT8, scales)])
    told = mxact.inspect(path)
    [one] = told["weights"]
    assert (told["words"], one["scale_type"], one["axis"], one["block_size"], one["nan_scales"]) == ([], "E8M0 as UINT8", 1, 32, 0)
    assert compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "F32", exact.astype(np.float32)))["tensors"][0]["differing"] == 0
    # And NVFP4: FP8 scales under a number of the tensor, of which the last row's are too small to be near; E2M1 by MX 1.0, table 5.
    random = np.random.default_rng(8)
    codes = random.integers(0, 16, (4, 32))
    codes[:, ::16] = 7
    codes[3] = random.integers(0, 2, 32)
    own = np.array([[1.5, 0.25], [448, 0.015625], [2, 3], [2.0**-9, 2.0**-9]], np.float32).astype(ml_dtypes.float8_e4m3fn)
    nodes = [helper.make_node("DequantizeLinear", ["s", "t"], ["f"]), helper.make_node("DequantizeLinear", ["w_f4", "f"], ["y"], name="back", axis=-1, block_size=16)]
    packed = (codes.reshape(-1)[::2] | codes.reshape(-1)[1::2] << 4).astype(np.uint8)
    constants = [helper.make_tensor("w_f4", TensorProto.FLOAT4E2M1, codes.shape, packed.tobytes(), raw=True), raw("s", FP8, own.view(np.uint8)), numpy_helper.from_array(np.float32([0.0625]), "t")]
    path = saved(tmp_path / "nvfp4.onnx", nodes, constants)
    told = mxact.inspect(path)
    [one] = told["weights"]
    assert (told["words"], one["name"], one["scale_type"], one["tensor_scale"], one["largest_code"]) == ([], "w_f4", "FLOAT8E4M3FN", 0.0625, 6)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    exact = np.where(codes > 7, -1, 1) * table[codes & 7] * np.repeat(own.astype(np.float64), 16, axis=1) * 0.0625
    assert compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "F32", exact.astype(np.float32)))["tensors"][0]["differing"] == 0
    # The same numbers without the tensor's.
    [tensor] = compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "F32", (exact * 16).astype(np.float32)))["tensors"]
    assert tensor["cause"] == "every number of the second is 16 times that of the first"


def test_a_scale_under_a_number_of_the_tensor_is_rounded_before_a_code_meets_it(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    codes = random.integers(0, 16, (8, 64))
    codes[:, ::16] = 7
    own = random.uniform(1, 448, (8, 4)).astype(ml_dtypes.float8_e4m3fn)
    scale = np.float32([0.1])
    nodes = [helper.make_node("DequantizeLinear", ["s", "t"], ["f"]), helper.make_node("DequantizeLinear", ["w", "f"], ["y"], name="back", axis=-1, block_size=16)]
    packed = (codes.reshape(-1)[::2] | codes.reshape(-1)[1::2] << 4).astype(np.uint8)
    constants = [helper.make_tensor("w", TensorProto.FLOAT4E2M1, codes.shape, packed.tobytes(), raw=True), raw("s", FP8, own.view(np.uint8)), numpy_helper.from_array(scale, "t")]
    path = saved(tmp_path / "nvfp4.onnx", nodes, constants)

    def cause(values: Any) -> str:
        [tensor] = compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "F32", values.astype(np.float32)))["tensors"]
        assert tensor["differing"] > 0
        return str(tensor["cause"])

    # What onnx's own reference gives.
    [right] = onnx.reference.ReferenceEvaluator(onnx.load(path)).run(None, {"x": np.float32(0)})
    assert cause(right) == "the same numbers, rounded to fp32, nearest even"
    exact = np.where(codes > 7, -1, 1) * np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[codes & 7] * np.repeat(own.astype(np.float64), 16, axis=1) * float(scale[0])
    assert (exact.astype(np.float32) != right).any()
    assert cause(exact) == "the code times both scales at once, where DequantizeLinear rounds the scales' product first, rounded to fp32, nearest even"
    assert cause(right * np.float32(1 + 2.0**-22)).startswith("the same numbers but for roundings: none is further than ")
    assert not cause(right + (right == right.max())).startswith("the same numbers")
    # A node that says its type rounds to that.
    nodes[0].attribute.append(helper.make_attribute("output_dtype", TensorProto.BFLOAT16))
    nodes[1].attribute.append(helper.make_attribute("output_dtype", TensorProto.FLOAT))
    path = saved(tmp_path / "bf16.onnx", nodes, constants)
    [right] = onnx.reference.ReferenceEvaluator(onnx.load(path)).run(None, {"x": np.float32(0)})
    [tensor] = compare_onnx(path, safetensors(tmp_path / "w.safetensors", "w", "F32", right))["tensors"]
    assert tensor["differing"] == 0


# Faults of the reader: what is planted, and a test that must notice.
PLANTED: dict[str, tuple[Any, str, Any, Any]] = {
    "the first scale counts for all": (_onnx, "_spread", lambda values, shape, axis, size: values.reshape(-1)[0], test_planted_bridges_of_an_onnx_weight_are_named),
    "a Relu is kept": (_onnx, "_lost_relus", lambda model: [], test_what_onnxruntime_does_otherwise_is_named),
    "a bias is added as it is": (_onnx, "_rounded_biases", lambda model: [], test_what_onnxruntime_does_otherwise_is_named),
    "any number is a rounding": (_onnx_compare, "_rounding", lambda a, b: "", test_a_weight_is_compared_with_a_tensor_and_what_stands_between_is_named),
    "no bridge is known": (_onnx_compare, "_BRIDGES", (), test_planted_bridges_of_an_onnx_weight_are_named),
    "factors are not looked for": (_onnx_compare, "_factor", lambda a, b: None, test_planted_bridges_of_an_onnx_weight_are_named),
    "blocks reach any code": (_onnx, "_LARGEST", {}, test_scales_of_other_blocks_are_named),
    "any small block has another's scale": (_onnx, "_NORMAL_E4M3", 0.0, test_tensorrts_nodes_and_scales_of_two_levels_are_read),
    "scales of two levels are one product": (_onnx._Scales, "values", property(lambda scales: scales.own * (scales.tensor or 1)), test_a_scale_under_a_number_of_the_tensor_is_rounded_before_a_code_meets_it),
    "any number is near": (_onnx_compare, "_NEAR", 2.0, test_a_scale_under_a_number_of_the_tensor_is_rounded_before_a_code_meets_it),
    "TensorRT's nodes are none": (_onnx, "_DEQUANTIZERS", {"DequantizeLinear": (1, 0)}, test_tensorrts_nodes_and_scales_of_two_levels_are_read),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_of_the_reader_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    module, name, planted, hold = PLANTED[fault]
    hold(tmp_path)
    monkeypatch.setattr(module, name, planted)
    with pytest.raises((AssertionError, ValueError)):
        hold(tmp_path)


def test_changed_bytes_are_read_or_refused(tmp_path: Path) -> None:
    codes, scales = in_blocks(numbers((32, 64)), 1)
    good = Path(saved(tmp_path / "good.onnx", *weight(codes, scales, axis=1, block_size=32))).read_bytes()
    random, read, refused = np.random.default_rng(9), 0, 0
    # The fields before and behind the codes, which lie in one run.
    run = good.index(codes.tobytes())
    places = [*range(run), *range(run + codes.size, len(good))]
    for _ in range(400):
        data = bytearray(good)
        for place in random.choice(places, random.integers(1, 4)):
            data[place] = random.integers(256)
        (tmp_path / "bad.onnx").write_bytes(bytes(data[: random.integers(1, len(data))] if random.random() < 0.2 else data))
        for ask in (lambda path: mxact.inspect(path), lambda path: compare_onnx(str(path), str(path))):
            try:
                ask(tmp_path / "bad.onnx")
                read += 1
            except mxact.Error:
                refused += 1
    assert read > 0 and refused > 0
    (tmp_path / "bad.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    (tmp_path / "good.onnx").write_bytes(good)
    with pytest.raises(mxact.Error, match="no safetensors file that can be read"):
        compare_onnx(str(tmp_path / "good.onnx"), str(tmp_path / "bad.safetensors"))
