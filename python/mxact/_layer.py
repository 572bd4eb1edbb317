"""One layer of experts as a backend computes it: any stage, from any stage."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mxact import _core
from mxact._arguments import Array, contract_word, f32_bits, flag, flat_bytes, integer, launch_text, listed, path_word, word
from mxact._error import Error
from mxact._layers import DTYPES, Packed, bytes_of, plainly, require_rank, text_of
from mxact._libraries import like_any

_BF16 = np.dtype(ml_dtypes.bfloat16)
_STAGE_TYPES = {DTYPES[name]: name for name in ("U8", "BF16", "F32")}
_OAI = {"alpha": 1.702, "beta": 1.0, "limit": 7.0}
_CONSTANTS = ("alpha", "beta", "limit", "linear_beta")


@dataclass(frozen=True, eq=False)
class LayerRun:
    """What a run of a layer made.

    stages: by name, as mxact.stages() describes them: codes and scales of a byte as uint8, else bfloat16 or float32. arithmetic: quantizers, contract and
    grounds. sums_by: what summed the products. ids, weights: of the slots, those of the router where it chose them.
    """

    stages: dict[str, Any]
    arithmetic: str
    sums_by: str
    ids: Any
    weights: Any

    def __getitem__(self, name: str) -> Any:
        return self.stages[name]


def stages() -> dict[str, dict[str, str]]:
    """The stages of a layer in their order: of each its dtype, its shape (T tokens, S = T * top_k slots, H hidden, I the kernel's intermediate size), and what it is."""
    return {name: {"dtype": dtype, "shape": shape, "what": what} for name, dtype, shape, what in _core.stages()}


def _require_some(name: str, values: Array, columns: str) -> None:
    """A matrix [tokens, columns] that has some of both."""
    if values.ndim == 2 and values.shape[0] == 0:
        raise Error(f"{name} has shape {values.shape}: no token, and a layer is run on one or more", place=name)
    if values.ndim == 2 and values.shape[1] == 0:
        raise Error(f"{name} has shape {values.shape}: {columns} is 0, must be 1 or more", place=name)
    if values.ndim != 2:
        raise Error(f"{name} has shape {values.shape}, must be [tokens, {columns}]", place=name)


def _x(value: object) -> tuple[int, Array]:
    values = listed("x", value, np.dtype(np.float32))
    _require_some("x", values, "hidden")
    if values.dtype == np.float32:
        rounded = values.astype(_BF16)
        wrong = np.flatnonzero(rounded.astype(np.float32).view(np.uint32) != values.view(np.uint32))
        if wrong.size and not np.isnan(values.reshape(-1)[wrong]).all():
            first = np.unravel_index(wrong[0], values.shape)
            raise Error(f"x[{first[0]}, {first[1]}] is {values[first]}, which bfloat16 has not: round x as the engine does", place="x")
        values = rounded
    if values.dtype != _BF16:
        raise Error(f"x is {values.dtype}, must be bfloat16, or float32 numbers that bfloat16 has", place="x")
    return values.shape[1], flat_bytes(values)


def _slots(ids: object, weights: object) -> tuple[int, Array, Array]:
    chosen = listed("ids", ids, np.dtype(np.int32))
    if chosen.dtype == np.int64 and chosen.size and -1 <= chosen.min() <= chosen.max() < 1 << 31:
        chosen = chosen.astype(np.int32)
    _require_some("ids", chosen, "top_k")
    if chosen.dtype != np.int32:
        raise Error(f"ids is {chosen.dtype}, must be int32 or int64 [tokens, top_k]", place="ids")
    if weights is None:
        return chosen.shape[1], flat_bytes(chosen), np.empty(0, np.uint8)
    factors = listed("weights", weights, np.dtype(np.float32))
    if factors.dtype == _BF16:
        factors = factors.astype(np.float32)
    if factors.dtype != np.float32 or factors.shape != chosen.shape:
        raise Error(f"weights is {factors.dtype} of shape {factors.shape}, must be float32 or bfloat16 {list(chosen.shape)}", place="weights")
    return chosen.shape[1], flat_bytes(chosen), flat_bytes(factors)


def _start(given: object) -> list[tuple[str, str, list[int], Array]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise Error(f"start is of type {type(given).__name__}, must be a mapping of stages' names to arrays", place="start")
    found = []
    order = list(stages())
    for name, value in given.items():
        values = listed(word("start", name), value, np.dtype(np.float32))
        if values.dtype.itemsize == 1:
            values = values.view(np.uint8)
        if values.dtype not in _STAGE_TYPES:
            raise Error(f"{name} is {values.dtype}, must be of a byte, bfloat16 or float32", place=str(name))
        shape = values.shape if values.ndim != 3 else (values.shape[0] * values.shape[1], values.shape[2])
        found.append((str(name), _STAGE_TYPES[values.dtype], list(shape), flat_bytes(values)))
    return sorted(found, key=lambda one: order.index(one[0]) if one[0] in order else len(order))


def _scales(given: object) -> tuple[int, int] | None:
    if given is None:
        return None
    if not isinstance(given, Sequence) or len(given) != 2:
        raise Error("input_scale is no pair: the scale of x, and that of what enters the second product", place="input_scale")
    return f32_bits("input_scale", given[0]), f32_bits("input_scale", given[1])


def _constants(activation: str, given: object) -> tuple[int, int, int, int]:
    if given is not None and not isinstance(given, Mapping):
        raise Error(f"constants is of type {type(given).__name__}, must be a mapping of {', '.join(_CONSTANTS)}", place="constants")
    numbers: dict[str, Any] = {**(_OAI if activation.startswith("SWIGLUOAI") else {}), **(given or {})}
    for name in numbers:
        if name not in _CONSTANTS:
            raise Error(f"constants has {name!r}, must be of {', '.join(_CONSTANTS)}", place="constants")
    alpha, beta, limit, linear = (f32_bits(f"constants.{name}", numbers.get(name, 0)) for name in _CONSTANTS)
    return alpha, beta, limit, linear


def layer(
    source: object,
    /,
    x: object = None,
    ids: object = None,
    weights: object = None,
    *,
    layer: int | None = None,
    backend: str | None = None,
    engine: str | None = None,
    platform: str | None = None,
    contract: str | os.PathLike[str] | None = None,
    router: bool = False,
    stages: Sequence[str] | None = None,
    start: object = None,
    input_scale: object = None,
    activation: str | None = None,
    constants: object = None,
    activation_key: str | None = None,
    rank: int | None = None,
    layer_group: int | None = None,
    launch: str | Mapping[str, int | str | os.PathLike[str]] | None = None,
    **parameters: object,
) -> LayerRun:
    """The stages of one layer on given tokens, bit for bit as a backend computes them.

    source: a checkpoint's path with `layer`, the number in its tensors' names, `platform`, `backend` (of a model's directory also None: the engine's choice) and what else mxact.pack takes of it; the path of what
    `mxact convert` wrote, with `layer`; or mxact.Packed with `activation`, the engine's name of the model's ("SWIGLUOAI", "SILU", ...), `constants` of it by
    name (of SWIGLUOAI gpt-oss's are the default) and, where the backend leaves it to the checkpoint, `activation_key`.
    contract: both products under it, on no device and in the place of a backend's arithmetic, all between them in fp32: a name of mxact.contracts(), a
    record, or the path of a file with one. bf16-chain, bf16-block, bf16-pair and int8-block (activations in MXINT8) are run by the fused kernels.
    x: [tokens, hidden], bfloat16, or float32 numbers that bfloat16 has; not needed behind a start. ids: [tokens, top_k], int32 or int64, -1 for a slot of
    no expert. weights: the same shape, float32 or bfloat16; without them y and out are not computed. router: ids and weights by the checkpoint's own.
    stages: names of mxact.stages(); the default is all behind the start. start: a mapping of one step's stages to arrays, of a quantized input codes and
    scales both; the run begins behind them. input_scale: (first, second), calibrated scales, of backends that quantize by one. launch: numbers of the
    kernels' launch, as `mxact layer --launch` has them: {"block_m": 16, "w2.tile_k": 64, "tuned": "H100.json"}.
    Returns LayerRun, torch tensors where x, ids or the start was one.
    Raises mxact.Error: unknown names, dtypes and shapes that do not fit, an expert that does not exist, a backend whose arithmetic is not known.
    Source: the backend's row of executions (`mxact verify`), the table of stages (`mxact help stages`).
    """
    wanted = [word("stages", name) for name in stages] if stages is not None else []
    routes = flag("router", router)
    if routes and (ids is not None or weights is not None):
        raise Error("the router says what ids and weights say", place="router")
    if x is None and (start is None or routes):
        raise Error("x is missing", place="x")
    if ids is None and not routes:
        raise Error("ids is missing: [tokens, top_k] of experts; or router=True", place="ids")
    top_k, chosen, factors = (0, np.empty(0, np.uint8), np.empty(0, np.uint8)) if routes else _slots(ids, weights)
    columns, codes = (0, np.empty(0, np.uint8)) if x is None else _x(x)
    given = top_k, columns, codes, chosen, factors
    begin = _start(start)
    scales = _scales(input_scale)
    launched = launch_text(launch)
    asked = None if contract is None else contract_word(contract)
    if asked is not None and (scales is not None or backend is not None or platform is not None or rank is not None or launched):
        raise Error("a contract is of no device: backend, platform, rank, input_scale and launch are of a backend's kernels", place="contract")
    made: Any
    if isinstance(source, Packed):
        if layer is not None or backend is not None or routes:
            raise Error("a packed layer says its backend, and has neither a number nor a router", place="source")
        if activation is None:
            raise Error("activation is missing: packed tensors do not say it", place="activation")
        tensors = [(word("packed", name), bytes_of(str(name), value)[1]) for name, value in source.tensors.items()]
        name = word("activation", activation)
        told = word("packed.spec", source.spec), tensors, name, _constants(name, constants)
        if asked is None:
            made = plainly(_core.run_packed, *told, activation_key or "None", scales, launched, given, begin, wanted)
        else:
            made = plainly(_core.run_contract_packed, *told, asked, given, begin, wanted)
    elif isinstance(source, (str, os.PathLike)):
        if activation is not None or constants is not None or activation_key is not None:
            raise Error("activation is not given: the checkpoint says it", place="activation")
        if layer is None:
            raise Error("layer is missing: which layer of the checkpoint is run", place="layer")
        choices = {"engine": engine, "platform": platform, **parameters}
        require_rank(choices, rank, "run")
        fields = [(key.replace("_", "-"), text_of(key, value)) for key, value in choices.items() if value is not None]
        group = None if layer_group is None else integer("layer_group", layer_group)
        which = integer("layer", layer), integer("rank", rank or 0), group
        path = path_word("source", source)
        if asked is None and backend is None and not _core.is_packed(path):
            backend = plainly(_core.chosen_backend, path, integer("layer", layer), fields)
        if asked is None:
            made = plainly(_core.run_file, path, *which, None if backend is None else word("backend", backend), fields, scales, launched, routes, given, begin, wanted)
        else:
            made = plainly(_core.run_contract_file, path, which[0], group, asked, fields, routes, given, begin, wanted)
    else:
        raise Error(f"source is of type {type(source).__name__}, must be a path or mxact.Packed", place="source")
    results, arithmetic, sums_by, used_ids, used_weights = made
    arrays = {name: data.view(DTYPES[dtype]).reshape(shape) for name, dtype, shape, data in results}
    slots = used_ids.view(np.int32)
    rows = slots.reshape(-1, top_k or len(slots) // len(np.asarray(x)))
    arrays.update({"ids": rows, "weights": used_weights.view(np.float32).reshape(rows.shape if used_weights.size else (0,))})
    starts = start.values() if isinstance(start, Mapping) else ()
    shown = like_any([x, ids, *starts], arrays)
    return LayerRun({name: shown[name] for name, *_ in results}, arithmetic, sums_by, shown["ids"], shown["weights"])
