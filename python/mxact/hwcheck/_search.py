"""Which way answers follow: every contract of the table and then every field, tried on a few hard sums and held to all of them. No name is believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import monotonic

import numpy as np

from mxact._arguments import Array
from mxact._error import Error
from mxact._tables import contracts
from mxact.hwcheck._cuts import lengths, of_warps, split
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Question
from mxact.hwcheck._ways import ORDERS, Way, core_of, fields_of, finish, name_of, record_from, sums

Answers = list[tuple[Case, Array]]

_RESTARTS = (16, 32, 64, 96, 128, 256, 512, 1024)
# Ways that are looked for beside the first: of whole sums, and from the level of pieces on.
_MOST, _CUTS, _MOST_CUT = 64, 4, 3
_SCALES = {
    "tensor": ("total-plus-zero", "total", "total-a-b", "total-b-a"),
    "row_col": ("total-a-b", "total-b-a", "total", "total-plus-zero"),
    "col_row": ("total-a-b", "total-b-a", "total", "total-plus-zero"),
    "block": ("chain", "chain-one-by-one", "chain-b-first"),
}


@dataclass
class Found:
    """ways: all that give every value, the plainest first. nearest: the one that fewest values differ from, and how many. tried: how many were asked.
    ended: the time was over before all of them were."""

    ways: list[Way] = field(default_factory=list)
    nearest: Way | None = None
    differ: int = -1
    compared: int = 0
    tried: int = 0
    ended: bool = False


def different(found: Array, right: Array) -> Array:
    """Where bits differ; one NaN is as good as another."""
    words = {1: np.uint8, 2: np.uint16, 4: np.uint32}[found.dtype.itemsize]
    differ = np.ascontiguousarray(found).view(words) != np.ascontiguousarray(right).view(words)
    if found.dtype.itemsize == 1:
        return np.asarray(differ)
    with np.errstate(invalid="ignore"):
        return np.asarray(differ & ~(np.isnan(found.astype(np.float32)) & np.isnan(right.astype(np.float32))))


class _Trial:
    """The answers of one question, and what ways give to them. Sums before the scales are kept: ways that differ in these alone share them."""

    def __init__(self, question: Question, answers: Answers, deadline: float) -> None:
        self.question, self.answers, self.deadline = question, answers, deadline
        size = 8 if question.k <= 2048 else 4
        self.sample = [self._small(case, found, size) for case, found in answers]
        self.kept: dict[Way, list[Array | None]] = {}
        self.found = Found(compared=sum(found.size for _, found in answers))
        self.best = -1.0

    def _small(self, case: Case, found: Array, size: int) -> tuple[Case, Array]:
        return case.rows(slice(0, size), slice(0, size), self.question.shared), found[:size, :size]

    def over(self) -> bool:
        self.found.ended = self.found.ended or monotonic() > self.deadline
        return self.found.ended

    def matches(self, way: Way) -> float:
        """The share of the sample that the way gives; -1 where it does not take the operands."""
        self.found.tried += 1
        apart = replace(way, scales="") if way.scales.startswith("total") else way
        if apart not in self.kept:
            self.kept[apart] = [self._sums(apart, case) for case, _ in self.sample]
        equal = count = 0
        for values, (case, found) in zip(self.kept[apart], self.sample, strict=True):
            if values is None:
                return -1.0
            right = finish(values, way, case, self.question.to)
            equal += int(found.size - np.count_nonzero(different(found, right)))
            count += found.size
        share = equal / max(count, 1)
        if share > self.best:
            self.best, self.found.nearest = share, way
        return share

    def _sums(self, way: Way, case: Case) -> Array | None:
        try:
            return sums(way, case, self.question.formats, self.question.to)
        except (Error, ValueError):
            return None

    def wrong(self, way: Way) -> int:
        """How many of all values the way does not give."""
        return sum(wrong_values(self.question, way, case, found) for case, found in self.answers)

    def fitting(self, ways: Iterable[Way], most: int) -> list[Way]:
        """Those that give every value; the first few of many."""
        right: list[Way] = []
        for way in ways:
            if self.over() or len(right) == most:
                break
            if self.matches(way) == 1 and self.wrong(way) == 0:
                right.append(way)
        return right


def wrong_values(question: Question, way: Way, case: Case, found: Array) -> int:
    values = finish(sums(way, case, question.formats, question.to), way, case, question.to)
    return int(np.count_nonzero(different(found, values)))


def fits(question: Question, way: Way, answers: Answers) -> bool:
    """Whether the way gives every value; a few are looked at first."""
    few = slice(0, 6)
    try:
        if any(wrong_values(question, way, case.rows(few, few, question.shared), found[few, few]) for case, found in answers):
            return False
        return not any(wrong_values(question, way, case, found) for case, found in answers)
    except (Error, ValueError):
        return False


@lru_cache(maxsize=1)
def cores() -> tuple[str, ...]:
    """The arithmetic of every contract of the table, each once."""
    return tuple(dict.fromkeys(core_of(name) for name in contracts()))


def _entries(question: Question) -> tuple[str, ...]:
    return _SCALES.get("block" if question.scaling.startswith("block") else question.scaling, ("",))


def _with(core: str, **fields: object) -> str | None:
    try:
        return record_from({**fields_of(core), **{key.replace("_", "-"): str(value) for key, value in fields.items()}})
    except Error:
        return None


def _bases(question: Question) -> list[Way]:
    """Every contract of the table, as the question's scales and dtype let it be."""
    if question.scaling == "e8m0_shift":
        return [Way(core_of(f"hopper-{to}:order={order}"), upcast=to, fast_math=fast) for to in ("bf16", "fp16") for order in ORDERS.values() for fast in (False, True)]
    entries = _entries(question)
    if question.scaling.startswith("block"):
        plain = dict.fromkeys(_with(core, restart="never") for core in cores())
        records = [_with(core, restart=128) for core in plain if core]
        return [Way(record, scales=entry) for record in records if record for entry in entries]
    return [Way(core, scales=entry) for core in cores() if fields_of(core).get("scales") != "term" or question.scaling == "terms" for entry in entries]


def _other_chains(question: Question, bases: list[Way]) -> Iterator[Way]:
    if question.scaling.startswith("block") or question.scaling == "e8m0_shift":
        return
    for core in dict.fromkeys(_with(way.core, restart="never") for way in bases):
        for restart in _RESTARTS:
            record = _with(core, restart=restart) if core and restart < question.k else None
            if record:
                yield from (Way(record, scales=entry) for entry in _entries(question))


def can_join(way: Way, question: Question) -> bool:
    """Whether so many pieces can meet so, and results can be rounded first."""
    pieces = way.pieces(question.k)
    return (way.join != "halves" or (pieces > 2 and pieces & (pieces - 1) == 0)) and not (way.piece_rounded and question.to == "f32")


def _joins(way: Way, pieces: int) -> tuple[str, ...]:
    if fields_of(way.core).get("result") == "fp16":
        return ("ascending_fp16",)
    return ("ascending", "halves") if pieces > 2 and pieces & (pieces - 1) == 0 else ("ascending",)


def _cut(question: Question, bases: Iterable[Way]) -> Iterator[Way]:
    for way in bases:
        for length in lengths(question.k):
            if question.scaling.startswith("block") and length % 128:
                continue
            for join in _joins(way, -(-question.k // length)):
                yield replace(way, piece_k=length, join=join)
                if question.to != "f32" and join == "ascending":
                    yield replace(way, piece_k=length, join=join, piece_rounded=True)


def _turns(question: Question, bases: Iterable[Way]) -> Iterator[Way]:
    if not question.scaling.startswith("block"):
        for way in bases:
            yield from split(way, question.k)
            yield from of_warps(way, question.k)


def _rests(question: Question, bases: Iterable[Way]) -> Iterator[Way]:
    for way in bases:
        for tile in (32, 64, 128):
            if question.k % tile:
                yield replace(way, rest_first=tile)
            for cut in _cut(question, [way]):
                if cut.piece_k % tile or question.k % cut.piece_k % tile:
                    yield replace(cut, rest_first=tile)


def _steps(question: Question, bases: Iterable[Way]) -> Iterator[Way]:
    for way in bases:
        core = _with(way.core, restart="never")
        for step in (64, 128, 256):
            for chain in (32, 64, 96):
                if core and chain < step < question.k:
                    yield replace(way, core=core, chain=chain, step_k=step)
                    yield replace(way, core=core, chain=chain, step_k=step, steps_are_sums=True)


def _lanes(question: Question, entries: tuple[str, ...]) -> Iterator[Way]:
    core = core_of("f32-sequential")
    for run in (1, 2, 4, 8, 16):
        for warps in (1, 2, 4, 8, 16, 32):
            for product in ("", "bf16", "fp16"):
                yield from (Way(core, scales=entry, lanes=(run, 32, warps, product)) for entry in entries)


def _fields(question: Question, bases: Iterable[Way]) -> Iterator[Way]:
    """Every group, alignment, width, bound and order around the nearest ways."""
    aligned = [way for way in bases if fields_of(way.core).get("step") == "aligned"]
    # What is the same but for the fields that are tried.
    for way in dict.fromkeys(replace(way, core=core) for way in aligned if (core := _with(way.core, order="0", group=16, align=25, keep=11))):
        half = fields_of(way.core).get("result") == "fp16"
        for order in ORDERS.values():
            for group in (4, 8, 16, 32, 64):
                for align in range(10, 33):
                    for keep in (11,) if half else (12, 13, 14, 15, 22, 23, 24):
                        core = _with(way.core, order=order, group=group, align=align, keep=keep)
                        if core:
                            yield replace(way, core=core)


def _takes_as_they_are(question: Question, core: str) -> bool:
    """Whether operands are not rounded to another format first."""
    fields = fields_of(core)
    return fields.get("cast", question.a) == question.a and question.a in fields.get("a", question.a).split("+")


def _ranked(trial: _Trial, ways: Iterable[Way], count: int) -> list[Way]:
    """The nearest few, those before others that take operands as they are."""
    shares = [(trial.matches(way), _takes_as_they_are(trial.question, way.core), -index, way) for index, way in enumerate(ways) if not trial.over()]
    return [one[3] for one in sorted(shares, key=lambda one: one[:3], reverse=True)[:count] if one[0] >= 0]


def _plain(question: Question, bases: list[Way]) -> list[Way]:
    """Contracts that can be a piece of a sum: where k is cut, how near the uncut sum comes says nothing."""
    some = [way for way in bases if _takes_as_they_are(question, way.core) and fields_of(way.core).get("step") in ("aligned", "fused")]
    return some or bases


def _levels(trial: _Trial) -> Iterator[Callable[[], Iterable[Way]]]:
    question = trial.question
    bases = _bases(question)
    yield lambda: bases
    yield lambda: _other_chains(question, bases)
    nearest = _ranked(trial, [*bases, *_other_chains(question, bases)], 12)
    plain = _plain(question, bases)
    yield lambda: _steps(question, dict.fromkeys([*nearest[:6], *plain]))
    yield lambda: _lanes(question, _entries(question))
    yield lambda: _cut(question, dict.fromkeys([*plain, *nearest[:4]]))
    yield lambda: _turns(question, dict.fromkeys([*plain, *nearest[:4]]))
    groups = [replace(way, core=core) for way in dict.fromkeys([*nearest[:4], *plain[:4]]) for size in (4, 8, 16, 32) if (core := _with(way.core, group=size))]
    yield lambda: [*dict.fromkeys(groups), *_cut(question, dict.fromkeys(groups))]
    yield lambda: _rests(question, dict.fromkeys([*plain, *groups, *nearest[:4]]))
    yield lambda: _fields(question, [*plain, *nearest[:3]])
    yield lambda: _cut(question, _other_chains(question, nearest[:4]))


# By compute capability, how names of a card's contracts begin: of ways that fit alike these are shown first.
_FAMILIES = {"75": ("turing",), "80": ("ampere",), "86": ("ampere",), "89": ("ada",), "90": ("hopper", "cublas", "torch"), "100": ("blackwell",), "120": ("blackwell",)}


def search(question: Question, answers: Answers, seconds: float, unit: str = "") -> Found:
    """The ways that all answers follow. It ends with the first kind of ways that has one: contracts as they are, other chains, steps, lanes, pieces, turns,
    other groups, what is left over first, every field."""
    trial = _Trial(question, answers, monotonic() + seconds)
    for number, level in enumerate(_levels(trial)):
        trial.found.ways = trial.fitting(dict.fromkeys(level()), _MOST if number < _CUTS else _MOST_CUT)
        if trial.found.ways or trial.over():
            break
    if trial.found.ways:
        trial.found.ways.sort(key=lambda way: _plainness(way, question, _FAMILIES.get(unit, ("",))))
        trial.found.nearest, trial.found.differ = trial.found.ways[0], 0
    elif trial.found.nearest is not None:
        trial.found.differ = trial.wrong(trial.found.nearest)
    return trial.found


def _plainness(way: Way, question: Question, families: tuple[str, ...]) -> tuple[int, ...]:
    """Operands as they are before operands that become others; the card's own contracts; a name before a record; few pieces; the library's own order of
    scales first."""
    cast = fields_of(way.core).get("cast", question.a)
    entries, name = _entries(question), name_of(way.core)
    return cast != question.a, not name.startswith(families), len(name.split(":")), way.pieces(1 << 20), entries.index(way.scales) if way.scales in entries else 0, len(way.text())


def rivals(question: Question, way: Way) -> dict[str, Way]:
    """Ways that differ in one field: what the data must tell from the one that was found."""
    fields = fields_of(way.core)
    changed: dict[str, str | None] = {}
    if fields.get("step") == "aligned":
        group, align, keep = int(fields["group"]), int(fields["align"]), int(fields["keep"])
        changed = {
            f"group={group // 2}": _with(way.core, group=group // 2),
            f"align={align - 1}": _with(way.core, align=align - 1),
            f"align={align + 1}": _with(way.core, align=align + 1),
            f"keep={keep - 1}": _with(way.core, keep=keep - 1),
            "order": _with(way.core, order="0" if "order" in fields else ORDERS["pairs" if group < 32 else "quads"] if group < 64 else "0"),
        }
        if "least" in fields:
            changed["least=none"] = _with(way.core, least="none")
    if "restart" in fields and not way.scales.startswith("chain"):
        changed["restart=never"] = _with(way.core, restart="never")
    found = {key: replace(way, core=core) for key, core in changed.items() if core}
    if way.turns > 1:
        found["no turns"] = replace(way, turns=1, turn_k=0, turn_join="ascending")
        found["other turns"] = replace(way, turn_k=way.turn_k // 2)
    if way.piece_k:
        found["no pieces"] = replace(way, piece_k=0, piece_rounded=False, join="ascending")
    for entry in _entries(question):
        if entry != way.scales:
            found[f"scales={entry}"] = replace(way, scales=entry)
    return found
