"""What a checkpoint is, and whether it is sound."""

from __future__ import annotations

import os
from typing import Any

from mxact import _core
from mxact._arguments import flag, optional_word, path_word
from mxact._error import Error
from mxact._onnx import inspect_onnx, is_onnx


def inspect(checkpoint: str | os.PathLike[str], *, deep: bool = False, engine: str | None = None) -> dict[str, Any]:
    """What is in a checkpoint, who wrote it, and what no sound file has.

    checkpoint: a .safetensors file or a model's directory. Headers and scales are read; with deep the weights too. engine: whose reading of config.json
    counts (default: the one that `mxact --help` names). Returns what `mxact inspect --json` prints behind its head: "groups" with the ranges of their
    scales, "faults" each with its tensor and first place, "open" what scales leave open. Of a file.onnx, where the package onnx is installed: "weights"
    behind DequantizeLinear, and "words", each a node with what onnxruntime does otherwise than the file says, or what an exporter got wrong. Raises mxact.Error where the checkpoint cannot be read.
    """
    path = path_word("checkpoint", checkpoint)
    if is_onnx(path):
        if deep is not False or engine is not None:
            raise Error("an ONNX model is read whole, and no engine reads it: deep and engine are not taken", place="checkpoint")
        return inspect_onnx(path)
    answer: dict[str, Any] = _core.inspect(path, flag("deep", deep), optional_word("engine", engine))
    return answer
