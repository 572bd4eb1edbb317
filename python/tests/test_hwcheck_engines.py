"""The kit for cards beside engines: recorded answers of their kernels, and steps of cards that are made up."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conftest import PROGRAM, SOURCE
from mxact.hwcheck import _engine_stages, rules
from mxact.hwcheck._cuts import lengths
from mxact.hwcheck._hold import CHANGED, FOLLOWS, MISTRUSTED, NONE, Settings, hold
from mxact.hwcheck._questions import StageQuestion
from mxact.hwcheck._recorded import RecordedSet, hold_recorded, write
from mxact.hwcheck._rules import with_cut
from mxact.hwcheck._search import fits
from mxact.hwcheck._ways import named

HUMMING = SOURCE / "golden/witness/hardware/humming_layer_h200"
ENGINES = SOURCE / "golden/witness/hardware/engines_h200"
Array = np.ndarray[Any, np.dtype[Any]]


def test_products_of_an_engine_are_found_again_and_written_with_their_pieces(tmp_path: Path) -> None:
    run = hold_recorded(RecordedSet(HUMMING), Settings(seconds=60))
    first, second = run.answers
    assert first.verdict == second.verdict == FOLLOWS
    assert first.way == "hopper-bf16; operands times scales as bf16; pieces of 256, joined ascending, rounded first" and first.pieces == 2
    assert second.way == "hopper-bf16; operands times scales as bf16" and second.pieces == 1
    assert write(run, tmp_path / "set", {}) == 2
    done = subprocess.run([PROGRAM, "witness", str(tmp_path / "set")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# Kernels of vLLM 0.26.0 on an H200: the rule of each product, and what the search finds from its values alone.
SHIFTED = "hopper-bf16; operands times scales as bf16, fast_math"
OF_ENGINES = {
    "vllm.cutlass_scaled_mm.tensor": ("vllm.cutlass.tensor", "hopper-fp8; scales=total-a-b"),
    "vllm.cutlass_scaled_mm.tensor.m16": ("vllm.cutlass.tensor", ""),
    "vllm.cutlass_scaled_mm.rows": ("vllm.cutlass.rows", ""),
    "vllm.cutlass_scaled_mm.blocks": ("vllm.cutlass.blocks", "hopper-fp8-promoted; scales=chain"),
    "vllm.cutlass_scaled_mm.blocks.m16": ("vllm.cutlass.blocks", ""),
    "vllm.marlin.mxfp4": ("vllm.marlin.mxfp4", f"{SHIFTED}; pieces of 64, joined descending; k in turns of 32 by 2 warps"),
    "vllm.marlin.mxfp4.m8": ("vllm.marlin.mxfp4", f"{SHIFTED}; pieces of 128, joined descending; k in turns of 32 by 4 warps"),
    "deep_gemm.fp8_gemm_nt": ("deep_gemm.blocks", ""),
    "deep_gemm.fp8_gemm_nt.m8": ("deep_gemm.blocks", "hopper-fp8-promoted; scales=chain"),
    "triton_kernels.matmul_ogs": ("triton_kernels.bf16", "hopper-bf16; k in turns of 64 by 2 parts"),
    "triton_kernels.matmul_ogs.mxfp4": ("triton_kernels.mxfp4", SHIFTED),
    "triton_kernels.matmul_ogs.mxfp4.m8": ("triton_kernels.mxfp4", f"{SHIFTED}; k in turns of 128 by 4 parts"),
}


def test_kernels_of_engines_are_found_again_from_their_values_alone(tmp_path: Path) -> None:
    run = hold_recorded(RecordedSet(ENGINES), Settings(seconds=60), lambda name: OF_ENGINES[name][1] != "")
    assert len(run.answers) == sum(way != "" for _, way in OF_ENGINES.values())
    for row in run.answers:
        assert row.verdict == FOLLOWS and OF_ENGINES[row.name][1] in [row.way, *row.also], (row.name, row.way, row.also)
    assert write(run, tmp_path / "set", {}) == len(run.answers)
    done = subprocess.run([PROGRAM, "witness", str(tmp_path / "set")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_is_known_of_an_engine_gives_its_recorded_values() -> None:
    known = {row.key: row for row in rules() if row.source == ENGINES.name}
    assert set(known) == {key for key, _ in OF_ENGINES.values()}
    for question, case, found in RecordedSet(ENGINES).products():
        row = known[OF_ENGINES[question.name][0]]
        assert any(fits(question, way, [(case, found)]) for way in with_cut(row, None, question.k, lengths(question.k))), question.name
        wrong = replace(row, way=replace(row.way, core=named("ampere-bf16" if question.a == "bf16" else "ada-fp8").core))
        assert not any(fits(question, way, [(case, found)]) for way in with_cut(wrong, None, question.k, lengths(question.k))), question.name


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, StageQuestion]:
    """The steps of an engine, beside a card whose exp is NumPy's."""
    monkeypatch.setattr(_engine_stages, "torch", lambda: SimpleNamespace(exp=lambda x: np.exp(x.astype(np.float64)).astype(np.float32)))
    monkeypatch.setattr(_engine_stages, "numbers_on_card", lambda x: np.asarray(x, np.float32))
    monkeypatch.setattr(_engine_stages, "back", lambda x, format: x)
    return {row.name: row for row in _engine_stages.stage_questions()}


def test_a_step_that_computes_as_a_way_says_is_found(steps: dict[str, StageQuestion]) -> None:
    for step in steps.values():
        (row,) = hold([replace(step, ask=step.ways[step.rule])], Settings()).answers
        assert row.verdict == FOLLOWS and row.way == step.rule and row.differ == 0, (row.name, row.verdict, row.way, row.why)
        for name, way in list(step.ways.items())[:2]:
            (row,) = hold([replace(step, ask=way)], Settings()).answers
            assert (row.verdict == FOLLOWS) == (name == step.rule or step.rule in row.also or row.way == step.rule), (row.name, name, row.way)
            assert row.verdict in (FOLLOWS, CHANGED) and name in [row.way, *row.also], (row.name, name, row.way)


def test_a_step_of_no_way_has_its_first_value_and_one_that_wavers_is_not_trusted(steps: dict[str, StageQuestion]) -> None:
    step = steps["vllm.moe_sum.6"]

    def wrong(given: tuple[Array, ...]) -> tuple[Array, ...]:
        (found,) = step.ways["fp32 in order"](given)
        found[3, 5] = -found[3, 5]
        return (found,)

    (row,) = hold([replace(step, ask=wrong)], Settings()).answers
    assert row.verdict == NONE and row.differ == 1 and row.way == "fp32 in order" and f"[{3 * 256 + 5}]" in row.smallest, row
    random = np.random.default_rng(1)
    (row,) = hold([replace(step, ask=lambda given: (step.ways["fp32 in order"](given)[0] * random.choice([1, 2], ()).astype(given[0].dtype),))], Settings(seed=2)).answers
    assert row.verdict == MISTRUSTED and "other bits" in row.why, row
    (row,) = hold([replace(step, ask=lambda given: (np.zeros_like(given[0][:, 0]),))], Settings()).answers
    assert row.verdict == MISTRUSTED and "no other way" in row.why, row


def test_a_softmax_by_lanes_is_that_of_its_text(steps: dict[str, StageQuestion]) -> None:
    """Of 32 experts, in exact fractions but for the roundings that the rule names."""
    logits = np.float32([[(7 * expert % 32) / 4 for expert in range(32)]])
    e = [np.float32(np.exp(np.float64(one - logits[0].max()))) for one in logits[0]]
    lanes = [((np.float32(0) + e[4 * lane] + e[4 * lane + 1]) + e[4 * lane + 2]) + e[4 * lane + 3] for lane in range(8)]
    for step_of in (4, 2, 1):
        lanes = [lanes[lane] + lanes[lane ^ step_of] for lane in range(8)]
    scores = [one * (np.float32(1) / lanes[0]) for one in e]
    chosen = sorted(range(32), key=lambda expert: -scores[expert])[:4]
    ids, weights = steps["vllm.topk_softmax"].ways["softmax by lanes"]((logits,))
    assert ids[0].tolist() == chosen and weights[0].tolist() == [scores[expert] for expert in chosen]
    total = ((scores[chosen[0]] + scores[chosen[1]]) + scores[chosen[2]]) + scores[chosen[3]]
    _, weights = steps["vllm.topk_softmax"].ways["softmax by lanes, renormalized"]((logits,))
    assert weights[0].tolist() == [scores[expert] * (np.float32(1) / total) for expert in chosen]


def test_the_quantizer_of_groups_is_known_by_the_release_that_is_installed(steps: dict[str, StageQuestion], monkeypatch: pytest.MonkeyPatch) -> None:
    # 103.5 of 138 is 336 of 448, halfway between two codes, 0x7A and 0x7B; the product with the scale's reciprocal is a unit above.
    x = np.zeros((1, 1024), np.float32)
    x[0, :2] = 138, 103.5
    for release, code in (("0.29.0", 0x7A), ("0.32.0", 0x7A), ("0.33.0", 0x7B), ("1.0", 0x7B)):
        monkeypatch.setattr(_engine_stages, "version", lambda _, release=release: release)
        step = next(row for row in _engine_stages.stage_questions() if row.name == "vllm.per_token_group_fp8_quant")
        found = step.ways[step.rule]((x.astype(_engine_stages._BF16),))[0][0, 1]
        assert found == code, (release, step.rule)
