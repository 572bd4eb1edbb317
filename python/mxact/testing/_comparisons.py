"""A comparison, or a layer of experts whose batch changes, behind a pipe: what `mxact laws power` and `mxact laws batch` hold."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from mxact._arguments import Array
from mxact.testing._asked import DTYPES
from mxact.testing._batch import VARIES, assert_batch_invariant
from mxact.testing._pipes import Program
from mxact.testing._power import assert_power
from mxact.testing._power_data import ORDINARY, SPECIAL
from mxact.testing._right import FORMATS
from mxact.testing._runs import Broken
from mxact.testing._stages import ACTIVATIONS, QUANTIZERS
from mxact.testing._wrong import ALL


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _sizes(text: str) -> list[int]:
    parts = _names(text)
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is no EXPERTS,INTERMEDIATE,HIDDEN")
    return [int(part) for part in parts]


def _whole(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 32:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to {(1 << 32) - 1}")


def _part(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if 0 < value <= 1:
        return value
    raise argparse.ArgumentTypeError(f"{text!r} is no part above 0 and at most 1")


def _constants(text: str) -> dict[str, float]:
    made = {}
    for name, sign, value in (one.partition("=") for one in _names(text)):
        try:
            made[name] = float(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{name + sign + value!r} is no NAME=NUMBER") from None
    return made


def add(of: Any, common: argparse.ArgumentParser) -> None:
    """The options of both subjects."""
    layer = type(common)(add_help=False)
    layer.add_argument("--format", required=True, help=", ".join(FORMATS))
    layer.add_argument("--activation", required=True, help=" or ".join(ACTIVATIONS))
    layer.add_argument("--sizes", type=_sizes, metavar="E,I,H", help="experts, intermediate and hidden size, multiples of 128")
    layer.add_argument("--top-k", type=_whole, default=2, metavar="N", help="experts of a token (2)")
    layer.add_argument("--bias", action="store_true", help="layers with biases")
    power = of.add_parser("power", parents=[common, layer], help="a comparison of two arrays: which wrong kernels of experts it lets through")
    power.add_argument("--tokens", type=_whole, default=4, metavar="N", help="rows of both arrays (4)")
    power.add_argument("--constants", type=_constants, default={}, metavar="NAME=X,...", help="limit, alpha, beta, in the place of the activation's own")
    power.add_argument("--activations", default="none", help=f"what both products take: {', '.join(QUANTIZERS)} (none: bfloat16)")
    power.add_argument("--contract", help="of what is expected; it is then the only right kernel")
    power.add_argument("--engine", help="whose backends are right kernels, a version of mxact.engines()")
    power.add_argument("--dtype", default="bfloat16", help=f"of both arrays: {', '.join(DTYPES)} (bfloat16)")
    power.add_argument("--data", type=_names, metavar="NAME,...", help=f"of {', '.join(row.name for row in (*ORDINARY, *SPECIAL))} (all that apply)")
    power.add_argument("--wrong", type=_names, metavar="NAME,...", help=f"wrong kernels (all {len(ALL)})")
    power.add_argument("--measure", action="store_true", help="errors are the number distance of each answer; without it they are counted in what passes")
    power.add_argument("--at-least", type=_part, metavar="PART", help="of the wrong kernels that must be caught on all data (1, where no names are given)")
    power.add_argument("--never-passes", type=_names, default=[], metavar="NAME,...", help="wrong kernels that must be caught")
    power.add_argument("--passes-right", action="store_true", help="every right kernel must pass, too")
    batch = of.add_parser("batch", parents=[common, layer], help="a layer of experts: the same bits whatever else is in the batch")
    batch.add_argument("--most", type=_whole, default=1024, metavar="N", help="tokens of the largest batch, 2 to 1,024 (1024)")
    batch.add_argument("--varies", type=_names, default=list(VARIES), metavar="NAME,...", help=f"of {', '.join(VARIES)} (all)")


class _Compares:
    """The program as a comparison."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def _ask(self, candidate: Array, expected: Array) -> dict[str, Any]:
        try:
            answer, _ = self.program.ask({"op": "compare"}, {"candidate": candidate, "expected": expected})
        except RuntimeError as error:  # a comparison has an answer to any two arrays
            raise Broken(f"the command answers an error: {error}") from None
        return answer

    def check(self, candidate: Array, expected: Array) -> bool:
        answer = self._ask(candidate, expected)
        if not isinstance(answer.get("alike"), bool):
            raise Broken(f"the command's answer has no alike, true or false: {json.dumps(answer)[:60]}")
        return bool(answer["alike"])

    def distance(self, candidate: Array, expected: Array) -> float:
        answer = self._ask(candidate, expected)
        distance = answer.get("distance", "")
        if distance is None:  # no number
            return math.inf
        if isinstance(distance, bool) or not isinstance(distance, int | float):
            raise Broken(f"the command's answer has no number distance: {json.dumps(answer)[:60]}")
        return float(distance)


def power(asked: argparse.Namespace, program: Program) -> None:
    compares = _Compares(program)
    at_least = 1.0 if asked.at_least is None and not asked.never_passes else asked.at_least
    assert_power(
        compares.check,
        at_least=at_least,
        never_passes=asked.never_passes,
        passes_right=asked.passes_right,
        measure=compares.distance if asked.measure else None,
        sizes=asked.sizes or (8, 256, 256),
        data=asked.data,
        wrong=asked.wrong,
        **{name: getattr(asked, name) for name in ("format", "activation", "tokens", "top_k", "bias", "constants", "activations", "contract", "engine", "dtype")},
    )


def batch(asked: argparse.Namespace, program: Program) -> None:
    head = {"op": "kernel", "activation": asked.activation, "format": asked.format, "order": "standard"}

    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        _, given = program.ask(head, {"x": x, "ids": ids, "weights": weights, **tensors})
        if "out" not in given:
            raise Broken("the command's answer has no array out")
        return given["out"]

    how = {name: getattr(asked, name) for name in ("format", "activation", "top_k", "bias", "most", "varies")}
    assert_batch_invariant(kernel, sizes=asked.sizes or (8, 128, 256), **how)
