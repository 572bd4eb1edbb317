"""Integers with a scale and a zero point: what torchao and compressed-tensors gave, ways back, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import SOURCE, recorded_values

SET = SOURCE / "golden/witness/numerics-2/group_integers"
DIALECTS = {table["name"]: table for table in json.loads((SOURCE / "docs/measured/dialects.json").read_text())["tables"]}


@pytest.mark.parametrize("entry", json.loads((SET / "manifest.json").read_text())["entries"], ids=lambda entry: entry["id"])
def test_recorded_integers_come_out_by_their_name(entry: dict[str, Any]) -> None:
    def recorded(told: dict[str, Any], dtype: str) -> Any:
        return recorded_values(SET / told["file"], dtype).reshape(told["shape"])

    x, out = recorded(entry["inputs"]["x"], "<f4"), entry["outputs"]
    q = mxact.quantize_affine(x, entry["id"].removeprefix("f32.") + ",block=32")
    assert (q.codes.view(np.uint8) == recorded(out["codes"], "u1")).all()
    assert (q.scales.view(np.uint32) == recorded(out["scales"], "<u4")).all()
    assert q.zeros is None or (q.zeros == recorded(out["zeros"], "<i4")).all()
    assert (mxact.dequantize_affine(q).view(np.uint32) == recorded(out["values"], "<u4")).all()


def test_blocks_are_rows_where_the_rules_say_so_and_scales_have_their_own_format() -> None:
    x = np.float32([[0, 1, 3, 1.5], [-1, 0, 2, 0.5]])
    q = mxact.quantize_affine(x, "awq,block=row,scale=bf16")
    assert q.codes.dtype == np.uint8
    assert q.scales.dtype == ml_dtypes.bfloat16
    assert q.scales.shape == (2, 1)
    assert q.codes.tolist() == [[0, 5, 15, 7], [0, 5, 15, 7]]
    assert q.zeros.tolist() == [[0], [5]]
    back = mxact.dequantize_affine(q, "bf16")
    assert back.dtype == ml_dtypes.bfloat16
    assert back[0, 0] == 0
    assert mxact.quantize_affine(x, "gptq-sym,block=4,element=i4").zeros is None


def test_a_scale_that_overflows_makes_nan_of_zeros_in_every_format() -> None:
    for format, dtype in (("fp16", np.float16), ("f32", np.float32)):
        back = mxact.dequantize_affine(mxact.quantize_affine(np.float32([[1e6, -1e6, 0, 1]]), "awq,block=4,scale=fp16"), format)
        assert back.dtype == dtype and np.isnan(back[0, 2]) and not (np.asarray(back, np.float32) == 0).any(), back


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: mxact.quantize_affine(x, "awk"), "did you mean awq"),
        (lambda x: mxact.quantize_affine(x, "awq,block=3"), "no whole blocks"),
        (lambda x: mxact.quantize_affine(x.astype(np.float64), "awq,block=4"), "must be float32"),
        (lambda x: mxact.quantize_affine(x * np.inf, "awq,block=4"), "block 0, element 0 .*finite numbers"),
        (lambda x: mxact.dequantize_affine(mxact.quantize_affine(x, "awq,block=4")._replace(zeros=np.uint8([[77]]))), "77 is no code of u4"),
        (lambda x: mxact.dequantize_affine(x), "must be mxact.Affine"),
        (lambda x: mxact.dequantize_affine(mxact.quantize_affine(x, "awq,block=4"), "bf16"), "not bf16"),
        (lambda x: mxact.dequantize_affine(mxact.quantize_affine(x, "awq,block=4")._replace(zeros=None)), "keep zero points"),
        (lambda x: mxact.dequantize_affine(mxact.quantize_affine(x, "awq,block=4")._replace(codes=np.full((1, 4), 16, np.uint8))), "16 is no code of u4"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, said: str) -> None:
    with pytest.raises(mxact.Error, match=said):
        call(np.float32([[1, 2, 3, 4]]))


def test_every_composition_of_the_page_is_read() -> None:
    rows = DIALECTS["integers"]["rows"]
    assert len(rows) >= 6
    for row in rows:
        mxact.quantize_affine(np.float32([[1, -1]]), f"{row[2].strip('`')},block=2")
