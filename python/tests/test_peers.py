"""Peers held against the model: those that the package needs itself, and made-up ones that go wrong."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from mxact.peers import Back, Cast, Emulation, Fault, HeldPeer, Operation, Peer, Quantizer, Speed, document, hold, hold_apart, peers
from mxact.peers.__main__ import main
from mxact.peers._hold import held, installed, read, release_of
from mxact.peers._speed import table, timed
from mxact.peers._table import columns, page, report, text
from mxact.peers._trials import operation_words, trial_of

FAULT = Fault("section 1", "it adds wrongly", "print(1 + 1)", "2", "3")


def made_up(*rows: Operation, faults: tuple[Fault, ...] = ()) -> Peer:
    return Peer("made-up", "numpy", "1.0", "https://example.org/made-up", lambda: rows, faults)


def quantizer(profile: str, format: str = "mxfp4") -> Any:
    def fn(x: Any) -> tuple[Any, Any]:
        q = mxact.quantize(x, format, profile)
        return q.codes, q.scales

    return fn


def test_numpy_and_ml_dtypes_follow_their_profiles() -> None:
    known = {peer.name: peer for peer in peers()}
    compared = 0
    for name in ("ml_dtypes", "numpy"):
        done = hold(known[name])
        assert not done.skipped
        assert {row.outcome for row in done.operations} == {"follows"}, [row for row in done.operations if row.outcome != "follows"]
        assert [fault.outcome for fault in done.faults] == ["seen"] * len(known[name].faults)
        compared += sum(row.result.compared for row in done.operations if row.result)
    assert compared > 10_000_000


def test_what_differs_is_named_with_the_nearest_profile_and_the_smallest_input() -> None:
    other = held(Quantizer("to_mx", "mxfp8_e4m3", "f32", "torchao-rceil", quantizer("torchao-ceil", "mxfp8_e4m3")), "0.18.0", False)
    assert (other.outcome, other.expected, other.profile) == ("changed", "torchao-rceil@0.18", "torchao-ceil@0.18")

    def late(x: Any) -> tuple[Any, Any]:
        codes, scales = quantizer("torchao-rceil")(x)
        return np.where(x == 5, 0, codes.view(np.uint8)).astype(np.uint8), scales

    wrong = held(Quantizer("to_mx", "mxfp4", "f32", "torchao-rceil", late), "0.19.0", False)
    assert (wrong.outcome, wrong.profile, wrong.recorded) == ("differs", "torchao-rceil@0.18", False)
    assert wrong.result is not None and 0 < wrong.result.different < wrong.result.compared / 10
    assert "code of 5 (0x40a00000) 0x0 (0), by torchao-rceil@0.18" in wrong.result.first
    # NaNs of a cast count.
    cast = held(Cast("to", "bf16", "e5m2", "torch-cpu", lambda x: np.where(np.isnan(x.astype(np.float32)), 0x7D, mxact.convert(x, "e5m2", "torch-cpu").view(np.uint8)).astype(np.uint8)), "2.13.0", False)
    assert cast.outcome == "differs" and cast.result is not None and (cast.result.different, cast.result.special_different) == (0, 254)
    changed = HeldPeer("made-up", "numpy", "1.0", "https://example.org", "2.0", operations=[other, wrong, cast])
    assert "nearest torchao-rceil@0.18" in text([changed]) and "torchao-ceil@0.18, not torchao-rceil@0.18" in text([changed])
    assert report(changed).count("\n* `to") == 3


def test_a_release_that_was_recorded_is_told_from_one_that_was_not() -> None:
    assert release_of("torch-cpu", "2.13.0+cpu") == ("torch-cpu@2.13", True)
    assert release_of("torch-cpu", "2.11.0") == ("torch-cpu@2.11", True)
    assert release_of("torch-cpu", "2.15.1") == ("torch-cpu@2.13", False)
    assert release_of("torchao-rceil", "0.18.0") == ("torchao-rceil@0.18", True)
    assert release_of("ocp", "1.0") == ("ocp", True)


def test_every_kind_of_operation_is_compared() -> None:
    def back(codes: Any, scales: Any) -> Any:
        return mxact.dequantize(mxact.Quantized(codes, scales, None, "mxfp4", "torchao-dequantize", "f32", -1), "bf16")

    def emulation(x: Any) -> Any:
        return mxact.dequantize(mxact.quantize(x, "fp4_e2m1_g32", "quark-mx-even"))

    peer = made_up(
        Back("back", "mxfp4", "bf16", "torchao-dequantize", back),
        Emulation("fake", "fp4_e2m1_g32", "f32", "quark-mx-even", emulation),
        Quantizer("quantize", "nvfp4", "bf16", "torchao-nvfp4-single", quantizer("torchao-nvfp4-single", "nvfp4")),
        Cast("fails", "f32", "e5m2", "torch-cpu", lambda x: x),
        faults=(FAULT, Fault("section 2", "it was wrong", "print(3)", "2", "3"), Fault("section 3", "it raises", "raise ValueError('no')", "2", "3")),
    )
    done = hold(peer)
    assert [row.outcome for row in done.operations] == ["follows", "follows", "follows", "failed"]
    assert done.operations[0].result is not None and done.operations[0].result.compared == 256 * 32
    assert "must be codes of e5m2" in done.operations[3].problem
    assert [fault.outcome for fault in done.faults] == ["seen", "gone", "other"]
    assert read(json.loads(json.dumps(document([done])))) == [done]
    assert "1 failed" in text([done]) and "FAILED" in text([done])
    assert page([done]).count("\n| made-up") == 6
    assert "print(1 + 1)" in report(done) and "must print `3`" in report(done) and "it was wrong" not in report(done)


def test_a_missing_peer_is_skipped_and_one_that_dies_is_not_the_end() -> None:
    missing = Peer("none", "no-such-package-of-anybody", "1", "https://example.org", list)
    assert hold(missing).skipped == "not installed"
    [done] = hold_apart([missing], False, 1)
    assert done.skipped == "not installed" and "SKIPPED none: not installed" in text([done])
    # A name that the child does not know ends it.
    [died] = hold_apart([made_up()], False, 1)
    assert died.problem.startswith("ended with 2: mxact: there is no peer 'made-up'")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["numpy", f"--json={tmp_path}/peers.json", f"--page={tmp_path}/peers.md"]) == 0
    told = json.loads((tmp_path / "peers.json").read_text())
    assert told["peers"][0]["version"] == version("numpy") and told["counts"]["follows"] == 2
    assert f"numpy {version('numpy')}" in capsys.readouterr().out
    assert main(["nobody"]) == 2
    assert "there is no peer 'nobody'" in capsys.readouterr().err
    assert main(["--seed", "x"]) == 2
    assert main(["--list"]) == 0
    assert "torchao==0.18.0" in capsys.readouterr().out
    assert main(["numpy", "--alone", "--report"]) == 0
    assert "Nothing to report: 2 operations" in capsys.readouterr().out
    assert main(["numpy", "--speed"]) == 5
    assert main(["torch", "--exhaustive", "--list"]) == 0


def test_an_exhaustive_walk_is_of_every_pattern() -> None:
    pieces = trial_of(Cast("to", "f32", "e5m2", "torch-cpu", lambda x: x)).pieces(np.random.default_rng(0), True)
    first = next(pieces).inputs[0].view(np.uint32)
    assert first.size == 1 << 24 and first[0] == 0 and first[-1] == (1 << 24) - 1
    assert next(pieces).inputs[0].view(np.uint32)[0] == 1 << 24


def test_times_are_of_both_and_of_the_same_rule() -> None:
    [ml_dtypes] = [peer for peer in peers() if peer.name == "ml_dtypes"]
    rows = timed(ml_dtypes, size=64)
    assert [row.target for row in rows] == ["e4m3fn", "e2m1", "bf16"]
    assert all(row.theirs > 0 and row.ours > 0 for row in rows)
    assert "ml_dtypes" in columns(table(rows))


def test_a_time_is_of_the_profile_that_the_operation_follows() -> None:
    """Of every peer that is installed: a row of times is one of its operations, and what is timed beside it has that operation's profile."""
    installed_peers = [peer for peer in peers() if installed(peer.distribution) and peer.speed is not None]
    assert "ml_dtypes" in [peer.name for peer in installed_peers]
    for peer in installed_peers:
        assert peer.speed is not None
        known = {(row.operation, *operation_words(row)): row.profile for row in peer.operations()}
        rows = [speed.row for speed in peer.speed()]
        assert [known.get((row.operation, *operation_words(row))) for row in rows] == [row.profile for row in rows], peer.name


def test_a_time_of_another_rule_is_refused() -> None:
    row = Quantizer("to_mx", "mxfp4", "f32", "torchao-rceil", quantizer("torchao-ceil"))
    other = Peer("made-up", "numpy", "1.0", "https://example.org/made-up", lambda: [row], (), lambda: [Speed(row, lambda x: lambda: row.fn(x))])
    with pytest.raises(mxact.Error, match="to_mx does not follow torchao-rceil.*: times of two rules are no comparison"):
        timed(other, size=64)


def test_times_of_every_kind_of_operation() -> None:
    def back(codes: Any, scales: Any) -> Any:
        return mxact.dequantize(mxact.Quantized(codes, scales, None, "mxfp4", "torchao-dequantize", "f32", -1))

    def scaled(x: Any, scale: Any) -> Any:
        q = mxact.quantize(x, "nvfp4", "vllm-nvfp4", tensor_scale=float(scale))
        return q.codes, q.scales

    def fake(x: Any) -> Any:
        return mxact.dequantize(mxact.quantize(x, "fp4_e2m1_g32", "quark-mx-even"))

    rows: list[Any] = [
        Back("back", "mxfp4", "f32", "torchao-dequantize", back),
        Emulation("fake", "fp4_e2m1_g32", "f32", "quark-mx-even", fake),
        Quantizer("quantize", "mxfp4", "f32", "torchao-rceil", quantizer("torchao-rceil")),
        Quantizer("scaled", "nvfp4", "f32", "vllm-nvfp4", scaled, "given"),
    ]
    peer = Peer("made-up", "numpy", "1.0", "https://example.org/made-up", lambda: rows, (), lambda: [Speed(row, lambda *x, row=row: lambda: row.fn(*x), back="vllm-nvfp4" if row.operation == "scaled" else None) for row in rows])
    assert [(row.operation, row.target) for row in timed(peer, size=64)] == [("back", "f32 from mxfp4"), ("fake", "fp4_e2m1_g32 and back"), ("quantize", "mxfp4"), ("scaled", "nvfp4 and back")]
