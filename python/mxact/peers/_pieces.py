"""What a peer is asked in one call, and what an operation's trial has to answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from mxact._arguments import Array


@dataclass(frozen=True)
class Piece:
    """Inputs of one call of the peer: what is compared are units, an element, a block or a sum each; `special` ones hold a NaN or an Inf, or are sums
    that the peer is known to answer otherwise."""

    inputs: tuple[Any, ...]
    special: Array


class Trial(Protocol):
    """strict: special units count as all others do."""

    strict: ClassVar[bool]

    def pieces(self, random: np.random.Generator, exhaustive: bool) -> Iterator[Piece]: ...
    def answer(self, piece: Piece) -> tuple[Array, ...]: ...
    def right(self, piece: Piece, profile: str) -> tuple[Array, ...]:
        """mxact.Error where the profile has no such operation."""

    def wrong(self, found: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
        """Of each unit."""

    def shown(self, piece: Piece, found: tuple[Array, ...], profile: str, wrong: Array) -> str:
        """The smallest unit that is wrong."""
