"""Every building block of `mxact layout list` under assert_converter and record, and what they say of a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from conftest import program
from mxact.testing import assert_converter
from test_pipes import laws, server

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=5)


def extents(x: Array, bits: int) -> tuple[int, ...]:
    """Of a tensor that came as an array, in units of so many bits."""
    return (*x.shape[:-1], x.shape[-1] * 8 * x.itemsize // bits)


def taken(name: str, *shapes: tuple[int, int]) -> tuple[mxact.Layout, tuple[int, int]]:
    """The block of the first shape that it takes."""
    for shape in shapes:
        try:
            return mxact.layout(name, shape), shape
        except mxact.Error:
            continue
    raise AssertionError(name)


def bits_of(name: str) -> int:
    return int(taken(name, (1, 1), (16, 16), (8, 17), (64, 64), (128, 128), (256, 256))[0]._handle.tensor()[1])


def mine(name: str) -> Callable[[Array], Any]:
    bits = bits_of(name)
    return lambda x: mxact.layout(name, extents(x, bits)).apply(x)


@pytest.mark.parametrize("name", mxact.layouts())
def test_every_block_is_taken(name: str) -> None:
    assert_converter(mine(name), name)


def is_written(name: str) -> bool:
    """Its first address holds something that a converter must have right."""
    return "unwritten" not in taken(name, (256, 256), (8, 34))[0].content(0)


@pytest.mark.parametrize("name", [name for name in mxact.layouts()[::4] if is_written(name)])
def test_a_wrong_byte_is_found(name: str) -> None:
    def off_by_one(x: Array) -> Array:
        memory = np.ascontiguousarray(mine(name)(x)).view(np.uint8).copy()
        memory[-1 if memory.size == 1 else 0] ^= 1
        return memory

    with pytest.raises(AssertionError, match=rf"(?s)^{name.replace('.', '[.]')} byte 0: 0x.., must be 0x.. \(.*\); 1 of \d+ bytes differ\ntensor: .*\nreplay: pytest "):
        assert_converter(off_by_one, name)


def test_one_tensor_and_what_is_no_answer() -> None:
    scales = np.arange(130 * 6, dtype=np.uint32).astype(np.uint8).reshape(130, 6)
    assert_converter(lambda x: mxact.layout("sf_128x4", x.shape).apply(x), "sf_128x4", layer=scales)
    for fn, sentence in [
        (lambda x: x, r"the converter's memory has 780 bytes, sf_128x4 has 2048"),
        (lambda x: {"memory": x}, r"the converter's memory"),
        (lambda x: 1 / 0, r"the converter raises ZeroDivisionError: division by zero\ntensor: uint8 \[130, 6\]"),
    ]:
        with pytest.raises(AssertionError, match=sentence):
            assert_converter(fn, "sf_128x4", layer=scales)
    for call, sentence in [
        (lambda: assert_converter(mine("sf_128x4"), "sf_128x4", platform="sm90"), "platform is a backend's, and sf_128x4 is a building block"),
        (lambda: assert_converter(mine("sf_128x4"), "sf_128x4", version="yesterday"), "unknown version 'yesterday'"),
        (lambda: assert_converter(mine("sf_128x4"), "sf_128x5"), "sf_128x4"),
    ]:
        with pytest.raises(mxact.Error, match=sentence):
            call()


def test_over_a_pipe(tmp_path: Path) -> None:
    how = "out = {'memory': mxact.layout('sf_128x4', given['tensor'].shape).apply(given['tensor'])}"
    (tmp_path / "server.py").write_text(Path(server(tmp_path)[1]).read_text().replace('if head["op"] == "convert":', 'if head["op"] == "convert": ' + how + "\n    if False:"))
    words = ["converter", "sf_128x4", "--examples", "5"]
    command = server(tmp_path)[:1] + [str(tmp_path / "block.py")]
    text = (tmp_path / "server.py").read_text()
    Path(command[1]).write_text(text if how in text else Path(server(tmp_path)[1]).read_text().replace('if head["op"] == "convert":', f'if head["op"] == "convert": {how}\n    if False:'))
    assert "PASSED converter sf_128x4" in laws(words, command, 0)


# Of so many bytes so many are another tensor's, or nobody's: ggml-common.h, block_mxfp4 and block_nvfp4; PTX ISA 9.2, .b6x16_p32.
UNWRITTEN = {
    "ggml.block_mxfp4.codes": (1, 17),
    "ggml.block_mxfp4.scales": (16, 17),
    "ggml.block_nvfp4.codes": (4, 36),
    "ggml.block_nvfp4.scales": (32, 36),
    "packing.fp6_sixteen_in_sixteen": (4, 16),
}


@pytest.mark.parametrize("name", mxact.layouts())
def test_every_block_is_recorded(tmp_path: Path, name: str) -> None:
    of, (rows, columns) = taken(name, (256, 256), (128, 64), (8, 34))
    mxact.record(name, lambda x: np.asarray(of.apply(x)).reshape(-1).view(np.uint8), (rows, columns * bits_of(name) // 8), implementation="own", into=tmp_path)
    # The recorder sees a constant where the model says that nothing is written: that much differs, and no more.
    few, of_bytes = UNWRITTEN.get(name, (0, 1))
    (manifest,) = tmp_path.glob("*/manifest.json")
    (recorded,) = json.loads(manifest.read_text())["entries"]
    (entry,) = [entry for told in program("witness", str(tmp_path), status=int(few > 0))["sets"] for entry in told["entries"]]
    assert entry["status"] == ("differs" if few else "equal")
    assert entry["differing"] * of_bytes == recorded["dst_units"] * few
    assert all("recorded padding, model an unwritten position" in told for told in entry.get("differences", []))


def test_a_backend_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MARLIN is a backend, whose conversion has several tensors: mxact.testing.assert_converter holds it"):
        mxact.record("MARLIN", lambda x: x, (4, 4), implementation="own", into=tmp_path)
    assert list(tmp_path.iterdir()) == []
