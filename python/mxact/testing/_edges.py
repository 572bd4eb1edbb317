"""Sizes at the edges of what people serve: where a kernel's tiles, blocks and tables end, and beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from mxact._error import Error
from mxact.testing._runs import Broken, changing, settled

Sizes = TypeVar("Sizes")

ROWS = (1, 4, 5, 63, 64, 65, 128, 129)  # of a tensor; tokens of one expert
EXPERTS = (1, 4, 5, 33, 129)
COLUMNS = (32, 64, 96, 128, 160, 256, 512, 1024, 2048)  # hidden sizes, and of a tensor
INTERMEDIATE = (64, 128, 192, 256, 512, 1024, 2048)


def below(size: int, least: int, edges: tuple[int, ...], step: int = 1) -> Iterator[int]:
    """Sizes to try in the place of one that fails, the least first: edges, then half the way from the last of them, then a step less."""
    known = sorted({least, *(edge for edge in edges if least <= edge < size)} - {size})
    yield from known
    between = ((known[-1] if known else least) + size) // 2 // step * step
    for less in sorted({between, size - step}):
        if (known[-1] if known else least) < less < size:
            yield less


def check_smallest(sizes: Sizes, check: Callable[[Sizes], None], smaller: Callable[[Sizes], Iterator[Sizes]]) -> None:
    """Raises what check() finds wrong, of the smallest sizes on which the same is wrong."""

    def failure_of(tried: Sizes) -> AssertionError | None:
        try:
            check(tried)
        except Broken:
            raise
        except AssertionError as failed:
            return failed
        return None

    def next_smaller(kind: list[str]) -> Sizes | None:
        for less in smaller(sizes):
            try:
                failure = failure_of(less)
            except Error:  # a size that is not taken
                continue
            if failure is not None and kind_of(failure) == kind:
                return less
        return None

    failure = failure_of(sizes)
    if failure is None:
        return
    while (less := next_smaller(kind_of(failure))) is not None:
        sizes = less
    settled(check, sizes)
    raise changing(failure)


def kind_of(failure: AssertionError) -> list[str]:
    """The kernel differs from, the kernel raises ValueError, ..."""
    return str(failure).split()[:4]
