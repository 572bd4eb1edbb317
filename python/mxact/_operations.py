"""Operations of an arithmetic unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import dtype_of, flat_bytes, format_of, numbers_or_codes, room, word
from mxact._error import Error
from mxact._libraries import like


def operate(operation: str, *operands: object, to: str | None = None, profile: str = "ocp", source: str | None = None) -> tuple[Any, Any]:
    """An operation of IEEE 754 on each number: the exact result, rounded once.

    operation: "add", "sub", "mul", "fma" (a * b + c), "div", "sqrt", "minimum", "maximum" (a NaN wins), "minimum-number", "maximum-number" (a number wins).
    operands: arrays of one shape and one format, as convert() takes them; codes with their format in `source`.
    to: the format of the result; that of the operands without it. profile: a name of mxact.profiles() that converts into it, or rules.
    Returns the results, as convert() has them, and the five flags of IEEE 754 as uint8: 1 inexact, 2 underflow, 4 overflow, 8 division by zero, 16 invalid.
    Raises mxact.Error: unknown names, another number of operands, shapes or formats that differ, a result that the profile refuses.
    Source: IEEE 754-2019 sections 5.4.1, 6, 7 and 9.6.
    """
    wanted = _core.operands_of(word("operation", operation))
    if len(operands) != wanted:
        raise Error(f"{len(operands)} operands: {operation} has {wanted}")
    values = [numbers_or_codes("operands", x, source) for x in operands]
    names = {format_of("operands", one, source) for one in values}
    if len(names) > 1 or len({one.shape for one in values}) > 1:
        shown = ", ".join(f"{format_of('operands', one, source)} {one.shape}" for one in values)
        raise Error(f"operands of {operation} have one format and one shape, not {shown}")
    name = names.pop()
    target = name if to is None else word("to", to)
    results = room(values[0].shape, dtype_of(target))
    flags = np.zeros(values[0].shape, np.uint8)
    _core.operate(operation, word("profile", profile), name, target, [flat_bytes(one) for one in values], results.reshape(-1).view(np.uint8), flags.reshape(-1))
    return like(operands[0], results), like(operands[0], flags)
