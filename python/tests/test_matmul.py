"""Matrices and dot products under contracts, by name and as records: recorded tensor cores, numbers worked out by hand, refusals."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact

SETS = Path(os.environ["MXACT_SOURCE"]) / "golden/witness/numerics-tensor-cores"
DTYPES = {"u8": np.uint8, "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "u32": np.uint32}


def recorded(name: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((SETS / name / "manifest.json").read_text())["entries"]
    return entries


def read(name: str, tensor: dict[str, Any]) -> Any:
    return np.fromfile(SETS / name / tensor["file"], DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


@pytest.mark.parametrize("name", ["tc_published", "tc_h100", "tc_mmasim"])
def test_every_recorded_sum_is_on_the_diagonal_of_a_product(name: str) -> None:
    for entry in recorded(name):
        params, inputs = entry["params"], entry["inputs"]
        a, b, c = (read(name, inputs[key])[:24] for key in "abc")
        wanted = read(name, entry["outputs"]["d"])[:24]
        formats = tuple(None if values.dtype in (np.float16, np.float32, ml_dtypes.bfloat16) else params[f"{side}_format"] for side, values in (("a", a), ("b", b)))
        scales = tuple(read(name, inputs[key])[:24] for key in ("scale_a", "scale_b")) if "scale_a" in inputs else None
        whole = mxact.matmul(a, b.T, params["contract"], scales=scales, c=np.broadcast_to(c[:, None], (len(a), len(b))), source=formats)
        got = np.diagonal(whole)
        if formats == ("tf32", "tf32"):  # a register is an fp32 number, too, whose last bits are not read
            registers = mxact.matmul(a.view(np.float32), b.view(np.float32).T, params["contract"], c=np.broadcast_to(c[:, None], (len(a), len(b))))
            assert registers.tobytes() == whole.tobytes(), entry["id"]
            assert mxact.dot(a[0], b[0], params["contract"], c=c[0], source=formats).tobytes() == whole[0, 0].tobytes(), entry["id"]
        assert got.dtype == wanted.dtype, entry["id"]
        same = (got.view(np.uint16 if got.itemsize == 2 else np.uint32) == wanted.view(np.uint16 if got.itemsize == 2 else np.uint32)) | (
            np.isnan(got) & np.isnan(wanted) & (entry["relation"]["d"]["kind"] == "bits_nan_equal")
        )
        assert same.all(), (entry["id"], np.flatnonzero(~same))


def test_a_product_is_its_dot_products_under_every_contract() -> None:
    rng = np.random.default_rng(85)
    for contract in mxact.contracts():
        if contract in ("int8-block", "bf16-block") or contract.startswith(("hopper-fp8-block", "blackwell-mx", "blackwell-nvf4", "cdna3-fp8")):
            continue
        numbers = ml_dtypes.float8_e4m3fn if "fp8" in contract or "f8f6f4" in contract else ml_dtypes.bfloat16
        a, b = rng.standard_normal((3, 70)).astype(numbers), rng.standard_normal((70, 5)).astype(numbers)
        c = rng.standard_normal((3, 5)).astype(np.float16).astype(np.float32)
        product = mxact.matmul(a, b, contract, c=c, to="f32")
        for i in range(3):
            for j in range(5):
                one = mxact.dot(a[i], b[:, j], contract, c=c[i, j])
                assert one.tobytes() == product[i, j].tobytes(), (contract, i, j)


def test_scales_bias_and_output() -> None:
    a, b = np.float32([[1, 2], [0.5, -1]]), np.float32([[1, 2, -1], [1, 0, 1]])
    codes = a.astype(ml_dtypes.float8_e4m3fn), b.astype(ml_dtypes.float8_e4m3fn)
    rows, columns = np.float32([1, -2]), np.float32([1, 0.5, 4])
    bias = np.float32([0, 1, 0])
    want = a @ b * rows[:, None] * columns + bias
    got = mxact.matmul(*codes, "cublaslt-fp8-rows", scales=(rows, columns), bias=bias, to="fp16")
    assert got.dtype == np.float16 and (got == want).all()
    assert (mxact.matmul(*codes, "hopper-fp8", scales=(2.0, None)) == 2 * (a @ b)).all()
    assert mxact.matmul(*codes, "hopper-fp8-f16").dtype == np.float16
    assert mxact.matmul(a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16), "hopper-bf16", to="bf16").dtype == ml_dtypes.bfloat16
    blocks = np.ones((4, 256), np.float32).astype(ml_dtypes.float8_e4m3fn)
    by_block = np.float32([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert (mxact.matmul(blocks, blocks.T, "hopper-fp8-block-1x128", scales=(by_block, by_block)) == 128 * by_block @ by_block.T).all()
    shared = np.float32([[1, 2], [3, 4]])  # of two rows each
    assert (mxact.matmul(blocks, blocks.T, "hopper-fp8-block-128x128", scales=(by_block, shared)) == 128 * by_block @ np.repeat(shared, 2, 0).T).all()
    # A zero sum keeps the factor's sign, or cuBLASLt's +0 takes it away.
    zeros = np.zeros((1, 2), ml_dtypes.float8_e4m3fn)
    assert np.signbit(mxact.matmul(zeros, zeros.T, "hopper-fp8", scales=(-1.0, 1.0))).all()
    assert not np.signbit(mxact.matmul(zeros, zeros.T, "cublaslt-fp8", scales=(-1.0, 1.0))).any()


def test_quantized_tensors_bring_their_scales() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((3, 64)).astype(np.float32), rng.standard_normal((64, 2)).astype(np.float32)
    left, right = mxact.quantize(a, "mxfp8_e4m3"), mxact.quantize(b, "mxfp8_e4m3", axis=0)
    exact = mxact.matmul(left, right, "exact")
    core = mxact.matmul(left, right, "blackwell-mxf8f6f4")
    assert np.allclose(exact, core, rtol=1e-5) and exact.shape == (3, 2)
    assert core[1, 1] == mxact.dot(mxact.quantize(a[1], "mxfp8_e4m3"), mxact.quantize(b[:, 1], "mxfp8_e4m3"), "blackwell-mxf8f6f4")


def test_a_record_is_taken_where_a_name_is() -> None:
    assert mxact.contract_record("hopper-bf16") == "step=aligned:cast=bf16:group=16:least=-133:align=25:keep=24:zero=plus:nan=0x7fffffff"
    for name in mxact.contracts():
        record = mxact.contract_record(name)
        assert mxact.contract_record(record) == record
    # 2^8 and 1.5 under eight bits of alignment: a unit of 1 leaves 257, of 2 leaves 256.
    a, b = np.float32([[256, 1.5]]), np.float32([[1], [1]])
    assert mxact.matmul(a, b, "step=aligned:cast=bf16:group=4:align=8:keep=24") == 257
    assert mxact.matmul(a, b, "step=aligned:cast=bf16:group=4:align=7:keep=24") == 256
    assert mxact.dot(a[0], b[:, 0], "step=aligned:cast=bf16:group=4:align=8:keep=24", c=512) == 768


def test_a_record_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "ours"
    file.write_text("# eight bits\nstep=aligned\ncast=bf16\ngroup=4\nalign=8\nkeep=24\n")
    a, b = np.float32([[256, 1.5]]), np.float32([[1], [1]])
    for named in (file, f"@{file}"):
        assert mxact.matmul(a, b, named) == 257 and mxact.dot(a[0], b[:, 0], named) == 257
        assert mxact.contract_record(named) == mxact.contract_record("step=aligned:cast=bf16:group=4:align=8:keep=24")
    with pytest.raises(mxact.Error, match="nowhere"):
        mxact.dot(a[0], b[:, 0], tmp_path / "nowhere")


def test_what_is_wrong_is_said() -> None:
    a = np.ones((2, 4), ml_dtypes.float8_e4m3fn)
    for call, text in [
        (lambda: mxact.matmul(a, a, "hopper-fp8"), "a is 2 x 4, b 2 x 4: must have one k"),
        (lambda: mxact.matmul(a[0], a.T, "hopper-fp8"), "a has 1 axes, must have 2 axes"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp8", scales=2.0), "scales is 2.0, must be a pair, one for each side"),  # type: ignore[arg-type]
        (lambda: mxact.matmul(a, a.T, "hopper-fp8", scales=(np.ones(3, np.float32), None)), "scales[0] has shape (3, 1): must be a number"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp8", to="e5m2"), "to is e5m2, must be f32, fp16 or bf16"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp8", c=np.ones(3, np.float32)), "c is float32 of shape (3,), must be numbers of shape (2, 2), or one"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp8-f16", c=np.float32(1 + 2**-20)), "C 0 is no number of fp16, which contract hopper-fp8-f16 takes"),
        (lambda: mxact.matmul(a, a.T, "blackwell-mxf8f6f4"), "no scales, it takes e8m0, one for each 32"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp9"), "unknown contract 'hopper-fp9' (did you mean hopper-fp8?)"),
        (lambda: mxact.matmul(a, a.T, "hopper-fp8:algn=3"), "unknown field 'algn' (did you mean align?)"),
        (lambda: mxact.contract_record("hopper-fp8:align=99"), "align=99: a whole number from 0 to 48"),
    ]:
        with pytest.raises(mxact.Error) as refusal:
            call()
        assert text in str(refusal.value), str(refusal.value)
