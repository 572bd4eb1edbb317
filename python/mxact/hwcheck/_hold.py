"""A card's answers: each question asked, held to every way, controlled, and given a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from itertools import islice
from time import monotonic
from typing import Any

import numpy as np

from mxact._arguments import Array, dtype_of
from mxact._error import Error
from mxact.hwcheck._casts import inputs_of, search_cast
from mxact.hwcheck._controls import controls, mistrusted
from mxact.hwcheck._cuts import lengths
from mxact.hwcheck._inputs import Case
from mxact.hwcheck._questions import Asked, CastQuestion, FunctionQuestion, NotHere, Question, StageQuestion
from mxact.hwcheck._rules import CASTS, Rule, instruction_rule, rule, with_cut
from mxact.hwcheck._search import Answers, Found, can_join, different, fits, rivals, search
from mxact.hwcheck._smallest import smallest
from mxact.hwcheck._ways import Way

# Verdicts. FOLLOWS: a way gives every value, and what is known of the library says so or says nothing. CHANGED: another way than is known. NONE: no way
# does. MISTRUSTED: the data, or a repeat, could not tell. MEASURED: a function's distance from the nearest number. SKIPPED, FAILED: was not asked.
FOLLOWS, CHANGED, NONE, MISTRUSTED, MEASURED, SKIPPED, FAILED = "FOLLOWS", "CHANGED", "NONE", "MISTRUSTED", "MEASURED", "SKIPPED", "FAILED"
VERDICTS = (FOLLOWS, CHANGED, NONE, MISTRUSTED, MEASURED, SKIPPED, FAILED)


@dataclass
class Answer:
    """What was found. way: in words; contract: its record; also: other ways that the values cannot tell from it; known: what the table of rules has, and by
    whom; pieces: into how many k was cut. not_shown: fields whose neighbours give the same values. smallest: where no way fits, values that the nearest
    does not give."""

    name: str
    part: str
    library: str
    operation: str
    formats: str
    verdict: str
    way: str = ""
    contract: str = ""
    also: list[str] = field(default_factory=list)
    known: str = ""
    known_by: str = ""
    pieces: int = 1
    compared: int = 0
    differ: int = 0
    tried: int = 0
    controls: dict[str, str] = field(default_factory=dict)
    not_shown: list[str] = field(default_factory=list)
    smallest: str = ""
    why: str = ""
    seconds: float = 0.0


@dataclass
class Settings:
    """seed: of everything that is drawn. seconds: of a question's search. limit: of the whole run. unit: the card's compute capability. free_bytes: of its
    memory, or None. progress: is told of each question."""

    seed: int = 0
    seconds: float = 20.0
    limit: float = 600.0
    unit: str = "90"
    free_bytes: Callable[[], int] | None = None
    progress: Callable[[str], None] | None = None


@dataclass
class Run:
    """Answers with what was asked and answered, for a recorded set."""

    answers: list[Answer] = field(default_factory=list)
    asked: dict[str, tuple[Asked, list[Any]]] = field(default_factory=dict)
    found: dict[str, Way | dict[str, str] | None] = field(default_factory=dict)


def formats_text(question: Asked) -> str:
    if isinstance(question, Question):
        return f"{question.a}.{question.b}" + (f".{question.c}" if question.c else "") + f" -> {question.to}"
    if isinstance(question, StageQuestion):
        return question.formats
    return f"{question.source} -> {question.to}" if isinstance(question, CastQuestion) else "f32 -> f32"


def _new(question: Asked, verdict: str, **found: Any) -> Answer:
    return Answer(question.name, question.part, question.library, question.operation, formats_text(question), verdict, **found)


def bytes_needed(question: Asked) -> int:
    """A call's memory on the card, with room for what a library takes beside it."""
    if not isinstance(question, Question):
        return 1 << 28
    widths = [dtype_of(format).itemsize for format in (question.a, question.b)]
    return 4 * (question.m * question.k * widths[0] + question.n * question.k * widths[1] + 4 * question.m * question.n) + (1 << 26)


def hold(questions: Iterable[Asked], settings: Settings) -> Run:
    """Every question in its order. What raises is FAILED or SKIPPED and ends nothing else; behind the limit nothing is asked."""
    run, started = Run(), monotonic()
    for question in questions:
        if settings.progress is not None:
            settings.progress(question.name)
        before = monotonic()
        answer = _one(question, settings, started, run)
        answer.seconds = round(monotonic() - before, 3)
        run.answers.append(answer)
    return run


def _one(question: Asked, settings: Settings, started: float, run: Run) -> Answer:
    left = settings.limit - (monotonic() - started)
    if left <= 0:
        return _new(question, SKIPPED, why=f"the limit of {settings.limit:g} seconds was over")
    random = np.random.default_rng([settings.seed, *question.name.encode()])
    try:
        if settings.free_bytes is not None and settings.free_bytes() < bytes_needed(question):
            return _new(question, SKIPPED, why=f"it takes {bytes_needed(question)} bytes of the card's memory, {settings.free_bytes()} are free")
        if isinstance(question, Question):
            return _product(question, settings, random, min(left, settings.seconds), run)
        if isinstance(question, StageQuestion):
            return _stage(question, random)
        return _cast(question, random, run) if isinstance(question, CastQuestion) else _function(question, random)
    except NotHere as problem:
        return _new(question, SKIPPED, why=_one_line(problem))
    except Exception as problem:  # noqa: BLE001  (a library's, of any kind)
        return _new(question, FAILED, why=f"{type(problem).__name__}: {_one_line(problem)}")


def known_rule(question: Question, unit: str) -> Rule | None:
    """What is known of the question on that card."""
    if question.part == "instructions":
        way = instruction_rule(unit, question.build, question.a, question.to, question.k)
        return None if way is None else Rule(question.name, "cuda", question.operation, "", "", way, source="numerics-tensor-cores")
    return rule(question.rule, unit)


def checked(question: Question, found: Array) -> Array:
    """The answer, whose shape and dtype must be the question's."""
    if found.shape != (question.m, question.n) or found.dtype != dtype_of(question.to):
        raise Error(f"the answer is {found.dtype} {found.shape}, must be {dtype_of(question.to)} {(question.m, question.n)}")
    return found


def _product(question: Question, settings: Settings, random: np.random.Generator, seconds: float, run: Run) -> Answer:
    cases = list(question.cases(random))
    whole = [checked(question, question.ask(case)) for case in cases]
    answers: Answers = [(question.compared(case), found[: question.rows, : question.columns]) for case, found in zip(cases, whole, strict=True)]
    run.asked[question.name] = (question, list(answers))
    done = controls(question, cases[0], answers[0][1], random)
    found = search(question, answers, seconds, settings.unit)
    return judged(question, answers, found, done, settings.unit, run, cases[0])


def judged(question: Question, answers: Answers, found: Found, done: dict[str, str], unit: str, run: Run, case: Case | None) -> Answer:
    """The verdict of a product."""
    answer = _new(question, FOLLOWS, compared=found.compared, tried=found.tried, controls=done)
    row = known_rule(question, unit)
    way = found.ways[0] if found.ways else found.nearest
    run.found[question.name] = found.ways[0] if found.ways else None
    if row is not None:
        cuts = [length for length in lengths(question.k) if not question.scaling.startswith("block") or length % 128 == 0]
        right = list(islice((known for known in with_cut(row, way, question.k, cuts) if can_join(known, question) and fits(question, known, answers)), 4))
        answer.known, answer.known_by = (right[0] if right else row.way).text(), f"{row.source}{f', {row.library} {row.release}' if row.release else ''}"
        if right:
            way = run.found[question.name] = right[0]
            found.ways = [*right, *found.ways]
        elif found.ways:
            answer.verdict = CHANGED
    if way is None:
        answer.verdict, answer.why = NONE, "no contract takes these operands"
        return answer
    answer.way, answer.contract, answer.pieces = way.text(), way.core, way.pieces(question.k)
    if run.found[question.name] is None:
        answer.verdict, answer.differ = NONE, found.differ
        answer.why = "the time was over before every way was tried" if found.ended else ""
        answer.smallest = smallest(question, way, answers, case)
        return answer
    answer.also = [other for other in dict.fromkeys(one.text() for one in found.ways) if other != answer.way][:8]
    answer.not_shown = [name for name, rival in rivals(question, way).items() if fits(question, rival, answers)]
    doubt = mistrusted(done) or _blind(question, way, answer, answers)
    if doubt:
        answer.verdict, answer.why = MISTRUSTED, doubt
    return answer


def _words(values: Array) -> Array:
    return np.ascontiguousarray(values).view({1: np.uint8, 2: np.uint16, 4: np.uint32}[values.dtype.itemsize])


def _blind(question: Question, way: Way, answer: Answer, answers: Answers) -> str:
    """Why the values could not have told a wrong way."""
    if all(np.unique(_words(found)).size <= 1 for _, found in answers):
        return "all values are one and the same"
    known = rivals(question, way)
    if known and len(answer.not_shown) == len(known):
        return "no neighbour of the way gives another value"
    return ""


def _cast(question: CastQuestion, random: np.random.Generator, run: Run) -> Answer:
    x = inputs_of(question, random)
    codes = np.ascontiguousarray(question.ask(x.copy()))
    if codes.shape != x.shape:
        raise Error(f"the answer has shape {codes.shape}, must be {x.shape}")
    again = np.ascontiguousarray(question.ask(x.copy()))
    found = search_cast(question, x, codes)
    run.asked[question.name] = (question, [(x, codes)])
    run.found[question.name] = found.words or None
    answer = _new(question, FOLLOWS, compared=found.compared, differ=found.different, also=found.profiles[:8], smallest=found.first)
    answer.way = ", ".join(f"{key} {word}" for key, word in found.words.items()) or (found.profiles[0] if found.profiles else "")
    answer.controls = {"repeat": "same" if codes.tobytes() == again.tobytes() else "differs"}
    if codes.tobytes() != again.tobytes():
        answer.verdict, answer.why = MISTRUSTED, "the same call gave other bits"
    elif answer.way and (known := CASTS.get(question.rule)):
        answer.known, answer.known_by = ", ".join(f"{key} {word}" for key, word in known.items()), "gpu_peers_h100"
        follows = known["profile"] in found.profiles if "profile" in known else found.words.items() >= known.items()
        answer.verdict = FOLLOWS if follows else CHANGED
    elif not answer.way:
        answer.verdict = NONE
        answer.why = "" if found.different else "numbers in range are the nearest even ones; what becomes of the others is no one rule"
    return answer


def _stage(question: StageQuestion, random: np.random.Generator) -> Answer:
    """The ways that give every value of every array; what is known of the step is looked at afterwards."""
    given = question.given(random)
    found = question.ask(given)
    again = question.ask(given)
    answer = _new(question, FOLLOWS, compared=sum(one.size for one in found), tried=len(question.ways), known=question.rule)
    answer.controls = {"repeat": "same" if all(np.array_equal(_words(one), _words(other)) for one, other in zip(found, again, strict=True)) else "differs"}
    wrong = {name: [different(one, right) for one, right in zip(found, way(given), strict=True)] for name, way in question.ways.items()}
    counts = {name: sum(int(np.count_nonzero(one)) for one in arrays) for name, arrays in wrong.items()}
    right = [name for name, count in counts.items() if count == 0]
    nearest = min(counts, key=lambda name: counts[name])
    answer.way = question.rule if question.rule in right else right[0] if right else nearest
    answer.also = [name for name in right if name != answer.way]
    if answer.controls["repeat"] == "differs":
        answer.verdict, answer.why = MISTRUSTED, "the same call gave other bits"
    elif len(right) == len(question.ways) or all(np.unique(_words(one)).size <= 1 for one in found):
        answer.verdict, answer.why = MISTRUSTED, "no other way gives another value"
    elif not right:
        answer.verdict, answer.differ = NONE, counts[nearest]
        number, place = next((number, int(np.flatnonzero(one)[0])) for number, one in enumerate(wrong[nearest]) if one.any())
        values = [np.asarray(one[number]).reshape(-1)[place] for one in (found, question.ways[nearest](given))]
        answer.smallest = f"array {number}, [{place}]: {values[0]}, by {nearest} {values[1]}"
    elif question.rule and question.rule not in right:
        answer.verdict = CHANGED
    return answer


def _function(question: FunctionQuestion, random: np.random.Generator) -> Answer:
    """How far the function is from the nearest fp32 number, over evenly drawn arguments."""
    count = 1 << 18
    low, high = (float(np.log2(end)) if question.low > 0 else end for end in (question.low, question.high))
    drawn = random.uniform(low, high, count)
    x = (np.exp2(drawn) if question.low > 0 else drawn).astype(np.float32)
    with np.errstate(all="ignore"):
        right = question.right(x.astype(np.float64))
        found = question.ask(x).astype(np.float64)
        unit = np.spacing(np.abs(right.astype(np.float32))).astype(np.float64)
        apart = np.abs(found - right) / unit
        wrong = found != right.astype(np.float32)
    worst = int(np.argmax(apart))
    words = f"{100 * np.count_nonzero(wrong) / x.size:.3g} % not correctly rounded, worst {apart[worst]:.4g} ulp at {x[worst]:.9g}"
    return _new(question, MEASURED, way=words, compared=int(x.size), differ=int(np.count_nonzero(wrong)))


def totals(answers: Iterable[Answer]) -> dict[str, int]:
    rows = list(answers)
    return {"questions": len(rows), **{verdict.lower(): sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}, "compared": sum(row.compared for row in rows)}


def document(answers: Iterable[Answer], facts: dict[str, str], seed: int) -> dict[str, Any]:
    """The same as JSON's values."""
    rows = list(answers)
    return {"schema": "mxact.hwcheck/1", "seed": seed, "card": facts, "answers": [asdict(row) for row in rows], "counts": totals(rows)}


def _one_line(problem: object) -> str:
    text = " ".join(str(problem).split())
    return text if len(text) <= 300 else text[:297] + "..."
