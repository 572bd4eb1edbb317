"""Names that the other calls take."""

from __future__ import annotations

import os

from mxact import _core
from mxact._arguments import contract_word, integer, optional_word, word


def formats() -> list[str]:
    """Number formats: what convert() takes and gives. `mxact formats` shows their bits, ranges and sources."""
    return _core.formats()


def block_formats() -> list[str]:
    """Block formats: what quantize() takes. `mxact formats` shows elements, scales and block lengths."""
    return _core.block_formats()


def profiles() -> list[str]:
    """Profiles: whose rounding, scale rule, overflow and NaN is meant. `mxact formats --profile NAME` shows what one does."""
    return _core.profiles()


def rules(to: str, profile: str = "ocp", source: str = "f32") -> str:
    """A format and how a profile converts into it, as one string: rules("e4m3fn") is "e4m3,bias=7,fn,round=rne,overflow=saturate,nan=7f".

    A block format gives how the profile quantizes it: rules("mxfp4") is "block=32,element=(e2m1,bias=1,finite,...),scale=e8m0,rule=floor". Where a format or a profile is named it can stand for it, and so can any other string of such words: `mxact formats --rules` lists them.
    Raises mxact.Error for an unknown name, for a profile without this conversion, and for rules what is wrong with them.
    """
    return _core.rules(word("to", to), word("profile", profile), word("source", source))


def ways(profile: str) -> dict[str, dict[tuple[str, str], str]]:
    """Which way the blocks of a profile take: {"quantize": {(block format, source): way}, "dequantize": {(block format, target): way}}.

    "kernel": in vectors, by the rule's own steps. "thresholds": in vectors, the scale from a table of the magnitudes at which the rule changes its answer.
    "model": the scalar reference, block by block. Bits do not depend on it. Of recipes that take numbers of the tensor the way is that with the number 1.

    Raises mxact.Error for a profile that there is not, naming the nearest.
    """
    quantize, dequantize = _core.ways(word("profile", profile))
    return {"quantize": {(format, source): way for format, source, way in quantize}, "dequantize": {(format, to): way for format, to, way in dequantize}}


def contracts() -> list[str]:
    """Contracts of dot products by name. `mxact formats` shows what each does and on which grounds; where one is taken, so is a record of fields."""
    return _core.contracts()


def contract_record(name: str | os.PathLike[str]) -> str:
    """A contract as one string of fields, the same for equal arithmetic; where a contract is named it can stand for it.

    Raises mxact.Error for an unknown name, and for a record what is wrong with it.
    """
    return _core.contract_record(contract_word(name))


def activations() -> list[str]:
    """Activations of experts: what activate() takes, one row an implementation."""
    return _core.activations()


def routers() -> list[str]:
    """Routers: what route() takes, one row an implementation."""
    return _core.routers()


def layouts() -> list[str]:
    """Layouts that are building blocks. `mxact layout show NAME` shows one."""
    return _core.layouts()


def backends(engine: str | None = None) -> list[str]:
    """Backends whose layouts the model has: of every version of an engine, or of the one that `engine` names.

    Raises mxact.Error for a version that has no tables of conversions, naming those that have.
    """
    return _core.backends(optional_word("engine", engine))


def engines() -> list[str]:
    """Versions of engines, the oldest first."""
    return _core.engines()


def threads(n: int | None = None) -> int:
    """On how many threads calls run; with `n`, from 1 to 1024, from now on on so many. Results do not depend on it.

    In the beginning as many as OpenMP would take. A forked child has one and takes no more.
    """
    if n is not None:
        _core.set_threads(integer("threads", n))
    return _core.threads()
