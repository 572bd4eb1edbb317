"""Sums of matrix units held against the model: made-up peers that add as a contract says, as its neighbours, and as nobody does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxact
from mxact.peers import Disagreement, HeldPeer, Operation, Peer, Sum, hold
from mxact.peers._hold import held, totals
from mxact.peers._table import page, report, text
from mxact.peers._trials import candidates, trial_of
from mxact.peers.adapters import mmasim


def tile(contract: str, a: str, b: str, to: str = "f32", has_c: bool = True) -> Any:
    """What a peer of that contract would answer."""

    def fn(x: Any, y: Any, c: Any, scale_a: Any, scale_b: Any) -> Any:
        x, y = (codes.view(np.float32) if codes.dtype == np.uint32 else codes for codes in (x, y))
        formats = tuple(None if codes.dtype == np.float32 else format for codes, format in ((x, a), (y, b)))
        scales = None if scale_a is None else (scale_a, scale_b)
        return mxact.matmul(x, y.T, contract, scales=scales, c=c if has_c else None, source=formats, to=to)

    return fn


def like(contract: str, answers: str, a: str, k: int, c: str = "f32", to: str = "f32", scales: str = "", known: Disagreement | None = None) -> Sum:
    return Sum("made-up(A.B)", contract, a, a, c, to, k, tile(answers, a, a, to, bool(c)), "1.0", scales, known=known)


FOLLOWS = [
    like("hopper-bf16", "hopper-bf16", "bf16", 16),
    like("hopper-tf32", "hopper-tf32", "tf32", 8),
    like("ampere-f16-f16", "ampere-f16-f16", "fp16", 16, "fp16", "fp16"),
    like("blackwell-mxf8f6f4", "blackwell-mxf8f6f4", "e3m2", 32, scales="terms"),
    like("blackwell-nvf4", "blackwell-nvf4", "e2m1", 64, scales="terms"),
    like("cdna3-fp8", "cdna3-fp8", "e5m2fnuz", 32),
    like("cdna-f32", "cdna-f32", "f32", 4),
    like("cublaslt-fp8", "cublaslt-fp8", "e4m3fn", 64, "", "bf16", "numbers"),
]


@pytest.mark.parametrize("row", FOLLOWS, ids=[row.contract for row in FOLLOWS])
def test_who_adds_as_the_contract_says_follows_it(row: Sum) -> None:
    done = held(row, "1.0", False)
    assert (done.outcome, done.profile, done.recorded, done.unit, done.problem) == ("follows", row.contract, True, "sums", "")
    assert done.result is not None and done.result.compared == 12 * 32 * 32
    assert held(row, "1.1", False).recorded is False


# Each is one field away from the contract, or one other rule.
NEIGHBOURS = [
    ("hopper-bf16", "bf16", 16, ["align=24", "align=26", "keep=23", "group=8", "least=-132", "zero=ieee", "nan=0x7fc00000"]),
    ("hopper-tf32", "tf32", 8, ["align=24", "group=4", "cast-rounding=nearest"]),
    ("hopper-fp8", "e4m3fn", 32, ["align=12", "align=14", "keep=13", "keep=15", "group=16"]),
    ("cdna3-fp8", "e5m2fnuz", 32, ["lanes=1", "group=8", "align=23", "join=32.23.25.31", "join=32.24.26.31", "join=32.24.25.30"]),
    ("cdna3-bf16", "bf16", 8, ["product-limit=none", "align=25", "group=4", "zero=plus"]),
    ("cdna2-f16", "fp16", 4, ["flush=none", "flush=signed", "group=2"]),
    ("cdna1-bf16", "bf16", 4, ["group=4", "zero=plus"]),
    ("blackwell-nvf4", "e2m1", 64, ["align=34", "presum=8", "reference=product"]),
]


@pytest.mark.parametrize(("contract", "format", "k", "fields"), NEIGHBOURS, ids=[row[0] for row in NEIGHBOURS])
def test_one_field_more_or_less_differs(contract: str, format: str, k: int, fields: list[str]) -> None:
    for field in fields:
        done = held(like(contract, f"{contract}:{field}", format, k, scales="terms" if contract == "blackwell-nvf4" else ""), "1.0", False)
        assert done.outcome in ("differs", "changed"), (contract, field)
        assert done.outcome == "changed" or (done.result is not None and f", by {done.profile} 0x" in done.result.first), (contract, field)


def test_who_follows_another_contract_is_told_so() -> None:
    done = held(like("hopper-bf16", "ampere-bf16", "bf16", 16), "1.0", False)
    assert (done.outcome, done.expected, done.profile) == ("changed", "hopper-bf16", "ampere-bf16")
    assert "hopper-fp8" in candidates(trial_of(FOLLOWS[7])) and "cdna3-fp8" not in candidates(trial_of(FOLLOWS[7]))


def test_one_nan_is_as_good_as_another_only_where_the_row_says_so() -> None:
    row = like("cdna1-bf16", "cdna1-bf16:nan=0x7fffffff", "bf16", 4)
    assert held(row, "1.0", False).outcome == "differs"
    assert held(Sum(**{**row.__dict__, "any_nan": True}), "1.0", False).outcome == "follows"


def test_a_known_disagreement_is_apart_and_says_who_decides() -> None:
    def where(a: Any, b: Any, c: Any) -> Any:
        return c == np.finfo(np.float32).max

    def everywhere(a: Any, b: Any, c: Any) -> Any:
        return np.ones(c.shape, bool)

    def loses(x: Any, y: Any, c: Any, scale_a: Any, scale_b: Any) -> Any:
        sums = tile("hopper-bf16", "bf16", "bf16")(x, y, c, scale_a, scale_b)
        return np.where(c == np.finfo(np.float32).max, np.float32(0), sums)

    some = Disagreement(where, "the largest C gives 0", "no silicon decides")
    lost = Sum("some(A.B)", "hopper-bf16", "bf16", "bf16", "f32", "f32", 16, loses, "1.0", known=some)
    gone = like("hopper-bf16", "hopper-bf16", "bf16", 16, known=some)
    all_of_it = like("hopper-bf16", "hopper-bf16:align=24", "bf16", 16, known=Disagreement(everywhere, "it keeps a bit less", "an H100 decides"))
    rows: list[Operation] = [lost, gone, all_of_it]
    done = hold(Peer("made-up", "numpy", "1.0", "https://example.org/made-up", lambda: rows))
    first, second, third = done.operations
    assert [row.outcome for row in done.operations] == ["follows", "follows", "disagrees"]
    assert first.result is not None and 0 < first.result.special_different <= first.result.special < first.result.compared
    assert second.result is not None and second.result.special_different == 0 < second.result.special
    assert third.result is not None and (third.result.compared, third.result.special) == (0, 12 * 32 * 32)
    count = totals([done])
    assert (count["follows"], count["disagrees"], count["disagreements_seen"], count["disagreements_gone"]) == (2, 1, 2, 1)
    written = page([done])
    assert "## Sums\n" in written and "| silicon |" in written and "not hopper-bf16" in written
    assert "the largest C gives 0" in written.split("## Disagreements about sums")[1] and "an H100 decides" in written
    assert "it keeps a bit less. An H100 decides." in report(done)
    assert "2 known disagreements about sums seen, 1 not" in text([done])


def test_further_classes_wait_for_the_long_run() -> None:
    rows: list[Operation] = [FOLLOWS[6], Sum(**{**FOLLOWS[6].__dict__, "operation": "more(A.B)", "further": True})]
    peer = Peer("made-up", "numpy", "1.0", "https://example.org/made-up", lambda: rows)
    assert [row.operation for row in hold(peer).operations] == ["made-up(A.B)"]
    long = hold(peer, exhaustive=True)
    assert [row.operation for row in long.operations] == ["made-up(A.B)", "more(A.B)"]
    assert long.operations[1].result is not None and long.operations[1].result.compared == 12 * 128 * 128


def test_a_peer_that_answers_another_shape_has_failed() -> None:
    done = held(Sum("short(A.B)", "hopper-bf16", "bf16", "bf16", "f32", "f32", 16, lambda a, b, c, *scales: c[:1], "1.0"), "1.0", False)
    assert done.outcome == "failed" and "must be float32 (32, 32)" in done.problem
    assert "FAILED" in text([HeldPeer("made-up", "numpy", "1.0", "https://example.org", "1.0", operations=[done])])


@pytest.mark.parametrize(
    ("of", "contract"),
    [
        (mmasim._Class("MMA", "Turing", "m8n8k4.f32.f16.f16.f16", ("f16", "f16"), "f16", "f32"), "volta-f16-c16"),
        (mmasim._Class("MMA", "Ada Lovelace", "m16n8k32.f16.e5m2.e4m3.f16", ("e5m2", "e4m3"), "f16", "f16"), "ada-fp8-f16"),
        (mmasim._Class("WGMMA", "Hopper", "m64n8k16.f16.f16.f16", ("f16", "f16"), "f16", "f16"), "hopper-f16-f16"),
        (mmasim._Class("MMA", "RTX Blackwell", "m16n8k32.f32.e4m3.e4m3.f32", ("e4m3", "e4m3"), "f32", "f32"), "blackwell-f8f6f4"),
        (mmasim._Class("MMA", "Blackwell", "m16n8k8.f32.tf32.tf32.f32", ("tf32", "tf32"), "f32", "f32"), "blackwell-tf32"),
        (
            mmasim._Class(
                "MMABlockScale",
                "RTX Blackwell",
                "m16n8k64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.f32.ue8m0",
                ("e2m1", "e2m1"),
                "f32",
                "f32",
                "mxf4nvf4.block32.ue8m0",
            ),
            "blackwell-mxf4",
        ),
        (
            mmasim._Class(
                "TCGen05MMABlockScale",
                "Blackwell",
                "m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
                ("e2m1", "e2m1"),
                "f32",
                "f32",
                "mxf4nvf4.block16.ue4m3",
            ),
            "blackwell-nvf4",
        ),
        (mmasim._Class("MFMA", "CDNA2", "f32_32x32x4bf16_1k", ("bf16", "bf16"), "f32", "f32"), "cdna2-bf16-1k"),
        (mmasim._Class("MFMA", "CDNA2", "f32_4x4x2bf16", ("bf16", "bf16"), "f32", "f32"), "cdna2-bf16"),
        (mmasim._Class("MFMA", "CDNA3", "f32_16x16x8_xf32", ("xf32", "xf32"), "f32", "f32"), "cdna3-tf32"),
    ],
)
def test_a_class_of_mmasim_stands_for_one_contract(of: mmasim._Class, contract: str) -> None:
    assert mmasim._contract(of) == contract
    assert contract in mxact.contracts()
