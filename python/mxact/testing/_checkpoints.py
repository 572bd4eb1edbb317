"""Small checkpoints that hypothesis draws: a model's files in the names, dtypes and fields of a published form."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from mxact._arguments import Array, word
from mxact._error import Error

_TAGS = {np.dtype(np.uint8): "U8", np.dtype(np.float32): "F32", np.dtype(ml_dtypes.bfloat16): "BF16", np.dtype(ml_dtypes.float8_e4m3fn): "F8_E4M3"}


@dataclass(frozen=True, eq=False, repr=False)
class Checkpoint:
    """A model of experts alone. config: what config.json says. tensors: by their names in the file. layers: each as mxact.pack() takes a layer, with the
    `format` and `order` to name there."""

    config: dict[str, Any]
    tensors: dict[str, Array]
    layers: tuple[dict[str, Array], ...]
    format: str
    order: str

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {values.dtype}{list(values.shape)}" for name, values in self.layers[0].items())
        return f"Checkpoint({len(self.layers)} layers of {self.format}, {self.order}: {shapes})"

    def write(self, folder: str | Path) -> Path:
        """config.json and model.safetensors in the folder, which is made where there is none. Returns the folder."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        header: dict[str, Any] = {}
        at = 0
        for name, values in self.tensors.items():
            header[name] = {"dtype": _TAGS[values.dtype], "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
            at += values.nbytes
        text = json.dumps(header).encode()
        with open(place / "model.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for values in self.tensors.values():
                file.write(values.tobytes())
        (place / "config.json").write_text(json.dumps(self.config, indent=1))
        return place


Sizes = tuple[int, int, int]  # experts, intermediate, hidden


def _codes(random: np.random.Generator, *shape: int) -> Array:
    return random.integers(0, 256, shape, dtype=np.uint8)


def _numbers(random: np.random.Generator, *shape: int) -> Array:
    """Positive and ordinary, as factors are."""
    return np.exp2(random.uniform(-8, 0, shape)).astype(np.float32)


def _e4m3(random: np.random.Generator, *shape: int) -> Array:
    """Any finite code."""
    codes = random.integers(0, 0x7F, shape, dtype=np.uint8) | random.integers(0, 2, shape, dtype=np.uint8) << 7
    return codes.view(ml_dtypes.float8_e4m3fn)


def _gpt_oss(random: np.random.Generator, sizes: Sizes) -> tuple[dict[str, Array], dict[str, Array]]:
    experts, intermediate, hidden = sizes
    layer, tensors = {}, {}
    for name, called, rows, length in (("w13", "gate_up_proj", 2 * intermediate, hidden), ("w2", "down_proj", hidden, intermediate)):
        layer[f"{name}_weight"] = _codes(random, experts, rows, length // 2)
        layer[f"{name}_weight_scale"] = random.integers(110, 130, (experts, rows, length // 32), dtype=np.uint8)
        layer[f"{name}_bias"] = random.standard_normal((experts, rows)).astype(ml_dtypes.bfloat16)
        tensors[f"mlp.experts.{called}_blocks"] = layer[f"{name}_weight"].reshape(experts, rows, length // 32, 16)
        tensors[f"mlp.experts.{called}_scales"] = layer[f"{name}_weight_scale"]
        tensors[f"mlp.experts.{called}_bias"] = layer[f"{name}_bias"]
    return layer, tensors


Matrix = Callable[[np.random.Generator, int, int], dict[str, Array]]


def _by_expert(random: np.random.Generator, sizes: Sizes, matrix: Matrix, names: dict[str, str], shared: str = "") -> tuple[dict[str, Array], dict[str, Array]]:
    """Each expert's matrices under its own names; what is `shared` is one for gate and up."""
    experts, intermediate, hidden = sizes
    tensors: dict[str, Array] = {}
    parts: dict[str, list[Array]] = {}
    for expert in range(experts):
        made = {called: matrix(random, *shape) for called, shape in (("gate", (intermediate, hidden)), ("up", (intermediate, hidden)), ("down", (hidden, intermediate)))}
        if shared:
            made["up"][shared] = made["gate"][shared]
        for called, tensor in made.items():
            for name, values in tensor.items():
                tensors[f"mlp.experts.{expert}.{called}_proj.{name}"] = values
        for name, role in names.items():
            halves = [made["gate"][name]] if name == shared else [made["gate"][name], made["up"][name]]
            parts.setdefault(f"w13_{role}", []).append(np.concatenate([half.reshape(-1, *half.shape[1:]) for half in halves]))
            parts.setdefault(f"w2_{role}", []).append(made["down"][name].reshape(-1, *made["down"][name].shape[1:]))
    layer = {name: np.stack(values) for name, values in parts.items()}
    if shared:
        layer = {name: values.reshape(experts) if name.endswith(names[shared]) else values for name, values in layer.items()}
    return layer, tensors


def _fp8_block(random: np.random.Generator, sizes: Sizes) -> tuple[dict[str, Array], dict[str, Array]]:
    def matrix(draws: np.random.Generator, rows: int, length: int) -> dict[str, Array]:
        return {"weight": _e4m3(draws, rows, length), "weight_scale_inv": _numbers(draws, rows // 128, length // 128)}

    return _by_expert(random, sizes, matrix, {"weight": "weight", "weight_scale_inv": "weight_scale"})


def _modelopt_nvfp4(random: np.random.Generator, sizes: Sizes) -> tuple[dict[str, Array], dict[str, Array]]:
    def matrix(draws: np.random.Generator, rows: int, length: int) -> dict[str, Array]:
        scales = draws.integers(0x20, 0x60, (rows, length // 16), dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
        factors = {"weight_scale_2": _numbers(draws).reshape(()), "input_scale": _numbers(draws).reshape(())}
        return {"weight": _codes(draws, rows, length // 2), "weight_scale": scales, **factors}

    names = {"weight": "weight", "weight_scale": "weight_scale", "weight_scale_2": "global_scale"}
    return _by_expert(random, sizes, matrix, names, "weight_scale_2")


@dataclass(frozen=True)
class _Form:
    make: Callable[[np.random.Generator, Sizes], tuple[dict[str, Array], dict[str, Array]]]
    format: str
    order: str
    grain: int  # sizes are multiples of it
    config: dict[str, Any]


_NVFP4 = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}
_FORMS = {
    "gpt-oss": _Form(_gpt_oss, "mxfp4", "gpt_oss", 32, {"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}}),
    "fp8-block": _Form(_fp8_block, "fp8_block", "standard", 128, {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}),
    "modelopt-nvfp4": _Form(_modelopt_nvfp4, "nvfp4", "standard", 64, {"quantization_config": _NVFP4}),
}


def checkpoints(form: str | None = None, layers: int = 2) -> st.SearchStrategy[Checkpoint]:
    """Checkpoints of up to `layers` layers with few experts, of sizes that the form allows; numbers are ordinary ones.

    form: "gpt-oss" (MXFP4, fused experts), "fp8-block" (DeepSeek-V3's names, 128 x 128 blocks) or "modelopt-nvfp4"; without it any of them.
    Shrinks toward one layer, one expert and small sizes. Raises mxact.Error: an unknown form.
    """
    if form is not None and word("form", form) not in _FORMS:
        raise Error(f"form is {form!r}, must be one of {', '.join(_FORMS)}", place="form")

    @st.composite
    def draw(chosen: st.DrawFn) -> Checkpoint:
        of = _FORMS[form or chosen(st.sampled_from(list(_FORMS)))]
        count, experts = chosen(st.integers(1, layers)), chosen(st.integers(1, 4))
        intermediate, hidden = (of.grain * chosen(st.integers(1, 4)) for _ in range(2))
        random = np.random.default_rng(chosen(st.integers(0, 1 << 32)))
        config = {"num_experts_per_tok": min(2, experts), "num_local_experts": experts, "num_hidden_layers": count, **of.config}
        drawn = [of.make(random, (experts, intermediate, hidden)) for _ in range(count)]
        tensors = {f"model.layers.{number}.{name}": values for number, (_, made) in enumerate(drawn) for name, values in made.items()}
        return Checkpoint(config, tensors, tuple(layer for layer, _ in drawn), of.format, of.order)

    return draw()
