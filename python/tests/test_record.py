"""What mxact.record() writes is read by the program, and holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import finite_f32, program
from mxact._record import as_numpy, swizzle_128x4


def statuses(folder: Path, status: int = 0) -> list[str]:
    return [entry["status"] for told in program("witness", str(folder), status=status)["sets"] for entry in told["entries"]]


def quantizer(x: Any) -> tuple[Any, Any]:
    q = mxact.quantize(x, "mxfp4")
    return q.codes, q.scales


def test_numbers_blocks_and_layouts_in_one_call_each(tmp_path: Path) -> None:
    x = finite_f32(64 * 32, 3).reshape(64, 32)
    casts = {"e4m3fn": x, "e2m1": x.astype(ml_dtypes.bfloat16), "bf16": x}
    for name, values in casts.items():
        words = {"overflow": "ieee"} if name == "bf16" else {}
        folder = mxact.record(name, lambda given, to=name: mxact.convert(given, to), values, implementation="own", into=tmp_path, **words)
        assert folder == tmp_path / f"{name}.1"
    mxact.record("mxfp4", quantizer, x, implementation="ocp", into=tmp_path, scale_rule="floor")
    mxact.record("sf_128x4", swizzle_128x4, (256, 12), implementation="own", into=tmp_path, build="flashinfer-2026-08", role="scale", rows=256, cols=12)
    assert statuses(tmp_path) == ["equal"] * 5
    # One more of a name is another set, and what is wrong is seen.
    assert mxact.record("e2m1", lambda given: np.zeros(given.shape, np.uint8), x, implementation="own", into=tmp_path).name == "e2m1.2"
    assert statuses(tmp_path, 1).count("differs") == 1


def test_an_unknown_word_leaves_one_entry_unsupported(tmp_path: Path) -> None:
    x = finite_f32(256, 4)
    mxact.record("e5m2", lambda given: mxact.convert(given, "e5m2"), x, implementation="own", into=tmp_path, mood="good")
    mxact.record("e4m3fn", lambda given: mxact.convert(given, "e4m3fn"), x, implementation="own", into=tmp_path)
    mxact.record("sf_128x4", swizzle_128x4, (128, 4), implementation="own", into=tmp_path, build="flashinfer-2026-08", role="scale", rows=128, cols=4, mood=1)
    mxact.record("no_such_layout", swizzle_128x4, (128, 4), implementation="own", into=tmp_path, build="flashinfer-2026-08", rows=128, cols=4)
    assert sorted(statuses(tmp_path, 4)) == ["equal", "unmodelled", "unmodelled", "unmodelled"]


def test_nothing_is_left_of_a_recording_that_fails(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 64, dtype=np.float32).reshape(2, 32)

    def changes_values(data: Any) -> Any:
        return np.bitwise_not(data)

    def half_in_complex(given: Any) -> Any:
        return given.astype(np.float16), given.astype(np.complex64)

    for name, fn, inputs, sentence in [
        ("fp16", lambda given: given.astype(np.complex64), x, "no element type for complex64"),
        ("fp16", lambda given: given[:1].astype(np.float16), x, r"codes of shape \(1, 32\) for numbers of shape \(2, 32\)"),
        ("fp16", lambda given: given.astype(np.float16), x[:0], r"shape \(0, 32\) has no values"),
        ("mxfp4", half_in_complex, x, "no element type for complex64"),
        ("mxfp4", lambda given: given, x, "fn returns ndarray, must return codes and scales"),
        ("sf_128x4", swizzle_128x4, (2.5, 4), "must be a shape in bytes"),
        ("sf_128x4", swizzle_128x4, (0, 4), "of positive integers"),
        ("sf_128x4", swizzle_128x4, 4, "must be a shape in bytes"),
        ("sf_128x4", changes_values, (128, 4), "the converter changes values"),
        ("../fp16", swizzle_128x4, (128, 4), "is no name of a format"),
        ("", swizzle_128x4, (128, 4), "is no name of a format"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            mxact.record(name, fn, inputs, implementation="own", into=tmp_path / "recorded")
    with pytest.raises(ZeroDivisionError):
        mxact.record("sf_128x4", lambda data: 1 // 0, (128, 4), implementation="own", into=tmp_path / "recorded")
    assert list(tmp_path.glob("*/*")) == []


def test_arrays_of_numpy_and_ml_dtypes(tmp_path: Path) -> None:
    for dtype, word in [(ml_dtypes.bfloat16, "bf16"), (ml_dtypes.float8_e4m3fn, "u8"), (ml_dtypes.float6_e2m3fn, "u8"), (ml_dtypes.float4_e2m1fn, "u8"), (np.float16, "fp16")]:
        values, kind = as_numpy(np.arange(4).astype(dtype))
        assert kind == word and values.tobytes() == np.arange(4).astype(dtype).tobytes()
    with pytest.raises(ValueError, match="no element type for complex64"):
        as_numpy(np.zeros(2, np.complex64))
    mxact.record("e4m3fn", lambda given: mxact.convert(given, "e4m3fn"), finite_f32(8, 1), implementation="own", into=tmp_path)
    manifest = json.loads((tmp_path / "e4m3fn.1/manifest.json").read_text())
    assert manifest["format"] == "mxact-witness/3" and manifest["entries"][0]["params"]["source"] == "f32"
