"""Operations of an arithmetic unit, comparisons, and conversions from and to integers and fixed point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import array, dtype_of, flat_bytes, format_of, listed, numbers_or_codes, room, shown, word
from mxact._error import Error
from mxact._libraries import Array, like


def _sources(source: object, count: int) -> list[object]:
    """The format of each operand's codes, or None."""
    if source is None or isinstance(source, str):
        return [source] * count
    if not isinstance(source, Sequence):
        raise Error(f"source is {shown(source)}, must be a name or one for each operand", place="source")
    if len(source) != count:
        raise Error(f"source names {len(source)} formats for {count} operands", place="source")
    return list(source)


def _integers(text: str, target: bool) -> np.dtype[Any]:
    size, has_sign = _core.integer_facts(text, target)
    return np.dtype(f"{'i' if has_sign else 'u'}{size}")


def operate(operation: str, *operands: object, to: str | None = None, profile: str = "ocp", source: str | Sequence[str | None] | None = None) -> tuple[Any, Any]:
    """An operation of IEEE 754 on each number: the exact result, rounded once; or a comparison.

    operation: "add", "sub", "mul", "fma" (a * b + c), "div", "sqrt", "minimum", "maximum" (a NaN wins), "minimum-number", "maximum-number" (a number wins),
    or a predicate: "quiet-" or "signalling-" before "equal", "not-equal", "less", "less-equal", "greater", "greater-equal", "not-less", "not-greater",
    "less-unordered", "greater-unordered"; "quiet-unordered", "quiet-ordered". The signalling ones are invalid for every NaN.
    operands: arrays of one shape, as convert() takes them, each of its own format; codes with their format in `source`, one name or one for each operand.
    to: the format of the result; that of the operands, where they have one, without it. profile: a name of mxact.profiles() that converts into it, or
    rules. A predicate takes neither.
    Returns the results, as convert() has them (of a predicate bools), and the five flags of IEEE 754 as uint8: 1 inexact, 2 underflow, 4 overflow,
    8 division by zero, 16 invalid.
    Raises mxact.Error: unknown names, another number of operands, shapes that differ, formats that differ without `to`, a result that the profile refuses.
    Source: IEEE 754-2019 sections 5.4.1, 5.11, 6, 7 and 9.6.
    """
    wanted, is_predicate = _core.operation_facts(word("operation", operation))
    if len(operands) != wanted:
        raise Error(f"{len(operands)} operands: {operation} has {wanted}")
    sources = _sources(source, wanted)
    values = [numbers_or_codes("operands", x, of) for x, of in zip(operands, sources, strict=True)]
    names = [format_of("operands", one, of) for one, of in zip(values, sources, strict=True)]
    if len({one.shape for one in values}) > 1:
        raise Error(f"operands of {operation} have one shape, not {', '.join(str(one.shape) for one in values)}")
    codes = [flat_bytes(one) for one in values]
    flags = np.zeros(values[0].shape, np.uint8)
    results: Array
    if is_predicate:
        if to is not None or profile != "ocp":
            raise Error(f"{operation} has no format and no profile: its result is True or False")
        results = np.zeros(values[0].shape, np.bool_)
        _core.compare_codes(operation, names, codes, results.reshape(-1).view(np.uint8), flags.reshape(-1))
    else:
        if to is None and len(set(names)) > 1:
            raise Error(f"operands of {operation} are {', '.join(names)}: say in to which format the result has", place="to")
        target = names[0] if to is None else word("to", to)
        results = room(values[0].shape, dtype_of(target))
        _core.operate(operation, word("profile", profile), names, target, codes, results.reshape(-1).view(np.uint8), flags.reshape(-1))
    return like(operands[0], results), like(operands[0], flags)


def to_integer(x: object, to: str, *, source: str | None = None) -> tuple[Any, Any]:
    """Each number as an integer or in fixed point, rounded once.

    x: an array of numbers, as convert() takes it; codes with their format in `source`.
    to: "i32,round=rtz,overflow=riscv": i2 to i64, u1 to u64, or fixed point ("q4.12": 16 bits, the sign among the 4; "uq0.16"), a rounding of
    mxact.rules(), and what a NaN gives and a number that is out of range once rounded: "saturate" (the nearest bound, a NaN 0: Arm, WebAssembly),
    "riscv" (the nearest bound, a NaN the largest), "x86" (the least number, without a sign all ones), "wrap" (the low bits; NaN and Inf 0).
    Returns integers of the smallest dtype that holds them, of fixed point in units of the last bit, and flags as operate() has them: 16 invalid (NaN, out
    of range), else 1 inexact.
    Raises mxact.Error: unknown words, a rounding or overflow that is not said, an array of another kind.
    Source: IEEE 754-2019 section 5.8; RISC-V F extension, table of float-to-integer conversions; Intel SDM, CVTSS2SI; Arm ARM, FCVTZS, FJCVTZS.
    """
    values = numbers_or_codes("x", x, source)
    name = format_of("x", values, source)
    results = np.zeros(values.shape, _integers(word("to", to), True))
    flags = np.zeros(values.shape, np.uint8)
    _core.to_integers(to, name, flat_bytes(values), results.reshape(-1).view(np.uint8), flags.reshape(-1))
    return like(x, results), like(x, flags)


def from_integer(x: object, to: str, *, profile: str = "ocp", source: str | None = None) -> tuple[Any, Any]:
    """Each integer, or number in fixed point, as a number of a format, rounded once.

    x: an array of integers. source: what they are, as to_integer() has it without rules: "i32", "q4.12"; that of the dtype without it.
    to: a format. profile: a name of mxact.profiles() that converts into it, or rules.
    Returns codes as convert() has them, and the flags of IEEE 754 as operate() has them.
    Raises mxact.Error: unknown names, an array of another dtype, an integer with more bits than `source` has.
    Source: IEEE 754-2019 section 5.4.1, convertFromInt.
    """
    values = array("x", x)
    if values.dtype.kind not in "iu" or not values.dtype.isnative:
        raise Error(f"x is {values.dtype}, must be integers of this machine's byte order", place="x")
    name = f"{values.dtype.kind}{8 * values.dtype.itemsize}" if source is None else word("source", source)
    wanted = _integers(name, False)
    if values.dtype != wanted:
        raise Error(f"x is {values.dtype}, but {name} is held by {wanted}", place="x")
    target = word("to", to)
    results = room(values.shape, dtype_of(target))
    flags = np.zeros(values.shape, np.uint8)
    _core.from_integers(name, word("profile", profile), target, flat_bytes(values), results.reshape(-1).view(np.uint8), flags.reshape(-1))
    return like(x, results), like(x, flags)
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
