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
            whole = "skip" not in entry and {"codes", "scales"} <= entry["outputs"].keys() and "x" in entry["inputs"]
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
    profiles = {one["profile"]: mxact.profiles()[one["profile"]] if isinstance(mxact.profiles(), dict) else one for one in answer["exact"]}
    assert any(name.replace("-", "_").startswith(maker) for name in profiles), (answer["exact"], answer["nearest"], answer["differing"])
    # The first number of row 7's last block: one step.
    changed = codes.copy()
    changed[7, -1] ^= 1
    planted = mxact.made_by(base, changed, scales, **numbers_of(params))
    assert planted["exact"] == []
    assert planted["differing"] >= 1
    if planted["differing"] == 1:
        assert planted["first"] == [7, base.shape[1] - (2 if params["format"] == "e2m1" else 1)]
