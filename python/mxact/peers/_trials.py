"""One operation of a peer asked about hard inputs, and the model's answers beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mxact import _core
from mxact._arguments import Array, array, dtype_of
from mxact._blocks import Quantized, TensorScale, dequantize, quantize
from mxact._conversions import convert
from mxact._error import Error
from mxact._tables import contracts, profiles
from mxact.peers._pieces import Piece, Trial
from mxact.peers._rows import Back, Cast, Emulation, Operation, Quantizer, Sum
from mxact.peers._sums import SumTrial
from mxact.testing._bits import bits_of, code_text
from mxact.testing._quantizers import _Law, _number, _text
from mxact.testing._strategies import block_shape, hard_batch

# Elements of one hard batch, and of the ordinary one behind it.
_HARD, _ORDINARY = 1 << 17, 1 << 14
# fp32 patterns of a dense walk: every so many.
_STRIDE = 1 << 12
_CHUNK = 1 << 24
# Formats whose codes have fewer bits than their byte.
_BITS = {"e2m1": 4, "e2m3": 6, "e3m2": 6, "ue4m3": 7}


def trial_of(operation: Operation) -> Trial:
    if isinstance(operation, Cast):
        return _CastTrial(operation)
    if isinstance(operation, Back):
        return _BackTrial(operation)
    if isinstance(operation, Sum):
        return SumTrial(operation)
    return _QuantizerTrial(operation) if isinstance(operation, Quantizer) else _EmulationTrial(operation)


def candidates(trial: Trial) -> list[str]:
    """Profiles, or contracts, that have the operation."""
    piece = next(trial.pieces(np.random.default_rng(0), False))
    if isinstance(trial, SumTrial):
        small, names = trial.one(piece, 0), contracts()
    else:
        small, names = Piece(tuple(part[:1] if isinstance(part, np.ndarray) else part for part in piece.inputs), piece.special[:1]), profiles()
    found = []
    for profile in names:
        try:
            trial.right(small, profile)
        except Error:
            continue
        found.append(profile)
    return found


def _is_nan(values: Array) -> Array:
    if values.dtype.kind == "u":
        return np.zeros(values.shape, bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isnan(values.astype(np.float32)))


def _magnitude(values: Array) -> Array:
    """Smallest first, NaNs last."""
    with np.errstate(invalid="ignore"):
        numbers = np.abs(values.astype(np.float64))
    return np.where(np.isnan(numbers), np.inf, numbers)


def beside_borders(to: str) -> Array:
    """Every number of a format and every middle of two, the ends included, with the nearest fp32 numbers on both sides."""
    width = 8 * dtype_of(to).itemsize
    codes = np.arange(1 << _BITS.get(to, width)).astype(np.uint16 if width == 16 else np.uint8)
    values = convert(codes, "f32", source=to)
    numbers = np.unique(np.abs(values[np.isfinite(values)].astype(np.float64)))
    if numbers.size > 1:
        numbers = np.append(numbers, 2 * numbers[-1] - numbers[-2])
    with np.errstate(over="ignore"):
        edges = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2]).astype(np.float32)
    bits = edges.view(np.uint32).astype(np.int64)
    near = np.clip(np.concatenate([bits + step for step in (-2, -1, 0, 1, 2)]), 0, 0x7F800000).astype(np.uint32)
    return np.concatenate([near, near | np.uint32(0x80000000)]).view(np.float32)


@dataclass(frozen=True)
class _CastTrial:
    strict: ClassVar[bool] = True
    row: Cast

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]:
        dtype = dtype_of(self.row.source)
        if self.row.source != "f32":
            width = _BITS.get(self.row.source, 8 * dtype.itemsize)
            yield self._piece(np.arange(1 << width).astype(np.uint16 if dtype.itemsize == 2 else np.uint8).view(dtype))
        elif exhaustive:
            for first in range(0, 1 << 32, _CHUNK):
                yield self._piece(np.arange(first, first + _CHUNK, dtype=np.uint32).view(np.float32))
        else:
            dense = np.arange(int(random.integers(_STRIDE)), 1 << 32, _STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
            edges = np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FFFFFFF], np.uint32)
            both = np.concatenate([edges, edges | np.uint32(0x80000000)]).view(np.float32)
            yield self._piece(np.concatenate([both, beside_borders(self.row.to), dense]))

    def _piece(self, x: Array) -> Piece:
        asked = x[np.isfinite(x)] if self.row.finite else x
        return Piece((asked,), _is_nan(asked))

    def answer(self, piece: Piece) -> tuple[Array, ...]:
        values = array("the answer", self.row.fn(piece.inputs[0].copy()))
        if values.shape != piece.inputs[0].shape or values.dtype.itemsize != dtype_of(self.row.to).itemsize:
            raise AssertionError(f"the answer is {values.dtype} {values.shape}, must be codes of {self.row.to} {piece.inputs[0].shape}")
        return (bits_of(np.ascontiguousarray(values)),)

    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        x = piece.inputs[0]
        return (bits_of(convert(x, self.row.to, profile, source=self.row.source if x.dtype.kind == "u" else None)),)

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        differ = found[0] != right[0]
        if not self._decodes():
            return differ
        # The payload of a decoded NaN carries nothing.
        dtype = dtype_of(self.row.to)
        return np.asarray(differ & ~(_is_nan(found[0].view(dtype)) & _is_nan(right[0].view(dtype))))

    def _decodes(self) -> bool:
        return dtype_of(self.row.source).itemsize < dtype_of(self.row.to).itemsize

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        x = piece.inputs[0]
        right = self.right(piece, profile)
        at = np.flatnonzero(wrong)
        first = int(at[np.argmin(_magnitude(x[at]))])
        answers = (code_text(int(bits[first]), self.row.to) for bits in (found[0], right[0]))
        return f"x = {_number(x[first])}: {next(answers)}, by {profile} {next(answers)}"


def _special_blocks(x: Array, format: str) -> Array:
    rows, columns = block_shape(format)
    whole = _core.block_format_facts(format)[3] == 0
    width = x.shape[1] if whole else columns
    grid = ~np.isfinite(x.astype(np.float32)).reshape(x.shape[0] // rows, rows, x.shape[1] // width, width)
    return np.asarray(grid.any(axis=(1, 3)).reshape(-1))


def _batches(format: str, source: str, random: np.random.Generator, exhaustive: bool) -> Iterator[Array]:
    rows, columns = block_shape(format)
    yield hard_batch(format, source, max(_HARD // (rows * columns), 16), random)
    yield np.array(random.standard_normal((rows * max(_ORDINARY // (rows * columns), 1), columns)), dtype_of(source))
    if exhaustive:
        for _ in range(16):
            yield hard_batch(format, source, max(_HARD // (rows * columns), 16), random)
        if source != "f32":
            first = np.zeros((1 << 16, columns), dtype_of(source))
            first[:, 0] = np.arange(1 << 16).astype(np.uint16).view(dtype_of(source))
            yield np.repeat(first, rows, axis=0)


@dataclass(frozen=True)
class _QuantizerTrial:
    strict: ClassVar[bool] = False
    row: Quantizer

    def law(self) -> _Law:
        return _Law.of(self.row.fn, self.row.format, self.row.profile, self.row.source, self.row.tensor_scale)

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]:
        law = self.law()
        for x in _batches(law.format, law.source, random, exhaustive):
            # With a tensor's scale, 1 first.
            for part in np.array_split(x, 4 if law.drawn else 1):
                yield Piece((part, law.some_scale(random)), _special_blocks(part, law.format))

    def answer(self, piece: Piece) -> tuple[Array, ...]:
        return self.law().answer(*piece.inputs)

    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        x, value = piece.inputs
        law = _Law.of(self.row.fn, self.row.format, profile, self.row.source, None)
        encode, decode = _core.recipe_needs(law.format, law.profile, law.source)
        q = quantize(x, law.format, profile, tensor_scale=tensor_scale_of(value if self.row.tensor_scale else 1.0, encode, decode))
        return bits_of(q.codes), bits_of(q.scales)

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        (codes, scales), (right_codes, right_scales) = found, right
        return np.asarray((codes != right_codes).reshape(scales.size, -1).any(axis=1) | (scales != right_scales).reshape(-1))

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        x, value = piece.inputs
        first, rows = _simplest(x, wrong, block_shape(self.row.format)[0])
        small = self._smaller(x[first : first + rows], value, profile)
        one = Piece((small, value), np.zeros(1, bool))
        codes, scales = self.answer(one)
        right_codes, right_scales = self.right(one, profile)
        _, element, scale, _, _ = _core.block_format_facts(self.row.format)
        parts = []
        if (scales != right_scales).any():
            parts.append(f"scale {code_text(int(scales.flat[0]), scale)}, by {profile} {code_text(int(right_scales.flat[0]), scale)}")
        if (codes != right_codes).any():
            at = np.unravel_index(int(np.argmax(codes != right_codes)), codes.shape)
            parts.append(f"code of {_number(small[at])} {code_text(int(codes[at]), element)}, by {profile} {code_text(int(right_codes[at]), element)}")
        scaled = f", tensor scale {value:.9g}" if self.row.tensor_scale else ""
        return f"{_block_text(small)}{scaled}: {'; '.join(parts)}"

    def _smaller(self, block: Array, value: float, profile: str) -> Array:
        """Zeros in the place of as many elements as the difference can do without."""
        best = block.copy()
        for index in np.argwhere(bits_of(best) != 0):
            fewer = best.copy()
            fewer[tuple(index)] = 0
            piece = Piece((fewer, value), np.zeros(1, bool))
            if self.wrong(self.answer(piece), self.right(piece, profile)).any():
                best = fewer
        return best


def tensor_scale_of(value: float, encode: bool, decode: bool) -> TensorScale | None:
    if not encode and not decode:
        return None
    number = np.float32(value)
    if encode and decode:
        return TensorScale(encode=float(number), decode=float(np.float32(1) / number))
    return TensorScale(encode=float(number)) if encode else TensorScale(decode=float(number))


def _simplest(x: Array, wrong: Array, rows: int) -> tuple[int, int]:
    """The first row of the wrong block whose numbers are nearest to ordinary ones, and how many rows it has; blocks lie one behind another."""
    at = np.flatnonzero(wrong)
    with np.errstate(all="ignore"):
        largest = np.abs(x.astype(np.float64)).reshape(wrong.size, -1).max(axis=1)[at]
        distance = np.abs(np.log2(largest))
    distance = np.where(np.isfinite(distance), distance, np.inf)
    return int(at[int(np.argmin(distance))]) * rows, rows


def _block_text(x: Array) -> str:
    return _text(x) if np.count_nonzero(bits_of(x)) <= 3 else f"a block of {np.count_nonzero(bits_of(x))} numbers, the first {_number(x.flat[int(np.argmax(bits_of(x).reshape(-1) != 0))])}"


@dataclass(frozen=True)
class _EmulationTrial:
    strict: ClassVar[bool] = False
    row: Emulation

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]:
        for x in _batches(self.row.format, self.row.source, random, exhaustive):
            yield Piece((x,), _special_blocks(x, self.row.format))

    def answer(self, piece: Piece) -> tuple[Array, ...]:
        values = array("the answer", self.row.fn(piece.inputs[0].copy()))
        if values.shape != piece.inputs[0].shape or values.dtype != dtype_of(self.row.source):
            raise AssertionError(f"the answer is {values.dtype} {values.shape}, must be {dtype_of(self.row.source)} {piece.inputs[0].shape}")
        return (bits_of(np.ascontiguousarray(values)),)

    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        q = quantize(piece.inputs[0], self.row.format, profile)
        return (bits_of(dequantize(q, self.row.source)),)

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        dtype = dtype_of(self.row.source)
        differ = (found[0] != right[0]) & ~(_is_nan(found[0].view(dtype)) & _is_nan(right[0].view(dtype)))
        return np.asarray(differ.reshape(-1, block_shape(self.row.format)[1]).any(axis=1))

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        first, _ = _simplest(piece.inputs[0], wrong, 1)
        block = piece.inputs[0][first : first + 1]
        one = Piece((block,), np.zeros(1, bool))
        got, right = self.answer(one)[0], self.right(one, profile)[0]
        at = np.unravel_index(int(np.argmax(got != right)), got.shape)
        numbers = (code_text(int(values[at]), self.row.source) for values in (got, right))
        return f"{_block_text(block)}: {_number(block[at])} becomes {next(numbers)}, by {profile} {next(numbers)}"


@dataclass(frozen=True)
class _BackTrial:
    strict: ClassVar[bool] = True
    row: Back

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]:
        name, element, scale, _, _ = _core.block_format_facts(self.row.format)
        columns = block_shape(name)[1]
        width = _BITS.get(element, 8)
        codes = np.arange(1 << width).astype(np.uint8)
        row = np.resize(codes, -(-codes.size // columns) * columns)
        if dtype_of(scale).itemsize == 1:
            bytes_ = np.arange(256 if scale == "e8m0" else 128).astype(np.uint8)
            scales = np.repeat(bytes_[:, None], row.size // columns, axis=1)
        else:
            numbers = np.exp2(random.uniform(-20, 20, 64)).astype(np.float32).view(np.uint32)
            scales = np.repeat(numbers[:, None], row.size // columns, axis=1)
        every = np.ascontiguousarray(np.broadcast_to(row, (scales.shape[0], row.size)))
        for value in (1.0, 0.75 / 2688, 3.0) if self.row.tensor_scale else (None,):
            yield Piece((every, scales, value), np.zeros(every.size, bool))

    def answer(self, piece: Piece) -> tuple[Array, ...]:
        codes, scales, value = piece.inputs
        given = (codes.copy(), scales.copy()) + ((np.float32(value),) if value is not None else ())
        values = array("the answer", self.row.fn(*given))
        if values.shape != codes.shape or values.dtype != dtype_of(self.row.to):
            raise AssertionError(f"the answer is {values.dtype} {values.shape}, must be {dtype_of(self.row.to)} {codes.shape}")
        return (bits_of(np.ascontiguousarray(values)).reshape(-1),)

    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        codes, scales, value = piece.inputs
        takes = _core.dequantizer_takes(self.row.format, _core.profile_name(profile), self.row.to)
        exact = takes is None and profile == "ocp"
        if takes is None and not exact:
            raise Error(f"profile {profile} has no dequantizer of {self.row.format}")
        given = TensorScale(**{takes: float(np.float32(value if value is not None else 1))}) if takes else None
        q = Quantized(codes, scales, given, self.row.format, profile, "f32", -1)
        return (bits_of(dequantize(q, self.row.to, None if exact else profile)).reshape(-1),)

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        dtype = dtype_of(self.row.to)
        return np.asarray((found[0] != right[0]) & ~(_is_nan(found[0].view(dtype)) & _is_nan(right[0].view(dtype))))

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        codes, scales, value = piece.inputs
        _, element, scale, _, _ = _core.block_format_facts(self.row.format)
        right = self.right(piece, profile)[0]
        at = int(np.argmax(wrong))
        block = int(scales.reshape(-1)[at // (codes.size // scales.size)])
        numbers = [code_text(int(values[at]), self.row.to) for values in (found[0], right)]
        scaled = f", tensor scale {value:.9g}" if value is not None else ""
        return f"code {code_text(int(codes.reshape(-1)[at]), element)} under scale {code_text(block, scale)}{scaled}: {numbers[0]}, by {profile} {numbers[1]}"


def operation_words(row: Operation) -> Sequence[str]:
    """From and to, as the table has them."""
    if isinstance(row, Cast):
        return row.source, row.to
    if isinstance(row, Back):
        return row.format, row.to
    if isinstance(row, Sum):
        return f"{row.a}.{row.b}" + (f".{row.c}" if row.c else ""), row.to
    return row.source, row.format + (" and back" if isinstance(row, Emulation) else "")
