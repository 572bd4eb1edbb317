"""Kernels of experts under the laws: a kernel in NumPy's own order, the model's contracts as somebody else's kernels, wrong ones of each kind."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from mxact import _core, testing
from mxact.testing import assert_kernel
from mxact.testing._kernels import Tokens, _Law, _ulps, padded_of

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=12)


def numbers(layer: dict[str, Array], name: str, format: str) -> Array:
    """A matrix of a checkpoint's form as float64: exact."""
    codes, scales = layer[f"{name}_weight"], layer[f"{name}_weight_scale"]
    if format in ("mxfp4", "nvfp4"):
        codes = np.stack([codes & 15, codes >> 4], axis=-1).reshape(*codes.shape[:-1], -1)
    values = mxact.convert(codes, "f32", source="e2m1" if format in ("mxfp4", "nvfp4") else "e4m3fn").astype(np.float64)
    if scales.dtype == np.uint8:
        scales = mxact.convert(scales, "f32", source="e4m3fn" if format == "nvfp4" else "e8m0").astype(np.float64)
    if scales.ndim == 3:
        rows, columns = (-(-values.shape[i] // scales.shape[i]) for i in (1, 2))
        scales = np.repeat(np.repeat(scales, rows, axis=1), columns, axis=2)[:, : values.shape[1], : values.shape[2]]
    else:
        scales = scales.reshape(*scales.shape, *[1] * (values.ndim - scales.ndim))
    return values * scales


def numpy_kernel(format: str, order: str = "standard", dtype: Any = np.float32, inside: Any = np.float32, oai: bool = False, limit: float = np.inf, rounds: Any = None) -> Any:
    """Sums in whatever order NumPy has, in `inside`; activations are numbers of `rounds`."""

    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        w13, w2 = (numbers(tensors, name, format).astype(inside) for name in ("w13", "w2"))
        b13, b2 = (tensors[name].astype(inside) if name in tensors else np.zeros((len(w2), 1), inside) for name in ("w13_bias", "w2_bias"))
        out = np.zeros(x.shape, inside)
        half = w13.shape[1] // 2
        for token, row in enumerate(x.astype(inside)):
            for expert, weight in zip(ids[token], weights[token], strict=True):
                both = w13[expert] @ row + b13[expert]
                gate, up = (both[::2], both[1::2]) if order == "gpt_oss" else (both[:half], both[half:])
                gate, up = np.minimum(gate, inside(limit)), np.clip(up, -inside(limit), inside(limit))
                with np.errstate(over="ignore"):
                    act = gate / (1 + np.exp(-gate * inside(1.702 if oai else 1))) * (up + inside(oai))
                act = act if rounds is None else act.astype(rounds).astype(inside)
                out[token] += inside(weight) * (w2[expert] @ act + b2[expert])
        return out.astype(dtype)

    return kernel


@pytest.mark.parametrize(("format", "order"), [("mxfp4", "standard"), ("mxfp4", "gpt_oss"), ("nvfp4", "standard"), ("mxfp8", "standard"), ("fp8_block", "standard"), ("fp8_channel", "gpt_oss"), ("fp8_tensor", "standard")])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_any_order_is_proved(format: str, order: str, dtype: Any) -> None:
    worst = assert_kernel(numpy_kernel(format, order, dtype), order_proof=True, activation="SILU", format=format, order=order)
    assert worst > 0 or dtype is ml_dtypes.bfloat16


BF16 = ml_dtypes.bfloat16
PROOFS = {
    "fp64 inside": ({}, {"inside": np.float64}),
    "fp64 inside, bf16 out": ({}, {"inside": np.float64, "dtype": BF16}),
    "bf16 activations": ({}, {"rounds": BF16, "dtype": BF16}),
    "gpt-oss": ({"activation": "SWIGLUOAI", "order": "gpt_oss", "bias": True}, {"oai": True, "limit": 7, "rounds": BF16}),
    "gpt-oss, bf16 out": ({"activation": "SWIGLUOAI", "order": "gpt_oss", "bias": True}, {"oai": True, "limit": 7, "rounds": BF16, "dtype": BF16}),
    "gpt-oss, no biases, e4m3 activations": ({"activation": "SWIGLUOAI"}, {"oai": True, "limit": 7, "rounds": ml_dtypes.float8_e4m3fn}),
    "OAI under a high limit": ({"activation": "SWIGLUOAI", "limit": 96, "bias": True}, {"oai": True, "limit": 96}),
    "SILU under DeepSeek-V4's limit": ({"limit": 10}, {"limit": 10, "rounds": BF16}),
    "SILU under Step's limit": ({"limit": 7}, {"limit": 7, "rounds": BF16}),
    "SILU under a high limit": ({"limit": 96}, {"limit": 96, "inside": np.float64}),
}


@pytest.mark.parametrize("proof", PROOFS)
def test_in_which_arithmetic_sums_are_proved(proof: str) -> None:
    """A right kernel holds in every arithmetic that is said, under limits and OAI's activation; and the law says which it is."""
    how, kernel = PROOFS[proof]
    testing.settings.held.clear()
    assert_kernel(numpy_kernel("mxfp4", how.get("order", "standard"), **kernel), order_proof=True, format="mxfp4", **{"activation": "SILU", **how})
    limit = how.get("limit", 7 if how.get("activation") == "SWIGLUOAI" else 96)
    said = "activations exact in fp64, fp32 and bf16" if limit >= 64 else f"activations rounded to bf16 or less: at the limit {limit} none but 0 is exact in fp32"
    assert f"kernel exact mxfp4 in any order ({said}), at most " in testing.settings.held[0]


@pytest.mark.parametrize(("how", "kernel"), [PROOFS["gpt-oss"], PROOFS["SILU under DeepSeek-V4's limit"]])
def test_a_proof_says_nothing_of_what_it_cannot_tell(how: dict[str, Any], kernel: dict[str, Any]) -> None:
    """Activations in fp32 under a limit: neither held nor wrong. The limit itself, OAI's 1 and each wrong sum are wrong all the same."""
    asked = {"activation": "SILU", "format": "mxfp4", "order_proof": True, **how}
    order = how.get("order", "standard")
    for inside in (np.float32, np.float64):
        with pytest.raises(mxact.Error, match="keeps activations in more than bf16, of which order_proof says nothing") as refused:
            assert_kernel(numpy_kernel("mxfp4", order, **{**kernel, "rounds": None, "inside": inside}), **asked)
        assert refused.value.code == "unsupported"
    for other in ({"limit": 2 * kernel["limit"]}, {"limit": np.inf}, {"oai": not kernel.get("oai", False)}):
        with pytest.raises(AssertionError, match="the kernel differs from contract exact"):
            assert_kernel(numpy_kernel("mxfp4", order, **{**kernel, **other}), **asked)
    for wrong, change in WRONG.items():
        if wrong != "gate and up change places" or order == "standard":
            with pytest.raises(AssertionError, match="the kernel differs from contract exact"):
                assert_kernel(change(numpy_kernel("mxfp4", order, **kernel)), **asked)


def test_limits_of_contracts() -> None:
    """A limit is the kernel's and the law's, or the answers part."""
    for activation, limit in (("SWIGLUOAI", 3.0), ("SILU", 2.5)):
        held = {"contract": "f32-sequential", "activation": activation, "format": "mxfp4", "order": "gpt_oss"}
        assert assert_kernel(model("f32-sequential", activation, limit=limit), limit=limit, **held) == 0
        with pytest.raises(AssertionError, match="differs from contract f32-sequential"):
            assert_kernel(model("f32-sequential", activation), limit=limit, **held)


WRONG: dict[str, Any] = {
    "the last block of 32 is left out": lambda kernel: lambda x, ids, w, t: kernel(np.concatenate([x[:, :-32], np.zeros_like(x[:, -32:])], axis=1), ids, w, t),
    "the weights are those of the other slot": lambda kernel: lambda x, ids, w, t: kernel(x, ids, w[:, ::-1] if w[0, 0] != w[0, -1] else w * 2, t),
    "the experts are one later": lambda kernel: lambda x, ids, w, t: kernel(x, (ids + 1) % len(t["w2_weight"]), w, t),
    "gate and up change places": lambda kernel: lambda x, ids, w, t: kernel(x, ids, w, {n: np.roll(v, v.shape[1] // 2, 1) if "w13" in n else v for n, v in t.items()}),
    "scales are those of the next row": lambda kernel: lambda x, ids, w, t: kernel(x, ids, w, {n: np.roll(v, 1, 1) if n == "w13_weight_scale" else v for n, v in t.items()}),
    "one output is off by an ulp": lambda kernel: lambda x, ids, w, t: np.nextafter(kernel(x, ids, w, t), np.float32(np.inf)),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_kernel_is_noticed_in_any_order(wrong: str) -> None:
    with pytest.raises(AssertionError, match=r"(?s)the kernel differs from contract exact:.*out\[\d+, \d+\], byte .*, must be .*(ulp|zero|another sign|another magnitude).*token .*replay: pytest"):
        assert_kernel(WRONG[wrong](numpy_kernel("mxfp4")), order_proof=True, activation="SILU", format="mxfp4")


def rolled(kernel: Any, when: Any, x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
    """Wrong where `when` says so of the extents: tokens, slots of each, experts, hidden and intermediate size."""
    extents = {"tokens": len(x), "slots": ids.shape[1], "experts": len(tensors["w2_weight"]), "hidden": x.shape[1], "intermediate": tensors["w13_weight"].shape[1] // 2}
    out = kernel(x, ids, weights, tensors)
    return np.nextafter(out, np.float32(np.inf)) if when(extents) else out


SMALLEST: dict[str, tuple[Any, tuple[int, int, int, int, int]]] = {
    "always": (lambda of: True, (1, 1, 1, 32, 64)),
    "three tokens": (lambda of: of["tokens"] >= 3, (3, 1, 1, 32, 64)),
    "two slots": (lambda of: of["slots"] == 2, (1, 2, 2, 32, 64)),
    "three experts": (lambda of: of["experts"] == 3, (1, 1, 3, 32, 64)),
    "hidden": (lambda of: of["hidden"] > 128, (1, 1, 1, 160, 64)),
    "intermediate and tokens": (lambda of: of["intermediate"] > 128 and of["tokens"] > 1, (2, 1, 1, 32, 192)),
}


@pytest.mark.mxact(examples=100)
@pytest.mark.parametrize("where", SMALLEST)
def test_the_smallest_wrong_layer_is_shown(where: str) -> None:
    when, (tokens, slots, experts, hidden, intermediate) = SMALLEST[where]
    right = numpy_kernel("mxfp4")
    with pytest.raises(AssertionError, match="the kernel differs") as failed:
        assert_kernel(lambda *given: rolled(right, when, *given), order_proof=True, activation="SILU", format="mxfp4")
    text = str(failed.value)
    assert "out[0, 0], byte 0 of its memory: 0x" in text
    assert f"; {tokens * hidden} of {tokens * hidden} differ\ntoken 0: expert " in text
    assert text.count("weight 0.") == slots
    assert f"layer: w13_weight ({experts}, {2 * intermediate}, {hidden // 2}), w2_weight ({experts}, {hidden}, {intermediate // 2})" in text


def test_shrinking_keeps_to_what_is_wrong() -> None:
    """A kernel that raises for few tokens is not what was found wrong; one that answers otherwise when asked again says so."""
    right = numpy_kernel("mxfp4")

    def raises(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
        if len(x) == 1:
            raise ValueError("too few")
        return np.nextafter(right(x, ids, weights, tensors), np.float32(np.inf))

    with pytest.raises(AssertionError, match=r"(?s)the kernel raises ValueError: too few|the kernel differs from contract exact.*; 64 of 64 differ"):
        assert_kernel(raises, order_proof=True, activation="SILU", format="mxfp4")
    asked = []

    def once(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
        asked.append(1)
        out = right(x, ids, weights, tensors)
        return np.nextafter(out, np.float32(np.inf)) if len(asked) == 1 else out

    with pytest.raises(AssertionError, match="asked again, it gives another answer"):
        assert_kernel(once, order_proof=True, activation="SILU", format="mxfp4")


def model(contract: str, activation: str, order: str = "gpt_oss", limit: float | None = None) -> Any:
    """The model under a contract as somebody else's kernel."""

    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        law = _Law(lambda: 0, contract, None, {"format": "mxfp4", "source_order": order}, activation, "", [], None if limit is None else int(np.float32(limit).view(np.uint32)))
        return law.right(tensors, "", tensors, Tokens(x, ids, weights))[0]

    return kernel


@pytest.mark.parametrize("activation", ["SWIGLUOAI", "SILU"])
def test_contracts(activation: str) -> None:
    assert assert_kernel(model("f32-sequential", activation), contract="f32-sequential", activation=activation, format="mxfp4", order="gpt_oss", bias=True) == 0
    with pytest.raises(AssertionError, match="(?s)differs from contract exact.*it is contract .*f32-sequential"):
        assert_kernel(model("f32-sequential", activation), contract="exact", activation=activation, format="mxfp4", order="gpt_oss", bias=True)


def test_a_backends_kernel() -> None:
    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array], drop: bool = False) -> Array:
        experts, rows = tensors["w2_weight"].shape[:2]
        sizes = f"{rows}x{rows}"
        del experts
        return run(x, ids, weights, tensors, sizes, drop)

    specs: dict[str, str] = {}

    def run(x: Array, ids: Array, weights: Array, tensors: dict[str, Array], sizes: str, drop: bool) -> Array:
        named = [(name, values.reshape(-1).view(np.uint8)) for name, values in tensors.items() if not (drop and name == "w2_bias")]
        out, _ = _core.run_kernel(specs["spec"], named, "SWIGLUOAI", None, "", *Tokens(x, ids, weights).arguments())
        return out.view(ml_dtypes.bfloat16).reshape(x.shape)  # type: ignore[attr-defined]

    layer = {"w13_weight": np.zeros((2, 256, 64), np.uint8), "w13_weight_scale": np.full((2, 256, 4), 127, np.uint8)}
    layer |= {"w2_weight": np.zeros((2, 128, 64), np.uint8), "w2_weight_scale": np.full((2, 128, 4), 127, np.uint8)}
    layer |= {"w13_bias": np.zeros((2, 256), ml_dtypes.bfloat16), "w2_bias": np.zeros((2, 128), ml_dtypes.bfloat16)}
    packed = mxact.pack(layer, "MARLIN", format="mxfp4", order="gpt_oss", padded="128x128")
    specs["spec"] = packed.spec
    x = np.ones((1, 128), ml_dtypes.bfloat16)
    out = kernel(x, np.int32([[0, 1]]), np.float32([[0.5, 0.5]]), packed.tensors)
    assert not out.view(np.uint16).any()
    with pytest.raises(AssertionError, match="the kernel differs from MARLIN "):
        assert_kernel(lambda x, ids, weights, tensors: np.zeros(x.shape, ml_dtypes.bfloat16), backend="MARLIN", activation="SWIGLUOAI", format="mxfp4", order="gpt_oss", bias=True)


def test_what_is_no_answer_and_what_is_refused() -> None:
    right = numpy_kernel("mxfp4")
    for fn, sentence in [
        (lambda *a: 3, "the kernel returns int, must return an array"),
        (lambda *a: right(*a).astype(np.float64), "the kernel's out is float64, must be bfloat16 or float32"),
        (lambda *a: right(*a)[:, 1:], "the kernel's out has shape"),
        (lambda *a: 1 / 0, "the kernel raises ZeroDivisionError"),
        (lambda: 0, "the kernel raises TypeError"),
    ]:
        with pytest.raises(AssertionError, match=sentence):
            assert_kernel(fn, order_proof=True, activation="SILU", format="mxfp4")
    for options, sentence in [
        ({}, "one of contract, backend and order_proof is asked"),
        ({"contract": "exact", "backend": "MARLIN"}, "one of contract, backend and order_proof is asked"),
        ({"contract": "exakt"}, "exakt"),
        ({"contract": "exact", "format": "mxfp5"}, "mxfp5"),
        ({"contract": "exact", "format": None}, "format is of type NoneType, must be text"),
        ({"contract": "exact", "engine": "2026-08"}, "engine, platform and choices of a converter are a backend's"),
        ({"backend": "MARLEN"}, "MARLEN"),
        ({"order_proof": True, "format": "int4"}, "order_proof takes a format of mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel, fp8_block, not int4"),
        ({"order_proof": True, "limit": 5}, "SILU of it is not exact, even when it is rounded to bf16"),
        ({"order_proof": True, "limit": 7.3}, "order_proof takes one of three significant bits from 1 to 256"),
        ({"order_proof": True, "limit": 0}, "limit is 0, must be above 0 and finite"),
        ({"contract": "exact", "limit": float("inf")}, "limit is inf, must be above 0 and finite"),
        ({"contract": "exact", "limit": "7"}, "limit is '7', must be a number"),
        ({"contract": "exact", "activation": "GELU"}, "activation is 'GELU', must be SWIGLUOAI or SILU"),
    ]:
        with pytest.raises(mxact.Error, match=sentence):
            assert_kernel(right, **{"activation": "SILU", "format": "mxfp4", **options})
    with pytest.raises(mxact.Error, match="fn is of type int"):
        assert_kernel(3, order_proof=True, activation="SILU", format="mxfp4")  # type: ignore[arg-type]


def test_steps_between_numbers() -> None:
    a = np.float32([0.0, -0.0, 1.0, -1.0])
    b = np.float32([-0.0, 2.0**-149, np.nextafter(np.float32(1), np.float32(2)), 1.0])
    assert _ulps(a, b).tolist() == [0, 1, 1, 2 * 0x3F800000]
    assert padded_of({"w13_weight": np.zeros((1, 256, 1)), "w2_weight": np.zeros((1, 64, 1))}) == "128x64"
