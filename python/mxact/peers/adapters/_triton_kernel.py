"""The kernel of the peer triton. Imported where TRITON_INTERPRET is set."""

from __future__ import annotations

import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]


@triton.jit
def cast(x, y, room: tl.constexpr, count: tl.constexpr, to: tl.constexpr):
    i = tl.program_id(0) * room + tl.arange(0, room)
    here = i < count
    tl.store(y + i, tl.load(x + i, mask=here).to(to), mask=here)
