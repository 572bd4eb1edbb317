"""A building block of somebody else, which moves one tensor, held to a layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mxact._arguments import Array, array
from mxact._error import Error
from mxact._layouts import Layout, layout
from mxact.testing._edges import COLUMNS, ROWS
from mxact.testing._runs import Broken, CannotStart, compared, for_all, of_case, settings, settled, told

# Rows and columns that are tried: ends of tiles, beside them, and none of them; blocks of 17 bytes.
_EXTENTS = (1, 2, 3, 4, 6, 8, 12, 16, 17, 20, 32, 33, 34, 64, 96, 100, 128, 130, 160, 256, 384, 512)
_MOST_SHAPES = 40
_ELEMENTS: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32)}
_PARTS = (4, 6)  # bits of units that are no whole bytes
_UNWRITTEN = -2


def assert_layout(fn: Callable[[Array], Any], name: str, tensor: object, choices: dict[str, object]) -> None:
    """As assert_converter says it of a building block."""
    fixed = tuple(sorted((key, value) for key, value in choices.items() if value is not None))
    if tensor is not None:
        shapes: list[tuple[int, ...]] = [_shape_of(name, array("layer", tensor), fixed)]
    else:
        shapes = _shapes(name, fixed)

    def check(case: tuple[tuple[int, ...], int]) -> None:
        of = layout(name, case[0], **dict(fixed))  # type: ignore[arg-type]
        x = array("layer", tensor).copy() if tensor is not None else _drawn(of, case[1])
        compared(1)
        difference = _difference(name, _answer(fn, x), of, x)
        if difference:
            raise AssertionError(f"{difference}\n{_text(x)}")

    with told():
        if tensor is not None:
            settled(check, (shapes[0], 0))
        else:
            for_all(st.tuples(st.sampled_from(shapes), st.integers(0, 15)), check)
            for shape in _edges(name, fixed):
                settled(check, (shape, settings.seed))
    settings.held.append(f"converter {name}")


def _shape_of(name: str, tensor: Array, fixed: tuple[tuple[str, object], ...]) -> tuple[int, ...]:
    """The tensor's shape, in units of the block where those are parts of a byte."""
    shapes = [tensor.shape, *((*tensor.shape[:-1], tensor.shape[-1] * 8 // bits) for bits in _PARTS)]
    for shape in shapes:
        try:
            if _bytes_of(layout(name, shape, **dict(fixed))) == tensor.nbytes:  # type: ignore[arg-type]
                return shape
        except Error:
            continue
    return shapes[1]


def _bytes_of(of: Layout) -> int:
    axes, bits = of._handle.tensor()
    return int(np.prod([extent for _, extent in axes])) * bits // 8


@cache
def _shapes(name: str, fixed: tuple[tuple[str, object], ...]) -> list[tuple[int, ...]]:
    """Shapes that it takes, small ones first."""
    found: list[tuple[int, ...]] = []
    refused: Error | None = None
    for shape in sorted(itertools.product(_EXTENTS, _EXTENTS), key=lambda one: one[0] * one[1]):
        try:
            of = layout(name, shape, **dict(fixed))  # type: ignore[arg-type]
        except Error as error:
            refused = error
            continue
        if _bytes_of(of):
            found.append(shape)
    if not found:
        raise refused or Error(f"{name} takes no small tensor", place="backend")
    return found if len(found) <= _MOST_SHAPES else [found[i * (len(found) - 1) // (_MOST_SHAPES - 1)] for i in range(_MOST_SHAPES)]


@cache
def _edges(name: str, fixed: tuple[tuple[str, object], ...]) -> list[tuple[int, ...]]:
    """The least shape that it takes with each edge as its rows, and as its columns."""
    found: list[tuple[int, ...]] = []
    for place, edges in enumerate((ROWS, COLUMNS)):
        for edge in edges:
            for other in _EXTENTS:
                shape = (edge, other) if place == 0 else (other, edge)
                try:
                    of = layout(name, shape, **dict(fixed))  # type: ignore[arg-type]
                except Error:
                    continue
                if _bytes_of(of):
                    found.append(shape)
                    break
    return sorted(set(found), key=lambda one: one[0] * one[1])


def _drawn(of: Layout, seed: int) -> Array:
    """Any bytes, in the shape of the tensor's axes but a stack of one; units of 4 and 6 bits packed, where rows have whole bytes."""
    axes, bits = of._handle.tensor()
    extents = [extent for _, extent in axes]
    shape = extents[1:] if len(extents) > 2 and extents[0] == 1 else extents
    random = np.random.default_rng(seed)
    if bits in _ELEMENTS:
        return random.integers(0, 256, _bytes_of(of), dtype=np.uint8).view(_ELEMENTS[bits]).reshape(shape)
    if bits in _PARTS and shape[-1] * bits % 8 == 0:
        return random.integers(0, 256, (*shape[:-1], shape[-1] * bits // 8), dtype=np.uint8)
    return random.integers(0, 256, _bytes_of(of), dtype=np.uint8)


def _text(x: Array) -> str:
    return f"tensor: {x.dtype} {list(x.shape)}"


def _answer(fn: Callable[[Array], Any], x: Array) -> Array:
    try:
        with of_case(lambda: _text(x)):
            given = fn(x.copy())
    except (Broken, CannotStart):
        raise
    except (Exception, SystemExit) as problem:
        raise AssertionError(f"the converter raises {type(problem).__name__}: {problem}\n{_text(x)}") from problem
    return memory_of("memory", given)


def memory_of(name: str, value: object) -> Array:
    """The bytes of an array in ascending addresses."""
    try:
        values = array(name, value)
    except Error as wrong:
        raise AssertionError(f"the converter's {wrong}") from wrong
    if values.dtype.hasobject:
        raise AssertionError(f"the converter's {name} is {values.dtype}")
    storage = values.transpose(np.argsort([-stride for stride in values.strides], kind="stable")) if values.ndim else values
    return np.ascontiguousarray(storage if storage.flags.c_contiguous else values).reshape(-1).view(np.uint8)


def _difference(name: str, found: Array, of: Layout, x: Array) -> str:
    expected = np.ascontiguousarray(of.apply(x)).reshape(-1).view(np.uint8)
    if found.size != expected.size:
        return f"the converter's memory has {found.size} bytes, {name} has {expected.size}"
    wrong = found != expected
    for byte in _counted(of, np.flatnonzero(wrong)):
        address = byte * 8 // of.address_bits
        return f"{name} byte {byte}: 0x{found[byte]:02x}, must be 0x{expected[byte]:02x} ({of.content(address)}); {np.count_nonzero(wrong)} of {wrong.size} bytes differ"
    return ""


def _counted(of: Layout, wrong: Array) -> Iterator[int]:
    """Those that the converter writes."""
    axis = next(iter(of.axes))
    for byte in wrong.tolist():
        if int(of.what(byte * 8 // of.address_bits)[axis]) != _UNWRITTEN:
            yield byte
