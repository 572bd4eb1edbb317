"""Kernels of experts under the laws: a kernel in NumPy's own order, the model's contracts as somebody else's kernels, wrong ones of each kind."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from mxact import _core
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


def numpy_kernel(format: str, order: str = "standard", dtype: Any = np.float32) -> Any:
    """Sums in whatever order NumPy has."""

    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        w13, w2 = (numbers(tensors, name, format).astype(np.float32) for name in ("w13", "w2"))
        out = np.zeros(x.shape, np.float32)
        half = w13.shape[1] // 2
        for token, row in enumerate(x.astype(np.float32)):
            for expert, weight in zip(ids[token], weights[token], strict=True):
                both = w13[expert] @ row
                gate, up = (both[::2], both[1::2]) if order == "gpt_oss" else (both[:half], both[half:])
                with np.errstate(over="ignore"):
                    out[token] += weight * (w2[expert] @ (gate / (1 + np.exp(-gate)) * up))
        return out.astype(dtype)

    return kernel


@pytest.mark.parametrize(("format", "order"), [("mxfp4", "standard"), ("mxfp4", "gpt_oss"), ("nvfp4", "standard"), ("mxfp8", "standard"), ("fp8_block", "standard"), ("fp8_channel", "gpt_oss"), ("fp8_tensor", "standard")])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_any_order_is_proved(format: str, order: str, dtype: Any) -> None:
    worst = assert_kernel(numpy_kernel(format, order, dtype), order_proof=True, activation="SILU", format=format, order=order)
    assert worst > 0 or dtype is ml_dtypes.bfloat16


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
    "always": (lambda of: True, (1, 1, 1, 128, 128)),
    "three tokens": (lambda of: of["tokens"] >= 3, (3, 1, 1, 128, 128)),
    "two slots": (lambda of: of["slots"] == 2, (1, 2, 2, 128, 128)),
    "three experts": (lambda of: of["experts"] == 3, (1, 1, 3, 128, 128)),
    "hidden": (lambda of: of["hidden"] > 128, (1, 1, 1, 256, 128)),
    "intermediate and tokens": (lambda of: of["intermediate"] > 128 and of["tokens"] > 1, (2, 1, 1, 128, 256)),
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

    with pytest.raises(AssertionError, match=r"(?s)the kernel raises ValueError: too few|the kernel differs from contract exact.*; 256 of 256 differ"):
        assert_kernel(raises, order_proof=True, activation="SILU", format="mxfp4")
    asked = []

    def once(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Any:
        asked.append(1)
        out = right(x, ids, weights, tensors)
        return np.nextafter(out, np.float32(np.inf)) if len(asked) == 1 else out

    with pytest.raises(AssertionError, match="asked again, it gives another answer"):
        assert_kernel(once, order_proof=True, activation="SILU", format="mxfp4")


def model(contract: str, activation: str, order: str = "gpt_oss") -> Any:
    """The model under a contract as somebody else's kernel."""

    def kernel(x: Array, ids: Array, weights: Array, tensors: dict[str, Array]) -> Array:
        law = _Law(lambda: 0, contract, None, {"format": "mxfp4", "source_order": order}, activation, "", [])
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
        out, _ = _core.run_kernel(specs["spec"], named, "SWIGLUOAI", "", *Tokens(x, ids, weights).arguments())
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
        ({"order_proof": True, "activation": "SWIGLUOAI"}, "order_proof takes activation='SILU'"),
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
