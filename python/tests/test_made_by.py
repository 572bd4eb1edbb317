"""Whose rule made codes and scales: recorded outputs of other implementations are attributed to them, and a changed block is found."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import Recorded

# Implementations as the recordings call them, and as profiles do.
WIDTHS = {"bf16": ml_dtypes.bfloat16, "f32": np.float32, "fp16": np.float16}


def f32(word: str) -> float:
    return float(np.uint32(int(word, 16)).view(np.float32))


def numbers_of(params: dict[str, Any]) -> dict[str, Any]:
    """The scale of the tensor that a recorded quantizer was given."""
    if "global_scale" in params:
        return {"global_scale": f32(params["global_scale"]), "divides": True}
    return {"global_scale": f32(params["per_tensor_scale"])} if "per_tensor_scale" in params else {}


def rows() -> list[Any]:
    found = []
    for name in ("block32", "../numerics-peers/block_peers", "../numerics-peers/nvfp4_peers"):
        sets = Recorded(name)
        for entry in sets.entries:
            params = entry["params"]
            # Blocks that hold no numbers are apart in sets of their own; mlx was given an amax, and the fast path a reciprocal.
            apart = ("special" in entry["id"], "amax" in entry["id"], ".fast." in entry["id"])
            whole = not any(apart) and "skip" not in entry and {"codes", "scales"} <= entry["outputs"].keys() and "x" in entry["inputs"]
            if entry["op"] != "block_quantize" or params["format"] not in ("e2m1", "e4m3fn") or not whole or params["scale_format"] not in ("e8m0", "e4m3fn"):
                continue
            found.append(pytest.param(sets, entry, id=f"{name.rpartition('/')[2]}-{entry['id']}"))
    return found


@pytest.mark.parametrize(("sets", "entry"), rows())
def test_a_recorded_quantizer_is_named_and_a_changed_block_is_found(sets: Recorded, entry: dict[str, Any]) -> None:
    params, maker = entry["params"], entry["profile"]["implementation"]
    base = sets.tensor(entry["inputs"]["x"]).view(WIDTHS[params["source"]])
    codes, scales = sets.tensor(entry["outputs"]["codes"]), sets.tensor(entry["outputs"]["scales"])
    if params["format"] == "e2m1" and codes.shape == base.shape:
        codes = codes[:, ::2] | codes[:, 1::2] << 4
    answer = mxact.made_by(base, codes, scales, **numbers_of(params))
    makers = [one["profile"].replace("-", "_") for one in answer["exact"]]
    assert any(name.startswith(maker) for name in makers), (makers, answer["nearest"], answer["differing"])
    # The first number of row 7's last block: one step.
    changed = codes.copy()
    changed[7, -1] ^= 1
    planted = mxact.made_by(base, changed, scales, **numbers_of(params))
    assert planted["exact"] == []
    assert planted["differing"] >= 1
    if planted["differing"] == 1:
        assert planted["first"] == [7, base.shape[1] - (2 if params["format"] == "e2m1" else 1)]


GRID = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def floor_scales(x: Any) -> Any:
    """MX 1.0 section 6.3, as exponents."""
    return np.frexp(np.abs(x.reshape(x.shape[0], -1, 32)).max(axis=-1))[1] - 1 - 2


def nearest(x: Any, exponents: Any) -> Any:
    """Codes of numbers that are on no middle."""
    shares = x / np.exp2(np.repeat(exponents, 32, axis=1).astype(np.float32))
    return (np.searchsorted((GRID[1:] + GRID[:-1]) / 2, np.abs(shares)) | np.signbit(shares) * 8).astype(np.uint8)


def asked(base: Any, codes: Any, exponents: Any) -> dict[str, Any]:
    return mxact.made_by(base, codes[:, ::2] | codes[:, 1::2] << 4, (exponents + 127).astype(np.uint8))


def test_what_explains_a_difference_is_said() -> None:
    random = np.random.default_rng(3)
    x = random.standard_normal((64, 64)).astype(np.float32)
    scales = floor_scales(x)
    codes = nearest(x, scales)
    plain = asked(x, codes, scales)
    assert "torchao-floor@0.18" in {one["profile"] for one in plain["exact"]}
    assert not plain["lossless"]
    assert "every scale is 4 times the rule's" in asked(x, codes, scales + 2)["cause"]
    some = scales - (random.random(scales.shape) < 0.3)
    assert asked(x, nearest(x, some), some)["cause"].startswith("clipping: ")
    both = scales + random.integers(-1, 2, scales.shape)
    assert asked(x, nearest(x, both), both)["cause"].startswith("a search over scales: ")
    assert "made from another amax" in asked(x, nearest(x, scales + 3), scales + 3)["cause"]
    moved = codes ^ ((random.random(codes.shape) < 0.2) & (codes % 8 < 4) & (codes % 8 > 0)).astype(np.uint8)
    assert "adaptive rounding" in asked(x, moved, scales)["cause"]
    smooth = (x * np.exp2(random.uniform(-2, 2, 64))).astype(np.float32)
    assert "each column has a factor" in asked(x, nearest(smooth, floor_scales(smooth)), floor_scales(smooth))["cause"]
    turned = (x @ np.linalg.qr(random.standard_normal((64, 64)))[0]).astype(np.float32)
    assert "as a rotation leaves them" in asked(x, nearest(turned, floor_scales(turned)), floor_scales(turned))["cause"]
    other = random.standard_normal((64, 64)).astype(np.float32) * np.float32(3)
    assert "these are other weights" in asked(x, nearest(other, floor_scales(other)), floor_scales(other))["cause"]
    numbers = (GRID[codes & 7] * np.where(codes & 8, -1, 1) * np.exp2(np.repeat(scales, 32, axis=1))).astype(np.float32)
    assert asked(numbers, codes, scales)["lossless"]


def test_fp8_of_a_tensor_a_row_and_a_square() -> None:
    x = np.random.default_rng(4).standard_normal((256, 128)).astype(np.float32)
    for scale, shape in ((np.abs(x).max() / np.float32(448), ()), (np.abs(x).max(axis=1, keepdims=True) / np.float32(448), (256, 1))):
        codes = (x / scale).astype(ml_dtypes.float8_e4m3fn)
        answer = mxact.made_by(x, codes, np.asarray(scale, np.float32).reshape(shape))
        assert "torchao-fp8" in {one["profile"] for one in answer["exact"]}, answer
    squares = np.maximum(np.abs(x).reshape(2, 128, 128).max(axis=(1, 2)), np.float32(1e-4)) / np.float32(448)
    codes = (x * np.repeat(1 / squares, 128)[:, None]).astype(ml_dtypes.float8_e4m3fn)
    answer = mxact.made_by(x, codes, squares.reshape(2, 1))
    assert "deepgemm" in {one["profile"] for one in answer["exact"]}, answer
