"""How k may be cut: lengths of pieces, and parts that share it by turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from mxact.hwcheck._ways import Way

_TILES = (8, 16, 32, 64, 128, 256, 512)
_MOST_PIECES, _MOST_PARTS = 64, 16
_LOOPS = (128, 64, 256, 32)


def lengths(k: int) -> list[int]:
    """Lengths of pieces that k may be cut into, the fewest pieces first."""
    found = {ceil(ceil(k / tile) / count) * tile for count in range(2, _MOST_PIECES + 1) for tile in _TILES}
    return sorted((length for length in found if length < k), reverse=True)


def split(way: Way, k: int) -> Iterator[Way]:
    """Parts that take a tile of k each by turns, as a loop over tiles with split_k does."""
    for tile in _LOOPS:
        for parts in range(2, min(-(-k // tile), _MOST_PARTS) + 1):
            yield replace(way, turns=parts, turn_k=tile)


def of_warps(way: Way, k: int) -> Iterator[Way]:
    """Marlin's: 1, 2 or 4 warps of a block share k, and slices of k meet from the last one."""
    for warps in (1, 2, 4):
        shared = replace(way, turns=warps, turn_k=32, turn_join="warps") if warps > 1 else way
        if warps > 1:
            yield shared
        yield from (replace(shared, piece_k=length, join="descending") for length in lengths(k) if length % (32 * warps) == 0 and (k % length or length) > 32 * (warps - 1))
