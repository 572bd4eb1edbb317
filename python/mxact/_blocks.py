"""Block quantization of whole tensors."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, dtype_of, f32_bits, flag, flat_bytes, format_of, integer, is_small, numbers_or_codes, optional_word, room, word
from mxact._error import Error
from mxact._libraries import like


@dataclass(frozen=True)
class TensorScale:
    """fp32 numbers of a whole tensor: encode is g (values are multiplied by it), decode is 1/g or a static scale, amax_bound an upper bound on the
    largest magnitude. A recipe takes some of them or none."""

    encode: float | None = None
    decode: float | None = None
    amax_bound: float | None = None


@dataclass(frozen=True, eq=False)
class Quantized:
    """A tensor as codes and scales.

    codes: an element code each, shape of the tensor. scales: of each block, the same shape but the number of blocks along `axis` (and for square
    blocks along the axis before the last). tensor_scale: what was given. format, profile, source: what was asked, source being the tensor's format.
    flags: where they were asked for, of each element, uint8: bits of mxact.Flags, of the rounding of the scaled element into the element format.
    """

    codes: Any
    scales: Any
    tensor_scale: TensorScale | None
    format: str
    profile: str
    source: str
    axis: int
    flags: Any = None


def _tensor_scale(value: object) -> TensorScale | None:
    if value is None or isinstance(value, TensorScale):
        return value
    raise Error(f"tensor_scale is of type {type(value).__name__}, must be a number or a TensorScale", place="tensor_scale")


def _tensor_bits(scale: TensorScale | None) -> tuple[int | None, int | None, int | None]:
    if scale is None:
        return None, None, None
    given = [(name, getattr(scale, name)) for name in ("encode", "decode", "amax_bound")]
    encode, decode, bound = (None if value is None else f32_bits(f"tensor_scale.{name}", value) for name, value in given)
    return encode, decode, bound


def _scale_for(value: object, format: str, profile: str, source: str) -> TensorScale | None:
    """A bare number is what the recipe needs; where it needs both numbers, or none, its name has to be said."""
    if value is None or isinstance(value, TensorScale):
        return value
    f32_bits("tensor_scale", value)
    encode, decode = _core.recipe_needs(format, profile, source)
    if encode == decode:
        what = "needs encode and decode" if encode else "needs none"
        raise Error(f"profile {profile} quantizes {format} with a recipe that {what} of a tensor's scales: say which with TensorScale(...)", place="tensor_scale")
    number = float(value)  # type: ignore[arg-type]
    return TensorScale(encode=number) if encode else TensorScale(decode=number)


def _axis(x: str, value: object, ndim: int) -> int:
    axis = integer("axis", value)
    if ndim == 0:
        raise Error(f"{x} has no axes: blocks lie along one", place=x)
    if not -ndim <= axis < ndim:
        raise Error(f"axis is {axis}, must be in [{-ndim}, {ndim}) for {ndim} axes", place="axis")
    return axis % ndim


def _block_shape(x: str, shape: tuple[int, ...], format: str) -> tuple[int, ...]:
    """How many blocks a tensor, named x, with its blocks along the last axis has along each."""
    name, _, _, columns, rows = _core.block_format_facts(format)
    block = columns or shape[-1]
    if rows > 1 and len(shape) < 2:
        raise Error(f"{x} has one axis: {name} has blocks of {rows} rows and {columns} columns", place="x")
    if block and shape[-1] % block != 0:
        raise Error(f"{x} has {shape[-1]} elements along its blocks, must be a multiple of {block}: {name} has blocks of {block}", place=x)
    if rows > 1 and shape[-2] % rows != 0:
        raise Error(f"{x} has {shape[-2]} rows, must be a multiple of {rows}: {name} has blocks of {rows} rows and {columns} columns", place=x)
    blocks = shape[-1] // block if block else 0
    leading = shape[:-2] + (shape[-2] // rows,) if rows > 1 else shape[:-1]
    return leading + (blocks,)


def quantize(x: object, format: str, profile: str = "ocp", axis: int = -1, tensor_scale: object = None, source: str | None = None, flags: bool = False) -> Quantized:
    """A tensor quantized block by block, as an implementation does it.

    x: array of at least one axis; float32, float16 or bfloat16 (uint16 or uint32 bits with `source`). On the host; where it is C-contiguous and `axis`
    its last, it is read where it lies, else copied. Blocks lie along `axis`, whose length is a multiple of the block's; a format without a block
    length takes all of it.
    format: a name of mxact.block_formats(). profile: a name of mxact.profiles().
    tensor_scale: for recipes that take one, a TensorScale, or the one number that the recipe needs (fp32, rounded to nearest).
    flags: also say what happened to each element; the model answers that, which takes the model's time.
    Returns Quantized: codes of x's shape and scales of the shape of blocks, each in its dtype of NumPy or ml_dtypes or as unsigned integers; torch tensors
    for a torch tensor.
    Raises mxact.Error: unknown names, another dtype, a length that is no multiple, a profile without such a recipe (the sentence names those that have
    one), a tensor scale that is missing or not taken, a recipe that gives scales alone.
    Source: the profile's recipe; `mxact formats --profile NAME` shows it.
    """
    cached = _core.quantize_cached(x, format, profile, axis, tensor_scale, source, flags)
    if cached is not None:
        return cached  # type: ignore[return-value]
    values = numbers_or_codes("x", x, source)
    kind = format_of("x", values, source)
    name, element, scale, _, _ = _core.block_format_facts(word("format", format))
    called = _core.profile_name(word("profile", profile))
    tensor = _scale_for(tensor_scale, name, called, kind)
    along = _axis("x", axis, values.ndim)
    moved = np.moveaxis(values, along, -1)
    codes = room(moved.shape, dtype_of(element))
    scales = np.empty(_block_shape("x", moved.shape, name), dtype_of(scale))
    bits = _tensor_bits(tensor)
    asked = name, called, kind, prod(moved.shape[:-1]), moved.shape[-1], *bits, flat_bytes(moved)
    _core.quantize(*asked, _room(codes), _room(scales))
    raised = None
    if flag("flags", flags):
        raised = np.zeros(moved.shape, np.uint8)
        _core.quantize_flags(*asked, _room(raised))
        raised = like(x, np.moveaxis(raised, -1, along))
    made = Quantized(like(x, np.moveaxis(codes, -1, along)), like(x, np.moveaxis(scales, -1, along)), tensor, name, called, kind, along, raised)
    if raised is None and is_small(x):
        _core.cache_quantizer(values.dtype, format, profile, tensor_scale, source, kind, *bits, made)
    return made


def _room(results: Array) -> Array:
    return results.reshape(-1).view(np.uint8)


def dequantize(q: Quantized, to: str = "f32", profile: str | None = None, tensor_scale: TensorScale | None = None) -> Any:
    """The numbers of a quantized tensor.

    q: of quantize(), or made of codes and scales of one's own. to: "f32", "bf16" or "fp16".
    profile: whose dequantizer; without it that of q's profile, and where that has none the exact product of code and scale, rounded once (MX 1.0
    section 5.2; fp32 only then). tensor_scale: in the place of q's.
    Returns an array of q's shape: float32, bfloat16 or float16; a torch tensor where q's codes are one.
    Raises mxact.Error: unknown names, a profile without such a dequantizer (the sentence names those that have one), a tensor scale that the
    dequantizer does not take or lacks, codes and scales whose dtypes or shapes do not fit the format.
    Source: the profile's dequantizer; `mxact formats --profile NAME` shows it.
    """
    cached = _core.dequantize_cached(q, to, profile, tensor_scale)
    if cached is not None:
        return cached
    if not isinstance(q, Quantized):
        raise Error(f"q is of type {type(q).__name__}, must be Quantized", place="q")
    name, element, scale, _, _ = _core.block_format_facts(word("q.format", q.format))
    target = _core.format_facts(word("to", to))[0]
    codes = _of_format("q.codes", q.codes, element)
    scales = _of_format("q.scales", q.scales, scale)
    along = _axis("q.codes", q.axis, codes.ndim)
    moved = np.moveaxis(codes, along, -1)
    blocks = _block_shape("q.codes", moved.shape, name)
    if scales.ndim != codes.ndim or np.moveaxis(scales, along, -1).shape != blocks:
        raise Error(f"q.scales has shape {scales.shape}, must have one scale for each block of q.codes, whose shape is {codes.shape}", place="q.scales")
    by = optional_word("profile", profile)
    how, tensor = _dequantizer(q, name, target, by, _tensor_scale(tensor_scale))
    results = room(moved.shape, dtype_of(target))
    bits = _tensor_bits(tensor)[:2]
    moved_scales = np.moveaxis(scales, along, -1)
    _core.dequantize(name, how, target, prod(moved.shape[:-1]), moved.shape[-1], *bits, flat_bytes(moved), flat_bytes(moved_scales), _room(results))
    if is_small(q.codes):
        _core.cache_dequantizer(q, to, profile, tensor_scale, how, *bits, results.dtype)
    return like(q.codes, np.moveaxis(results, -1, along))


def _of_format(name: str, value: object, format: str) -> Array:
    values = numbers_or_codes(name, value, format)
    format_of(name, values, format)
    return values


def _dequantizer(q: Quantized, name: str, target: str, by: str | None, given: TensorScale | None) -> tuple[str | None, TensorScale | None]:
    """Whose dequantizer, none for the exact product, and what it takes of the tensor's scales."""
    wanted = by if by is not None else _core.profile_name(word("q.profile", q.profile))
    takes = _core.dequantizer_takes(name, wanted, target)
    scale = given if given is not None else _tensor_scale(q.tensor_scale)
    if takes is None and by is None and scale is None and target == "f32":
        return None, None
    if takes is None and by is None and scale is not None:
        raise Error(f"profile {wanted} has no dequantizer of {name}, and the exact product of code and scale leaves out the scale of the tensor: name a profile", place="profile")
    if given is not None or not takes or scale is None:
        return wanted, scale if takes or given is not None else None
    return wanted, TensorScale(**{takes: getattr(scale, takes)})
