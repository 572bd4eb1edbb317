"""A token's outputs must not depend on what else is in the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from mxact._arguments import Array, integer, word
from mxact._error import Error
from mxact.testing._asked import one_of, sizes_of, some_of
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._kernels import _OUT, BF16, Tokens, _Law
from mxact.testing._power_data import ORDINARY, Sizes, case_of
from mxact.testing._right import FORMATS
from mxact.testing._rules import named, rules_of, sentence
from mxact.testing._runs import compared, settings, told
from mxact.testing._stages import ACTIVATIONS, Arithmetic, Case

VARIES = ("repeated", "slots", "padding", "among", "place", "load")
_COUNTS = (2, 3, 4, 8, 16, 17, 32, 64, 65, 128, 256, 512, 1024)
_PADS = (1, 7, 64)


@dataclass(frozen=True)
class _Batch:
    """what: in words. place: of the watched token."""

    what: str
    varies: str
    tokens: Tokens
    place: int


def _one(case: Case, token: int) -> Tokens:
    return Tokens(case.x[token : token + 1], case.ids[token : token + 1], case.weights[token : token + 1])


def _joined(first: Tokens, second: Tokens) -> Tokens:
    return Tokens(*(np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("x", "ids", "weights")))


def _others(count: int, watched: Tokens, experts: int, load: str, random: np.random.Generator) -> Tokens:
    """load: "any" experts; "own": the watched token's; "elsewhere": none of them, where there are enough others."""
    top_k = watched.ids.shape[1]
    own = watched.ids[0]
    allowed = np.setdiff1d(np.arange(experts), own) if load == "elsewhere" else own if load == "own" else np.arange(experts)
    ids = np.stack([random.permutation(allowed)[:top_k] for _ in range(count)]).astype(np.int32)
    weights = random.choice(np.array([0.25, 0.375, 0.5], np.float32), ids.shape)
    return Tokens((random.standard_normal((count, watched.x.shape[1])) * 4).astype(np.float32).astype(BF16), ids, weights)


def _padding(count: int, watched: Tokens) -> Tokens:
    """Rows that belong to no token: no expert, and whatever the memory held."""
    ids = np.full((count, watched.ids.shape[1]), -1, np.int32)
    return Tokens(np.full((count, watched.x.shape[1]), 192, np.float32).astype(BF16), ids, np.zeros(ids.shape, np.float32))


def _at(others: Tokens, watched: Tokens, place: int) -> Tokens:
    parts = {name: getattr(others, name) for name in ("x", "ids", "weights")}
    return Tokens(*(np.concatenate([values[:place], getattr(watched, name), values[place:]]) for name, values in parts.items()))


def _turned(watched: Tokens, order: Sequence[int]) -> Tokens:
    at = list(order)
    return Tokens(watched.x, np.ascontiguousarray(watched.ids[:, at]), np.ascontiguousarray(watched.weights[:, at]))


def _batches(watched: Tokens, experts: int, most: int, varies: Sequence[str], random: np.random.Generator) -> Iterator[_Batch]:
    """Small ones first."""
    slots = watched.ids.shape[1]
    yield _Batch("the token alone again", "repeated", watched, 0)
    for order in list(permutations(range(slots)))[1:6]:
        yield _Batch(f"the token alone, its slots in the order {', '.join(map(str, order))}", "slots", _turned(watched, order), 0)
    for count in _PADS:
        yield _Batch(f"the token and {count} rows of padding", "padding", _joined(watched, _padding(count, watched)), 0)
    for count in [count for count in _COUNTS if count <= most]:
        whole = _at(_others(count - 1, watched, experts, "any", random), watched, 0)
        yield _Batch(f"{count} tokens", "among", whole, 0)
        for _ in range(2):
            yield _Batch(f"{count} tokens, again", "repeated", whole, 0)
        for place in sorted({count // 2, count - 1} - {0}):
            yield _Batch(f"{count} tokens", "place", _at(_others(count - 1, watched, experts, "any", random), watched, place), place)
        for load, what in (("own", "all on its experts"), ("elsewhere", "none other on its experts")):
            if load != "elsewhere" or experts >= 2 * slots:
                yield _Batch(f"{count} tokens, {what}", "load", _at(_others(count - 1, watched, experts, load, random), watched, 0), 0)


@dataclass(frozen=True)
class _Watch:
    """A token, and what the kernel gives for it alone."""

    ask: Callable[[Tokens], Array]
    case: Case
    token: int
    bias: bool

    @property
    def watched(self) -> Tokens:
        return _one(self.case, self.token)

    def row(self, batch: _Batch) -> Array:
        row: Array = self.ask(batch.tokens)[batch.place]
        return row

    def differs(self, a: Array, b: Array) -> bool:
        return not np.array_equal(bits_of(a), bits_of(b))

    def name(self, alone: Array, batch: _Batch, found: Array) -> str:
        """The rule that explains a difference, with how it shows; nothing where none does."""
        again = [self.row(batch) for _ in range(3)] + [self.ask(self.watched)[0]]
        if any(self.differs(one, found) for one in again[:3]) or self.differs(again[3], alone):
            return "atomics: the same batch does not give the same bits again"
        if batch.varies == "slots":
            return 'order of slots: a token\'s slots are summed in the order in which they come (varies without "slots" leaves that out)'
        for order in list(permutations(range(self.watched.ids.shape[1])))[1:6]:
            if not self.differs(self.ask(_turned(self.watched, order))[0], found):
                return f"order of slots: the batch changes it to {', '.join(map(str, order))}"
        if self._by_values(alone, batch):
            return "a dynamic scale over the batch: larger numbers in other tokens change it, smaller ones do not"
        return self._by_rule(alone, found) or self._by_load(alone, batch)

    def _with_others(self, batch: _Batch, factor: float) -> Array:
        x = batch.tokens.x.astype(np.float32)
        mine = x[batch.place].copy()
        amax = np.abs(x).max(axis=1, keepdims=True)
        scaled = x / np.where(amax == 0, 1, amax) * np.abs(mine).max() * np.float32(factor)
        scaled[batch.place] = mine
        return self.row(_Batch("", "", Tokens(scaled.astype(BF16), batch.tokens.ids, batch.tokens.weights), batch.place))

    def _by_values(self, alone: Array, batch: _Batch) -> bool:
        return not self.differs(self._with_others(batch, 0.25), alone) and any(self.differs(self._with_others(batch, factor), alone) for factor in (3, 24, 192))

    def _by_rule(self, alone: Array, found: Array) -> str:
        case = Case(self.case.how, self.case.layer, *(getattr(self.watched, name) for name in ("x", "ids", "weights")))
        first, second = rules_of(case, self.bias, {"out": alone[None]}, {"out": found[None]})
        name = named(first, second)
        return f"{name}: alone {sentence(first)}; in the batch {sentence(second)}" if name else ""

    def _by_load(self, alone: Array, batch: _Batch) -> str:
        """Whether only the number of tokens on its own experts decides."""
        experts, slots = self.case.experts, self.watched.ids.shape[1]
        count = max(len(batch.tokens.x) - 1, 1)
        if experts < 2 * slots:
            return ""
        random = np.random.default_rng(settings.seed)
        elsewhere = _at(_others(max(count, 64), self.watched, experts, "elsewhere", random), self.watched, 0)
        own = _at(_others(max(count, 64), self.watched, experts, "own", random), self.watched, 0)
        if self.differs(self.row(_Batch("", "", elsewhere, 0)), alone) or not self.differs(self.row(_Batch("", "", own, 0)), alone):
            return ""
        return "tile height: it depends on how many tokens share its experts, and on nothing else of them"

    def check(self, most: int, varies: Sequence[str], random: np.random.Generator) -> None:
        alone = self.ask(self.watched)[0]
        for batch in _batches(self.watched, self.case.experts, most, varies, random):
            if batch.varies not in varies:
                continue
            found = self.row(batch)
            compared(found.size)
            wrong = bits_of(found) != bits_of(alone)
            if not wrong.any():
                continue
            at = int(np.argmax(wrong))
            of = _OUT[found.dtype]
            texts = code_text(int(bits_of(found)[at]), of), code_text(int(bits_of(alone)[at]), of)
            why = self.name(alone, batch, found)
            raise AssertionError(
                f"token {self.token} parts from what it is alone at place {batch.place} of {batch.what} ({batch.varies}):\n"
                f"out{place_text(found, (at,))} of its row: {texts[0]}, alone {texts[1]}; {np.count_nonzero(wrong)} of {wrong.size} differ\n"
                + (why if why else "no rule that is known explains it")
            )


def assert_batch_invariant(
    kernel: Callable[..., Any],
    *,
    format: str,
    activation: str,
    sizes: Sequence[int] = (8, 128, 256),
    top_k: int = 2,
    bias: bool = False,
    most: int = 1024,
    varies: Sequence[str] = VARIES,
) -> None:
    """A token's outputs have the same bits whatever else is in the batch.

    kernel: as of assert_kernel: takes x, ids, weights and the layer's tensors by name in a checkpoint's form, gate before up; returns out in bfloat16 or float32.
    format: mxfp4, mxfp8, nvfp4, fp8_tensor, fp8_channel or fp8_block. activation: "SWIGLUOAI" or "SILU". sizes: experts, intermediate and hidden size. most: tokens of
    the largest batch, 2 to 1,024. varies: what is varied, of "repeated" (the same call again), "slots" (the order of the token's own), "padding" (rows of no expert
    behind it, ids -1), "among" (2 to `most` tokens), "place" (its place among them), "load" (all others on its experts, or none).
    Raises AssertionError: the first token, place and batch that part from the token alone, how many values differ, and where a rule explains it its name: atomics,
    order of slots, a dynamic scale over the batch, split of k (with contract and parts), tile height; and the line that draws them again. mxact.Error: unknown names, sizes
    that do not fit.
    """
    if not callable(kernel):
        raise Error(f"kernel is of type {type(kernel).__name__}, must be a function", place="kernel")
    how = Arithmetic(one_of("format", format, FORMATS), one_of("activation", activation, tuple(ACTIVATIONS)))
    shape: Sizes = sizes_of(sizes, 2, top_k, bias)
    largest, wanted = integer("most", most), some_of("varies", varies, VARIES)
    if not 2 <= largest <= _COUNTS[-1]:
        raise Error(f"most is {largest}, must be 2 to {_COUNTS[-1]}", place="most")
    if not wanted:
        raise Error("varies is empty: nothing would be tried", place="varies")
    case = case_of(how, shape, ORDINARY[0], settings.seed)
    law = _Law(kernel, "exact", None, {}, word("activation", activation), "", [])
    with told():
        for token in range(case.tokens):
            watch = _Watch(partial(law.answer, case.layer), case, token, shape.bias)
            watch.check(largest, wanted, np.random.default_rng([settings.seed, token]))
    settings.held.append(f"batch invariance of a kernel, {how.format}, up to {largest} tokens: {', '.join(wanted)}")
