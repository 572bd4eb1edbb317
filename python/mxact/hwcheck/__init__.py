"""Whose arithmetic a GPU follows: libraries, kernels and instructions of the card that is here, each held to every contract of the table and, where none fits, to records found field by field.

    python -m mxact.hwcheck                          # a table of everything that this machine has
    python -m mxact.hwcheck torch --record=DIR       # and a set that `mxact witness DIR` reads
    python -m mxact.hwcheck --from=DIR               # a recorded set in the place of a card

What a library is known to do stands in rules(); it is looked at only after a way was found from the values. Importing this needs NumPy alone: torch, Triton, JAX and CUDA are
asked only where they are installed. Source: outputs of an H100, docs/hardware.md.
"""

from __future__ import annotations

from mxact.hwcheck._rules import RULES as _RULES
from mxact.hwcheck._rules import Rule, record
from mxact.hwcheck._ways import Way


def rules() -> list[Rule]:
    """What is known of libraries' sums: library, operation, sizes, release and card, each with its way."""
    return list(_RULES)


__all__ = ["Rule", "Way", "record", "rules"]
