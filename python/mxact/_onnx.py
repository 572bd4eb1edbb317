"""ONNX models: weights behind DequantizeLinear, and what a runtime does otherwise than the file says. Read through the onnx package."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact._error import Error

_FP8 = ("FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ")
_LARGEST = {"FLOAT8E4M3FN": 448.0, "FLOAT8E5M2": 57344.0, "FLOAT8E4M3FNUZ": 240.0, "FLOAT8E5M2FNUZ": 57344.0, "FLOAT4E2M1": 6.0, "FLOAT6E2M3": 7.5, "FLOAT6E3M2": 28.0}
_RUNTIME = "onnxruntime 1.32.0, default optimizations; run"
_EXPORTER = "nvidia-modelopt 0.47.0 onnx; run"
_PRODUCT = "ONNX DequantizeLinear: y = (x - x_zero_point) * x_scale"
# (448 / 127)^2: an FP8 scale of an int8 scale by 448 / 127 reaches codes up to 448 / 12.4.
_INT8_REACH = 127.0 * 127.0 / 448.0
# Nodes that make numbers of codes, with the axis and the block where the node says none. TensorRT's own are what nvidia-modelopt 0.47.0 writes of a torch model.
_DEQUANTIZERS = {"DequantizeLinear": (1, 0), "TRT_MXFP8DequantizeLinear": (-1, 32), "TRT_FP8DequantizeLinear": (1, 0), "TRT_INT4DequantizeLinear": (1, 0)}
# Types of what a DequantizeLinear makes: that of its scale where it says none.
_ROUNDED_TO = {"FLOAT": np.float32, "FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16}
# The least number of E4M3 with all its bits: a scale below it may be far from its block's.
_NORMAL_E4M3 = 2.0**-6
# A bias that differs by less than this is not worth a word: 2^-12.
_BIAS_STEP = 2.0**-12


def is_onnx(path: str) -> bool:
    return path.endswith(".onnx")


@dataclass(frozen=True)
class _Model:
    """A graph with what its names stand for."""

    nodes: list[Any]
    constants: dict[str, Any]  # TensorProtos
    made_by: dict[str, Any]
    used_by: dict[str, list[Any]]
    types: dict[int, str]
    onnx: Any

    def type_of(self, name: str) -> str:
        tensor = self.constants.get(name)
        return "" if tensor is None else self.types.get(tensor.data_type, str(tensor.data_type))

    def numbers(self, name: str) -> Array:
        """A constant's values as float64; a whole number of any width is itself."""
        try:
            with np.errstate(invalid="ignore"):
                return np.asarray(self.onnx.numpy_helper.to_array(self.constants[name])).astype(np.float64)
        except Exception as problem:  # noqa: BLE001  (of the package, for bytes that are no such tensor)
            raise Error(f"is no tensor of type {self.type_of(name)}: {problem}", "input", f"initializer {name}") from None


def _read(path: str) -> _Model:
    try:
        onnx = import_module("onnx")
    except ImportError:
        raise Error(f"{path} is an ONNX model, which takes the package onnx, and that is not installed: pip install onnx", "unsupported", "checkpoint") from None
    try:
        model = onnx.load(path)
    except Exception as problem:  # noqa: BLE001  (protobuf has an exception of its own in each version)
        raise Error(f"{path} is no ONNX model that the package onnx {onnx.__version__} reads: {problem}", "input", "checkpoint") from None
    if not model.HasField("graph"):
        raise Error(f"{path} is no ONNX model: it has no graph", "input", "checkpoint")
    nodes = list(model.graph.node)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in nodes:
        for attribute in node.attribute if node.op_type == "Constant" else ():
            if attribute.name == "value":
                constants[node.output[0]] = attribute.t
    used_by: dict[str, list[Any]] = {}
    for node in nodes:
        for name in node.input:
            used_by.setdefault(name, []).append(node)
    types = {number: name for name, number in onnx.TensorProto.DataType.items()}
    return _Model(nodes, constants, {name: node for node in nodes for name in node.output}, used_by, types, onnx)


def _attribute(node: Any, name: str, otherwise: int) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), otherwise)


def _named(node: Any) -> str:
    return str(node.name or node.output[0])


@dataclass(frozen=True)
class _Codes:
    """A weight's codes, as numbers."""

    name: str
    kind: str
    values: Array


@dataclass(frozen=True)
class _Scales:
    """Scales, as numbers: own times the tensor's one, which a DequantizeLinear of its own rounds to its type."""

    kind: str
    own: Array
    tensor: float | None  # where the scales are codes under one more scale, as NVFP4 has them
    rounded_to: Any = None  # that type, as of NumPy

    @property
    def values(self) -> Array:
        if self.tensor is None:
            return self.own
        with np.errstate(over="ignore", invalid="ignore"):
            return (self.own * self.tensor).astype(self.rounded_to).astype(np.float64)


def _scales(model: _Model, node: Any) -> _Scales | None:
    """Those of a node that makes numbers of codes; None where they are no constants."""
    name = node.input[1]
    if name in model.constants:
        own, kind = model.numbers(name), model.type_of(name)
        # TensorRT's bytes are E8M0, whose type ONNX did not have.
        powers = node.op_type == "TRT_MXFP8DequantizeLinear" and kind == "UINT8"
        return _Scales("E8M0 as UINT8", np.where(own == 255, np.nan, np.exp2(own - 127)), None) if powers else _Scales(kind, own, None)
    maker = model.made_by.get(name)
    if maker is None or maker.op_type != "DequantizeLinear" or any(of not in model.constants for of in maker.input[:2]) or model.numbers(maker.input[1]).size != 1:
        return None
    number = maker.input[1]
    said = _attribute(maker, "output_dtype", 0)
    to = _ROUNDED_TO.get(model.types.get(said, "") if said else model.type_of(number), np.float64)
    return _Scales(model.type_of(maker.input[0]), model.numbers(maker.input[0]), float(model.numbers(number).reshape(-1)[0]), to)


def _codes(model: _Model, node: Any) -> _Codes | None:
    """What such a node reads: a constant, or one that a QuantizeLinear makes codes of as the model is loaded. None: no weight, or the scales of one."""
    if node.op_type not in _DEQUANTIZERS or len(node.input) < 2 or _scales(model, node) is None:
        return None
    users = model.used_by.get(node.output[0], [])
    if users and all(user.op_type in _DEQUANTIZERS and node.output[0] == user.input[1] for user in users):
        return None
    if node.input[0] in model.constants:
        return _Codes(node.input[0], model.type_of(node.input[0]), model.numbers(node.input[0]))
    maker = model.made_by.get(node.input[0])
    if maker is None or maker.op_type != "QuantizeLinear" or len(maker.input) < 3 or any(name not in model.constants for name in maker.input):
        return None
    place = f"QuantizeLinear {_named(maker)}"
    values, scales, zero = (model.numbers(name) for name in maker.input[:3])
    axis, size = _attribute(maker, "axis", 1), _attribute(maker, "block_size", 0) or None
    try:
        dtype = np.dtype(model.onnx.helper.tensor_dtype_to_np_dtype(model.constants[maker.input[2]].data_type))
        axis = axis % values.ndim if values.ndim else 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = (values / _spread(scales, values.shape, axis, size)).astype(np.float32)
            zero = _spread(zero, values.shape, axis, size)
            whole = dtype.kind in "iu" or dtype.name in ("int4", "uint4", "int2", "uint2")
            info = ml_dtypes.iinfo(dtype) if whole else ml_dtypes.finfo(dtype)
            made = np.rint(shares) + zero if whole else shares
            codes = np.clip(made, float(info.min), float(info.max)).astype(dtype).astype(np.float64)
    except (ValueError, TypeError, KeyError, IndexError) as problem:
        raise Error(f"scales of {list(scales.shape)} for a weight of {list(values.shape)}: {problem}", "input", place) from None
    return _Codes(maker.input[0], model.type_of(maker.input[2]), codes)


def _blocks(node: Any, weight: Array, scales: Array) -> tuple[Array, Array, dict[str, Any]]:
    """The largest magnitude of the codes under each scale, the scales, and what they cover."""
    axis, size = (_attribute(node, name, otherwise) for name, otherwise in zip(("axis", "block_size"), _DEQUANTIZERS[node.op_type], strict=True))
    place = f"{node.op_type} {_named(node)}"
    if not -weight.ndim <= axis < max(weight.ndim, 1) and scales.ndim != 0:
        raise Error(f"axis {axis} of a weight of {weight.ndim} dimensions", "input", place)
    magnitudes = np.abs(np.nan_to_num(weight, nan=0.0, posinf=np.inf, neginf=np.inf))
    if scales.size == 1 and scales.ndim < 2 and size == 0:
        return np.atleast_1d(magnitudes.max(initial=0.0)), scales.reshape(-1), {"scales": "one of the tensor", "axis": None, "block_size": None}
    axis %= weight.ndim
    if size == 0:
        if scales.ndim != 1 or scales.size != weight.shape[axis]:
            raise Error(f"scales of {list(scales.shape)} for a weight of {list(weight.shape)} along axis {axis}", "input", place)
        others = tuple(i for i in range(weight.ndim) if i != axis)
        return magnitudes.max(axis=others, initial=0.0), scales, {"scales": "one of each index of the axis", "axis": axis, "block_size": None}
    wanted = [-(-n // size) if i == axis else n for i, n in enumerate(weight.shape)]
    if list(scales.shape) != wanted:
        raise Error(f"scales of {list(scales.shape)} for a weight of {list(weight.shape)} in blocks of {size} along axis {axis}: must be {wanted}", "input", place)
    moved = np.moveaxis(magnitudes, axis, -1)
    moved = np.pad(moved, [(0, 0)] * (moved.ndim - 1) + [(0, wanted[axis] * size - weight.shape[axis])])
    largest = moved.reshape(*moved.shape[:-1], wanted[axis], size).max(axis=-1)
    return largest, np.moveaxis(scales, axis, -1), {"scales": "of blocks", "axis": axis, "block_size": size}


def _unsound(told: dict[str, Any], scales: Array, codes: Array, lost: Array | None) -> list[dict[str, str]]:
    """What no sound file has in its numbers, as `mxact inspect` says it of a checkpoint. lost: where a scale of 0 stands over other codes than 0."""
    counted = [
        ("numbers that are none", f"of {scales.size} scales of {told['name']} are NaN or Inf", np.count_nonzero(~np.isfinite(scales))),
        ("numbers that are none", f"of {codes.size} codes of {told['name']} are NaN or Inf", np.count_nonzero(~np.isfinite(codes))),
        ("a negative scale", f"of {scales.size} scales of {told['name']} are negative", np.count_nonzero(scales < 0)),
        ("a scale of 0 over codes that are not 0", f"of {scales.size} scales of {told['name']} are 0 over codes that are not 0", 0 if lost is None else np.count_nonzero(lost)),
    ]
    return [{"node": told["node"], "rule": rule, "says": f"{count} {says}", "source": _PRODUCT} for rule, says, count in counted if count]


def _weight(model: _Model, node: Any, codes: _Codes) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """A weight behind DequantizeLinear, and what is wrong with it."""
    kind, values, given = codes.kind, codes.values, _scales(model, node)
    assert given is not None
    largest, own, covers = _blocks(node, values, given.own)
    scales = own if given.tensor is None else given.values
    told: dict[str, Any] = {
        "name": codes.name,
        "node": _named(node),
        "type": kind,
        "shape": list(values.shape),
        "scale_type": given.kind,
        "scale_shape": list(given.own.shape),
        "tensor_scale": given.tensor,
        **covers,
        "zero_point": model.type_of(node.input[2]) if len(node.input) > 2 and node.input[2] else None,
        "largest_code": float(largest.max(initial=0.0)),
        "nan_codes": int(np.isnan(values).sum()),
        "zero_scales": int((scales == 0).sum()),
        "nan_scales": int(np.isnan(scales).sum()),
    }
    shifted = told["zero_point"] is not None and (node.input[2] not in model.constants or model.numbers(node.input[2]).any())
    words = _unsound(told, scales, values, None if shifted else (largest > 0) & (own == 0 if given.tensor != 0 else True))
    top = _LARGEST.get(kind)
    if top is None or not largest.size:
        return told, words
    some = largest[largest > 0]
    if covers["block_size"] is None and kind == "FLOAT8E4M3FN" and some.size and ((0.9 * _INT8_REACH <= some) & (some <= 1.04 * _INT8_REACH)).all():
        words.append(
            {
                "node": told["node"],
                "rule": "fp8 scale of an int8 scale",
                "says": f"codes of {told['name']} reach {some.max():g} of 448: the scale is (448 / 127)^2 times that of its largest number",
                "source": f"{_EXPORTER}: fp8.py multiplies an int8 scale by 448 / 127",
            }
        )
    if covers["block_size"] is not None:
        # Whatever the rule, a power of two or a number, a block's largest code lies above a quarter of the largest one, unless all of it is zero.
        foreign = (largest > 0) & (largest < top / 4) & (np.abs(own) >= (_NORMAL_E4M3 if "E4M3" in given.kind else 0))
        if foreign.any():
            words.append(
                {
                    "node": told["node"],
                    "rule": "scales of other blocks",
                    "says": f"{int(foreign.sum())} of {largest.size} blocks of {told['name']} along axis {covers['axis']} have no code above {top / 4:g}: their scales are not those of their own largest numbers",
                    "source": f"{_EXPORTER}: MXFP8 along axis 0 takes the scale of other rows",
                }
            )
    return told, words


def _lost_relus(model: _Model) -> list[dict[str, str]]:
    words = []
    for node in model.nodes:
        if node.op_type != "QuantizeLinear" or len(node.input) < 3:
            continue
        maker, kind = model.made_by.get(node.input[0]), model.type_of(node.input[2])
        if maker is None or maker.op_type != "Relu" or not (kind in _FP8 or (kind == "INT4" and model.numbers(node.input[2]).any())):
            continue
        words.append({"node": _named(maker), "rule": "Relu before QuantizeLinear", "says": f"Relu before QuantizeLinear to {kind} is dropped: negative numbers come through", "source": _RUNTIME})
    return words


def _fp8_operand(model: _Model, name: str) -> Any:
    """The DequantizeLinear of FP8 that gives the name, or None."""
    maker = model.made_by.get(name)
    if maker is None or maker.op_type != "DequantizeLinear":
        return None
    before = model.made_by.get(maker.input[0])
    zero = maker.input[2] if len(maker.input) > 2 else before.input[2] if before is not None and len(before.input) > 2 else ""
    return maker if model.type_of(zero) in _FP8 or model.type_of(maker.input[0]) in _FP8 else None


def _rounded_biases(model: _Model) -> list[dict[str, str]]:
    words = []
    for node in model.nodes:
        if node.op_type not in ("Gemm", "Conv") or len(node.input) < 3 or model.type_of(node.input[2]) != "FLOAT":
            continue
        sides = [_fp8_operand(model, name) for name in node.input[:2]]
        if any(side is None or side.input[1] not in model.constants for side in sides):
            continue
        if not any(user.op_type == "QuantizeLinear" and len(user.input) > 2 and model.type_of(user.input[2]) in _FP8 for user in model.used_by.get(node.output[0], [])):
            continue
        bias = model.numbers(node.input[2]).reshape(-1)
        step = model.numbers(sides[0].input[1]).reshape(-1) * model.numbers(sides[1].input[1]).reshape(-1)
        if bias.size == 0 or step.size not in (1, bias.size) or not (step > 0).all():
            continue
        off = float(np.abs(np.rint(bias / step) * step - bias).max())
        if off <= _BIAS_STEP:
            continue
        says = f"the fp32 bias {node.input[2]} is rounded to multiples of the scales' product, {float(step.max()):.6g}: up to {off:.6g} off"
        words.append({"node": _named(node), "rule": "float bias between FP8", "says": says, "source": _RUNTIME})
    return words


def inspect_onnx(path: str) -> dict[str, Any]:
    """What mxact.inspect says of an ONNX model."""
    model = _read(path)
    weights, words = [], []
    for node in model.nodes:
        codes = _codes(model, node)
        if codes is not None:
            told, own = _weight(model, node, codes)
            weights.append(told)
            words += own
    return {"path": path, "weights": weights, "words": [*words, *_lost_relus(model), *_rounded_biases(model)]}


@dataclass(frozen=True)
class Weight:
    """A weight behind DequantizeLinear: codes less their zero point, and its scales."""

    codes: Array
    scales: Array
    axis: int | None  # None: one scale of the tensor
    size: int | None  # of blocks along the axis; None: a scale of each index of it
    exact: Array | None = None  # the scales where they are products of two numbers, without a rounding

    def under(self, scales: Array, axis: int | None = None) -> Array:
        """The codes under other scales of as many blocks: the numbers, exactly."""
        return self.codes * _spread(scales, self.codes.shape, self.axis if axis is None else axis, self.size)


def _spread(values: Array, shape: tuple[int, ...], axis: int | None, size: int | None) -> Array:
    """Beside each code the number that counts for it."""
    if axis is None or values.size == 1:
        return values.reshape(())
    if size is None:
        return values.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.repeat(values, size, axis=axis)[tuple(slice(n) for n in shape)]


def weights_of(path: str) -> dict[str, Weight]:
    """Each weight behind DequantizeLinear, by the name of its codes."""
    model = _read(path)
    found = {}
    for node in model.nodes:
        coded = _codes(model, node)
        if coded is None:
            continue
        codes, given = coded.values, _scales(model, node)
        assert given is not None
        _, _, covers = _blocks(node, codes, given.values)  # refuses scales that do not fit
        zero = model.numbers(node.input[2]) if len(node.input) > 2 and node.input[2] in model.constants else np.zeros(())
        axis, size = covers["axis"], covers["block_size"]
        exact = None if given.tensor is None else given.own * given.tensor
        found[coded.name] = Weight(codes - _spread(zero, codes.shape, axis, size), given.values, axis, size, exact)
    return found


def _inspect(path: str) -> int:
    told = inspect_onnx(path)
    for weight in told["weights"]:
        blocks = f" of {weight['block_size']} along axis {weight['axis']}" if weight["block_size"] else ""
        print(f"{weight['name']}  {weight['type']} {weight['shape']}  scales {weight['scale_type']} {weight['scale_shape']}, {weight['scales']}{blocks}; largest code {weight['largest_code']:g}")
    return _say(told)


def _say(told: dict[str, Any]) -> int:
    for word in told["words"]:
        print(f"{word['node']}: {word['says']} [{word['source']}]")
    print(f"{len(told['weights'])} weights behind DequantizeLinear, {len(told['words'])} words")
    return 1 if told["words"] else 0


def _compare(first: str, second: str) -> int:
    from mxact._onnx_compare import compare_onnx

    told = compare_onnx(first, second)
    for tensor in told["tensors"]:
        if tensor["differing"]:
            place = f"the first at {tensor['first']}: {tensor['a']:g} and {tensor['b']:g}"
            print(f"{tensor['name']}: {tensor['differing']} of {tensor['values']} numbers differ, {place}{'; ' if tensor['cause'] else ''}{tensor['cause']}")
    for name, why in told["omitted"]:
        print(f"{name}: {why}")
    equal = sum(not tensor["differing"] for tensor in told["tensors"])
    print(f"{equal} of {len(told['tensors'])} weights are equal")
    return 0 if equal == len(told["tensors"]) > 0 else 1 if told["tensors"] else 5


def command(verb: str, words: list[str]) -> int:
    """python -m mxact inspect, audit FILE.onnx, compare FILE.onnx OTHER: the exit status, 0 where there is no word."""
    wanted = 2 if verb == "compare" else 1
    if len(words) != wanted or not is_onnx(words[0]):
        raise Error(f"{verb} takes {'one file.onnx and another one, or a .safetensors file' if wanted == 2 else 'one file.onnx'}; other checkpoints are the program's: mxact {verb}", place="command line")
    if verb == "compare":
        return _compare(words[0], words[1])
    return _say(inspect_onnx(words[0])) if verb == "audit" else _inspect(words[0])
