"""What explains the answers of somebody else's quantizer: a rule of the search that `mxact ver` has, or another profile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mxact import _core
from mxact._arguments import Array
from mxact._blocks import Quantized, TensorScale
from mxact._error import Error
from mxact._tables import profiles
from mxact.testing._bits import bits_of
from mxact.testing._strategies import block_shape

Answers = tuple[Array, Array]  # codes and scales as unsigned integers
Right = Callable[[Array, str], Quantized]


def by_block(values: Array, scales: Array) -> Array:
    """What belongs to each block, in the order of the scales: [blocks, elements]."""
    down, across = scales.shape
    rows, columns = values.shape[0] // down, values.shape[1] // across
    return values.reshape(down, rows, across, columns).swapaxes(1, 2).reshape(down * across, rows * columns)


def wrong_parts(answers: Answers, right: Quantized) -> tuple[Array, Array]:
    """Of each block whether its codes differ, and whether its scale does."""
    codes, scales = answers
    wrong_codes: Array = np.asarray(by_block(np.asarray(codes != bits_of(right.codes)), scales).any(axis=1))
    wrong_scales: Array = np.asarray(scales != bits_of(right.scales)).reshape(-1)
    return wrong_codes, wrong_scales


def wrong_blocks(answers: Answers, right: Quantized) -> Array:
    wrong_codes, wrong_scales = wrong_parts(answers, right)
    either: Array = wrong_codes | wrong_scales
    return either


def _operands(x: Array, number: TensorScale | None) -> Array:
    """Lanes as `mxact gen` has them: the elements of a block, then the numbers of the whole tensor."""
    words = bits_of(x).astype(np.uint32)
    numbers = [] if number is None else [value for value in (number.encode, number.decode) if value is not None]
    lanes = [np.full((len(words), 1), np.float32(value).view(np.uint32), np.uint32) for value in numbers]
    return np.ascontiguousarray(np.concatenate([words, *lanes], axis=1))


def causes(x: Array, format: str, profile: str, source: str, answers: Answers, number: TensorScale | None) -> list[str]:
    """A line for the rule that gives most of the wrong answers, and for each that explains what it leaves over. None: no rule that is known."""
    if block_shape(format)[0] != 1:
        return []
    codes, scales = answers
    given = np.ascontiguousarray(np.concatenate([scales.reshape(-1, 1), codes], axis=1).astype(np.uint32))
    found: list[str] = _core.block_causes(format, profile, source, _operands(x, number), given)
    return found


def same_profile(hard: Array, x: Array, profile: str, answers: Answers, right: Right) -> list[str]:
    """Profiles that give all answers for x, where what is wrong in x tells them from all others: they are one rule, by the hard blocks too."""
    if not wrong_blocks(answers, right(x, profile)).any():
        return []
    same = [other for other in profiles() if other != profile and _agrees(x, answers, other, right)]
    if len(same) > 1:
        first = right(hard, same[0])
        if not all(_agrees(hard, (bits_of(first.codes), bits_of(first.scales)), other, right) for other in same[1:]):
            return []
    return same


def _agrees(x: Array, answers: Answers, profile: str, right: Right) -> bool:
    try:
        own = right(x, profile)
    except Error:
        return False
    return bool(np.array_equal(answers[0], bits_of(own.codes)) and np.array_equal(answers[1], bits_of(own.scales)))


def _about(block: Array) -> str:
    numbers = np.abs(block.astype(np.float32))
    if np.isnan(numbers).any():
        return "a NaN"
    if np.isinf(numbers).any():
        return "an infinity"
    if not numbers.any():
        return "zeros"
    smallest = np.finfo(np.float16).smallest_normal if block.dtype == np.float16 else np.finfo(np.float32).smallest_normal
    return "subnormals alone" if numbers.max() < smallest else "numbers"


def distinct(x: Array, answers: Answers, right: Quantized) -> dict[str, list[int]]:
    """Blocks that are wrong, by what they are about and what is wrong with them: {"a NaN: codes": [3, 7]}."""
    wrong_codes, wrong_scales = wrong_parts(answers, right)
    blocks = by_block(x, answers[1])
    found: dict[str, list[int]] = {}
    for block in np.flatnonzero(wrong_codes | wrong_scales).tolist():
        what = " and ".join(name for name, wrong in (("scale", wrong_scales), ("codes", wrong_codes)) if wrong[block])
        found.setdefault(f"{_about(blocks[block])}: {what}", []).append(block)
    return found
