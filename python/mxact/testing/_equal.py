"""Two kernels that must give the same bits: the one that trains, the one that serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mxact._arguments import Array, array
from mxact._error import Error
from mxact.testing._asked import one_of, sizes_of
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._kernels import _OUT, Tokens, _Law
from mxact.testing._power_data import ORDINARY, case_of
from mxact.testing._right import FORMATS
from mxact.testing._rules import rules_of, sentence
from mxact.testing._runs import compared, settings, settled, told
from mxact.testing._stages import ACTIVATIONS, Arithmetic, Case

_STAGES = ("gate_up", "act", "expert_out")


def _shape(case: Case, stage: str) -> tuple[int, ...]:
    width = {"gate_up": case.w13.shape[1], "act": case.w13.shape[1] // 2, "expert_out": case.w2.shape[1]}[stage]
    return (*case.ids.shape, width)


def _stages(name: str, fn: Callable[..., Any], case: Case, activation: str) -> dict[str, Array]:
    """out, and what else the kernel shows."""
    kept: list[Mapping[str, Any]] = []

    def alone(*given: Any) -> Any:
        answer = fn(*given)
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Mapping):
            kept.append(answer[1])
            return answer[0]
        return answer

    try:
        out = _Law(alone, "exact", None, {}, activation, "", []).answer(case.layer, Tokens(case.x, case.ids, case.weights))
    except AssertionError as failed:
        raise AssertionError(f"{name}: {failed}") from failed.__cause__
    stages: dict[str, Array] = {}
    for stage, value in (kept[0] if kept else {}).items():
        if stage not in _STAGES:
            raise AssertionError(f"{name} shows a stage {stage!r}, must be of {', '.join(_STAGES)}")
        values = array(stage, value)
        if values.dtype not in _OUT or values.shape != _shape(case, stage):
            raise AssertionError(f"{name}'s {stage} is {values.dtype} {values.shape}, must be bfloat16 or float32 {_shape(case, stage)}")
        stages[stage] = values
    return stages | {"out": out}


def _difference(stage: str, first: Array, second: Array) -> str:
    """Nothing where both have the same bits."""
    if first.dtype != second.dtype:
        return f"train's {stage} is {first.dtype}, rollout's {second.dtype}"
    wrong = bits_of(first) != bits_of(second)
    if not wrong.any():
        return ""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    texts = [code_text(int(bits_of(values)[index]), _OUT[values.dtype]) for values in (first, second)]
    return f"{stage}{place_text(first, index)}: train {texts[0]}, rollout {texts[1]}; {np.count_nonzero(wrong)} of {wrong.size} differ"


def assert_equal_kernels(
    train: Callable[..., Any],
    rollout: Callable[..., Any],
    *,
    format: str,
    activation: str,
    sizes: Sequence[int] = (4, 128, 256),
    tokens: int = 4,
    top_k: int = 2,
    bias: bool = False,
) -> tuple[str, str]:
    """Two kernels of experts give the same bits for the same tokens.

    train, rollout: as of assert_kernel; each may return (out, stages) with any of gate_up [tokens, top_k, 2 * intermediate], act and expert_out, in bfloat16
    or float32, which are compared first where both have them. All else as of assert_batch_invariant().
    Returns the contract that each follows, in words: its name, parts of k, what is rounded between, order of slots; or that none is known.
    Raises AssertionError: the first stage that differs, its first value of both, how many differ, and the contract that each follows; also for a kernel that
    raises, or answers another shape or dtype. mxact.Error: unknown names, sizes that do not fit.
    """
    for name, fn in (("train", train), ("rollout", rollout)):
        if not callable(fn):
            raise Error(f"{name} is of type {type(fn).__name__}, must be a function", place=name)
    how = Arithmetic(one_of("format", format, FORMATS), one_of("activation", activation, tuple(ACTIVATIONS)))
    shape = sizes_of(sizes, tokens, top_k, bias)
    case = case_of(how, shape, ORDINARY[0], settings.seed)
    followed: list[tuple[str, str]] = []

    def check() -> None:
        both = [_stages(name, fn, case, activation) for name, fn in (("train", train), ("rollout", rollout))]
        compared(both[0]["out"].size)
        first, second = (sentence(rule) for rule in rules_of(case, shape.bias, *both))
        followed.append((first, second))
        for stage in (*_STAGES, "out"):
            if all(stage in stages for stages in both):
                problem = _difference(stage, both[0][stage], both[1][stage])
                if problem:
                    raise AssertionError(f"the kernels part in {stage}:\n{problem}\ntrain follows {first}\nrollout follows {second}")

    with told():
        settled(check)
    settings.held.append(f"two kernels alike, {how.format}: {followed[0][0]}")
    return followed[0]
