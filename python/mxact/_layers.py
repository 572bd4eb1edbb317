"""Layers into the memory of an engine's backends, and back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeVar

import ml_dtypes
import numpy as np

from mxact import _core
from mxact._arguments import Array, array, flag, flat_bytes, integer, listed, path_word, word
from mxact._error import Error
from mxact._fits import require_tensors
from mxact._libraries import like_any

DTYPES = {"U8": np.dtype(np.uint8), "BF16": np.dtype(ml_dtypes.bfloat16), "F16": np.dtype(np.float16), "F32": np.dtype(np.float32)}
Result = TypeVar("Result")
_MOST_LINES = 10


@dataclass(frozen=True)
class Loss:
    """What the way back cannot give again. tensor: its name. what: in words. units: how many elements of it; kept: of them, whose value is kept: what the
    way back would need is not stored beside."""

    tensor: str
    what: str
    units: int
    kept: int = 0

    @property
    def destroyed(self) -> int:
        """Values that are lost."""
        return self.units - self.kept


class KernelForm(NamedTuple):
    """A packed tensor as its kernel is handed it. dtype: torch's name. strides: in elements, one for each axis of shape."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Packed:
    """A layer as a backend's kernel reads it.

    tensors: by name (w13_weight, w13_weight_scale, w13_bias, w2_weight, ...), each contiguous, with the axes of its memory as shape, as `mxact convert`
    writes it; values of 4 and 8 bits as uint8, all else as it is after the converter's casts. losses: what cannot be restored, empty for a bijection. spec: the backend with every choice, as
    `mxact layout where` takes them; unpack() goes by it. notes: whose conversion it is, and what the version that was asked for changed since, where it has
    none of its own; and the libraries that a release comes with.
    """

    tensors: dict[str, Any]
    losses: tuple[Loss, ...]
    spec: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.tensors[name]

    @property
    def forms(self) -> dict[str, KernelForm]:
        """Of each tensor the dtype, shape and strides in which its kernel is handed these bytes; a tensor without is one of which no source says it."""
        return {name: KernelForm(dtype, tuple(shape), tuple(strides)) for name, dtype, shape, strides in _core.kernel_forms(word("packed.spec", self.spec))}

    def __repr__(self) -> str:
        """At most ten lines."""
        tensors = [f"  {name}: {values.dtype} {list(values.shape)}" for name, values in self.tensors.items()]
        told = [f"  lost: {loss.units} of {loss.tensor}, {loss.what}" for loss in self.losses] + [f"  note: {note}" for note in self.notes]
        lines = [f"mxact.Packed({self.spec})", *tensors, *told]
        return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], f"  and {len(lines) - _MOST_LINES + 1} lines more"])


def plainly(call: Callable[..., Result], *arguments: Any) -> Result:
    """The program's sentences speak of its options; here they are arguments."""
    try:
        return call(*arguments)
    except Error as error:
        raise Error(re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), error.message), error.code, error.place) from None


def text_of(name: str, value: object) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return str(integer(name, value)) if isinstance(value, (int, np.integer)) else word(name, value)


def stored_of(name: str, value: object) -> Array:
    """A tensor as a checkpoint stores it: codes of 4 bits that have a byte each are put two in a byte, the even one low."""
    values = array(name, value)
    if isinstance(value, (list, tuple)):
        values = listed(name, value, np.dtype(np.uint8 if values.dtype.kind in "iu" else np.float32))
    if values.dtype == ml_dtypes.float4_e2m1fn:
        if values.ndim == 0 or values.shape[-1] % 2:
            raise Error(f"{name} has shape {values.shape}: rows of 4-bit codes end within a byte", place=name)
        codes = values.view(np.uint8) & 15
        values = codes[..., ::2] | codes[..., 1::2] << 4
    if values.dtype.hasobject or not values.dtype.isnative:
        raise Error(f"{name} is {values.dtype}, must be of this machine's numbers: uint8, a dtype of ml_dtypes, float16 or float32", place=name)
    return values


def bytes_of(name: str, value: object) -> tuple[tuple[int, ...], Array]:
    """Shape and bytes of a tensor as stored_of() has it."""
    values = stored_of(name, value)
    return values.shape, flat_bytes(values)


def _with_dtype(error: Error, source: Mapping[Any, object]) -> Error:
    """What is said of a tensor's bytes, with the dtype that they are of."""
    if error.place not in source or " bytes where " not in error.message:
        return error
    dtype = array(error.place, source[error.place]).dtype
    fits = "codes are uint8 or a dtype of ml_dtypes, numbers float16, bfloat16 or float32"
    return Error(f"{error.message}; it is {dtype}: {fits}", error.code, error.place)


def _sizes(shapes: Mapping[str, tuple[int, ...]], gated: bool) -> str:
    for name in shapes:
        _core.check_tensor_name(name)
    for name in ("w13_weight", "w2_weight"):
        if name not in shapes:
            raise Error(f"layer has no {name}", place="layer")
        if len(shapes[name]) < 3 or 0 in shapes[name]:
            raise Error(f"{name} has shape {shapes[name]}, must have experts, rows and bytes of a row", place=name)
    experts, rows = shapes["w13_weight"][:2]
    if shapes["w2_weight"][0] != experts:
        raise Error(f"w2_weight has {shapes['w2_weight'][0]} experts, w13_weight {experts}", place="w2_weight")
    if gated and rows % 2:
        raise Error(f"w13_weight has {rows} rows, must have as many of gate as of up; not_gated=True says that there is one matrix", place="w13_weight")
    return f"{experts}x{rows // 2 if gated else rows}x{shapes['w2_weight'][1]}"


def pack(
    source: object,
    /,
    backend: str | None = None,
    engine: str | None = None,
    platform: str | None = None,
    format: str | None = None,
    order: str | None = None,
    layer: int | None = None,
    rank: int | None = None,
    layer_group: int | None = None,
    **parameters: object,
) -> Packed:
    """A layer's tensors where the engine's converter for a backend puts them.

    source: a layer, or the path of a checkpoint (a .safetensors file or a model's directory) with `layer`, the number in its tensors' names. A layer is a
    mapping of names to arrays on the host, experts first. w13_weight [E, 2I, bytes of a row], gate before up or by turns as `order` says, or
    [E, I, ...] with not_gated=True; w2_weight [E, H, bytes of a row]; elements of 4 bits two in a byte, the even one low, or in ml_dtypes' float4_e2m1fn
    one in each; w13_weight_scale and w2_weight_scale; of some formats w13_global_scale and w2_global_scale; both biases or none. More axes behind the
    rows, as gpt-oss has them, are taken as one. Codes are uint8 or of ml_dtypes' dtypes, biases bfloat16, scales of numbers float32.
    backend: a name of mxact.backends(); of a model's directory also None, the backend that the engine chooses for that layer by its configuration, on
    `platform` with tp= ranks. engine: a version of mxact.engines() that has its conversions. platform: "sm100", "gfx950", ...; the default is
    the program's. format: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, int4, fp8_block_e8m0 or fp8_pair, needed where the backend converts several. order: "gpt_oss"
    (gate and up by turns) or "standard" (gate before up). parameters: the other choices of `mxact layout where`, with _ for -: padded="128x256",
    tp=2, not_gated=True, num_warps=4, ... With tp, `rank` says which part of the layer is packed, cut as the engine's loader cuts it. A checkpoint says
    format, order, sizes and biases itself; with
    several layer groups (`mxact convert` names them), `layer_group`, from 1, says whose layer it is, else the first that the backend converts.
    Returns Packed, torch tensors for torch tensors. Raises mxact.Error: unknown names, sizes that the converter refuses (the sentence has the next that it takes), tensors that do not
    fit each other or are missing. Source: the backend's row; `mxact layout show` prints it.
    """
    layer_group = parameters.pop("family", layer_group)  # type: ignore[assignment]  # the word of the release before
    if isinstance(source, (str, os.PathLike)):
        return _pack_checkpoint(source, backend, layer, rank, layer_group, {"engine": engine, "platform": platform, "format": format, "order": order, **parameters})
    if layer is not None or layer_group is not None:
        raise Error("layer and layer_group choose from a checkpoint, whose path was not given", place="layer")
    if not isinstance(source, Mapping):
        raise Error(f"source is of type {type(source).__name__}, must be a mapping of names to arrays or a checkpoint's path", place="source")
    if backend is None:
        raise Error("backend is missing: arrays have no configuration by which the engine would choose one", place="backend")
    choices = {"engine": engine, "platform": platform, "format": format, "source_order": order, **parameters}
    require_rank(parameters, rank, "packed")
    if parameters.get("tp") in (None, 1, "1") and rank not in (None, 0):
        raise Error(f"rank is {rank}, and tp does not say of how many", place="rank")
    return pack_arrays(source, backend, choices, integer("rank", rank or 0))


def require_rank(choices: Mapping[str, object], rank: int | None, done: str) -> None:
    """Of several ranks that cut the experts one has to be named. What tp and dp may be is checked with the other choices."""
    sizes = [text_of(name, choices[name]) for name in ("tp", "dp") if choices.get(name) is not None]
    ranks = prod(int(size) for size in sizes if size.isdecimal())
    if rank is None and ranks > 1 and not choices.get("ep"):
        raise Error(f"rank is missing: which of the {ranks} ranks is {done}", place="rank")


def pack_arrays(source: Mapping[object, object], backend: str, choices: Mapping[str, object], rank: int | None) -> Packed:
    """pack() of arrays: of a rank's part of the whole layer, or, without `rank`, of what a rank has."""
    tensors = {word("source", name): stored_of(str(name), value) for name, value in source.items() if value is not None}
    gated = not flag("not_gated", choices.get("not_gated", False))
    sizes = _sizes({name: values.shape for name, values in tensors.items()}, gated)
    fields = fields_of(sizes, choices, of_rank=rank is None)
    forms = plainly(_core.layer_tensors, word("backend", backend), fields)
    require_tensors(tensors, {name: (DTYPES[dtype], shape) for name, dtype, shape in forms})
    try:
        spec, made, losses = plainly(_core.pack, word("backend", backend), fields, [(name, flat_bytes(values)) for name, values in tensors.items()], rank or 0)
    except Error as error:
        raise _with_dtype(error, source) from None
    return Packed(like_any(source.values(), _arrays(made)), tuple(Loss(*loss) for loss in losses), spec, _notes(spec, choices["engine"]))


def _pack_checkpoint(
    path: str | os.PathLike[str], backend: str | None, layer: int | None, rank: int | None, layer_group: int | None, choices: dict[str, object]
) -> Packed:
    for name in ("format", "order", "padded", "source_order", "not_gated", "has_bias", "largest_scale_byte", "before_swizzle"):
        if choices.get(name) is not None:
            raise Error(f"{name} is not given: the checkpoint says it", place=name)
    if layer is None:
        raise Error("layer is missing: which layer of the checkpoint is packed", place="layer")
    require_rank(choices, rank, "packed")
    where = path_word("source", path)
    fields = [(name.replace("_", "-"), text_of(name, value)) for name, value in choices.items() if value is not None]
    number = None if layer_group is None else integer("layer_group", layer_group)
    if number is not None and number < 1:
        raise Error(f"layer_group is {number}: layer groups are counted from 1", place="layer_group")
    which = (integer("layer", layer), integer("rank", rank or 0), number)
    if backend is None:
        backend = plainly(_core.chosen_backend, where, integer("layer", layer), fields)
    spec, made, losses = plainly(_core.pack_checkpoint, where, *which, word("backend", backend), fields)
    return Packed(_arrays(made), tuple(Loss(*loss) for loss in losses), spec, _notes(spec, choices["engine"]))


def _notes(spec: str, engine: object) -> tuple[str, ...]:
    return () if engine is None else tuple(_core.conversion_notes(spec, word("engine", engine)))


def fields_of(sizes: str, choices: Mapping[str, object], of_rank: bool = False) -> list[tuple[str, str]]:
    """Sizes and choices as the program takes them. of_rank: the sizes are those of one of tp ranks."""
    for name in ("shape", "rank_shape", "tensor", "has_bias"):
        if name in choices:
            raise Error(f"{name} is not given: the layer's tensors say it", place=name)
    given = [(name.replace("_", "-"), text_of(name, value)) for name, value in choices.items() if value is not None]
    return [("rank-shape" if of_rank else "shape", sizes), ("tensor", "w13_weight"), *given]


def _arrays(made: list[Any]) -> dict[str, Array]:
    return {name: data.view(DTYPES[dtype]).reshape(shape) for name, dtype, shape, data in made}


def _losses(given: object) -> tuple[Loss, ...]:
    if isinstance(given, tuple) and all(isinstance(loss, Loss) for loss in given):
        return given
    raise Error("packed.losses is no tuple of Loss", place="packed")


def unpack(packed: Packed, accept_losses: bool = False) -> dict[str, Any]:
    """The layer that was packed: pack()'s way back.

    packed: of pack(), or with other arrays of the same sizes in its `tensors`. accept_losses: restore what is left where the conversion lost something:
    elements that were cut off are 0, of those that became equal the smallest is taken.
    Returns the tensors by name, [experts, rows, bytes of a row]; values of 4 and 8 bits as uint8.
    Raises mxact.Error: losses that are not accepted, memory that no conversion makes, sizes that do not fit, a conversion without a way back.
    """
    if not isinstance(packed, Packed):
        raise Error(f"packed is of type {type(packed).__name__}, must be Packed", place="packed")
    if not isinstance(packed.tensors, Mapping):
        raise Error(f"packed.tensors is of type {type(packed.tensors).__name__}, must be a mapping of names to arrays", place="packed")
    tensors = [(word("packed", name), bytes_of(str(name), value)[1]) for name, value in packed.tensors.items()]
    losses = [(word("loss.tensor", loss.tensor), word("loss.what", loss.what), integer("loss.units", loss.units), integer("loss.kept", loss.kept)) for loss in _losses(packed.losses)]
    restored = _arrays(plainly(_core.unpack, word("packed.spec", packed.spec), tensors, losses, flag("accept_losses", accept_losses)))
    return like_any(packed.tensors.values(), restored)
