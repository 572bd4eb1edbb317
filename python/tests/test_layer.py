"""One layer run stage by stage: as the program runs it, from any stage, of a checkpoint, of what convert wrote, of packed tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import SOURCE, program

TINY = SOURCE / "golden/witness/checkpoints/tiny-gpt-oss"
BF16 = ml_dtypes.bfloat16
X = (np.random.default_rng(3).standard_normal((3, 256)) * np.exp2(np.arange(256) // 32 % 3)).astype(BF16)
IDS = np.int32([[1, 5], [-1, 0], [7, 2]])
WEIGHTS = np.float32([[0.75, 0.25], [0.5, 0.5], [0.625, 0.375]])
STEPS = [["a1_codes", "a1_scales"], ["h13"], ["act"], ["act_codes", "act_scales"], ["y"], ["out"]]


def how(backend: str = "FLASHINFER_CUTLASS_MXFP4_MXFP8", platform: str = "sm100") -> dict[str, Any]:
    return {"layer": 0, "backend": backend, "platform": platform}


def run(source: object = TINY, **changed: Any) -> mxact.LayerRun:
    return mxact.layer(source, **{"x": X, "ids": IDS, "weights": WEIGHTS, **how(), **changed})


def same(mine: Any, theirs: Any) -> bool:
    return mine.dtype == theirs.dtype and np.array_equal(mine.view(np.uint8), theirs.view(np.uint8))


@pytest.mark.parametrize(("backend", "platform"), [("FLASHINFER_CUTLASS_MXFP4_MXFP8", "sm100"), ("TRITON", "sm90"), ("EMULATION", "gfx942")])
def test_every_stage_is_the_programs(backend: str, platform: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.view(np.uint16))
    np.save(tmp_path / "ids.npy", IDS)
    np.save(tmp_path / "weights.npy", WEIGHTS)
    made = run(**how(backend, platform))
    words = ["layer", str(TINY), "--backend", backend, "--platform", platform, "--layer", "0", *(f"--{name}={tmp_path / name}.npy" for name in ("x", "ids", "weights"))]
    said = program(*words)
    assert made.arithmetic == said["arithmetic"]
    assert [stage["stage"] for stage in said["stages"]] == list(made.stages)
    for stage in said["stages"]:
        values = made[stage["stage"]]
        assert list(values.shape) == stage["shape"]
        np.save(tmp_path / "theirs.npy", values if values.dtype != BF16 else values.view(np.uint16))
        assert program(*words, "--stages", stage["stage"], "--expect", str(tmp_path / "theirs.npy"))["verdict"] == "PASSED"
    assert same(made["h13"].reshape(3, 2, -1)[1, 0], np.zeros_like(made["h13"][0]))


def test_a_launch_is_the_programs(tmp_path: Path) -> None:
    for name, values in (("x", X.view(np.uint16)), ("ids", IDS), ("weights", WEIGHTS)):
        np.save(tmp_path / f"{name}.npy", values)
    marlin = how("MARLIN", "sm90")
    made = run(**marlin, launch={"blocks": 3, "w2.blocks": 5})
    words = ["layer", str(TINY), "--backend", "MARLIN", "--platform", "sm90", "--layer", "0", *(f"--{name}={tmp_path / name}.npy" for name in ("x", "ids", "weights"))]
    assert made.arithmetic == program(*words, "--launch", "blocks=3,w2.blocks=5")["arithmetic"]
    assert "blocks 3 (given)" in made.arithmetic and "blocks 5 (given)" in made.arithmetic
    assert same(run(**marlin, launch="blocks=3,w2.blocks=5")["h13"], made["h13"])
    with pytest.raises(mxact.Error, match="launch of MARLIN"):
        run(**marlin, launch={"tile_k": 48})
    with pytest.raises(mxact.Error, match="did you mean block_m"):
        run(**how("MARLIN", "sm90"), launch={"block": 3})
    with pytest.raises(mxact.Error, match="launch"):
        run(**how("MARLIN", "sm90"), launch={"blocks": "3"})
    with pytest.raises(mxact.Error, match="launch"):
        mxact.layer(TINY, X, IDS, WEIGHTS, layer=0, contract="int8-block", launch={"blocks": 3})


def test_a_run_goes_on_from_each_of_its_stages() -> None:
    whole = run()
    for at, step in enumerate(STEPS[:-1]):
        later = run(x=None, start={name: whole[name] for name in step})
        assert list(later.stages) == [name for names in STEPS[at + 1 :] for name in names]
        assert all(same(later[name], whole[name]) for name in later.stages)
    assert list(run(weights=None).stages) == [name for names in STEPS[:4] for name in names]
    assert list(run(stages=["act", "h13"]).stages) == ["h13", "act"]


def test_packed_tensors_and_what_convert_wrote_compute_as_the_checkpoint(tmp_path: Path) -> None:
    whole = run()
    packed = mxact.pack(TINY, layer=0, backend="FLASHINFER_CUTLASS_MXFP4_MXFP8", platform="sm100")
    slots = {"x": X, "ids": IDS, "weights": WEIGHTS}
    assert same(mxact.layer(packed, **slots, activation="SWIGLUOAI")["out"], whole["out"])
    assert not same(mxact.layer(packed, **slots, activation="SWIGLUOAI", constants={"limit": 0.25})["act"], whole["act"])
    program("convert", str(TINY), "--backend", "FLASHINFER_CUTLASS_MXFP4_MXFP8", "--platform", "sm100", "-o", str(tmp_path / "packed"))
    for path in (tmp_path / "packed", tmp_path / "packed/mxact-layer-00000.safetensors"):
        assert same(mxact.layer(path, **slots, layer=0)["out"], whole["out"])


def test_the_router_chooses_as_it_says() -> None:
    routed = run(ids=None, weights=None, router=True)
    assert routed.ids.shape == (3, 4) and np.allclose(routed.weights.sum(axis=1), 1)
    assert same(run(ids=routed.ids, weights=routed.weights)["out"], routed["out"])
    assert same(run(backend=None)["out"], run(backend="FLASHINFER_TRTLLM_MXFP4_BF16")["out"])
    assert list(mxact.stages()) == [name for names in STEPS for name in names]


def test_torch_in_torch_out() -> None:
    torch = pytest.importorskip("torch")
    whole = run()
    tensor = torch.from_numpy(X.view(np.int16)).view(torch.bfloat16)
    made = run(x=tensor, ids=torch.from_numpy(IDS.astype(np.int64)), weights=torch.from_numpy(WEIGHTS))
    assert made["out"].dtype == torch.bfloat16
    assert np.array_equal(made["out"].view(torch.int16).numpy(), whole["out"].view(np.int16))
    assert np.array_equal(made.ids.numpy(), IDS)


@pytest.mark.parametrize("contract", ["bf16-chain", "bf16-block", "bf16-pair", "int8-block", "hopper-bf16"])
def test_a_contract_computes_as_the_program_and_from_any_stage(contract: str, tmp_path: Path) -> None:
    slots = {"x": X, "ids": IDS, "weights": WEIGHTS}
    whole = mxact.layer(TINY, **slots, layer=0, contract=contract)
    assert whole.sums_by == ("quick rows" if contract == "hopper-bf16" else "fused kernels")
    assert f"x {contract}, swiglu_oai in fp32" in whole.arithmetic
    assert whole["out"].dtype == np.float32
    assert ("act_codes" in whole.stages) == (contract == "int8-block")
    later = mxact.layer(TINY, ids=IDS, weights=WEIGHTS, layer=0, contract=contract, start={"h13": whole["h13"]})
    assert all(same(later[name], whole[name]) for name in later.stages)
    packed = mxact.pack(TINY, layer=0, backend="MARLIN", platform="sm90")
    assert same(mxact.layer(packed, **slots, activation="SWIGLUOAI", contract=contract)["out"], whole["out"])
    for name, values in {"x": X.view(np.uint16), "ids": IDS, "weights": WEIGHTS, "out": whole["out"]}.items():
        np.save(tmp_path / f"{name}.npy", values)
    words = ["layer", str(TINY), "--contract", contract, "--layer", "0", *(f"--{name}={tmp_path / name}.npy" for name in slots)]
    assert program(*words, "--stages", "out", "--expect", str(tmp_path / "out.npy"))["verdict"] == "PASSED"
    with pytest.raises(mxact.Error, match="a contract is of no device"):
        run(contract=contract)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": np.full((3, 256), 0.1, np.float32)}, "x[0, 0] is 0.1"),
        ({"x": X[:, :128]}, "x: has 128 columns, the layer's hidden size is 256"),
        ({"x": None}, "x is missing"),
        ({"x": X[:0]}, "x has shape (0, 256): no token, and a layer is run on one or more"),
        ({"x": X[:, :0]}, "x has shape (3, 0): hidden is 0, must be 1 or more"),
        ({"ids": IDS[:0]}, "ids has shape (0, 2): no token"),
        ({"ids": IDS[0]}, "ids has shape (2,), must be [tokens, top_k]"),
        ({"ids": None}, "ids is missing"),
        ({"ids": IDS + 1}, "token 2, slot 0 goes to expert 8"),
        ({"ids": IDS.astype(np.float32)}, "ids is float32"),
        ({"weights": WEIGHTS[:2]}, "weights is float32 of shape (2, 2)"),
        ({"router": True}, "the router says what ids and weights say"),
        ({"stages": ["h14"]}, "did you mean h13?"),
        ({"stages": ["out"], "weights": None}, "weights: has 0 values for 6 slots"),
        ({"start": {"h13": X}}, "h13: is BF16 [3, 256], here it is F32 [6, 512]"),
        ({"start": {"act_codes": np.zeros((6, 256), np.uint8)}}, "act_scales is missing beside act_codes"),
        ({"layer": None}, "layer is missing"),
        ({"layer": 2}, "layer 2 is none of those that are converted: 0, 1"),
        ({"backend": None, "source": TINY / "model-00001-of-00002.safetensors"}, "backend"),
        ({"backend": "MARLINE"}, "MARLIN"),
        ({"tp": 2}, "rank is missing: which of the 2 ranks is run"),
        ({"tp": 2, "dp": 2}, "which of the 4 ranks is run"),
        ({"activation": "SILU"}, "the checkpoint says it"),
        ({"input_scale": [1]}, "input_scale is no pair"),
        ({"x": np.zeros((8, 128), np.float32)}, "has 128 columns, the layer's hidden size is 256"),
        ({"source": 3}, "must be a path or mxact.Packed"),
    ],
)
def test_what_is_not_taken(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        run(**change)
    assert sentence in str(refused.value)


def test_a_version_without_conversions_computes_by_its_own_arithmetic(tmp_path: Path) -> None:
    """0.33.0 multiplies a group by its scale's reciprocal: 103.5 of 138 is 336 of 448, halfway between two codes, and a unit above."""
    weights = {
        "w13_weight": np.zeros((1, 256, 128), np.uint8),
        "w13_weight_scale": np.ones((1, 2, 1), np.float32),
        "w2_weight": np.zeros((1, 128, 128), np.uint8),
        "w2_weight_scale": np.ones((1, 1, 1), np.float32),
    }
    x = np.zeros((1, 128), BF16)
    x[0, :2] = 138, 103.5
    for engine, code in (("2026-05", 0x7A), ("2026-08", 0x7A), ("2026-11", 0x7B), ("vllm==0.33.0", 0x7B)):
        packed = mxact.pack(weights, "TRITON", engine=engine, format="fp8_block", order="standard", platform="sm90")
        made = mxact.layer(packed, x, np.zeros((1, 1), np.int32), activation="SILU", stages=["a1_codes"], launch={"e8m0": 0})
        assert np.asarray(made["a1_codes"])[0, :2].tolist() == [0x7E, code], engine
