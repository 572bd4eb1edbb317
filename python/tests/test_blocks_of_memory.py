"""Every building block of `mxact layout list` under assert_converter and record, and what they say of a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from mxact.testing import assert_converter
from test_pipes import laws, server
from test_record import statuses

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=5)


def extents(x: Array, bits: int) -> tuple[int, ...]:
    """Of a tensor that came as an array, in units of so many bits."""
    return (*x.shape[:-1], x.shape[-1] * 8 * x.itemsize // bits)


# ggml's rows and packed codes have sizes of their own and bytes that nobody writes: tests/families/building_block_test.cpp and the laws of blocks hold them.
OTHERS = ("ggml.", "packing.")
BLOCKS = [name for name in mxact.layouts() if not name.startswith(OTHERS)]


def bits_of(name: str) -> int:
    for shape in ((1, 1), (16, 16), (64, 64), (128, 128), (256, 256)):
        try:
            return int(mxact.layout(name, shape)._handle.tensor()[1])
        except mxact.Error:
            continue
    raise AssertionError(name)


def mine(name: str) -> Callable[[Array], Any]:
    bits = bits_of(name)
    return lambda x: mxact.layout(name, extents(x, bits)).apply(x)


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_is_taken(name: str) -> None:
    assert_converter(mine(name), name)


def is_written(name: str) -> bool:
    """Its first address holds something that a converter must have right."""
    return "unwritten" not in mxact.layout(name, (256, 256)).content(0)


@pytest.mark.parametrize("name", [name for name in BLOCKS[::4] if is_written(name)])
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


@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_is_recorded(tmp_path: Path, name: str) -> None:
    bits = bits_of(name)
    for rows, columns in ((256, 256), (128, 64)):
        try:
            of = mxact.layout(name, (rows, columns))
        except mxact.Error:
            continue
        mxact.record(name, lambda x, of=of: np.asarray(of.apply(x)).reshape(-1).view(np.uint8), (rows, columns * bits // 8), implementation="own", into=tmp_path)
        break
    assert statuses(tmp_path) == ["equal"]


def test_a_backend_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="MARLIN is a backend, whose conversion has several tensors: mxact.testing.assert_converter holds it"):
        mxact.record("MARLIN", lambda x: x, (4, 4), implementation="own", into=tmp_path)
    assert list(tmp_path.iterdir()) == []
