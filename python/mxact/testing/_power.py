"""What a comparison of one's own lets through: wrong kernels that pass, right ones that fail."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mxact._arguments import Array, flag, optional_word, word
from mxact._error import Error
from mxact._libraries import to_tensor
from mxact._moe import activate
from mxact.testing import _power_data, _right, _wrong
from mxact.testing._asked import of_deployment, one_of, results_of, sizes_of, some_of
from mxact.testing._bits import bits_of
from mxact.testing._power_data import Data, Sizes, case_of
from mxact.testing._runs import Broken, CannotStart, settings, told
from mxact.testing._stages import ACTIVATIONS, QUANTIZERS, Arithmetic, Case, numbers_in

_STEPS, _OCTAVES = 9, 40


@dataclass(frozen=True)
class Judged:
    """A kernel before the comparison. passes: by data, where it gives anything but what is expected. error, data: of a right kernel its largest, of a wrong one
    its smallest. smallest: the smallest layer on which a wrong one passes; nothing where none is."""

    name: str
    what: str
    passes: dict[str, bool]
    error: float
    data: str
    smallest: str = ""


@dataclass(frozen=True)
class Power:
    """What a comparison tells apart. `print` shows it, to_json() has all of it.

    layer: what was computed, in words. wrong, right: every kernel that was shown to it. unseen: wrong kernels that such layers can have and these data do not show. elsewhere:
    backends that compute something else, which are no right kernels. refuses: data on which the comparison fails what is expected itself; nothing is
    judged there. unit: what errors are in. parts: two errors between which a limit parts all right kernels from all wrong ones; none where there is no such limit. why: in one sentence.
    """

    layer: str
    wrong: tuple[Judged, ...]
    right: tuple[Judged, ...]
    unseen: tuple[str, ...]
    elsewhere: tuple[str, ...]
    refuses: tuple[str, ...]
    unit: str
    parts: tuple[float, float] | None
    why: str

    @property
    def passing(self) -> tuple[str, ...]:
        """Wrong kernels that pass on some data."""
        return tuple(one.name for one in self.wrong if any(one.passes.values()))

    @property
    def failing(self) -> tuple[str, ...]:
        """Right kernels that fail on some data."""
        return tuple(one.name for one in self.right if not all(one.passes.values()))

    @property
    def share(self) -> float:
        """Of the wrong kernels, how many fail wherever they are wrong: 0 to 1."""
        return 1 - len(self.passing) / len(self.wrong) if self.wrong else 0.0

    def caught_on(self, data: str) -> float:
        """The same on some data alone."""
        judged = [one.passes[data] for one in self.wrong if data in one.passes]
        return 1 - sum(judged) / len(judged) if judged else 0.0

    def to_json(self) -> str:
        """Members by their names, with "passing", "failing" and "share"; an infinite error is null."""

        def plain(value: Any) -> Any:
            if isinstance(value, float):
                return value if math.isfinite(value) else None
            if isinstance(value, dict):
                return {name: plain(one) for name, one in value.items()}
            return [plain(one) for one in value] if isinstance(value, list | tuple) else value

        return json.dumps(plain({**asdict(self), "passing": self.passing, "failing": self.failing, "share": self.share}))

    def __str__(self) -> str:
        lines = [f"{self.layer}: {len(self.wrong) - len(self.passing)} of {len(self.wrong)} wrong kernels are caught, {len(self.right) - len(self.failing)} of {len(self.right)} right ones pass"]
        lines += [f"passes: {one.name} ({one.what}), {_number(one.error)} {self.unit}, on {one.smallest}" for one in self.wrong if one.name in self.passing]
        lines += [f"fails: {one.name} ({one.what}), {_number(one.error)} {self.unit}, on {one.data}" for one in self.right if one.name in self.failing]
        lines += [f"the comparison fails the right answer itself on {data}: nothing is judged there" for data in self.refuses]
        lines += [f"not seen on these data: {', '.join(self.unseen)}"] if self.unseen else []
        lines += [f"computes something else: {name}" for name in self.elsewhere]
        return "\n".join([*lines, self.why])


def _number(value: float) -> str:
    return f"{value:.3g}"


@dataclass(frozen=True)
class _Check:
    """The user's comparison, with arrays as the user has them."""

    check: Callable[[Any, Any], Any]
    dtype: str
    tensors: bool
    measure: Callable[[Any, Any], Any] | None

    def given(self, values: Array) -> Any:
        return to_tensor(values.copy()) if self.tensors else values.copy()

    def passes(self, candidate: Array, expected: Array) -> bool:
        try:
            with np.errstate(all="ignore"):
                answer = self.check(self.given(candidate), self.given(expected))
        except (Broken, CannotStart):
            raise
        except AssertionError:
            return False
        except Exception as problem:
            raise Error(f"check raises {type(problem).__name__}: {problem}", place="check") from problem
        return answer is None or bool(answer)

    def error(self, candidate: Array, expected: Array, passes: bool) -> float:
        """By the user's measure; without one how many times as far off as the comparison lets through, along the way from what is expected: above 1 it fails."""
        if self.measure is not None:
            value = float(self.measure(self.given(candidate), self.given(expected)))
            return math.inf if math.isnan(value) else value
        a, b = candidate.astype(np.float64), expected.astype(np.float64)
        if not np.isfinite(a).all() or not np.isfinite(b).all():
            return 0.0 if passes else math.inf
        if np.array_equal(a, b):
            return 0.0
        low, high = (0.0, float(_OCTAVES)) if passes else (-float(_OCTAVES), 0.0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            with np.errstate(all="ignore"):
                moved = numbers_in((b + 2.0**middle * (a - b)).astype(np.float32), self.dtype)
            if self.passes(moved, expected):
                low = middle
            else:
                high = middle
        return float(2.0**-low)


@dataclass(frozen=True)
class _Asked:
    how: Arithmetic
    sizes: Sizes
    data: tuple[Data, ...]
    wrong: tuple[_wrong.Wrong, ...]
    rights: tuple[_right.Right, ...]
    elsewhere: tuple[str, ...]

    def results(self, case: Case, wrong: _wrong.Wrong, check: _Check) -> Array:
        made = wrong.make(case, check.dtype)
        return made if made.dtype != np.float32 or check.dtype == "f32" else numbers_in(made, check.dtype)

    def shown_on(self, wrong: _wrong.Wrong, case: Case, data: Data) -> bool:
        return (data.name == wrong.data if wrong.data or data.special else True) and wrong.needs(case)


def _expected(case: Case, check: _Check) -> Array:
    return numbers_in(case.right, check.dtype)


def _all_wrong(asked: _Asked, case: Case, data: Data, check: _Check, found: dict[str, dict[str, tuple[bool, float]]]) -> None:
    expected = _expected(case, check)
    for wrong in asked.wrong:
        if not asked.shown_on(wrong, case, data):
            continue
        out = asked.results(case, wrong, check)
        if not np.array_equal(bits_of(out), bits_of(expected)):
            passes = check.passes(out, expected)
            found.setdefault(wrong.name, {})[data.name] = passes, check.error(out, expected, passes)


def _all_right(asked: _Asked, case: Case, data: Data, check: _Check, found: dict[str, dict[str, tuple[bool, float]]]) -> None:
    expected = _expected(case, check)
    for right in asked.rights:
        try:
            out = right.run(case)
        except Error:  # such scales are none that the backend takes
            continue
        given = out if out.dtype == expected.dtype else numbers_in(out.astype(np.float32), check.dtype)
        passes = check.passes(given, expected)
        found.setdefault(right.name, {})[data.name] = passes, check.error(given, expected, passes)


def _smallest(asked: _Asked, wrong: _wrong.Wrong, on: Sequence[Data], check: _Check, cases: dict[tuple[str, Sizes], Case]) -> str:
    """The smallest layer and the data on which it passes, of a few that are tried."""
    given = asked.sizes
    few = Sizes(min(max(given.top_k, 2), given.experts), 128, 128, 1, given.top_k, given.bias)
    for sizes in (few, Sizes(given.experts, given.intermediate, given.hidden, 1, given.top_k, given.bias), given):
        for data in on:
            key = data.name, sizes
            case = cases[key] if key in cases else cases.setdefault(key, case_of(asked.how, sizes, data, settings.seed))
            if not asked.shown_on(wrong, case, data):
                continue
            out, expected = asked.results(case, wrong, check), _expected(case, check)
            if not np.array_equal(bits_of(out), bits_of(expected)) and check.passes(out, expected):
                return f"{data.name} data of {sizes.text()}"
    return ""


def _parts(rights: Sequence[Judged], wrong: Sequence[Judged], unit: str) -> tuple[tuple[float, float] | None, str]:
    if not rights or not wrong:
        return None, "nothing was judged: the comparison fails what is expected itself on all of these data"
    largest, least = max(rights, key=lambda one: one.error), min(wrong, key=lambda one: one.error)
    if largest.error < least.error:
        return (largest.error, least.error), f"a limit between {_number(largest.error)} and {_number(least.error)} {unit} parts all right kernels from all wrong ones"
    caught = sum(one.error > largest.error for one in wrong)
    return None, (
        f"no limit parts them: {largest.name} is right and {_number(largest.error)} {unit} off on {largest.data}, {least.name} is wrong and {_number(least.error)} off on {least.data}; "
        f"the tightest limit that passes every right kernel catches {caught} of {len(wrong)} wrong ones"
    )


def _judged(asked: _Asked, check: _Check) -> Power:
    wrong_found: dict[str, dict[str, tuple[bool, float]]] = {}
    right_found: dict[str, dict[str, tuple[bool, float]]] = {}
    cases: dict[tuple[str, Sizes], Case] = {}
    refuses = []
    with np.errstate(all="ignore"):
        for data in asked.data:
            case = cases.setdefault((data.name, asked.sizes), case_of(asked.how, asked.sizes, data, settings.seed))
            expected = _expected(case, check)
            if not check.passes(expected, expected):
                refuses.append(data.name)
                continue
            _all_wrong(asked, case, data, check, wrong_found)
            if not data.special:
                _all_right(asked, case, data, check, right_found)
        wrong = []
        for row in asked.wrong:
            if row.name not in wrong_found:
                continue
            of = wrong_found[row.name]
            on = [data for data in asked.data if of.get(data.name, (False, 0))[0]]
            where = min(of, key=lambda name: of[name][1])
            smallest = _smallest(asked, row, on, check, cases) if on else ""
            wrong.append(Judged(row.name, row.what, {name: one[0] for name, one in of.items()}, of[where][1], where, smallest))
    rights = []
    for right in asked.rights:
        if right.name in right_found:
            of = right_found[right.name]
            where = max(of, key=lambda name: of[name][1])
            rights.append(Judged(right.name, right.how, {name: one[0] for name, one in of.items()}, of[where][1], where))
    unseen = tuple(row.name for row in asked.wrong if row.name not in wrong_found and any(row.needs(case) for (_, sizes), case in cases.items() if sizes == asked.sizes))
    unit = "by the measure" if check.measure else "times what passes"
    parts, why = _parts(rights, wrong, unit)
    bias = ", biases" if asked.sizes.bias else ""
    layer = f"{asked.how.format}, activations {asked.how.quantizer}, {asked.how.activation}{bias}, {asked.sizes.text()}, results in {check.dtype}, against {asked.how.contract}"
    return Power(layer, tuple(wrong), tuple(rights), unseen, asked.elsewhere, tuple(refuses), unit, parts, why)


def power(
    check: Callable[[Any, Any], Any],
    *,
    format: str | None = None,
    activation: str | None = None,
    sizes: Sequence[int] = (8, 256, 256),
    tokens: int = 4,
    top_k: int | None = None,
    bias: bool | None = None,
    constants: Mapping[str, float] | None = None,
    activations: str = "none",
    contract: str | None = None,
    deployment: Mapping[str, Any] | None = None,
    engine: str | None = None,
    dtype: object = "bfloat16",
    data: Sequence[str] | None = None,
    wrong: Sequence[str] | None = None,
    measure: Callable[[Any, Any], Any] | None = None,
) -> Power:
    """Which wrong kernels of experts a comparison lets through, and which right ones it fails.

    check: takes candidate and expected, [tokens, hidden] each; returns whether they are alike, or raises AssertionError where they are not (None is alike).
    format: mxfp4, mxfp8, nvfp4, fp8_tensor, fp8_channel or fp8_block. activation: "SWIGLUOAI" or "SILU". constants: as of mxact.activate(). bias: whether there
    are biases. deployment: a dict as select() takes it, which says format, activation, limit, top_k and bias in their place, and whose backend is the right kernel.
    sizes: experts, intermediate and hidden size, multiples of 128. activations: what both products take: "none" for bfloat16, or a quantizer that
    `mxact verify` names: mxfp8, mxfp4, mxfp4-emulated, fp8-token, fp8-group128, fp8-group128-ue8m0.
    contract: of what is expected, as of assert_kernel(), rounded to dtype at last; it is then the only right kernel. Without it expected products are exact,
    and right is what every backend computes that `engine` chooses on some platform (with constants: the layer under each of their contracts).
    dtype: of both arrays: float32, bfloat16 or float16, of NumPy or torch. data: of plain, cancelling, wide, small, subnormal, nan and ties; without it all
    that apply. wrong: names of wrong kernels, without it all. measure: takes candidate and expected, returns an error; without it errors are counted in what check
    lets through: 2 is twice as far off as passes.
    Returns Power. The numbers are drawn from mxact.testing.settings.seed.
    Raises mxact.Error: unknown names, sizes that do not fit, a check that raises anything but AssertionError, layers whose right kernels nobody knows.
    Source: rows of python/mxact/testing/_wrong.py; right kernels are the table of executions.
    """
    for name, value in (("check", check), ("measure", measure)):
        if not callable(value) and not (name == "measure" and value is None):
            raise Error(f"{name} is of type {type(value).__name__}, must be a function", place=name)
    version, backend, platform = optional_word("engine", engine), None, None
    if deployment is not None:
        if (format, activation, top_k, bias, constants, contract) != (None, None, None, None, None, None):
            raise Error("format, activation, top_k, bias, constants and contract are a deployment's own: give one or the other", place="deployment")
        asked, backend, platform = of_deployment(deployment, version)
        format, activation, top_k, bias, constants = (asked[name] for name in ("format", "activation", "top_k", "bias", "constants"))
    called = None if contract is None else word("contract", contract)
    how = Arithmetic(
        one_of("format", format, _right.FORMATS),
        one_of("activation", activation, tuple(ACTIVATIONS)),
        called or "exact",
        dict(constants or {}),
        one_of("activations", activations, QUANTIZERS),
    )
    activate(np.ones(1, np.float32), np.ones(1, np.float32), how.row, constants=how.constants)
    shape = sizes_of(sizes, tokens, 2 if top_k is None else top_k, False if bias is None else bias)
    rows = (*_power_data.ORDINARY, *_power_data.SPECIAL)
    named = [row.name for row in rows] if data is None else some_of("data", data, [row.name for row in rows])
    chosen = tuple(row for row in rows if row.name in named and row.takes(how, shape))
    if not chosen:
        raise Error(f"data is {', '.join(named)}, of which none applies to {how.format}", place="data")
    wanted = [row.name for row in _wrong.ALL] if wrong is None else some_of("wrong", wrong, [row.name for row in _wrong.ALL])
    rights = [_right.by_contract(how)] if called else _right.rights_of(how, shape.bias, version, backend, platform)
    full = tuple(right for right in rights if not right.is_else)
    elsewhere = tuple(f"{right.name} ({right.how})" for right in rights if right.is_else)
    picked = tuple(row for row in _wrong.ALL if row.name in wanted)
    kind, is_torch = results_of(dtype)
    return _judged(_Asked(how, shape, chosen, picked, full, elsewhere), _Check(check, kind, is_torch, measure))


def assert_power(
    check: Callable[[Any, Any], Any],
    *,
    at_least: float | None = None,
    never_passes: Sequence[str] = (),
    passes_right: bool = False,
    **asked: Any,
) -> Power:
    """The comparison catches wrong kernels: so large a part of them, and each of those named.

    at_least: 0 to 1, the part of the wrong kernels that must fail on all data on which they are wrong. never_passes: names of wrong kernels that must fail.
    passes_right: every right kernel must pass, too. All else as of power(), and what it returns.
    Raises AssertionError: in one sentence what is let through, on the smallest data that were found, and the line that draws them again; also where the
    comparison fails what is expected itself. mxact.Error: as power(), and where nothing is asked for.
    """
    named = some_of("never_passes", never_passes, [row.name for row in _wrong.ALL])
    if at_least is None and not named:
        raise Error("at_least or never_passes must be given: without one nothing can fail", place="at_least")
    if at_least is not None and not 0 < float(at_least) <= 1:
        raise Error(f"at_least is {at_least}, must be above 0 and at most 1", place="at_least")
    with told():
        found = power(check, **asked)
        settings.cases += sum(len(one.passes) for one in (*found.wrong, *found.right))
        settings.shown["power"] = found
        problem = _problem(found, at_least, named, flag("passes_right", passes_right))
        if problem:
            raise AssertionError(problem)
    settings.held.append(f"comparison {found.layer}: {found.share:.0%} of {len(found.wrong)} wrong kernels caught")
    return found


def _problem(found: Power, at_least: float | None, named: Sequence[str], passes_right: bool) -> str:
    """What is wrong with the comparison, in a sentence; nothing where it is well."""
    if not found.wrong:
        return f"the comparison fails what is expected itself on {', '.join(found.refuses)} data: it tells nothing apart"
    unseen = [name for name in named if name not in [one.name for one in found.wrong]]
    if unseen:
        return f"{unseen[0]} is nothing that these layers and data show: the comparison was not tried on it"
    passing = {one.name: one for one in found.wrong if one.name in found.passing}
    for name in named:
        if name in passing:
            return f"the comparison passes {name} ({passing[name].what}) on {passing[name].smallest}"
    if at_least is not None and found.share < at_least:
        first = next(iter(passing.values()))
        return (
            f"the comparison catches {found.share:.1%} of {len(found.wrong)} wrong kernels, must catch {at_least:.1%}: it passes {first.name} ({first.what}) on {first.smallest}"
            + (f", and {len(passing) - 1} others: {', '.join(list(passing)[1:])}" if len(passing) > 1 else "")
        )
    if passes_right and found.failing:
        wrong = next(one for one in found.right if one.name == found.failing[0])
        return f"the comparison fails {wrong.name} ({wrong.what}), which is right, on {wrong.data} data, {_number(wrong.error)} {found.unit}"
    return ""
