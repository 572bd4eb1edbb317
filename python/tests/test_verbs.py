"""The program's verbs as calls: of a model's directory each gives what the program prints of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import mxact
from conftest import PROGRAM, SOURCE

MODEL = SOURCE / "golden/words/gpt-oss-120b"
TINY = SOURCE / "golden/witness/checkpoints/tiny-gpt-oss"


def printed(*words: object, status: int = 0) -> dict[str, Any]:
    """What the program prints behind its head."""
    done = subprocess.run([PROGRAM, *map(str, words), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    shown = json.loads(done.stdout)
    return {name: value for name, value in shown.items() if name not in ("schema", "mxact")}


def same(found: dict[str, Any], shown: dict[str, Any], *but: str) -> bool:
    """But for what no two runs have in common."""
    return {name: value for name, value in found.items() if name not in but} == {name: value for name, value in shown.items() if name not in but}


def test_matrix_of_a_model_and_of_the_table() -> None:
    found = mxact.matrix(MODEL, platform=["B200", "MI355X"], parallel="tp8", env={"VLLM_ROCM_USE_AITER": 1})
    assert same(found, printed("matrix", MODEL, "--platform", "B200", "--platform", "MI355X", "--parallel", "tp8", "--env", "VLLM_ROCM_USE_AITER=1"))
    own = mxact.matrix(MODEL, platform="B200", tp=2, dp=3, ep=True)
    assert same(own, printed("matrix", MODEL, "--platform", "B200", "--tp", 2, "--dp", 3, "--ep"))
    assert [one["name"] for one in own["parallel"]] == ["tp2-dp3-ep"]
    assert same(mxact.matrix(models="gpt-oss-120b", platform="SM90", engine="2026-05", explain=True), printed("matrix", "--model", "gpt-oss-120b", "--platform", "SM90", "--engine", "2026-05", "--explain"))


def test_engine_diff_of_a_model() -> None:
    found = mxact.engine_diff("2026-05", "vllm==0.33.0", MODEL, platform="B200", tp=8)
    assert same(found, printed("engine", "diff", "2026-05", "vllm==0.33.0", MODEL, "--platform", "B200", "--tp", 8))
    assert found["deployments"] == 1


def test_sim_of_a_model_and_of_a_file() -> None:
    how = {"tp": 2, "experts": 4, "tokens": 2, "sample": 4}
    words = [word for name, value in how.items() for word in (f"--{name}", value)]
    found = mxact.sim(TINY, platform="B200", **how)
    assert same(found, printed("sim", TINY, "--platform", "B200", *words))
    assert found["verdict"] in ("PASSED", "KNOWN TO DIFFER")
    file = SOURCE / "docs/examples/sim-b200.info"
    assert same(mxact.sim(file), printed("sim", file))
    # A refusal of the engine is an answer.
    refused = SOURCE / "docs/examples/sim-b200-dp2.info"
    status = mxact.sim(refused, backend="FLASHINFER_CUTLASS_MXFP4_MXFP8")
    assert same(status, printed("sim", refused, "--backend", "FLASHINFER_CUTLASS_MXFP4_MXFP8", status=status["exit_code"]))


def test_verify_of_a_model() -> None:
    found = mxact.verify(TINY, platform="H100", tp=[1, 2], tokens=2, layers=1)
    assert same(found, printed("verify", TINY, "--platform", "H100", "--tp", "1,2", "--tokens", 2, "--layers", 1), "seconds")
    bytes_alone = mxact.verify(TINY, "2026-05", platform="SM100", backend="MARLIN", tp=1, execute=False)
    assert same(bytes_alone, printed("verify", TINY, "--engine", "2026-05", "--platform", "SM100", "--backend", "MARLIN", "--tp", 1, "--no-execute"), "seconds")


def test_a_launch_and_what_a_row_says_of_batches() -> None:
    launched = mxact.verify(TINY, platform="H100", backend="MARLIN", tp=1, tokens=2, layers=1, launch={"blocks": 3})
    assert same(launched, printed("verify", TINY, "--platform", "H100", "--backend", "MARLIN", "--tp", 1, "--tokens", 2, "--layers", 1, "--launch", "blocks=3"), "seconds")
    assert "blocks 3 (given)" in launched["conversions"][0]["execution"]
    assert launched["conversions"][0]["recorded"][0]["values"] == 98304
    how = {"experts": 4, "tokens": 2, "sample": 4}
    found = mxact.sim(TINY, platform="H100", backend="MARLIN", launch="tokens=512", **how)
    assert found["result"]["execution"]["batch"]["word"] == "not repeatable"
    assert mxact.select(MODEL, platform="H100", moe_backend="marlin")["kinds"][0]["choice"]["batch"]["word"] == "changes"
    with pytest.raises(mxact.Error, match="tokens"):
        mxact.sim(TINY, platform="H100", launch={"tokens": 0}, **how)


def test_a_launch_takes_a_tuned_file(tmp_path: Path) -> None:
    tiles, file = tmp_path / "tiles.json", tmp_path / "layer.info"
    tiles.write_text('{"8": {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}}')
    file.write_text("platform SM90\noracle fp8\nbackend triton\nlayer { experts 4 top_k 2 hidden 256 intermediate 256 activation SILU }\n")
    for launch in ({"tuned": tiles, "e8m0": 0}, f"tuned={tiles},e8m0=0"):
        tuned = mxact.sim(file, tokens=2, launch=launch)["result"]["execution"]
        assert "step_k 64: tiles.json for 2 tokens" in tuned["launch"]
        assert tuned["batch"]["word"] == "invariant"
    for wrong in (tmp_path / "none.json", 3):
        with pytest.raises(mxact.Error, match=r"none\.json|launch\.tuned"):
            mxact.sim(file, launch={"tuned": wrong})


def test_convert_of_a_model(tmp_path: Path) -> None:
    found = mxact.convert_checkpoint(TINY, tmp_path / "own", platform="H100")
    shown = printed("convert", TINY, "--platform", "H100", "-o", tmp_path / "theirs")
    assert same(found, shown, "output", "digest")
    layers = sorted(path.name for path in (tmp_path / "own").glob("mxact-layer-*"))
    assert len(layers) == 2
    for name in layers:
        assert (tmp_path / "own" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes()
    subprocess.run([PROGRAM, "restore", tmp_path / "own", "-o", tmp_path / "back"], check=True, capture_output=True)
    for shard in TINY.glob("*.safetensors"):
        if shard.name != "expected.safetensors":
            assert (tmp_path / "back" / shard.name).read_bytes() == shard.read_bytes()
    # Ranks that share the experts whole have the whole layer's bytes, expert by expert; four cut it in four.
    shared = mxact.convert_checkpoint(TINY, tmp_path / "shared", "EMULATION", platform="SM90", tp=2, dp=2, ep=True)
    assert same(shared, mxact.convert_checkpoint(TINY, tmp_path / "one", "EMULATION", platform="SM90"), "output")
    quarter = mxact.convert_checkpoint(TINY, tmp_path / "quarter", "EMULATION", platform="SM90", tp=2, dp=2, rank=3)
    assert same(quarter, mxact.convert_checkpoint(TINY, tmp_path / "of four", "EMULATION", platform="SM90", tp=4, rank=3), "output")
    half = mxact.convert_checkpoint(TINY, tmp_path / "half", "EMULATION", platform="SM90", tp=2, rank=1)
    assert same(half, printed("convert", TINY, "--backend", "EMULATION", "--platform", "SM90", "--tp", 2, "--rank", 1, "-o", tmp_path / "other half"), "output", "digest")


def test_plan_of_a_model(tmp_path: Path) -> None:
    found = mxact.plan(TINY, tmp_path / "own.json", tmp_path / "made", platform="H100")
    shown = printed("plan", TINY, "--platform", "H100", "--converted", tmp_path / "made", "-o", tmp_path / "theirs.json")
    assert same(found, shown, "plan")
    # Who plans is part of a plan, and so of its id.
    own, theirs = (json.loads((tmp_path / name).read_text()) for name in ("own.json", "theirs.json"))
    assert same(own, theirs, "id", "program")
    for verb in ("run", "merge"):
        subprocess.run([PROGRAM, verb, tmp_path / "own.json"], check=True, capture_output=True)
    mxact.convert_checkpoint(TINY, tmp_path / "whole", platform="H100")
    layers = sorted(path.name for path in (tmp_path / "whole").glob("mxact-layer-*"))
    assert len(layers) == 2
    for name in layers:
        assert (tmp_path / "made" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    half = mxact.plan(TINY, tmp_path / "half.json", tmp_path / "other", "EMULATION", platform="SM90", tp=2, rank=1, relative=True)
    assert same(half, printed("plan", TINY, "--backend", "EMULATION", "--platform", "SM90", "--tp", 2, "--rank", 1, "--relative", "--converted", tmp_path / "other", "--force", "-o", tmp_path / "half.json"), "plan")
    with pytest.raises(mxact.Error, match="is there already|exists"):
        mxact.plan(TINY, tmp_path / "half.json", tmp_path / "third", platform="H100")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mxact.matrix("/nope"), "/nope"),
        (lambda: mxact.matrix(MODEL, models="DeepSeek-V3"), "models is for the table's models"),
        (lambda: mxact.matrix(platform="H1OO"), "did you mean H100?"),
        (lambda: mxact.matrix(platform=3), "platform"),
        (lambda: mxact.matrix(parallel="tp8-eq"), "did you mean tp8-ep?"),
        (lambda: mxact.matrix(parallel="tp8", tp=8), "parallel says the sizes already"),
        (lambda: mxact.matrix(parallel="tp0"), "tp"),
        (lambda: mxact.engine_diff("2026-05", "2026-12"), "engine vllm@2026-12 is not known"),
        (lambda: mxact.engine_diff("2026-05", "2026-08", tp=2), "tp is for one deployment, which is not given"),
        (lambda: mxact.engine_diff("2026-05", "2026-08", MODEL), "platform is missing"),
        (lambda: mxact.sim(MODEL), "platform is missing"),
        (lambda: mxact.sim(MODEL, platform="B200", tokens=0), "tokens is 0, must be 1 or more"),
        (lambda: mxact.sim(MODEL, platform="B200", backend="MARLINE"), "did you mean MARLIN?"),
        (lambda: mxact.sim(3), "deployment is of type int, must be text"),
        (lambda: mxact.verify("/nope"), "/nope"),
        (lambda: mxact.verify(TINY, platform="SM91"), "unknown platform 'SM91'"),
        (lambda: mxact.verify(TINY, tp="2"), "tp"),
        (lambda: mxact.verify(TINY, contracts="hoper-bf16"), "did you mean"),
        (lambda: mxact.convert_checkpoint("/nope", "out", platform="H100"), "/nope: there is no such file or directory"),
        (lambda: mxact.convert_checkpoint(TINY, TINY, "MARLIN", platform="H100"), "is what is read"),
        (lambda: mxact.convert_checkpoint(TINY, "out", "MARLIN", platform="H100", tp=2), "rank is missing"),
        (lambda: mxact.convert_checkpoint(TINY, "out", "MARLIN", platform="H100", dp=2), "rank is missing: which of the 2 ranks"),
        (lambda: mxact.convert_checkpoint(TINY, "out", "MARLIN", platform="H100", tp=2, ep=True, rank=0), "no rank has a part of an expert"),
        (lambda: mxact.convert_checkpoint(TINY, "out", "MARLINE", platform="H100"), "did you mean MARLIN?"),
        (lambda: mxact.convert_checkpoint(TINY, "", "MARLIN", platform="H100"), "output is empty"),
        (lambda: mxact.convert_checkpoint(TINY, "out", "MARLIN", platform="H100", colour="red"), "colour"),
        (lambda: mxact.plan("/nope", "plan.json", "out", platform="H100"), "/nope: there is no such file or directory"),
        (lambda: mxact.plan(TINY, "plan.json", "", platform="H100"), "converted is empty"),
        (lambda: mxact.plan(TINY, "plan.json", TINY, "MARLIN", platform="H100"), "is what is read"),
        (lambda: mxact.plan(TINY, "plan.json", "out", "MARLIN", platform="H100", tp=2), "rank is missing"),
        (lambda: mxact.plan(TINY, "plan.json", "out", "MARLIN", platform="H100", relative=1), "relative is 1, must be True or False"),
    ],
)
def test_what_is_not_taken(call: Any, sentence: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert sentence in str(refused.value)
    assert "--" not in str(refused.value)


def test_inspect_is_the_programs_json() -> None:
    assert same(mxact.inspect(TINY), printed("inspect", TINY))
    assert same(mxact.inspect(str(TINY), deep=True), printed("inspect", TINY, "--deep"))
    with pytest.raises(mxact.Error, match="deep is 1, must be True or False"):
        mxact.inspect(TINY, deep=1)  # type: ignore[arg-type]
    with pytest.raises(mxact.Error, match="no-such"):
        mxact.inspect("/no-such-checkpoint")
