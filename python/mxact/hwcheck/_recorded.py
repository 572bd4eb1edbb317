"""A run as a recorded set that `mxact witness` reads, and the way back: recorded products as questions, which are judged without a card."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._error import Error
from mxact._record import Recorder
from mxact.hwcheck._hold import Run, Settings, judged
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import CastQuestion, NotHere, Question
from mxact.hwcheck._search import search
from mxact.hwcheck._ways import ORDERS, Way, fields_of

_DTYPES: dict[str, Any] = {"u8": np.uint8, "u32": np.uint32, "bf16": np.uint16, "fp16": np.uint16, "f32": np.uint32}
# The words of `gemm` by the scaling of the question and by where the way lets scales enter.
_ROWS = {"total-a-b": "row_col", "total-b-a": "col_row"}
_SCALINGS = {"tensor": {"total-plus-zero": "tensor", "total": "tensor_product", **_ROWS}, "row_col": _ROWS, "col_row": _ROWS}


def _hex(value: Any) -> str:
    return f"0x{int(np.float32(value).view(np.uint32)):08X}"


def _typed(values: Array, format: str) -> Array:
    """Codes and numbers in dtypes that the recorder has words for."""
    if values.dtype == np.uint32:
        return values
    return np.ascontiguousarray(values).view(dtype_of(format)) if format in ("bf16", "fp16", "f32") else np.ascontiguousarray(values).view(np.uint8)


def _way_words(way: Way, question: Question) -> dict[str, Any]:
    words: dict[str, Any]
    if way.lanes is not None:
        run, lanes, warps, product = way.lanes
        return {"accum": "f32_products", "product": product or "exact", "vector": run, "lanes": lanes, "warps": warps}
    if way.upcast:
        order = fields_of(way.core).get("order", "0")
        words = {"accum": "upcast16", "upcast": way.upcast, "order": next(name for name, text in ORDERS.items() if text == order), "fast_math": int(way.fast_math)}
    elif way.step_k:
        words = {"accum": "promoted_steps" if way.steps_are_sums else "promoted", "chain": way.chain, "step_k": way.step_k}
    else:
        words = {"accum": "contract", "contract": way.core}
    if way.piece_k:
        words |= {"piece_k": way.piece_k, "join": way.join, "piece_rounded": int(way.piece_rounded)}
    if way.turns > 1:
        words |= {"turns": way.turns, "turn_k": way.turn_k, "turn_join": way.turn_join}
    if way.rest_first:
        words["rest_first"] = way.rest_first
    return words


def _product_entries(recorder: Recorder, question: Question, way: Way | None, answers: list[tuple[Case, Array]], profile: dict[str, str]) -> None:
    for number, (case, found) in enumerate(answers):
        id = question.name if number == 0 else f"{question.name}.{number}"
        if question.c:
            _sum_entry(recorder, id, question, way, case, found, profile)
            continue
        params: dict[str, Any] = {"a_format": question.a, "b_format": question.b, "out_format": question.to, "M": found.shape[0], "N": found.shape[1], "K": question.k, "b_layout": "NK"}
        params |= {"launch_m": question.m, "launch_n": question.n}
        params |= _way_words(way, question) if way is not None else {"accum": "unknown"}
        scaling = question.scaling
        if way is not None and scaling in _SCALINGS:
            scaling = _SCALINGS[scaling].get(way.scales, "unknown")
        params["scaling"] = scaling
        inputs: dict[str, Any] = {"a": _typed(case.a, question.a), "b": _typed(case.b, question.b)}
        scales: tuple[Any, ...] = (case.scale_a, case.scale_b)
        of_tensor = question.scaling == "tensor"
        if of_tensor and scaling in _ROWS.values():  # one after the other, as of rows and columns that all have the same
            scales = tuple(np.full(extent, one, np.float32) for one, extent in zip(scales, found.shape, strict=True))
            of_tensor = False
        if of_tensor:
            params |= {"scale_a": _hex(case.scale_a), "scale_b": _hex(case.scale_b)}
        else:
            sides = zip(("scale_a", "scale_b"), scales, found.shape, question.shared, strict=True)
            inputs |= {name: np.ascontiguousarray(part[: -(-extent // shared)]) for name, part, extent, shared in sides if part is not None}
        if case.bias is not None:
            inputs["bias"] = _typed(case.bias, question.bias)
        recorder.entry(id, "gemm", params, profile, inputs, {"d": _typed(found, question.to)}, {"d": {"kind": "bits_nan_equal"}}, grounds="hardware", level="must" if way is not None else "info")


def _sum_entry(recorder: Recorder, id: str, question: Question, way: Way | None, case: Case, found: Array, profile: dict[str, str]) -> None:
    """Each sum of the tile a row, of a band of the tile that has them all once."""
    m, n = found.shape
    rows, columns = np.arange(m * 2) % m, np.arange(m * 2) * 5 % n
    params = {"contract": way.core if way is not None else "unknown", "K": question.k, "a_format": question.a, "b_format": question.b, "c_format": question.c, "out_format": question.to}
    inputs = {"a": _typed(case.a[rows], question.a), "b": _typed(case.b[columns], question.b), "c": _typed(case.c[rows, columns], question.c)}  # type: ignore[index]
    outputs = {"d": _typed(found[rows, columns], question.to)}
    recorder.entry(id, "dot_accumulate", params, profile, inputs, outputs, {"d": {"kind": "bits_nan_equal"}}, grounds="hardware", level="must" if way is not None else "info")


def _cast_entry(recorder: Recorder, question: CastQuestion, words: dict[str, str], x: Array, codes: Array, profile: dict[str, str]) -> None:
    """Every 64th number, and all specials."""
    with np.errstate(invalid="ignore"):
        kept = np.flatnonzero((np.arange(x.size) % 64 == 0) | ~np.isfinite(x.astype(np.float32)))[:8192]
    params = {"source": question.source, "format": question.to, **words}
    outputs = {"codes": codes[kept].view(np.uint8) if codes.dtype.itemsize == 1 else codes[kept]}
    recorder.entry(question.name, "encode", params, profile, {"x": x[kept]}, outputs, grounds="library")


def write(run: Run, folder: Path, facts: dict[str, str]) -> int:
    """The set of a run, into a new folder: device, driver and versions stand in every profile. Returns how many entries it has. Raises FileExistsError."""
    recorder = Recorder(folder, folder.name)
    device = facts.get("device", "unknown")
    versions = ", ".join(f"{key} {facts[key]}" for key in facts if key not in ("device", "unit"))
    for name, (question, answers) in run.asked.items():
        if not isinstance(question, Question | CastQuestion):
            continue
        profile = {"implementation": question.library, "device": device, "build": question.build, "version": versions}
        way = run.found.get(name)
        if isinstance(question, Question):
            _product_entries(recorder, question, way if isinstance(way, Way) else None, answers, profile)
        elif isinstance(question, CastQuestion) and isinstance(way, dict):
            x, codes = answers[0]
            _cast_entry(recorder, question, way, x, codes, profile)
    recorder.write()
    return len(recorder.entries)


class RecordedSet:
    """Products of a set, as a card that answers only what was recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            self.entries = list(self.manifest["entries"])
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise Error(f"{folder}: no recorded set: {problem}", place="--from") from None

    def tensor(self, described: dict[str, Any]) -> Array:
        """The array of a file, or of FILE.gz where that alone is there."""
        path = self.folder / described["file"]
        data = path.read_bytes() if path.exists() else gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())
        return np.frombuffer(data, _DTYPES[described["dtype"]]).reshape(described["shape"]).copy()

    def products(self) -> list[tuple[Question, Case, Array]]:
        """Every `gemm` that stands alone: its words are not read but what inputs are made of."""
        found = []
        for number, entry in enumerate(self.entries):
            try:
                one = self._product(entry) if entry["op"] == "gemm" else None
            except (KeyError, TypeError, ValueError, AttributeError, OSError) as problem:
                raise Error(f"{self.folder}, entry {number}: {type(problem).__name__}: {problem}", place="--from") from None
            found += [] if one is None else [one]
        return found

    def _product(self, entry: dict[str, Any]) -> tuple[Question, Case, Array] | None:
        params = entry["params"]
        if params.get("out_format") not in ("f32", "bf16", "fp16") or "c" in entry["inputs"] or params.get("b_layout") != "NK" or "row_weight" in entry["inputs"]:
            return None
        a, b = (self._operand(entry["inputs"][side], params[f"{side}_format"], params) for side in ("a", "b"))
        found = self.tensor(entry["outputs"]["d"]).view(dtype_of(params["out_format"]))
        scaling = params["scaling"]
        scales: list[Any] = [None, None]
        for index, name in enumerate(("scale_a", "scale_b")):
            if name in entry["inputs"]:
                values = self.tensor(entry["inputs"][name])
                scales[index] = values if values.dtype == np.uint8 else values.view(np.float32)
            elif name in params:
                scales[index] = np.uint32(int(params[name], 16)).view(np.float32)
        bias = entry["inputs"].get("bias")
        numbers = None if bias is None else self.tensor(bias).view(dtype_of(bias["dtype"]))
        m, n = found.shape
        name = entry["id"]
        part = Question(name, "recorded", entry["profile"]["implementation"], name, params["a_format"], params["b_format"], params["out_format"], params["K"], m, n, _refuses, scaling=scaling, bias="" if bias is None else bias["dtype"], rows=m, columns=n)
        return part, Case(a, b, None, scales[0], scales[1], numbers), found

    def _operand(self, described: dict[str, Any], format: str, params: dict[str, Any]) -> Array:
        codes = self.tensor(described)
        return np.stack([codes & 15, codes >> 4], axis=-1).reshape(codes.shape[0], -1) if params.get("packing") == "low_first" and format == "e2m1" else codes


def _refuses(case: Case) -> Array:
    raise NotHere("a recorded answer cannot be asked again")


def hold_recorded(sets: RecordedSet, settings: Settings, only: Callable[[str], bool] = lambda name: True) -> Run:
    """Every product of a set, whose way is found from its values: what the set says of it is not read."""
    run = Run()
    for question, case, found in sets.products():
        if not only(question.name):
            continue
        if settings.progress is not None:
            settings.progress(question.name)
        answers = [(case, found)]
        run.asked[question.name] = (question, list(answers))
        run.answers.append(judged(question, answers, search(question, answers, settings.seconds, settings.unit), {}, settings.unit, run, None))
    return run
