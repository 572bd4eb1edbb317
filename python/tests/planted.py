"""Somebody else's quantizer, converter, oracle and kernel with one planted fault: mxact_planted, which is the model with the faults that `mxact faults` prints."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ml_dtypes
import numpy as np

from mxact import _core

PLANTED = Path(os.environ["MXACT_PROGRAM"]).parent.parent / "tests/props/mxact_planted"
Array = np.ndarray[Any, np.dtype[Any]]
SOURCES = {np.dtype(np.float32): "f32", np.dtype(ml_dtypes.bfloat16): "bf16", np.dtype(np.float16): "fp16"}


class Planted:
    """A process with one fault, "none" for none."""

    def __init__(self, fault: str) -> None:
        self.process = subprocess.Popen([PLANTED, fault], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.communicate()

    def ask(self, head: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({**head, "bytes": len(data)}).encode() + b"\n" + data)
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        rest = self.process.stdout.read(answer["bytes"])
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer, rest

    def quantizer(self, format: str, profile: str, kernels: bool = False) -> Any:
        """By the model's recipe, or by the kernels."""
        _, _, scale, columns, block_rows = _core.block_format_facts(format)

        def quantize(x: Array, tensor_scale: Any = None) -> tuple[Array, Array]:
            source = SOURCES[x.dtype]
            numbers: dict[str, int | None] = {"encode": None, "decode": None, "amax_bound": None}
            if tensor_scale is not None:
                g = np.float32(tensor_scale)
                needs = dict(zip(("encode", "decode"), _core.recipe_needs(format, profile, source), strict=True))
                given = {"encode": g, "decode": np.float32(1) / g if needs["encode"] else g}
                numbers.update({name: int(given[name].view(np.uint32)) for name, needed in needs.items() if needed})
            head = {"op": "quantize", "format": format, "profile": profile, "source": source, "rows": x.shape[0], "cols": x.shape[1], "kernels": kernels}
            _, data = self.ask({**head, **numbers}, x.tobytes())
            codes = np.frombuffer(data[: x.size], np.uint8).reshape(x.shape)
            shape = x.shape[0] // block_rows, x.shape[1] // columns if columns else 1
            return codes, np.frombuffer(data[x.size :], np.uint32 if scale == "f32" else np.uint8).reshape(shape)

        return quantize

    def converter(self, backend: str, fields: list[tuple[str, str]]) -> Any:
        """By the model unit by unit; the fields without shape and padded, which every layer has of its own."""

        def convert(layer: dict[str, Array]) -> dict[str, Array]:
            experts, rows = layer["w13_weight"].shape[:2]
            sizes = f"{rows // 2}x{layer['w2_weight'].shape[1]}"
            head = {"op": "convert", "backend": backend, "fields": [("shape", f"{experts}x{sizes}"), ("padded", sizes), ("tensor", "w13_weight"), *fields]}
            answer, data = self.ask({**head, "tensors": [(name, values.nbytes) for name, values in layer.items()]}, b"".join(values.tobytes() for values in layer.values()))
            packed, at = {}, 0
            for name, size in answer["tensors"]:
                packed[name] = np.frombuffer(data[at : at + size], np.uint8)
                at += size
            return packed

        return convert

    def kernel(self, contract: str, format: str, activation: str, order: str) -> Any:
        """By the model's plain run."""

        def run(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
            extents = len(tensors["w13_weight"]), tensors["w13_weight"].shape[1] // 2, tensors["w2_weight"].shape[1]
            head = {"op": "layer", "contract": contract, "format": format, "order": order, "activation": activation, "extents": extents}
            sizes = {"tensors": [(name, values.nbytes) for name, values in tensors.items()], "x": x.nbytes, "ids": ids.nbytes, "weights": weights.nbytes}
            data = b"".join(values.tobytes() for values in (*tensors.values(), x, ids, weights))
            return np.frombuffer(self.ask({**head, **sizes}, data)[1], np.float32).reshape(x.shape)

        return run

    def backend_kernel(self, spec: Callable[[dict[str, Array]], str], activation: str) -> Any:
        """As the backend's kernels compute, of tensors packed by the choices that `spec` has for them."""

        def run(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
            head = {"op": "kernel", "spec": spec(tensors), "activation": activation}
            sizes = {"tensors": [(name, values.nbytes) for name, values in tensors.items()], "x": x.nbytes, "ids": ids.nbytes, "weights": weights.nbytes}
            data = b"".join(values.tobytes() for values in (*tensors.values(), x, ids, weights))
            return np.frombuffer(self.ask({**head, **sizes}, data)[1], np.uint16).view(ml_dtypes.bfloat16).reshape(x.shape)

        return run

    def oracle(self, name: str) -> Any:
        def choose(deployment: dict[str, Any]) -> str:
            answer, _ = self.ask({"op": "select", "deployment": deployment, "oracle": name})
            if "backend" not in answer:
                raise ValueError("refused")
            return answer["backend"]  # type: ignore[no-any-return]

        return choose
