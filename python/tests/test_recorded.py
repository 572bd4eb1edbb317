"""What other implementations gave, recorded in golden/witness: the package gives the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

import mxact
from conftest import Recorded


def bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return values.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[values.itemsize])


def one_a_byte(codes: np.ndarray[Any, Any], params: dict[str, Any]) -> np.ndarray[Any, Any]:
    if params.get("packing") != "low_first":
        return codes
    return np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1)


def test_quantizers_of_torchao_and_triton_kernels() -> None:
    sets = Recorded("block32")
    blocks = {("e2m1", 32): "mxfp4", ("e4m3fn", 32): "mxfp8_e4m3", ("e5m2", 32): "mxfp8_e5m2", ("e2m3", 32): "mxfp6_e2m3", ("e3m2", 32): "mxfp6_e3m2"}
    compared = 0
    for entry in sets.entries:
        params, of = entry["params"], entry["profile"]
        if entry["op"] != "block_quantize" or of["implementation"] != "torchao" or (params["format"], params["block"]) not in blocks:
            continue
        profile = f"torchao-{params['scale_rule']}@36027d8"
        q = mxact.quantize(sets.tensor(entry["inputs"]["x"]), blocks[params["format"], params["block"]], profile=profile, source=params["source"])
        assert np.array_equal(bits(q.scales), sets.tensor(entry["outputs"]["scales"])), entry["id"]
        assert np.array_equal(bits(q.codes), one_a_byte(sets.tensor(entry["outputs"]["codes"]), params)), entry["id"]
        compared += q.codes.size
    assert compared > 500_000


def f32(word: str) -> float:
    return float(np.uint32(int(word, 16)).view(np.float32))


def test_nvfp4_of_vllm_and_torchao_with_the_scale_of_the_tensor() -> None:
    sets = Recorded("block32")
    compared = 0
    for entry in sets.entries:
        params, of = entry["params"], entry["profile"]["implementation"]
        if params.get("scale_rule") != "nvfp4" or of not in ("vllm", "torchao"):
            continue
        encode = f32(params["global_scale"]) if "global_scale" in params else None
        decode = f32(params["per_tensor_scale"]) if "per_tensor_scale" in params else None
        codes, scales = (sets.tensor(entry["outputs"][name]) for name in ("codes", "scales"))
        kept = np.ones(codes.shape, bool) if "skip" not in entry else sets.tensor(entry["skip"]["codes"]["mask"]) == 0
        # The one number that the recipe needs, or by its name.
        for scale in (encode or decode, mxact.TensorScale(encode, decode)):
            q = mxact.quantize(sets.tensor(entry["inputs"]["x"]), "nvfp4", profile=f"{of}-nvfp4", tensor_scale=scale, source=params["source"])
            assert np.array_equal(bits(q.scales), scales), entry["id"]
            packed = bits(q.codes)[:, ::2] | bits(q.codes)[:, 1::2] << 4
            assert np.array_equal(packed[kept], codes[kept]), entry["id"]
            compared += int(kept.sum())
    assert compared > 50_000


def test_casts_of_ml_dtypes_and_numpy() -> None:
    compared = 0
    for sets in (Recorded("encode32"), Recorded("encode16")):
        for entry in sets.entries:
            params, of = entry["params"], entry["profile"]["implementation"]
            if entry["op"] != "encode" or of not in ("ml_dtypes", "numpy") or entry["relation"]["codes"]["kind"] != "bits":
                continue
            x, codes = sets.tensor(entry["inputs"]["x"]), sets.tensor(entry["outputs"]["codes"])
            result = mxact.convert(x, params["format"], profile=of, source=params["source"])
            keep = np.ones(x.shape, bool) if "skip" not in entry else ~sets.tensor(entry["skip"]["codes"]["mask"]).astype(bool)
            assert np.array_equal(bits(result)[keep], codes[keep]), entry["id"]
            compared += int(keep.sum())
    assert compared > 1_000_000


def test_values_of_codes() -> None:
    sets = Recorded("decode")
    compared = 0
    for entry in sets.entries:
        params = entry["params"]
        if entry["profile"]["implementation"] != "ml_dtypes":
            continue
        values = mxact.convert(sets.tensor(entry["inputs"]["codes"]), params["target"], source=params["format"])
        expected = sets.tensor(entry["outputs"]["values"]).view(values.dtype)
        assert np.all((bits(values) == bits(expected)) | (np.isnan(values.astype(np.float32)) & np.isnan(expected.astype(np.float32)))), entry["id"]
        compared += values.size
    assert compared > 1000
