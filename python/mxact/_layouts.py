"""Where a layout puts each element, and what lies at each address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, flat_bytes, word
from mxact._error import Error
from mxact._fits import require_fit
from mxact._layers import bytes_of, plainly, stored_of, text_of
from mxact._libraries import like

_UNSIGNED: dict[int, np.dtype[Any]] = {8: np.dtype(np.uint8), 16: np.dtype(np.uint16), 32: np.dtype(np.uint32)}
_HALVES = {"gate": 0, "up": 1}
PADDING = {-1: "zero", -2: "unwritten", -3: "neutral"}


class Layout:
    """One tensor's way into memory, of mxact.layout().

    name: the layout's, with every choice as `mxact layout where` takes them. axes: the tensor's, by name with their extents, slowest first; of an
    element whose bits go separate ways the last ones count its parts ("nibble", "bit"). size: addresses, padding included. address_bits: bits that one
    address counts. nbytes: of the memory. memory_axes: the axes of the memory in ascending addresses.
    """

    def __init__(self, handle: _core.Layout) -> None:
        self._handle = handle
        self.name: str = handle.spec()
        self.axes: dict[str, int] = dict(handle.axes())
        self.memory_axes: dict[str, int] = dict(handle.memory_axes())
        self.size: int = handle.size()
        self.address_bits: int = handle.address_bits()
        self.nbytes: int = handle.bytes()
        self._covered = {name: (extent, axis, elements) for name, extent, axis, elements in handle.covered()}

    def __repr__(self) -> str:
        return f"mxact.Layout({self.name})"

    def where(self, **coordinate: object) -> Any:
        """The address of an element, or of many.

        coordinate: an index, or an array of them, for each axis by its name: where(E=0, half="up", I=3, K=numpy.arange(32)), half "gate" and "up" or 0 and 1;
        an axis that is not named is 0;
        arrays are broadcast against each other. Of scales an element of the weights stands for its scale: where(E=0, I=3, K=70) is where(E=0, I=3, G=2) in
        groups of 32.
        Returns an int, or an int64 array of their common shape: the address in units of `address_bits`; -1 for an element that the layout drops; of one
        that is there several times the first place.
        Raises mxact.Error: an unknown axis, an index out of range, arrays that do not go together.
        """
        coordinate = self._of_scales(coordinate)
        unknown = [name for name in coordinate if name not in self.axes]
        if unknown:
            raise Error(f"axis {unknown[0]!r} is none of {', '.join(self.axes)}", place=unknown[0])
        indexes = [_indexes(name, coordinate.get(name, 0)) for name in self.axes]
        try:
            grid = np.broadcast_arrays(*indexes)
        except ValueError:
            shapes = ", ".join(f"{name} {index.shape}" for name, index in zip(self.axes, indexes, strict=True) if index.ndim)
            raise Error(f"indexes have shapes {shapes}, which do not go together", place="coordinate") from None
        addresses = np.empty(grid[0].shape, np.int64)
        self._handle.where(np.stack(grid, axis=-1).reshape(-1), addresses.reshape(-1))
        return addresses if addresses.ndim else int(addresses)

    def _of_scales(self, coordinate: Mapping[str, object]) -> dict[str, object]:
        """The coordinate on the tensor's own axes."""
        own: dict[str, object] = {}
        for name, value in coordinate.items():
            extent, axis, elements = self._covered.get(name, (0, name, 1))
            index = value
            if name in self._covered:
                values = _indexes(name, value)
                if values.size and (int(values.min()) < 0 or int(values.max()) >= extent):
                    wrong = int(values.max()) if int(values.max()) >= extent else int(values.min())
                    raise Error(f"index {wrong} of axis {name} is not in 0..{extent - 1}", place=name)
                index = values // elements
            if axis in own:
                raise Error(_twice(axis, coordinate, self._covered), place=name)
            if axis:
                own[axis] = index
        return own

    def what(self, address: object) -> dict[str, Any]:
        """The element at an address, or at many.

        address: an int or an array of them, from 0 to size - 1.
        Returns the index on each axis by its name, ints or int64 arrays of the address's shape. Padding has the same negative number on every axis: -1
        where it holds zero, -2 where the converter never writes, -3 where it holds the neutral scale 0x7f. content() says it in words.
        Raises mxact.Error: out of range.
        """
        addresses = self._addresses(address)
        found = np.empty((addresses.size, len(self.axes)), np.int64)
        self._handle.what(np.ascontiguousarray(addresses).reshape(-1), found.reshape(-1))
        columns = [found[:, i].reshape(addresses.shape) for i in range(len(self.axes))]
        return {name: column if column.ndim else int(column) for name, column in zip(self.axes, columns, strict=True)}

    def content(self, address: int) -> str:
        """What lies at an address, in words: "E=0 half=up I=3 K=17" or "padding, zero"."""
        if self._addresses(address).ndim:
            raise Error("address is an array, must be one number", place="address")
        return self._handle.content(int(address))

    def _addresses(self, given: object) -> Array:
        addresses = _indexes("address", given)
        outside = addresses[(addresses < 0) | (addresses >= self.size)]
        if outside.size:
            others = f" and {outside.size - 1} other{'s' if outside.size > 2 else ''} are" if outside.size > 1 else " is"
            raise Error(f"address {int(outside[0])}{others} not in 0..{self.size - 1}", place="address")
        return addresses

    def apply(self, tensor: object) -> Any:
        """The memory of a tensor.

        tensor: an array on the host whose bytes are those of the checkpoint: row-major, elements of 4 bits two in a byte, the even one low (or one in
        each in ml_dtypes' float4_e2m1fn), with the tensor's axes; neighbouring ones may be one, the last may be several. Where the converter casts the
        elements, this casts them too; what it computes out of several tensors is pack()'s.
        Returns the memory in ascending addresses, an array of one axis: unsigned integers of the unit's width, uint8 for other widths; 0 where nothing is
        written. Raises mxact.Error: another number of bytes, a dtype of another width or another shape, with those that fit; a value that the converter refuses.
        """
        axes, bits = self._handle.tensor()
        values = stored_of("tensor", tensor)
        require_fit("tensor", values, dict(axes), bits)
        return like(tensor, self._typed(plainly(self._handle.apply, flat_bytes(values)), self._handle.memory_bits()))

    def restore(self, memory: object) -> Any:
        """The tensor whose memory it is: apply()'s way back.

        memory: an array on the host, its bytes in ascending addresses. Elements that the layout drops become 0; of values that the cast makes equal the
        smallest is taken; of copies all must be the same.
        Returns an array with the tensor's axes: unsigned integers of the element's width; of 4 bits two in a byte along the last axis. Other widths: the
        bytes, one axis. Raises mxact.Error: another number of bytes, memory that no conversion makes.
        """
        axes, bits = self._handle.tensor()
        shape = [extent for _, extent in axes]
        values = self._typed(plainly(self._handle.restore, bytes_of("memory", memory)[1]), bits)
        if bits == 4 and shape[-1] % 2 == 0:
            return like(memory, values.reshape([*shape[:-1], shape[-1] // 2]))
        return like(memory, values.reshape(shape) if bits in _UNSIGNED else values)

    @staticmethod
    def _typed(data: Any, bits: int) -> Array:
        values: Array = data.view(_UNSIGNED.get(bits, _UNSIGNED[8]))
        return values


def _twice(axis: str, coordinate: Mapping[str, object], covered: Mapping[str, tuple[int, str, int]]) -> str:
    """Two names of one axis: K beside G."""
    names = [name for name in coordinate if name == axis or (name in covered and covered[name][1] == axis)]
    of = next(name for name in names if name in covered)
    return f"axis {axis} is given twice, as {' and as '.join(names)}: {covered[of][2]} of {of} are one of {axis}, name one of them"


def _indexes(name: str, value: object) -> Array:
    if name == "half" and isinstance(value, str):
        if value not in _HALVES:
            raise Error(f"half is {value!r}, must be 'gate', 'up', 0 or 1", place=name)
        value = _HALVES[value]
    values = array(name, value)
    if values.dtype.kind not in "iu" or values.dtype.itemsize > 8:
        raise Error(f"{name} is {values.dtype}, must be whole numbers: int8 to int64 or uint8 to uint64", place=name)
    if values.dtype == np.uint64 and values.size and int(values.max()) >> 63:
        raise Error(f"{name} has {int(values.max())}, which is out of range", place=name)
    return values.astype(np.int64)


def _shape_text(shape: object) -> str:
    if isinstance(shape, Mapping):
        return ",".join(f"{word('shape', name)}={text_of('shape', size)}" for name, size in shape.items())
    if isinstance(shape, Sequence) and not isinstance(shape, str):
        return "x".join(text_of("shape", size) for size in shape)
    return word("shape", shape)


def layout(name: str | os.PathLike[str], shape: object = None, engine: str | None = None, **parameters: object) -> Layout:
    """A layout of mxact.layouts(), or that of one tensor of a backend, in one shape; or of a model's layer, by its directory or configuration.

    name: a building block, a backend or a model. shape: of a building block (rows, columns) or (batch, rows, columns) in elements; of a backend (I, H) or
    (E, I, H): experts, intermediate and hidden size of the whole layer, which tp= divides as the engine does (rank_shape= in its place is of one rank); or text ("128x64"), or a dict by names ({"E": 8, "I": 256, "H": 128}).
    engine: a version of mxact.engines(), for backends. parameters: every other choice of `mxact layout where`, with _ for -: tensor="w13_weight" (which a
    backend needs), format=, source_order=, platform=, padded="128x256", tp=2, unit_bits=, num_warps=, ...
    A model, mxact.layout("MODEL", platform="B200", tp=8, tensor="w2_weight"), has the backend that the engine chooses there and its own shape; platform=
    is needed, tp=, dp=, ep=, all2all=, moe_backend=, env={"NAME": value} are as of mxact.select(), layer= says which kind of its layers.
    Returns Layout. Raises mxact.Error: unknown names and choices, a shape that the converter refuses (the sentence has the next that it takes), a model
    that select() refuses or that the engine does.
    Source: the row; `mxact layout show NAME` prints it.
    """
    variables = parameters.pop("env", None)
    choices = {"engine": engine, **parameters}
    fields = [] if shape is None else [("shape", _shape_text(shape))]
    fields += [(key.replace("_", "-"), text_of(key, value)) for key, value in choices.items() if value is not None]
    if variables is not None:
        texts = [f"{key}={value}" for key, value in variables.items()] if isinstance(variables, Mapping) else [word("env", variables)]
        fields += [("env", text) for text in texts]
    return Layout(plainly(_core.Layout, word("name", os.fspath(name) if isinstance(name, os.PathLike) else name), fields))
