"""By which known rule a kernel's outputs follow: contract, parts of k, what is rounded between, order of slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from itertools import product as choices
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact._error import Error
from mxact._tables import contract_record
from mxact.testing._asked import DTYPES
from mxact.testing._bits import bits_of
from mxact.testing._right import rights_of
from mxact.testing._stages import Arithmetic, Case, numbers_in, product, rounded

_PARTS = (1, 2, 3, 4, 8)


@dataclass(frozen=True)
class Rule:
    """contract: of each part of k; the parts' sums are added in fp32, in their order. rounds: which of gate_up, act and expert_out are rounded to bf16. order: of a
    token's slots in their sum."""

    contract: str
    parts: int
    rounds: tuple[str, ...]
    order: tuple[int, ...]

    def text(self) -> str:
        cut = f", k in {self.parts} parts" if self.parts > 1 else ""
        rounds = f", {', '.join(self.rounds)} in bf16" if self.rounds else ""
        order = f", slots in the order {', '.join(map(str, self.order))}" if self.order != tuple(range(len(self.order))) else ""
        return f"contract {self.contract}{cut}{rounds}{order}"


def _in_parts(parts: int, is_rounded: bool) -> Callable[..., Array]:
    """A product whose k is cut into equal parts, in units of 32."""

    def make(rows: Array, matrices: Array, experts: Array, biases: Array | None, contract: str) -> Array:
        if parts == 1:
            total = product(rows, matrices, experts, biases, contract)
        else:
            length = -(-rows.shape[1] // (32 * parts)) * 32
            cuts = [slice(start, start + length) for start in range(0, rows.shape[1], length)]
            total = np.zeros((len(rows), matrices.shape[1]), np.float32)
            for cut in cuts:
                total = total + product(np.ascontiguousarray(rows[:, cut]), np.ascontiguousarray(matrices[:, :, cut]), experts, None, contract)
            if biases is not None:
                total = total + biases[experts]
        return rounded(total, "bf16") if is_rounded else total

    return make


def _stages(case: Case, rule: Rule) -> dict[str, Array]:
    gate_up = case.first({"first": _in_parts(rule.parts, "gate_up" in rule.rounds)})
    act = case.activated({}, gate_up)
    act = rounded(act, "bf16") if "act" in rule.rounds else act
    down = case.second({"second": _in_parts(rule.parts, "expert_out" in rule.rounds)}, act, case.ids)
    return {"gate_up": gate_up, "act": act, "expert_out": down}


def _known(how: Arithmetic, bias: bool) -> list[str]:
    """Contracts that backends follow for the format, each arithmetic once."""
    named = ["exact", "f32-sequential"]
    try:
        named += [right.how.split(",")[0].split(" x ")[1] for right in rights_of(how, bias)]
    except Error:  # no backend takes such layers
        pass
    once: dict[str, str] = {}
    for name in named:
        once.setdefault(contract_record(name), name)
    return list(once.values())


def _outputs(case: Case, bias: bool) -> Iterator[tuple[Rule, dict[str, Array]]]:
    """The plainest first."""
    orders = list(permutations(range(case.ids.shape[1])))[:6]
    rounds = sorted(choices((False, True), repeat=3), key=sum)
    names = ("gate_up", "act", "expert_out")
    for which in rounds:
        for parts in _PARTS:
            if parts > 1 and parts * 32 > case.inputs.shape[1]:
                continue
            for contract in _known(case.how, bias):
                rule = Rule(contract, parts, tuple(name for name, on in zip(names, which, strict=True) if on), orders[0])
                own = replace(case, how=replace(case.how, contract=contract))
                try:
                    made = _stages(own, rule)
                except Error:  # the contract does not take such numbers
                    continue
                for order in orders:
                    at = list(order)
                    slots = made["expert_out"].reshape(*case.ids.shape, -1)[:, at].reshape(made["expert_out"].shape)
                    yield replace(rule, order=order), made | {"out": own.summed(slots, np.ascontiguousarray(case.weights[:, at]))}


def rules_of(case: Case, bias: bool, *found: dict[str, Array]) -> list[Rule | None]:
    """Of each kernel's stages the plainest rule that gives all of them, bit for bit; none where none does. found: out, and any of gate_up, act and expert_out, in
    float32, bfloat16 or float16 [tokens, ...]."""
    rules: list[Rule | None] = [None] * len(found)
    for rule, made in _outputs(case, bias):
        for i, stages in enumerate(found):
            if rules[i] is None and all(_same(made[name], values) for name, values in stages.items()):
                rules[i] = rule
        if None not in rules:
            break
    return rules


def _same(made: Array, values: Array) -> bool:
    given = numbers_in(made, DTYPES[str(values.dtype)]).reshape(values.shape)
    return np.array_equal(bits_of(given), bits_of(values))


def sentence(rule: Rule | None) -> str:
    return "no contract that is known" if rule is None else rule.text()


def named(first: Rule | None, second: Rule | None) -> str:
    """What parts two rules; nothing where one is not known."""
    if first is None or second is None or first == second:
        return ""
    both: dict[str, Any] = {"split of k": first.parts != second.parts, "order of slots": first.order != second.order, "tile height": True}
    return next(name for name, is_it in both.items() if is_it)
