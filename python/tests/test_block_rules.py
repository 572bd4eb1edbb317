"""Block quantizers as strings: what a profile does is one that does the same, and what ggml, MLX and TransformerEngine gave is composed of words."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import Recorded, program

MINE = "block=8,element=(e2m1,round=rna,overflow=saturate,nan=0),scale=ue5m3,rule=quotient,factor=quotient"
SHAPE = "block=8,element=e2m1,scale=ue5m3"


def codes_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.view(np.uint8)


def test_what_a_profile_does_to_blocks_is_a_string_that_does_the_same() -> None:
    x = np.random.default_rng(5).standard_normal((16, 256)).astype(np.float32)
    for profile, block in (("ocp", "mxfp4"), ("torchao-rceil@36027d8", "mxfp8_e4m3"), ("deepgemm", "fp8_e4m3_g128"), ("mlx-cpu-mx", "mxfp8_e4m3")):
        text = mxact.rules(block, profile=profile)
        named, said = mxact.quantize(x, block, profile=profile), mxact.quantize(x, block, profile=text)
        assert np.array_equal(codes_of(named.codes), codes_of(said.codes)), text
        assert np.array_equal(named.scales.view(np.uint8), said.scales.view(np.uint8)), text
        assert mxact.rules(block, profile=text) == text


def ggml(params: dict[str, Any]) -> tuple[str, str]:
    return {32: "mxfp4", 16: "block=16,element=e2m1,scale=ue4m3"}[params["block"]], "ggml"


def mlx(params: dict[str, Any]) -> tuple[str, str]:
    """By the tensor's largest magnitude where the entry has one: of the words of the rules without it."""
    format = {("e2m1", 32): "mxfp4", ("e4m3fn", 32): "mxfp8_e4m3", ("e2m1", 16): "nvfp4"}[params["format"], params["block"]]
    amax = params.get("tensor_amax")
    return format, "mlx-metal" if amax is None else f"mlx-metal-global,tensor-amax={amax[2:]}"


def transformer_engine(params: dict[str, Any]) -> tuple[str, str]:
    """The row of what ran, with what the entry says in the place of its words."""
    if params["scale_rule"].endswith("4over6"):
        words = "te-nvfp4-4over6"
        words += ",error-squared=yes" if params["four_over_six_error"] == "mse" else ""
        words += ",error-scaled-fp16=yes" if params["four_over_six_error_domain"] == "scaled_fp16" else ""
        words += ",largest-scale=43800000" if params.get("tensor_scale_max") == 256 else ""
    else:
        words = {
            (None, "float_max"): "te-nvfp4",
            (None, "zero"): "te-nvfp4-test",
            ("quotient", "float_max"): "te-nvfp4-fast",
            ("reciprocal_of_product", "zero"): "te-nvfp4-fast-test",
        }[params.get("factor_rule"), params["zero_scale_factor"]]
    rows = params.get("block_rows", 1)
    shape = "nvfp4" if rows == 1 else f"block={rows}x16,element=e2m1,scale=e4m3fn"
    return shape, words + (f",block={rows}x16" if rows > 1 else "") + f",tensor-amax={params['tensor_amax'][2:]}"


@pytest.mark.parametrize(("name", "asked", "entries"), [("block_ggml", ggml, 3), ("block_mlx", mlx, 5), ("nvfp4_te", transformer_engine, 26)])
def test_what_implementations_gave_is_composed_of_words(name: str, asked: Any, entries: int) -> None:
    sets, ran = Recorded(f"../numerics-2/{name}"), 0
    for entry in sets.entries:
        params = entry["params"]
        # A scale of the tensor for each row is no profile's.
        if entry["op"] != "block_quantize" or entry["level"] != "must" or "tensor_scale_of" in params:
            continue
        format, profile = asked(params)
        q = mxact.quantize(sets.tensor(entry["inputs"]["x"]), format, profile=profile, source=params["source"])
        scales, codes = (sets.tensor(entry["outputs"][output]) for output in ("scales", "codes"))
        assert np.array_equal(codes_of(q.scales), scales[:: params.get("block_rows", 1)]), entry["id"]
        recorded = codes if params.get("packing") != "low_first" else np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1)
        assert np.array_equal(codes_of(q.codes), recorded), entry["id"]
        ran += 1
    assert ran == entries


def test_a_shape_of_ones_own_is_the_programs() -> None:
    x = np.random.default_rng(6).integers(0, 0x7F800000, 64, dtype=np.uint32)
    q = mxact.quantize(x, SHAPE, profile=MINE, source="f32")
    assert q.codes.dtype == ml_dtypes.float4_e2m1fn
    assert q.scales.dtype == np.uint8
    assert q.scales.shape == (8,)
    blocks = program("quantize", SHAPE, "--profile", MINE, values=x)["blocks"]
    assert [int(block["scale"], 16) for block in blocks] == q.scales.tolist()
    assert [int(row["code"], 16) for block in blocks for row in block["elements"]] == codes_of(q.codes).tolist()
    scales = mxact.convert(q.scales, "f32", source="ue5m3")
    assert np.array_equal(mxact.dequantize(q), q.codes.astype(np.float32) * np.repeat(scales, 8))


@pytest.mark.parametrize("rule", ["group-amax", "group-pow2-bits", "group-pow2-log2"])
def test_kernels_keep_the_lower_bound_of_a_scale(rule: str) -> None:
    mine = f"block=128,element=(e4m3fn,round=rne,overflow=saturate,nan=7f),scale=f32,rule={rule},divides=yes,operation=divide,least-scale=34000000"
    q = mxact.quantize(np.full((4, 128), 1e-6, np.float32), "fp8_e4m3_g128", profile=mine)
    assert (q.scales == np.float32(2.0**-23)).all()  # 1e-6 / 448 is below
    assert (q.codes.astype(np.float32) == 8).all()  # 1e-6 * 2^23 = 8.39


def test_tiles_of_codes_that_share_bytes_come_back() -> None:
    x = np.random.default_rng(7).standard_normal((32, 48)).astype(np.float32)
    q = mxact.quantize(x, "block=16x16,element=e2m1,scale=e8m0", profile="block=16x16,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=floor")
    assert q.scales.shape == (2, 3)
    amax = np.abs(x).reshape(2, 16, 3, 16).max(axis=(1, 3))
    scales = np.exp2(np.floor(np.log2(amax)) - 2)
    wide = np.repeat(np.repeat(scales, 16, axis=0), 16, axis=1)
    assert np.array_equal(codes_of(q.scales), np.log2(scales) + 127)
    assert np.array_equal(codes_of(q.codes), codes_of((x / wide).clip(-6, 6).astype(ml_dtypes.float4_e2m1fn)))
    assert np.array_equal(mxact.dequantize(q), q.codes.astype(np.float32) * wide)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: mxact.quantize(x, "mxfp4", profile="block=32,element=e2m1,scale=e8m0"), "does not say rule"),
        (lambda x: mxact.quantize(x, "mxfp4", profile=MINE), "does not define a recipe for mxfp4"),
        (lambda x: mxact.quantize(x, "nvfp4", profile="te-nvfp4"), "the encode scale"),
        (lambda x: mxact.quantize(x, "nvfp4", profile="te-nvfp4,tensor-amx=1"), "did you mean tensor-amax?"),
        (lambda x: mxact.quantize(x, SHAPE, profile=MINE.replace("e2m1", "e2m3")), "elements e2m1"),
    ],
)
def test_what_cannot_be_is_told(call: Any, words: str) -> None:
    with pytest.raises(mxact.Error, match=re.escape(words)):
        call(np.ones((1, 32), np.float32))
