"""What a peer is: its operations, each with the profile that it is known to follow, and its known faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mxact._arguments import Array


@dataclass(frozen=True)
class Cast:
    """One number into another format.

    operation: the call, as the peer's users write it. source, to: formats of mxact.formats(). profile: a name of mxact.profiles(), without a version: the
    installed release's, or the newest. fn: an array [n] of the source's dtype -> codes or numbers [n]. why: what is its own against the documents. finite:
    only finite numbers are asked, where what a NaN or an Inf gives is left to the processor. release: the peer's that a profile of named rules was recorded
    from, since such a profile has none.
    """

    operation: str
    source: str
    to: str
    profile: str
    fn: Callable[[Array], Any]
    why: str = ""
    finite: bool = False
    release: str = ""


@dataclass(frozen=True)
class Quantizer:
    """Blocks into codes and scales: fn as of mxact.testing.assert_quantizer. tensor_scale: "given" where the recipe takes one number of the tensor."""

    operation: str
    format: str
    source: str
    profile: str
    fn: Callable[..., Any]
    tensor_scale: str | None = None
    why: str = ""


@dataclass(frozen=True)
class Emulation:
    """Blocks into the numbers that they are after quantization: an array [rows, K] -> numbers of the same dtype."""

    operation: str
    format: str
    source: str
    profile: str
    fn: Callable[[Array], Any]
    why: str = ""


@dataclass(frozen=True)
class Back:
    """Codes [rows, K] and scales [rows, K / block], unsigned integers, into numbers of `to`; with the tensor's scale where one is given."""

    operation: str
    format: str
    to: str
    profile: str
    fn: Callable[..., Any]
    tensor_scale: bool = False
    why: str = ""


@dataclass(frozen=True)
class Disagreement:
    """Sums that a peer is known to answer otherwise: they are counted apart.

    where: of the numbers a [M, K], b [N, K] and c [M, N] (float64; scales are not in them) -> bool [M, N]. sentence: what the peer does there, and what the
    contract does. decides: whose silicon says which is right, or that none does.
    """

    where: Callable[[Array, Array, Array], Array]
    sentence: str
    decides: str


@dataclass(frozen=True)
class Sum:
    """A tile of sums of products, as a matrix unit adds them up.

    operation: the peer's class or call. contract: a name of mxact.contracts(). a, b, c, to: formats of the operands, of C ("" where the call takes none) and
    of the result. k: products of a sum. fn: codes a [M, K] and b [N, K], C [M, N] in its dtype, scales of both sides or None -> numbers [M, N] of `to`.
    scales: "" none; "terms": codes [M, blocks] and [N, blocks] of the contract's format; "numbers": one fp32 number for each side. release: the peer's that
    the contract was held against. any_nan: the peer's NaN is its host's, so that one NaN is as good as another. further: asked only in long runs.
    """

    operation: str
    contract: str
    a: str
    b: str
    c: str
    to: str
    k: int
    fn: Callable[[Array, Array, Array, Any, Any], Any]
    release: str
    scales: str = ""
    any_nan: bool = False
    known: Disagreement | None = None
    why: str = ""
    further: bool = False


Converted = Cast | Quantizer | Emulation | Back
Operation = Converted | Sum


@dataclass(frozen=True)
class Fault:
    """What a peer does against a document: the clause, one sentence, a script of the peer's own calls that prints it, what it prints, what is right."""

    clause: str
    sentence: str
    script: str
    shows: str
    right: str


@dataclass(frozen=True)
class Speed:
    """A call of the peer's beside mxact's Python call of the same rule, over a matrix of fp32.

    row: the operation; mxact's call follows its profile, and its answers are compared before a time is taken. theirs: of what the operation's fn takes, which
    it may prepare: the peer's own call is what it returns, without what the adapter does around it. back: of a Quantizer whose call gives the numbers that the
    blocks stand for: the profile by which mxact's call goes back to numbers as well.
    """

    row: Converted
    theirs: Callable[..., Callable[[], object]]
    back: str | None = None


@dataclass(frozen=True)
class Peer:
    """A package that may be installed.

    name: as the table has it. distribution: on the package index. held: the release that the rules were recorded from. operations: imports it and
    returns its rows. project: where its issues go. speed: a quantizer of fp32 and its way back for the comparison of times. further: asked only in long runs, or
    by its name.
    """

    name: str
    distribution: str
    held: str
    project: str
    operations: Callable[[], Sequence[Operation]]
    faults: Sequence[Fault] = ()
    speed: Callable[[], Sequence[Speed]] | None = None
    further: bool = False
