"""Operations of an arithmetic unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import dtype_of, flat_bytes, format_of, listed, numbers_or_codes, room, word
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


def p3109(specialization: str, operands: object, random: object = None) -> Any:
    """An operation of IEEE P3109 (draft 4.0), scalar or on blocks: the defined result, which has one zero, one NaN and no flags.

    specialization: as the document writes it, "Add<Binary8p4se, Binary8p4se, Binary8p3se, (NearestTiesToEven, SatNone)>" or "BlockDotProduct<32, ...>";
    `mxact formats --p3109` lists the operations. operands: codes as unsigned integers, of shape [..., operands]: in the order of the signature, a block
    as its scale and then its elements. random: of stochastic roundings codes of shape [..., results], one number for each number of the result.
    Returns codes as uint32, of shape [..., results]: of an operation on blocks the result's scale first. Truth values are 0 and 1; of facts of a format,
    which take operands of shape [..., 0], SignednessOf is 1 of unsigned and DomainOf 1 of extended ones.
    Raises mxact.Error: unknown words, another number of operands, a code that is none of its format.
    Source: P3109 4.0 sections 4.5 to 5.5.
    """
    wanted, given = _core.p3109_sizes(word("specialization", specialization))
    codes, numbers = _codes("operands", operands), None if random is None else _codes("random", random)
    if codes.ndim == 0 or codes.shape[-1] != wanted:
        raise Error(f"operands have the shape {codes.shape}: {specialization} takes {wanted} along the last axis", place="operands")
    if numbers is not None and (numbers.ndim == 0 or numbers.shape[:-1] != codes.shape[:-1]):
        raise Error(f"random has the shape {numbers.shape}, must be {codes.shape[:-1]} and the random numbers of a result", place="random")
    results = np.zeros((*codes.shape[:-1], given), np.uint32)
    if results.size:
        _core.p3109(specialization, codes.reshape(-1), np.zeros(0, np.uint32) if numbers is None else numbers.reshape(-1), results.reshape(-1))
    return like(operands, results)


def _codes(name: str, value: object) -> Any:
    """Unsigned integers as uint32."""
    codes = listed(name, value, np.dtype(np.uint32))
    if codes.dtype.kind != "u" or codes.dtype.itemsize > 4:
        raise Error(f"{name} is {codes.dtype}, must be unsigned integers of up to 32 bits", place=name)
    return np.ascontiguousarray(codes, np.uint32)
