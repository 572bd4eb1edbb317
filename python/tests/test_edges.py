"""Kernels, quantizers and converters that are wrong only from an edge of what people serve on: noticed whatever the seed, and shown as small as they go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mxact
from mxact.testing import assert_converter, assert_kernel, assert_quantizer, settings
from mxact.testing._edges import below
from test_kernels import model, numpy_kernel

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=8)
SEEDS = range(20)
# As the law for them is stated, apart from the lists that draw.
ROWS = (1, 4, 5, 63, 64, 65, 128, 129)
EXPERTS = (1, 4, 5, 33, 129)
COLUMNS = (32, 64, 128, 256, 512, 1024, 2048)
INTERMEDIATE = (64, 128, 256, 512, 1024, 2048)


def extents_of(ids: Array, layer: dict[str, Array]) -> dict[str, int]:
    """Of a layer in MXFP4 and its tokens: those of the expert that has the most."""
    rows = int(np.bincount(ids.reshape(-1)).max())
    return {"rows": rows, "experts": len(layer["w2_weight"]), "hidden": layer["w2_weight"].shape[1], "intermediate": layer["w13_weight"].shape[1] // 2}


# What a kernel does no more from the edge on: the token that is too many, the expert, the column of the output, the row of gate and up.
KERNELS: dict[str, Callable[[int, Any, Array, Array, Array, dict[str, Array]], Array]] = {
    "rows": lambda edge, kernel, x, ids, weights, layer: kernel(x, ids, weights * (surplus(ids, edge) < edge), layer),
    "experts": lambda edge, kernel, x, ids, weights, layer: kernel(x, ids, weights * (ids < edge - 1), layer),
    "hidden": lambda edge, kernel, x, ids, weights, layer: kernel(x, ids, weights, layer) * (np.arange(x.shape[1]) < edge - 1),
    "intermediate": lambda edge, kernel, x, ids, weights, layer: kernel(x, ids, weights, without_rows(layer, edge - 1)),
}
EDGES = {"rows": ROWS, "experts": EXPERTS, "hidden": COLUMNS, "intermediate": INTERMEDIATE}


def surplus(ids: Array, edge: int) -> Array:
    """Which token of its expert each slot has, counted from 1; but that one of an expert that has fewer counts for none."""
    place = np.zeros(ids.shape, np.int64)
    for expert in np.unique(ids):
        mask = ids == expert
        place[mask] = np.arange(1, int(mask.sum()) + 1)
    return place


def without_rows(layer: dict[str, Array], first: int) -> dict[str, Array]:
    """Gate and up, gate first, as if rows from there on were 0."""
    codes = layer["w13_weight"].copy()
    half = codes.shape[1] // 2
    codes[:, first:half] = 0
    codes[:, half + first :] = 0
    return {**layer, "w13_weight": codes}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kernel_is_asked_at_every_edge(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right kernel, which looks on each case whether one that is wrong from an edge on would have answered otherwise."""
    monkeypatch.setattr(settings, "seed", seed)
    right, left = numpy_kernel("mxfp4"), {(name, edge) for name, edges in EDGES.items() for edge in edges}

    def kernel(x: Array, ids: Array, weights: Array, layer: dict[str, Array]) -> Array:
        out, extents = right(x, ids, weights, layer), extents_of(ids, layer)
        for name, edge in sorted(left):
            if extents[name] >= edge and not np.array_equal(KERNELS[name](edge, right, x, ids, weights, layer), out):
                left.discard((name, edge))
        return out  # type: ignore[no-any-return]

    assert_kernel(kernel, order_proof=True, activation="SILU", format="mxfp4")
    assert not left


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("place", [0, 1, -2, -1])
def test_a_kernel_that_is_wrong_from_an_edge_on(name: str, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    edge = EDGES[name][place]
    monkeypatch.setattr(settings, "seed", edge)
    right = numpy_kernel("mxfp4")

    def kernel(x: Array, ids: Array, weights: Array, layer: dict[str, Array]) -> Array:
        return KERNELS[name](edge, right, x, ids, weights, layer) if extents_of(ids, layer)[name] >= edge else right(x, ids, weights, layer)

    with pytest.raises(AssertionError, match="the kernel differs from contract exact") as failed:
        assert_kernel(kernel, order_proof=True, activation="SILU", format="mxfp4")
    sizes = {"rows": "", "experts": f"w2_weight ({edge}, ", "hidden": f", {edge}, ", "intermediate": f"w13_weight (1, {2 * edge}, 16)"}
    assert sizes[name] in str(failed.value).splitlines()[3]


def test_contracts_are_asked_at_every_edge() -> None:
    """Beside the exact sums, which NumPy has: a contract and a backend, whose right answers are the model's."""
    met: dict[str, set[int]] = {name: set() for name in EDGES}

    def watched(x: Array, ids: Array, weights: Array, layer: dict[str, Array]) -> Any:
        for name, extent in extents_of(ids, layer).items():
            met[name].add(extent)
        return model("f32-sequential", "SILU", "standard")(x, ids, weights, layer)

    assert_kernel(watched, contract="f32-sequential", activation="SILU", format="mxfp4")
    for name, edges in EDGES.items():
        assert set(edges) <= met[name]


def extents_of_tensor(x: Array) -> dict[str, int]:
    return {"rows": x.shape[0], "columns": x.shape[1]}


# What a quantizer does wrong from the edge on: codes and scales of the row, or of the block of columns that ends there, and of all behind.
QUANTIZERS: dict[str, Callable[[int, Array, Array], tuple[Array, Array]]] = {
    "codes of rows": lambda edge, codes, scales: (changed(codes, slice(edge - 1, None), slice(None)), scales),
    "codes of columns": lambda edge, codes, scales: (changed(codes, slice(None), slice(edge - 32, None)), scales),
    "scales of rows": lambda edge, codes, scales: (codes, zeroed(scales, slice(edge - 1, None), slice(None))),
    "scales of columns": lambda edge, codes, scales: (codes, zeroed(scales, slice(None), slice(edge // 32 - 1, None))),
}


def changed(values: Array, rows: slice, columns: slice) -> Array:
    made = values.copy()
    made[rows, columns] ^= 1
    return made


def zeroed(values: Array, rows: slice, columns: slice) -> Array:
    made = values.copy()
    made[rows, columns] = 0
    return made


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("format", ["mxfp4", "mxfp8_e4m3"])
def test_a_quantizer_is_asked_at_every_edge(format: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right quantizer, which looks on each case whether one that is wrong from an edge on would have answered otherwise."""
    monkeypatch.setattr(settings, "seed", seed)
    met: set[tuple[int, int]] = set()
    left = {(name, edge) for name in QUANTIZERS for edge in (ROWS if name.endswith("rows") else COLUMNS)}

    def quantizer(x: Array) -> Any:
        met.add(x.shape)
        q = mxact.quantize(x, format, profile="ocp")
        codes, scales = q.codes.view(np.uint8), q.scales.view(np.uint8).reshape(len(x), -1)
        for name, edge in sorted(left):
            if x.shape[1 if name.endswith("columns") else 0] < edge:
                continue
            wrong = QUANTIZERS[name](edge, codes, scales)
            if not (np.array_equal(wrong[0], codes) and np.array_equal(wrong[1], scales)):
                left.discard((name, edge))
        return q.codes, q.scales

    assert_quantizer(quantizer, format, profile="ocp")
    assert not left
    # Few large ones among many small.
    assert (129, 2048) in met
    assert sum(shape[0] * shape[1] <= 4096 for shape in met) > sum(shape[0] * shape[1] > 65536 for shape in met)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("edge", [1, 4, 5, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("all_failures", [False, True])
def test_a_quantizer_that_is_wrong_from_an_edge_on(edge: int, axis: int, all_failures: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, or blocks of a row: up to 64."""
    monkeypatch.setattr(settings, "seed", edge)
    blocks = min(edge, 64)

    def quantizer(x: Array) -> Any:
        q = mxact.quantize(x, "mxfp4", profile="ocp")
        codes = q.codes.view(np.uint8).copy()
        if axis == 0:
            codes[edge - 1 :] ^= 1
        else:
            codes[:, 32 * (blocks - 1) :] ^= 1
        return codes, q.scales

    with pytest.raises(AssertionError, match="the quantizer of mxfp4 differs from profile ocp") as failed:
        assert_quantizer(quantizer, "mxfp4", profile="ocp", all_failures=all_failures)
    # As few rows and columns as show it.
    shape = (1, 32) if edge == 1 else (edge, 32) if axis == 0 else (1, 32 * blocks)
    assert f"x = zeros of shape {shape}" in str(failed.value)


def backend_converter(layer: dict[str, Array]) -> dict[str, Array]:
    return mxact.pack(layer, "MARLIN", engine="2026-08", format="mxfp4", order="standard", padded=f"{layer['w13_weight'].shape[1] // 2}x{layer['w2_weight'].shape[1]}").tensors


# What a converter leaves out from the edge on, of a layer whose gate and up alternate: the expert, the column of w13, the row of gate and that of up.
CONVERTERS: dict[str, Callable[[int, dict[str, Array]], dict[str, Array]]] = {
    "experts": lambda edge, layer: {**layer, "w2_weight": zeroed(layer["w2_weight"], slice(edge - 1, None), slice(None))},
    "hidden": lambda edge, layer: {**layer, "w2_weight": zeroed(layer["w2_weight"], slice(None), slice(edge - 1, None))},
    "intermediate": lambda edge, layer: {**layer, "w13_weight": zeroed(layer["w13_weight"], slice(None), slice(2 * edge - 2, None))},
}
CONVERTER_EDGES = {"experts": EXPERTS, "hidden": COLUMNS, "intermediate": INTERMEDIATE}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_converter_is_asked_at_every_edge(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right converter, which looks on each layer whether one that is wrong from an edge on would have answered otherwise."""
    monkeypatch.setattr(settings, "seed", seed)
    left = {(name, edge) for name, edges in CONVERTER_EDGES.items() for edge in edges}

    def converter(layer: dict[str, Array]) -> dict[str, Array]:
        extents = extents_of(np.zeros((1, 1), np.int64), layer)
        for name, edge in sorted(left):
            if extents[name] < edge:
                continue
            wrong = CONVERTERS[name](edge, layer)
            if any(not np.array_equal(wrong[tensor], layer[tensor]) for tensor in layer):
                left.discard((name, edge))
        return layer

    assert_converter(converter, "EMULATION", engine="2026-08", format="mxfp4", order="gpt_oss")
    assert not left


@pytest.mark.parametrize(("name", "edge"), [("experts", 4), ("experts", 129), ("hidden", 1024), ("hidden", 2048), ("intermediate", 512), ("intermediate", 2048)])
def test_a_converter_that_is_wrong_from_an_edge_on(name: str, edge: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "seed", edge)

    def converter(layer: dict[str, Array]) -> dict[str, Array]:
        packed = dict(backend_converter(layer))
        if extents_of(np.zeros((1, 1), np.int64), layer)[name] >= edge:
            packed["w2_weight"] = packed["w2_weight"].copy()
            packed["w2_weight"].reshape(-1).view(np.uint8)[-1] ^= 1
        return packed

    with pytest.raises(AssertionError, match="w2_weight byte ") as failed:
        assert_converter(converter, "MARLIN", engine="2026-08", format="mxfp4", order="standard")
    place = {"experts": f"w2_weight ({edge}, ", "hidden": f", {edge}, ", "intermediate": f", {edge // 2})"}
    assert place[name] in str(failed.value).split("layer: ")[1].splitlines()[0].split("w2_weight")[1].join(["w2_weight", ""])


@pytest.mark.parametrize(("axis", "edge"), [(0, 65), (0, 129), (1, 512), (1, 2048)])
def test_a_building_block_that_is_wrong_from_an_edge_on(axis: int, edge: int) -> None:
    def block(tensor: Array) -> Array:
        memory = mxact.layout("sf_128x4", tensor.shape).apply(tensor).copy()
        if tensor.shape[axis] >= edge:
            memory[0] ^= 1
        return memory  # type: ignore[no-any-return]

    with pytest.raises(AssertionError, match="sf_128x4 byte 0: 0x"):
        assert_converter(block, "sf_128x4")


def test_smaller_sizes_come_least_first() -> None:
    assert list(below(129, 1, ROWS)) == [1, 4, 5, 63, 64, 65, 128]
    assert list(below(100, 1, ROWS)) == [1, 4, 5, 63, 64, 65, 82, 99]
    assert list(below(5, 1, ROWS)) == [1, 4]
    assert list(below(3, 1, ())) == [1, 2]
    assert list(below(1, 1, ROWS)) == []
    assert list(below(2048, 32, COLUMNS, 32)) == [32, 64, 128, 256, 512, 1024, 1536, 2016]
