"""The power of comparisons: public ones and what they let through, one that lets nothing through, ones that tell nothing apart."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import mxact
from conftest import SOURCE
from mxact.testing import _wrong, assert_power, power
from mxact.testing._bits import bits_of
from mxact.testing._power_data import ORDINARY, SPECIAL, Sizes, case_of
from mxact.testing._right import FORMATS, by_contract, rights_of
from mxact.testing._stages import ACTIVATIONS, Arithmetic, numbers_in

Array = np.ndarray[Any, np.dtype[Any]]
SMALL = {"sizes": (4, 128, 128), "tokens": 2}
EXAMPLE = runpy.run_path(str(SOURCE / "docs/examples/public_checks.py"))


def bits(candidate: Array, expected: Array) -> bool:
    return np.array_equal(bits_of(candidate), bits_of(expected))


def near(limit: float) -> Any:
    """The largest difference as a part of the largest output."""
    return lambda candidate, expected: off(candidate, expected) <= limit


def off(candidate: Array, expected: Array) -> float:
    a, b = candidate.astype(np.float64), expected.astype(np.float64)
    return float(np.abs(a - b).max() / np.abs(b).max())


def some_case(format: str, activation: str, bias: bool, contract: str = "exact", data: Any = ORDINARY[0]) -> Any:
    return case_of(Arithmetic(format, activation, contract), Sizes(4, 128, 128, 3, 2, bias), data, 5)


@pytest.mark.parametrize("contract", ["exact", "f32-sequential", "hopper-bf16"])
@pytest.mark.parametrize(("format", "activation", "bias"), [("mxfp4", "SWIGLUOAI", True), ("mxfp8", "SILU", False), ("nvfp4", "SILU", True), ("fp8_block", "SILU", False), ("fp8_channel", "SILU", True), ("fp8_tensor", "SILU", False)])
def test_stages_are_those_of_the_layer(format: str, activation: str, bias: bool, contract: str) -> None:
    """Without a change the stages give the bits of mxact.moe_layer and of the checkpoint's form, which have none of this code."""
    for data in (*ORDINARY, *SPECIAL):
        case = some_case(format, activation, bias, contract, data)
        biases = {f"{name}_bias": case.bias(name) for name in ("w13", "w2")}
        _, stages = mxact.moe_layer(case.x, case.ids, case.weights, case.w13, case.w2, contract, ACTIVATIONS[activation], **biases, stages=True)
        for stage, mine in (("gate_up", case.gate_up), ("act", case.act), ("expert_out", case.down)):
            assert bits(mine, stages[stage].reshape(mine.shape)), (data.name, stage)
        assert bits(case.right, by_contract(case.how).run(case)), data.name


@pytest.mark.parametrize("format", FORMATS)
def test_numbers_are_those_of_the_checkpoint(format: str) -> None:
    """The layer as other code reads the checkpoint's form: sums are exact, so every order has its bits."""
    case = some_case(format, "SILU", False)
    from test_kernels import numbers

    for name, mine in (("w13", case.w13), ("w2", case.w2)):
        theirs = numbers(case.layer, name, format)
        if format == "nvfp4":
            theirs = theirs * case.layer[f"{name}_global_scale"][:, None, None]
        assert np.array_equal(mine, theirs.astype(np.float32))


def test_every_wrong_kernel_is_wrong_somewhere() -> None:
    """At least forty of each format, and each row of some."""
    seen: set[str] = set()
    for format, activation, bias in [("mxfp4", "SWIGLUOAI", True), ("mxfp8", "SILU", False), ("nvfp4", "SILU", False), ("fp8_block", "SILU", False)]:
        of: set[str] = set()
        for data in (*ORDINARY, *SPECIAL):
            case = some_case(format, activation, bias, "exact", data)
            right = numbers_in(case.right, "bf16")
            for row in _wrong.ALL:
                if row.needs(case) and (row.data == data.name or not (row.data or data.special)):
                    with np.errstate(all="ignore"):
                        out = row.make(case, "bf16")
                    out = numbers_in(out, "bf16") if out.dtype == np.float32 else out
                    if not bits(out, right):
                        of.add(row.name)
        assert len(of) >= 40, format
        seen |= of
    assert seen == {row.name for row in _wrong.ALL}
    assert len(seen) == len(_wrong.ALL)


@lru_cache(maxsize=16)
def public(name: str) -> Any:
    return EXAMPLE["power_of"](name)


@pytest.mark.parametrize(
    ("name", "passing", "data"),
    [
        ("kernelbench", ["zeros"], "small"),
        ("ck-tile-fp8", ["zeros", "sign", "gain-0.72"], "plain"),
        ("onnxruntime-gemv", ["zeros"], "small"),
        ("flashinfer-scores", ["nan", "infinity"], "plain"),
        ("tt-metal-sfpu", ["one-code-higher", "truncated", "accumulator-14-bits", "accumulator-fp16"], "plain"),
        ("supernpu-mse", ["one-code-higher"], "plain"),
        ("flashinfer-trtllm", ["gain-0.72", "scale-byte-higher"], "plain"),
    ],
)
def test_public_comparisons_pass_what_their_threads_say(name: str, passing: list[str], data: str) -> None:
    found = public(name)
    judged = {one.name: one for one in found.wrong}
    for wrong in passing:
        assert judged[wrong].passes[data], wrong
        assert wrong in found.passing
        assert f"passes: {wrong} (" in str(found)
        assert judged[wrong].smallest.split()[0] in judged[wrong].passes
    assert found.share < 0.9


def test_the_table_of_the_page_is_what_the_example_prints() -> None:
    page = (SOURCE / "docs/checks.md").read_text()
    for name, (where, _, _) in EXAMPLE["CHECKS"].items():
        found = public(name)
        plain = [one for one in found.wrong if "plain" in one.passes]
        caught = f"{sum(not one.passes['plain'] for one in plain)} of {len(plain)}"
        right = f"{sum(one.passes['plain'] for one in found.right)} of {len(found.right)}"
        everywhere = f"{len(found.wrong) - len(found.passing)} of {len(found.wrong)}"
        row = next(line for line in page.splitlines() if line.endswith(f"| `{name}` |"))
        assert where in row
        assert f"| {caught} | {right} | {everywhere} |" in row


def test_the_example_runs_as_the_page_says() -> None:
    done = subprocess.run([sys.executable, "docs/examples/public_checks.py", "supernpu-mse"], cwd=SOURCE, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"PTO-ISA/SuperNPUBench#102 supernpu-mse: \d+ of \d+ wrong, \d+ of \d+ right; on all data \d+ of \d+\n", done.stdout)


@pytest.mark.parametrize(("contract", "dtype"), [("hopper-bf16", "bfloat16"), ("exact", "float32"), ("f32-sequential", np.float16)])
def test_bits_against_the_contract_catch_everything(contract: str, dtype: Any) -> None:
    found = assert_power(bits, at_least=1, passes_right=True, format="mxfp4", activation="SWIGLUOAI", bias=True, contract=contract, dtype=dtype, **SMALL)
    assert found.share == 1
    assert found.passing == found.failing == ()
    assert len(found.wrong) >= 40
    assert [one.name for one in found.right] == [contract]
    assert found.parts is not None and found.parts[0] == 0


def test_bits_of_another_contract_fail_right_kernels() -> None:
    found = power(bits, format="mxfp4", activation="SILU", data=["plain"], wrong=["zeros"], **SMALL)
    assert len(found.failing) == len(found.right) > 5
    with pytest.raises(AssertionError, match=r"the comparison fails MARLIN on SM75 \(none x hopper-bf16, .*\), which is right, on plain data"):
        assert_power(bits, at_least=1, passes_right=True, format="mxfp4", activation="SILU", data=["plain"], wrong=["zeros"], **SMALL)


def test_right_kernels_are_those_that_an_engine_chooses() -> None:
    rights = rights_of(Arithmetic("mxfp4", "SWIGLUOAI"), True)
    assert {right.name for right in rights} >= {"TRITON on SM90", "MARLIN on SM80", "XPU on XPU", "CPU on CPU"}
    assert not any(right.is_else for right in rights)
    assert len({(right.name.split(" on ")[0], mxact.contract_record(right.how.split(",")[0].split(" x ")[1])) for right in rights}) == len(rights)
    elsewhere = [right.name for right in rights_of(Arithmetic("mxfp4", "SILU"), False) if right.is_else]
    assert elsewhere == ["FLASHINFER_CUTLASS_MXFP4_BF16 on SM90"]  # the finding oai_constants: it computes SwiGLU-OAI


@pytest.mark.parametrize(("format", "activations"), [("mxfp4", "mxfp8"), ("mxfp8", "mxfp8"), ("fp8_block", "fp8-group128"), ("fp8_channel", "fp8-token"), ("nvfp4", "none")])
def test_right_kernels_of_every_format_are_near(format: str, activations: str) -> None:
    found = assert_power(near(0.1), never_passes=["zeros", "sign", "expert-off-by-one"], passes_right=True, format=format, activation="SILU", activations=activations, data=["plain"], **SMALL)
    assert found.right


def test_a_limit_that_parts_does() -> None:
    asked: dict[str, Any] = {"format": "mxfp4", "activation": "SILU", "data": ["plain", "wide"], "wrong": ["zeros", "sign", "gain-0.72", "expert-off-by-one"], **SMALL}
    found = power(near(1e-6), measure=off, **asked)
    assert found.parts is not None
    low, high = found.parts
    assert 0.002 < low < high < 0.3
    between = power(near((low * high) ** 0.5), **asked)
    assert between.share == 1 and between.failing == ()
    # Counted in what passes, the same limit parts them.
    counted = power(near(1e-2), **asked).parts
    assert counted == (pytest.approx(low * 100, rel=0.2), pytest.approx(high * 100, rel=0.2))
    assert "a limit between" in between.why


def test_where_none_parts_a_sentence_says_why() -> None:
    found = power(near(0.02), measure=off, format="mxfp4", activation="SILU", data=["plain"], wrong=["zeros", "truncated"], **SMALL)
    assert found.parts is None
    assert re.match(r"no limit parts them: .* is right and [\d.e-]+ by the measure off on plain, truncated is wrong and .* catches 1 of 2 wrong ones$", found.why)


def test_comparisons_that_tell_nothing_apart() -> None:
    asked: dict[str, Any] = {"format": "mxfp4", "activation": "SILU", "data": ["plain"], **SMALL}
    everything = power(lambda candidate, expected: True, **asked)
    assert everything.share == 0 and len(everything.passing) == len(everything.wrong) and everything.failing == ()
    nothing = power(lambda candidate, expected: False, **asked)
    assert nothing.refuses == ("plain",) and nothing.wrong == nothing.right == ()
    with pytest.raises(AssertionError, match="fails what is expected itself on plain data: it tells nothing apart"):
        assert_power(lambda candidate, expected: False, at_least=0.1, **asked)


def test_assertions_say_what_passes() -> None:
    asked: dict[str, Any] = {"format": "mxfp4", "activation": "SILU", "data": ["plain", "small"], "wrong": ["zeros", "sign", "truncated"], **SMALL}

    def close(candidate: Array, expected: Array) -> None:
        np.testing.assert_allclose(candidate.astype(np.float32), expected.astype(np.float32), rtol=1e-2, atol=1e-2)

    with pytest.raises(AssertionError, match=r"^the comparison passes zeros \(every output is 0\) on small data of 1 token, 2 of 2 experts, 128 x 128\nreplay: pytest "):
        assert_power(close, never_passes=["zeros"], **asked)
    with pytest.raises(AssertionError, match=r"catches 0.0% of 3 wrong kernels, must catch 90.0%: it passes zeros .*, and 2 others: sign, truncated"):
        assert_power(close, at_least=0.9, **asked)
    with pytest.raises(AssertionError, match="bias-1-forgotten is nothing that these layers and data show"):
        assert_power(close, never_passes=["bias-1-forgotten"], **asked)
    assert power(close, **{**asked, "data": ["plain"]}).passing == ("truncated",)


def test_what_a_comparison_does_to_its_arrays_is_its_own() -> None:
    def spoils(candidate: Array, expected: Array) -> bool:
        same = bits(candidate, expected)
        candidate[...] = expected[...] = 0
        return same

    assert power(spoils, format="mxfp4", activation="SILU", contract="exact", data=["plain"], **SMALL).share == 1


def test_json_has_all_of_it() -> None:
    found = public("flashinfer-scores")
    read = json.loads(found.to_json())
    assert read["passing"] == list(found.passing)
    assert read["share"] == found.share
    assert {one["name"] for one in read["wrong"]} == {one.name for one in found.wrong}
    assert found.caught_on("plain") == 1 - sum(one.passes.get("plain", False) for one in found.wrong) / sum("plain" in one.passes for one in found.wrong)


def test_a_deployment_says_the_layer_and_the_backend() -> None:
    deployment = {"platform": "SM90", "layer": {"experts": 8, "top_k": 3, "hidden": 256, "intermediate": 256, "activation": "SWIGLUOAI", "bias": True}}
    found = power(near(0.02), deployment=deployment, data=["plain"], **SMALL)
    assert [one.name for one in found.right] == [f"{mxact.select(deployment)['choice']['backend']} on SM90"]
    assert "SWIGLUOAI, biases, 2 tokens, 3 of 4 experts" in found.layer
    deployment["platform"], deployment["layer"]["swiglu_limit"] = "SM86", 3.0  # type: ignore[index]
    found = power(near(0.03), deployment=deployment, data=["wide"], **SMALL)
    assert [one.name for one in found.right] == [f"{mxact.select(deployment)['choice']['backend']} on SM86"] and "limit-forgotten" in [one.name for one in found.wrong]
    with pytest.raises(mxact.Error, match="swiglu_limit is true: its number is needed"):
        power(near(0.03), deployment={**deployment, "layer": {**deployment["layer"], "swiglu_limit": True}})  # type: ignore[dict-item]
    with pytest.raises(mxact.Error, match="are a deployment's own"):
        power(near(0.02), deployment=deployment, format="mxfp4")


@pytest.mark.parametrize(
    ("asked", "place", "message"),
    [
        ({"format": "int4"}, "format", "format is 'int4', must be one of mxfp4"),
        ({"activation": "GELU"}, "activation", "activation is 'GELU', must be one of SWIGLUOAI, SILU"),
        ({"sizes": (8, 100, 128)}, "sizes", "sizes is 8 x 100 x 128, must be"),
        ({"sizes": 8}, "sizes", "sizes must be three numbers"),
        ({"top_k": 9}, "top_k", "top_k 9 of 8 experts"),
        ({"tokens": 0}, "tokens", "tokens is 0"),
        ({"dtype": "float64"}, "dtype", "dtype is 'float64', must be one of"),
        ({"data": ["odd"]}, "data", "data is 'odd', must be one of plain"),
        ({"data": ["nan"]}, "data", "none applies to mxfp4"),
        ({"wrong": "zeros"}, "wrong", "must be a list of names"),
        ({"wrong": ["zero"]}, "wrong", "wrong is 'zero', must be one of zeros"),
        ({"activations": "nvfp4"}, "activations", "activations is 'nvfp4', must be one of none"),
        ({"activations": "fp8-token"}, "format", "how a backend computes mxfp4 with activations 'fp8-token' and SILU is not known"),
        ({"contract": "none-such"}, "", "none-such"),
        ({"contract": "exact", "activations": "mxfp8"}, "activations", "beside a contract"),
        ({"constants": {"gamma": 1}}, "constants", "constants has 'gamma'"),
        ({"engine": "vllm==0.0"}, "", "0.0"),
        ({"measure": 1}, "measure", "measure is of type int"),
    ],
)
def test_errors(asked: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(mxact.Error, match=re.escape(message)) as error:
        power(bits, **{"format": "mxfp4", "activation": "SILU", **asked})
    assert error.value.place == place or not place


def test_tensors_need_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(mxact.Error, match="dtype is 'torch.bfloat16', and torch is not imported"):
        power(bits, format="mxfp4", activation="SILU", dtype="torch.bfloat16")


def test_errors_of_comparisons() -> None:
    with pytest.raises(mxact.Error, match="check is of type int"):
        power(1, format="mxfp4", activation="SILU")  # type: ignore[arg-type]
    with pytest.raises(mxact.Error, match="check raises ZeroDivisionError"):
        power(lambda candidate, expected: 1 / 0, format="mxfp4", activation="SILU", data=["plain"], **SMALL)  # type: ignore[arg-type]
    with pytest.raises(mxact.Error, match="at_least or never_passes"):
        assert_power(bits, format="mxfp4", activation="SILU")
    with pytest.raises(mxact.Error, match="must be above 0"):
        assert_power(bits, at_least=0, format="mxfp4", activation="SILU")


@pytest.mark.parametrize(("activation", "constants", "right"), [("SILU", {"limit": 2}, "MARLIN on SM75"), ("SWIGLUOAI", {"limit": 2}, "TRITON_UNFUSED on SM90"), ("SWIGLUOAI", {"alpha": 1.5, "limit": 2}, "hopper-bf16")])
def test_constants_are_those_of_right_kernels(activation: str, constants: dict[str, float], right: str) -> None:
    found = assert_power(near(0.03), never_passes=["limit-forgotten"], passes_right=True, format="mxfp4", activation=activation, constants=constants, data=["wide"], **SMALL)
    assert right in [one.name for one in found.right]
    assert "limit-forgotten" not in found.unseen
    assert assert_power(bits, at_least=1, passes_right=True, format="mxfp4", activation=activation, constants=constants, contract="f32-sequential", data=["plain", "wide"], **SMALL).share == 1
