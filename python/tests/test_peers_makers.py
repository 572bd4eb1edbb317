"""Small models quantized by other libraries: each tensor is attributed to its maker and to no other, and a changed block is found."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import program
from mxact import _core
from mxact.peers._rows import Emulation, Quantizer
from mxact.testing._strategies import hard_batch

# Recipes as checkpoints have them, and as AMD Quark's emulation names their blocks.
BLOCKS = {"mxfp4": 32, "nvfp4": 16, "mxfp8_e4m3": 32, "fp8_e4m3": 0, "fp4_e2m1_g32": 32, "fp8_e4m3_g32": 32}
HARD = {"fp4_e2m1_g32": "mxfp4", "fp8_e4m3_g32": "mxfp8_e4m3", "fp8_e4m3": "fp8_e4m3_g128"}
SCALE = 0.0031


def model(format: str, source: str, seed: int = 7, ends: bool = True) -> list[Any]:
    """Weights of two matrices: hard rows that tell rules apart behind ordinary ones; without `ends` none near those of fp32."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        hard = hard_batch(HARD.get(format, format), source, 4096, random).reshape(-1, 128)
        with np.errstate(invalid="ignore"):
            most = np.abs(hard.astype(np.float64).reshape(hard.shape[0], -1, 32)).max(axis=2)
            kept = np.isfinite(most) if ends else (most > 1e-20) & (most < 1e20)
        ordinary = (random.standard_normal((32, 128)) * 0.05).astype(hard.dtype)
        made.append(np.concatenate([ordinary, hard[kept.all(axis=1)]]))
    return made


def quantized(row: Any, base: Any) -> tuple[Any, Any, dict[str, Any], str]:
    """Codes, scales, the words of made_by, the profile."""
    if isinstance(row, Emulation):
        # The emulation gives numbers: its scales are those of the rule that it follows elsewhere, its codes the numbers over them.
        made = mxact.quantize(base, row.format, profile=row.profile)
        numbers = np.asarray(row.fn(base)).astype(np.float32).reshape(base.shape[0], -1, 32)
        with np.errstate(divide="ignore", invalid="ignore"):
            codes = mxact.convert((numbers / np.asarray(made.scales, np.float32)[:, :, None]).reshape(base.shape), "e2m1" if "fp4" in row.format else "e4m3fn")
        return codes, made.scales, {}, row.profile
    if row.tensor_scale is None:
        return *row.fn(base), {}, row.profile
    encode, _ = _core.recipe_needs(row.format, _core.profile_name(row.profile), row.source)
    given = 1 / SCALE if encode else SCALE
    return *row.fn(base, np.float32(given)), {"global_scale": given, "divides": encode}, row.profile


def made(row: Any, base: Any, profile: str) -> Any:
    """By a profile's own name for such blocks, of the base as it is or widened."""
    scale = None if getattr(row, "tensor_scale", None) is None else SCALE
    for format in (row.format, HARD.get(row.format, row.format)):
        for x in (base, base.astype(np.float32)):
            try:
                return mxact.quantize(x, format, profile=profile, tensor_scale=scale)
            except mxact.Error as error:
                refusal = error
    raise refusal


def is_the_same(row: Any, wanted: str, other: str) -> bool:
    """Whether two rules give the same of all other finite blocks of this type: then nothing tells whose they are."""
    if {wanted, other} == {"torchao-nvfp4", "torchao-nvfp4-single"}:  # one code, and a scale of the tensor that is 1
        return row.tensor_scale is None
    base = model(row.format, row.source, 8, isinstance(row, Quantizer))[0]
    one, two = made(row, base, wanted), made(row, base, other)
    return one.codes.tobytes() == two.codes.tobytes() and np.array_equal(np.asarray(one.scales, np.float32), np.asarray(two.scales, np.float32))


def adapter(name: str) -> Any:
    peer = import_module(f"mxact.peers.adapters.{name}").PEER
    pytest.importorskip({"torchao": "torchao", "quark": "quark.torch", "gguf": "gguf", "modelopt": "modelopt.torch"}.get(name, name))
    return peer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["compressed_tensors", "torchao", "modelopt", "quark", "gguf"])
def test_a_model_is_its_makers(name: str) -> None:
    rows = [row for row in adapter(name).operations() if isinstance(row, Quantizer | Emulation) and row.format in BLOCKS]
    assert rows
    for row in rows:
        everybody: set[str] = set()
        # Numbers of the emulation near fp32's ends are no codes times scales any more.
        for base in model(row.format, row.source, ends=isinstance(row, Quantizer)):
            codes, scales, words, profile = quantized(row, base)
            scales = scales.reshape(base.shape[0], -1)
            if codes.dtype == np.uint8 and ("fp4" in row.format):
                codes = codes[:, ::2] | codes[:, 1::2] << 4
            answer = mxact.made_by(base, codes, scales, **words)
            makers = {one["profile"] for one in answer["exact"]}
            everybody = makers if not everybody else everybody & makers
            wanted = _core.profile_name(profile)
            assert wanted in makers, (row.operation, row.format, row.source, answer["nearest"], answer["differing"], answer["cause"])
            changed = codes.copy()
            changed.view(np.uint8)[5, 3] ^= 1
            planted = mxact.made_by(base, changed, scales, **words)
            assert (planted["exact"], planted["differing"]) == ([], 1), (row.operation, planted)
            assert planted["nearest"]["profile"] in makers, (row.operation, planted)
        for other in everybody - {wanted}:
            assert is_the_same(row, wanted, other), (row.operation, row.format, row.source, everybody)


@pytest.mark.filterwarnings("ignore")
def test_nvfp4_in_groups_of_32_is_modelopts_rule_of_w4a8(tmp_path: Path) -> None:
    qtensor, torch = pytest.importorskip("modelopt.torch.quantization.qtensor", exc_type=ImportError), pytest.importorskip("torch")
    random = np.random.default_rng(3)
    base = (random.standard_normal((64, 256)) * np.exp2(random.integers(-14, 3, (64, 1)))).astype(np.float32)
    base[3, 32:96] = 0
    # export/quant_utils.py, QUANTIZATION_W4A8_NVFP4_FP8: weight_scale_2 is amax / 448.
    number = torch.from_numpy(base).abs().amax() / 448
    made, scales, _ = qtensor.NVFP4QTensor.quantize(torch.from_numpy(base.copy()), 32, None, number)
    packed, bytes_of_scales = made._quantized_data.numpy(), scales.view(torch.uint8).numpy().view(ml_dtypes.float8_e4m3fn)
    answer = mxact.made_by(base, packed, bytes_of_scales, global_scale=float(number))
    assert [one["profile"] for one in answer["exact"]] == ["modelopt-nvfp4"] and answer["differing"] == 0
    changed = packed.copy()
    changed[5, 3] ^= 1
    planted = mxact.made_by(base, changed, bytes_of_scales, global_scale=float(number))
    assert (planted["exact"], planted["differing"], planted["nearest"]["profile"]) == ([], 1, "modelopt-nvfp4")
    # The tensor's number of groups of 16 is no such rule's.
    assert mxact.made_by(base, packed, bytes_of_scales, global_scale=float(number / 6))["exact"] == []
    # The same as checkpoints: experts of Qwen3-MoE.
    sizes = {"gate_proj": (64, 256), "up_proj": (64, 256), "down_proj": (256, 64)}
    plain, coded = {}, {}
    for name, shape in sizes.items():
        weight = torch.from_numpy(random.standard_normal(shape).astype(np.float32))
        number = weight.abs().amax() / 448
        made, scales, _ = qtensor.NVFP4QTensor.quantize(weight.clone(), 32, None, number)
        name = f"model.layers.0.mlp.experts.0.{name}"
        plain[name + ".weight"] = weight
        coded |= {name + ".weight": made._quantized_data, name + ".weight_scale": scales, name + ".weight_scale_2": number, name + ".input_scale": torch.tensor(0.01)}
    words = {"architectures": ["Qwen3MoeForCausalLM"], "model_type": "qwen3_moe", "hidden_size": 256, "moe_intermediate_size": 64, "num_experts": 1, "num_experts_per_tok": 1, "num_hidden_layers": 1}
    scheme = {"quantization_config": {"quant_method": "modelopt", "quant_algo": "W4A8_NVFP4_FP8", "group_size": 32}}
    for folder, tensors, further in (("base", plain, {}), ("coded", coded, scheme)):
        (tmp_path / folder).mkdir()
        pytest.importorskip("safetensors.torch").save_file(tensors, tmp_path / folder / "model.safetensors")
        (tmp_path / folder / "config.json").write_text(json.dumps(words | further))
    told = json.dumps(program("compare", str(tmp_path / "base"), str(tmp_path / "coded")))
    assert told.count("modelopt-nvfp4") >= 1 and "a sixth of E4M3's range used" in told and "calibrated" not in told
