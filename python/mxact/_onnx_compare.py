"""An ONNX model's weights against those of another one, or of a safetensors file: number by number, and what makes one of the other."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from mxact._arguments import Array
from mxact._error import Error
from mxact._onnx import Weight, is_onnx, weights_of

_PLAIN = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F64": np.float64}
# What roundings alone may make of a number, in parts of it: some units in the last place of fp32.
_NEAR = 2.0**-20
_TOP = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16, "fp32": np.float32}


def _plain_tensors(path: str) -> dict[str, Array]:
    """Tensors of a safetensors file that hold numbers as they are, as float64."""
    try:
        data = Path(path).read_bytes()
        size = struct.unpack_from("<Q", data)[0]
        if size > len(data) - 8:
            raise ValueError(f"its header has {size} bytes, and {len(data) - 8} are there")
        header = json.loads(data[8 : 8 + size])
        found = {}
        for name, told in header.items():
            if name == "__metadata__" or told["dtype"] not in _PLAIN:
                continue
            begin, end = told["data_offsets"]
            if not 0 <= begin <= end <= len(data) - 8 - size:
                raise ValueError(f"{name} lies at {begin} to {end} of {len(data) - 8 - size} bytes")
            values = np.frombuffer(data[8 + size + begin : 8 + size + end], _PLAIN[told["dtype"]])
            found[name] = values.reshape(told["shape"]).astype(np.float64)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as problem:
        raise Error(f"{path} is no safetensors file that can be read: {problem}", "input", "second") from None
    return found


def _same(a: Array, b: Array) -> Array:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _rounding(a: Array, b: Array) -> str | None:
    """How the one is the other: "" where they are equal, or rounded, to nearest even from fp32; None where they are not."""
    if _same(a, b).all():
        return ""
    with np.errstate(over="ignore", invalid="ignore"):
        single = a.astype(np.float32)
        return next((f"rounded to {name}, nearest even" for name, to in _TOP.items() if _same(single.astype(to).astype(np.float64), b).all()), None)


def _factor(a: Array, b: Array) -> float | None:
    """b / a, where it is one number."""
    some = (a != 0) & np.isfinite(a) & np.isfinite(b)
    if not some.any() or not _same(a == 0, b == 0).all():
        return None
    ratios = b[some] / a[some]
    return float(ratios[0]) if np.allclose(ratios, ratios[0], rtol=2.0**-22, atol=0) and abs(ratios[0] - 1) > _NEAR else None


def _distance(a: Array, b: Array) -> float | None:
    """How far numbers are from those of the first, in parts of each; None where that is no matter of roundings."""
    some = (a != 0) & np.isfinite(a) & np.isfinite(b)
    if not some.any() or not _same(a, b)[~some].all():
        return None
    far = float(np.abs(b[some] / a[some] - 1).max())
    return far if far <= _NEAR else None


def _at_once(weight: Weight) -> Array | None:
    """Code, block's scale and tensor's scale as one product, where a DequantizeLinear rounds that of the scales first."""
    return None if weight.exact is None else weight.under(weight.exact)


def _cut(weight: Weight) -> Array | None:
    """Blocks as long as each other, where the last one was to be shorter."""
    if weight.size is None or weight.axis is None:
        return None
    n, blocks = weight.codes.shape[weight.axis], weight.scales.shape[weight.axis]
    if n % weight.size == 0 or n % blocks != 0:
        return None
    return weight.codes * np.repeat(weight.scales, n // blocks, axis=weight.axis)


def _exchanged(weight: Weight) -> Array | None:
    """The scales along the other axis."""
    if weight.codes.ndim != 2 or weight.axis is None or weight.codes.shape[0] != weight.codes.shape[1]:
        return None
    return weight.under(weight.scales.T, 1 - weight.axis)


def _rolled(weight: Weight) -> Array | None:
    return None if weight.axis is None or weight.scales.size == 1 else weight.under(np.roll(weight.scales, -1, axis=weight.axis if weight.size else 0))


def _divided(weight: Weight) -> Array | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        return weight.under(1 / weight.scales)


# What is known to stand between two files, in the order in which it is tried: what it does, and the numbers that it gives (None: it cannot be). Whoever
# adds a row names the tool and version, where one is known.
_BRIDGES: tuple[tuple[str, Callable[[Weight], Array | None]], ...] = (
    ("the same numbers", lambda weight: weight.under(weight.scales)),
    ("the code times both scales at once, where DequantizeLinear rounds the scales' product first", _at_once),
    ("blocks cut at n / ceil(n / block_size) instead of block_size", _cut),
    ("scales along the other axis", _exchanged),
    ("scales of the next blocks", _rolled),
    ("the codes without their scales", lambda weight: weight.codes),
    ("divided by each scale instead of multiplied", _divided),
)


def _cause(weight: Weight, b: Array) -> str:
    for text, bridge in _BRIDGES:
        a = bridge(weight)
        how = None if a is None else _rounding(a, b)
        if how is not None:
            return f"{text}{', ' if how else ''}{how}"
    numbers = weight.under(weight.scales)
    distance, factor = _distance(numbers, b), _factor(numbers, b)
    if distance is not None:
        return f"the same numbers but for roundings: none is further than {distance:.3g} of itself"
    if factor is None:
        return ""
    known = {448 / 127: "448 / 127", 127 / 448: "127 / 448"}
    near = [text for number, text in known.items() if abs(factor - number) <= 2.0**-20 * number]
    said = f"every number of the second is {factor:.9g} times that of the first"
    return f"{said}, {near[0]}: an int8 scale taken for one of FP8 (nvidia-modelopt 0.47.0 onnx, fp8.py)" if near else said


def compare_onnx(first: str, second: str) -> dict[str, Any]:
    """Weights of an ONNX model against those of the same name: "tensors", each with "differing", the "first" place and the "cause"; what was "omitted"."""
    ours = weights_of(first)
    theirs = {name: weight.under(weight.scales) for name, weight in weights_of(second).items()} if is_onnx(second) else _plain_tensors(second)
    tensors, omitted = [], []
    for name, weight in ours.items():
        a = weight.under(weight.scales)
        b = theirs.get(name, theirs.get(name.removesuffix("_f4")))  # as nvidia-modelopt 0.47.0 names FP4 codes
        if b is None:
            omitted.append((name, "only in the first"))
            continue
        turned = a.shape != b.shape and a.ndim == 2 and a.shape == b.shape[::-1]
        if a.shape != b.shape and not turned:
            omitted.append((name, f"{list(a.shape)} and {list(b.shape)}"))
            continue
        b = b.T if turned else b
        unlike = ~_same(a, b)
        place = [int(at[0]) for at in np.nonzero(unlike)] if unlike.any() else []
        told = {"name": name, "values": int(a.size), "differing": int(unlike.sum()), "first": place, "a": None, "b": None, "cause": "", "transposed": turned}
        if place:
            told |= {"a": float(a[tuple(place)]), "b": float(b[tuple(place)]), "cause": _cause(weight, b)}
        tensors.append(told)
    return {"first": first, "second": second, "tensors": tensors, "omitted": omitted}
