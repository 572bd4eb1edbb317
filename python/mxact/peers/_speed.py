"""How long peers take beside mxact's Python call, on one thread, in one run, by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array
from mxact._blocks import Quantized, TensorScale, dequantize, quantize
from mxact._conversions import convert
from mxact._error import Error
from mxact._tables import threads
from mxact.peers._hold import asked_apart, installed, release_of
from mxact.peers._pieces import Piece
from mxact.peers._rows import Back, Cast, Emulation, Peer, Quantizer, Speed
from mxact.peers._trials import operation_words, tensor_scale_of, trial_of
from mxact.testing._strategies import block_shape

# The matrix, and how often each of the two is called: more often where it takes no tenth of a second.
SIZE, TURNS, SHORT_TURNS = 4096, 3, 15


@dataclass
class Timed:
    """Medians in seconds."""

    peer: str
    version: str
    operation: str
    target: str
    profile: str
    theirs: float
    ours: float


def timed(peer: Peer, size: int = SIZE) -> list[Timed]:
    """In this process. Each is called once beforehand, on few rows. Raises Error where the two do not give the same bits there."""
    version = installed(peer.distribution)
    if not version or peer.speed is None:
        return []
    threads(1)
    x = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    rows = []
    for speed in peer.speed():
        profile, few = release_of(speed.row.profile, version)[0], x[:32].copy()
        _compare(peer.name, speed, few, profile)
        for call in (speed.theirs(*_inputs(speed, few, profile)), _ours(speed, few, profile)):
            call()
        theirs, ours = speed.theirs(*_inputs(speed, x, profile)), _ours(speed, x, profile)
        turns = TURNS if _seconds(theirs) > 0.1 else SHORT_TURNS
        seconds = [(_seconds(theirs), _seconds(ours)) for _ in range(turns)]
        source, target = operation_words(speed.row)
        target += f" from {source}" if isinstance(speed.row, Back) else " and back" if speed.back else ""
        rows.append(Timed(peer.name, version, speed.row.operation, target, profile, median(a for a, _ in seconds), median(b for _, b in seconds)))
    return rows


def _quantized(speed: Speed, x: Array, profile: str) -> Quantized:
    """What a way back begins with: codes and scales that ordinary numbers have."""
    row = speed.row
    assert isinstance(row, Back)
    made = quantize(x, row.format, "torchao-nvfp4-single" if row.format == "nvfp4" else "ocp")
    given = TensorScale(**{_core.dequantizer_takes(row.format, profile, row.to) or "decode": 1.0}) if row.tensor_scale else None
    return Quantized(made.codes, made.scales, given, row.format, profile, "f32", -1)


def _number(speed: Speed, x: Array, profile: str) -> float:
    """The tensor's own, as the recipe takes it."""
    encode, _ = _core.recipe_needs(speed.row.format, profile, "f32")  # type: ignore[union-attr]
    amax = float(np.abs(x).max())
    return float(np.float32(2688 / amax if encode else amax / 2688))


def _inputs(speed: Speed, x: Array, profile: str) -> tuple[Any, ...]:
    """What the operation's fn takes."""
    row = speed.row
    if isinstance(row, Back):
        q = _quantized(speed, x, profile)
        return (q.codes.view(np.uint8), q.scales.view(np.uint8), *((np.float32(1),) if row.tensor_scale else ()))
    given = getattr(row, "tensor_scale", None)
    return (x, np.float32(_number(speed, x, profile))) if given else (x,)


def _ours(speed: Speed, x: Array, profile: str) -> Callable[[], object]:
    row = speed.row
    if isinstance(row, Cast):
        return lambda: convert(x, row.to, profile)
    if isinstance(row, Back):
        q = _quantized(speed, x, profile)
        return lambda: dequantize(q, row.to, profile)
    encode, decode = _core.recipe_needs(row.format, profile, "f32")
    scale = tensor_scale_of(_number(speed, x, profile), encode, decode)
    if isinstance(row, Emulation) or speed.back:
        return lambda: dequantize(quantize(x, row.format, profile, tensor_scale=scale), profile=speed.back)
    return lambda: quantize(x, row.format, profile, tensor_scale=scale)


def _compare(name: str, speed: Speed, x: Array, profile: str) -> None:
    """Raises Error unless the operation and mxact's call give the same bits."""
    trial = trial_of(speed.row)
    if not isinstance(speed.row, Cast):  # a block in each row, as operations are asked elsewhere
        x = x.reshape(-1, block_shape(speed.row.format)[1])
    inputs = _inputs(speed, x, profile)
    # A trial's pieces name a number of the tensor where there is none, too.
    if isinstance(speed.row, Back) and not speed.row.tensor_scale:
        inputs = (*inputs, None)
    elif isinstance(speed.row, Quantizer) and not speed.row.tensor_scale:
        inputs = (*inputs, 1.0)
    piece = Piece(inputs, np.zeros(1, bool))
    if trial.wrong(trial.answer(piece), trial.right(piece, profile)).any():
        raise Error(f"{speed.row.operation} does not follow {profile} here: times of two rules are no comparison", place=f"{name} --speed")


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def timed_apart(some: Sequence[Peer]) -> list[Timed]:
    """Each in a process of its own with one thread, one after another."""
    rows = []
    for peer in some:
        if not installed(peer.distribution) or peer.speed is None:
            continue
        answer, _ = asked_apart(peer.name, "--speed")
        if answer is not None:
            rows += [Timed(**row) for row in answer["rows"]]
    return rows


def document(rows: Sequence[Timed]) -> dict[str, object]:
    return {"schema": "mxact.peers.speed/1", "size": SIZE, "turns": [TURNS, SHORT_TURNS], "rows": [asdict(row) for row in rows]}


def table(rows: Sequence[Timed]) -> list[list[str]]:
    head = ["peer", "operation", "to", "seconds", "mxact's profile", "seconds", "times as long"]
    return [head] + [[f"{row.peer} {row.version}", row.operation, row.target, f"{row.theirs:.3f}", row.profile, f"{row.ours:.3f}", f"{row.theirs / row.ours:.3g}"] for row in rows]
