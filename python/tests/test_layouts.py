"""A layout opened: addresses, elements and memory, held to the program and to the packed layers that are recorded."""

from __future__ import annotations

import numpy as np
import pytest

import mxact
from conftest import program

CHOICES = {
    "sf_128x4": ("96x6", {}),
    "trtllm.shuffle_matrix_a": ("256x64", {}),
    "FLASHINFER_TRTLLM_MXFP4_BF16": ("2x256x512", {"tensor": "w13_weight_scale", "engine": "2026-08", "source_order": "standard"}),
    "TRITON": ("2x32x64", {"tensor": "w13_weight_scale", "engine": "2026-08", "format": "mxfp4", "platform": "sm90"}),
    "MARLIN": ("2x256x512", {"tensor": "w2_weight", "engine": "2026-08", "format": "mxfp4"}),
}


@pytest.mark.parametrize("name", [name for name in CHOICES if name in (*mxact.layouts(), *mxact.backends())])
def test_places_are_those_of_the_program(name: str) -> None:
    shape, choices = CHOICES[name]
    layout = mxact.layout(name, shape, **choices)
    options = [word for key, value in choices.items() for word in (f"--{key.replace('_', '-')}", value)]
    random = np.random.default_rng(1)
    for address in [0, layout.size - 1, *random.integers(0, layout.size, 6).tolist()]:
        shown = program("layout", "where", name, "--shape", shape, *options, "--address", str(address))
        found = layout.what(address)
        assert layout.content(address) in str(shown.values())
        if min(found.values()) >= 0:
            assert layout.where(**found) == address
    assert layout.nbytes * 8 == layout.size * layout.address_bits


def test_many_at_once_are_each_by_itself() -> None:
    layout = mxact.layout("sf_128x4", (2, 96, 6))
    assert layout.axes == {"batch": 2, "rows": 96, "cols": 6}
    rows, columns = np.arange(96)[:, None], np.arange(6)
    addresses = layout.where(batch=1, rows=rows, cols=columns)
    assert addresses.shape == (96, 6)
    assert addresses.dtype == np.int64
    # The 128x4 tile of cuBLASLt: 32 rows by 4 groups of 4 columns, padded to whole tiles.
    expected = 1024 + columns // 4 * 512 + rows % 32 * 16 + rows // 32 * 4 + columns % 4
    assert np.array_equal(addresses, expected)
    found = layout.what(addresses)
    assert all(np.array_equal(found[name], np.broadcast_to(right, (96, 6))) for name, right in [("batch", 1), ("rows", rows), ("cols", columns)])
    every = layout.what(np.arange(layout.size))
    assert sorted(set(every["rows"].tolist())) == [-1, *range(96)]
    assert layout.content(layout.size - 1) == "padding, zero"


def test_memory_there_and_back() -> None:
    random = np.random.default_rng(2)
    scales = random.integers(0, 256, (2, 96, 6), dtype=np.uint8)
    layout = mxact.layout("sf_128x4", scales.shape)
    memory = layout.apply(scales)
    assert memory.shape == (layout.nbytes,)
    places = layout.where(batch=np.arange(2)[:, None, None], rows=np.arange(96)[:, None], cols=np.arange(6))
    assert np.array_equal(memory[places], scales)
    assert np.array_equal(layout.restore(memory), scales)
    assert np.count_nonzero(np.delete(memory, places.reshape(-1))) == 0


def test_a_backends_tensor_is_that_of_the_packed_layer() -> None:
    random = np.random.default_rng(0)
    shapes = {"w13_weight": (8, 512, 128), "w13_weight_scale": (8, 512, 8), "w2_weight": (8, 256, 128), "w2_weight_scale": (8, 256, 8)}
    layer = {name: random.integers(0, 200, shape, dtype=np.uint8) for name, shape in shapes.items()}
    packed = mxact.pack(layer, "FLASHINFER_TRTLLM_MXFP4_BF16", engine="2026-08", order="standard")
    for name, tensor in layer.items():
        layout = mxact.layout("FLASHINFER_TRTLLM_MXFP4_BF16", {"E": 8, "I": 256, "H": 256}, engine="2026-08", tensor=name, source_order="standard")
        memory = layout.apply(tensor)
        assert memory.tobytes() == packed[name].tobytes()
        assert np.array_equal(layout.restore(memory).reshape(tensor.shape), tensor)


def test_an_element_of_the_weights_stands_for_its_scale() -> None:
    scales = mxact.layout("EMULATION", (2, 64, 128), tensor="w13_weight_scale", format="mxfp4")
    assert scales.where(E=1, I=3, K=np.array([0, 31, 32, 127])).tolist() == scales.where(E=1, I=3, G=np.array([0, 0, 1, 3])).tolist()
    blocks = mxact.layout("TRITON", (2, 256, 256), tensor="w2_weight_scale", format="fp8_block")
    assert blocks.where(E=1, N=200, K=100) == blocks.where(E=1, NB=1, KB=0)
    for wrong, sentence in (({"K": 128}, "not in 0..127"), ({"K": 1, "G": 0}, "given twice"), ({"J": 1}, "none of")):
        with pytest.raises(mxact.Error, match=sentence):
            scales.where(**wrong)


def test_what_is_refused() -> None:
    layout = mxact.layout("sf_128x4", "96x6")
    for call, sentence in [
        (lambda: mxact.layout("sf_128x5", "96x6"), "unknown layout 'sf_128x5' (did you mean sf_128x4?)"),
        (lambda: mxact.layout("sf_128x4", (1, 2, 3, 4)), "'1x2x3x4' is neither"),
        (lambda: mxact.layout("sf_128x4", (1.5, 2)), "shape is of type float, must be text"),
        (lambda: mxact.layout("sf_128x4", "96x6", tiles=3), "unknown choice 'tiles'"),
        (lambda: mxact.layout("FLASHINFER_TRTLLM_MXFP4_BF16", "256x256"), "tensor is missing, for example tensor w13_weight"),
        (lambda: layout.where(row=1), "axis 'row' is none of batch, rows, cols"),
        (lambda: layout.where(rows=96), "index 96 of axis rows is not in 0..95"),
        (lambda: layout.where(rows=1.0), "rows is float64, must be whole numbers"),
        (lambda: layout.where(rows=np.uint64(1 << 63)), "rows has 9223372036854775808, which is out of range"),
        (lambda: layout.where(rows=np.arange(2), cols=np.arange(3)), "do not go together"),
        (lambda: layout.what(layout.size), f"address {layout.size} is not in 0..{layout.size - 1}"),
        (lambda: layout.what(np.arange(-2, 3)), f"address -2 and 1 other are not in 0..{layout.size - 1}"),
        (lambda: layout.content(layout.size), f"address {layout.size} is not in 0..{layout.size - 1}"),
        (lambda: layout.apply(np.zeros(3, np.uint8)), "tensor has 3 bytes, must have 576: uint8 or a dtype of ml_dtypes of one byte of shape (96, 6) (rows, cols) fit"),
        (lambda: layout.apply(np.zeros((6, 96), np.uint8)), "tensor has shape (6, 96): uint8"),
        (lambda: layout.apply(np.zeros(576, np.uint8)), "tensor has shape (576,): uint8"),
        (lambda: layout.apply(np.zeros((96, 3), np.uint16)), "tensor is uint16: uint8 or a dtype of ml_dtypes of one byte of shape (96, 6)"),
        (lambda: layout.apply(np.zeros((96, 6), bool)), "tensor is bool: uint8"),
        (lambda: layout.restore(np.zeros(3, np.uint8)), "3"),
    ]:
        with pytest.raises(mxact.Error) as refused:
            call()
        assert sentence in str(refused.value)


def test_a_tensor_fits_by_its_axes() -> None:
    codes = np.random.default_rng(3).integers(0, 256, (2, 64, 64), dtype=np.uint8)
    weights = mxact.layout("EMULATION", (2, 32, 128), tensor="w13_weight", format="mxfp4")
    memory = weights.apply(codes)
    # Neighbouring axes may be one or several, and eight codes may have one number, as int4 checkpoints have them.
    for same in (codes.reshape(2, 2, 32, 64), codes.reshape(2, 64, 4, 16), codes.view(np.int32)):
        assert np.array_equal(weights.apply(same), memory)
    for other in (codes.transpose(0, 2, 1).reshape(2, 32, 128), codes.reshape(1, 128, 64).reshape(128, 64).T, codes.reshape(4096, 2), codes.view(np.float32)):
        with pytest.raises(mxact.Error, match=r"of shape \(2, 2, 32, 64\) \(E, half, I, K, two codes in a byte\) fit"):
            weights.apply(other)


def test_an_element_that_is_cut_off_has_no_address() -> None:
    assert mxact.layout("sf_128x4", "96x6").where(rows=np.zeros((0,), np.int64)).shape == (0,)


def test_gate_and_up_are_named_as_the_program_names_them() -> None:
    layout = mxact.layout("MARLIN", "2x256x512", tensor="w13_weight", format="mxfp4", engine="2026-08")
    shown = program("layout", "where", "MARLIN", "--shape", "2x256x512", "--tensor", "w13_weight", "--format", "mxfp4", "--coord", "E=1,half=up,I=3,K=5")
    assert layout.where(E=1, half="up", I=3, K=5) == layout.where(E=1, half=1, I=3, K=5)
    assert str(layout.where(E=1, half="up", I=3, K=5)) in str(shown.values())
    assert layout.where(half="gate", I=3) == layout.where(I=3)
    with pytest.raises(mxact.Error, match="half is 'down', must be 'gate', 'up', 0 or 1"):
        layout.where(half="down")
