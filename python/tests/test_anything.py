"""Whatever is handed over, what a call raises is mxact.Error with one sentence."""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxact
from conftest import SOURCE


class Device:
    """An array that lies elsewhere."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 1

    def __array__(self) -> Any:
        raise AssertionError("a copy that nobody asked for")


class Broken:
    def __dlpack_device__(self) -> tuple[int, int]:
        raise RuntimeError("no device")


LAYER = {
    "w13_weight": np.zeros((2, 128, 64), np.uint8),
    "w13_weight_scale": np.zeros((2, 128, 4), np.uint8),
    "w2_weight": np.zeros((2, 128, 32), np.uint8),
    "w2_weight_scale": np.zeros((2, 128, 2), np.uint8),
}
Q = mxact.quantize(np.zeros((2, 32), np.float32), "mxfp4")
PACKED = mxact.pack(LAYER, "EMULATION", format="mxfp4")
LAYOUT = mxact.layout("sf_128x4", "128x4")
# Arguments with which each call answers.
CALLS: dict[Any, dict[str, Any]] = {
    mxact.quantize: {"x": np.zeros((2, 32), np.float32), "format": "mxfp4", "profile": "ocp", "axis": -1, "tensor_scale": None, "source": None, "flags": False},
    mxact.dequantize: {"q": Q, "to": "f32", "profile": None, "tensor_scale": None},
    mxact.convert: {"x": np.zeros(3, np.float32), "to": "e4m3fn", "profile": "ocp", "source": None},
    mxact.convert_flags: {"x": np.zeros(3, np.float32), "to": "e4m3fn", "profile": "ocp", "source": None},
    mxact.dot: {"a": np.zeros(3, np.float32), "b": np.zeros(3, np.float32), "contract": "exact", "c": None, "bias": None, "source": (None, None), "scales": None},
    mxact.matmul: {
        "a": np.zeros((2, 32), np.float32),
        "b": np.zeros((32, 3), np.float32),
        "contract": "exact",
        "scales": None,
        "c": None,
        "bias": None,
        "source": (None, None),
        "to": None,
    },
    mxact.contract_record: {"name": "hopper-bf16:align=24"},
    mxact.rules: {"to": "e4m3fn", "profile": "ocp", "source": "f32"},
    mxact.pack: {"source": LAYER, "backend": "EMULATION", "engine": None, "platform": None, "format": "mxfp4", "order": None, "layer": None, "rank": None, "layer_group": None},
    mxact.unpack: {"packed": PACKED, "accept_losses": False},
    mxact.made_by: {"base": np.zeros((2, 32), np.float32), "codes": np.zeros((2, 16), np.uint8), "scales": np.zeros((2, 1), np.uint8), "global_scale": None, "divides": False},
    mxact.layout: {"name": "sf_128x4", "shape": "128x4", "engine": None},
    mxact.select: {"deployment": {"platform": "SM100", "layer": {"experts": 8, "top_k": 2, "hidden": 256, "intermediate": 256}}, "engine": None, "oracle": None, "strict": False, "platform": None, "tp": None, "dp": None, "ep": False, "env": None, "all2all": None, "moe_backend": None},
    mxact.infos: {"model": str(SOURCE / "golden/words/gpt-oss-120b"), "engine": None, "platform": "SM100", "tp": None, "dp": None, "ep": False, "env": None, "all2all": None, "moe_backend": None},
    mxact.needs: {"engine": "vllm@2026-05", "oracle": "w4a8"},
    mxact.audit: {"deployment": {"platform": "SM90", "layer": {"experts": 8, "top_k": 2, "hidden": 256, "intermediate": 256}}, "engine": "vllm@2026-05", "oracle": "w4a8", "platform": None, "tp": None, "dp": None, "ep": False, "env": None, "all2all": None, "moe_backend": None},
    mxact.backends: {"engine": None},
    mxact.threads: {"n": None},
    LAYOUT.where: {"rows": 1, "cols": 2},
    LAYOUT.what: {"address": 3},
    LAYOUT.content: {"address": 3},
    LAYOUT.apply: {"tensor": np.zeros((128, 4), np.uint8)},
    LAYOUT.restore: {"memory": np.zeros(512, np.uint8)},
}
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=4),
    st.sampled_from([object(), Device(), Broken(), 1j, (), [], {}, [1, "a"], {"a": 1}, {1: 2}, "\ud800", "a\0b", type, lambda: 0, np.float64(1), np.datetime64(0, "s")]),
    st.sampled_from([Q, PACKED, LAYER, mxact.TensorScale(1.0), mxact.TensorScale("x"), mxact.Packed({}, (), ""), mxact.Packed({"w": 1}, (mxact.Loss(1, 2, 3),), "EMULATION")]),  # type: ignore[arg-type]
    st.sampled_from([mxact.Quantized(1, 2, None, "mxfp4", "ocp", "f32", 0), mxact.Quantized(Q.codes, Q.scales, None, 3, None, "", "a")]),  # type: ignore[arg-type]
    st.sampled_from([np.zeros(s, d) for s in ((), (0,), (3,), (2, 32)) for d in ("f4", "f8", "u1", "i8", "O", "U3", "V3", "M8[s]", "?", ml_dtypes.float4_e2m1fn, ">u4")]),
)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_every_argument_is_named_and_these_answer(call: Any) -> None:
    names = [name for name, one in inspect.signature(call).parameters.items() if one.kind != inspect.Parameter.VAR_KEYWORD]
    assert names == [name for name in CALLS[call] if call != LAYOUT.where]
    ask(call, CALLS[call])


def ask(call: Any, arguments: dict[str, Any]) -> None:
    # The first one by its place: pack has no name for it.
    first, *names = arguments if call != LAYOUT.where else ("", *arguments)
    call(*[arguments[first]] if first else (), **{name: arguments[name] for name in names})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@settings(max_examples=60)
@given(data=st.data())
def test_anything_is_answered_or_refused_in_one_sentence(call: Any, data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from([name for name in CALLS[call] if not (call is mxact.audit and name == "oracle")]))
    value = data.draw(ANYTHING)
    if (call, chosen) == (mxact.threads, "n") and isinstance(value, int) and not isinstance(value, bool):
        return
    try:
        ask(call, {**CALLS[call], chosen: value})
    except mxact.Error as error:
        assert error.message
        assert "\n" not in error.message
        assert error.code in ("usage", "input", "unsupported", "resource")
        assert "nanobind" not in error.message


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mxact.unpack(mxact.Packed({}, (mxact.Loss(1, 2, 3),), PACKED.spec)), "loss.tensor is of type int, must be text"),  # type: ignore[arg-type]
        (lambda: mxact.unpack(mxact.Packed({}, [1], PACKED.spec)), "packed.losses is no tuple of Loss"),  # type: ignore[arg-type]
        (lambda: mxact.unpack(mxact.Packed(3, (), PACKED.spec)), "packed.tensors is of type int, must be a mapping"),  # type: ignore[arg-type]
        (lambda: mxact.dot(mxact.Quantized(Q.codes[0], Q.scales[0], None, 3, "", "", 0), Q, "exact"), "a.format is of type int, must be text"),  # type: ignore[arg-type]
        (lambda: mxact.quantize(np.ma.masked_array([0.0]), "mxfp4"), "x is a masked array"),
    ],
)
def test_what_callers_make_themselves_is_looked_at(call: Any, sentence: str) -> None:
    with pytest.raises(mxact.Error, match=sentence):
        call()


def test_device_memory_is_refused_by_its_name() -> None:
    with pytest.raises(mxact.Error, match="x is in the memory of device cuda:1: copy it to the host") as refused:
        mxact.quantize(Device(), "mxfp4")
    assert refused.value.place == "x"
    with pytest.raises(mxact.Error, match="of type Broken, which does not say where its memory is: no device"):
        mxact.convert(Broken(), "fp16")
