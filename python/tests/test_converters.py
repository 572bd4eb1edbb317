"""The law for converters: what holds, what is said of wrong answers, and every planted fault of layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxact
from mxact.testing import assert_converter, layers
from test_layers import mxfp4_layer

Array = np.ndarray[Any, np.dtype[Any]]
pytestmark = pytest.mark.mxact(examples=8)
TRTLLM = "FLASHINFER_TRTLLM_MXFP4_BF16"


def as_packed(backend: str, **how: Any) -> Any:
    def converter(layer: dict[str, Array]) -> dict[str, Array]:
        sizes = f"{layer['w13_weight'].shape[1] // 2}x{layer['w2_weight'].shape[1]}"
        return mxact.pack(layer, backend, padded=sizes, **how).tensors

    return converter


def as_loaded(layer: dict[str, Array]) -> dict[str, Array]:
    """What EMULATION has."""
    return layer


def test_converters_that_hold() -> None:
    assert_converter(as_loaded, "EMULATION", engine="2026-08", format="mxfp4", order="gpt_oss")
    assert_converter(as_loaded, "EMULATION", engine="2026-08", format="mxfp4", order="gpt_oss", layer=GPT_OSS)
    assert_converter(as_packed(TRTLLM, engine="2026-08", order="standard"), TRTLLM, engine="2026-08", order="standard")
    assert_converter(as_packed("VLLM_CUTLASS", format="nvfp4", order="standard"), "VLLM_CUTLASS", format="nvfp4", order="standard", bias=False)
    # FP8 with a scale for each expert: XPU has the weights transposed, and a transposed view is the memory that it shows.
    assert_converter(
        lambda layer: {name: np.ascontiguousarray(values.transpose(0, 2, 1)) if values.ndim == 3 else values for name, values in layer.items()},
        "XPU",
        engine="2026-08",
        format="fp8_tensor",
        order="standard",
        bias=False,
    )


def test_views_stand_for_the_memory_that_they_show() -> None:
    layer = mxfp4_layer(2, 64, 128)
    right = as_packed("MARLIN", engine="2026-08", order="standard", format="mxfp4")(layer)
    words = {name: values.view(np.int32) if name.endswith("_weight") and values.shape[-1] % 4 == 0 else values for name, values in right.items()}
    turned = {name: values.reshape(2, -1, 16).transpose(2, 0, 1) if name.endswith("_scale") else values for name, values in words.items()}
    # [16, 2, n] with strides of 1, .., 16: the same addresses, the axes in another order.
    assert not turned["w13_weight_scale"].flags.c_contiguous
    assert_converter(lambda _: turned, "MARLIN", engine="2026-08", order="standard", format="mxfp4", layer=layer, padded="64x128")


def test_a_failure_says_what_lies_there_and_whose_memory_it_is() -> None:
    def swapped(layer: dict[str, Array]) -> dict[str, Array]:
        return as_packed(TRTLLM, engine="2026-08", order="gpt_oss")(layer)

    with pytest.raises(AssertionError) as failed:
        assert_converter(swapped, TRTLLM, engine="2026-08", order="standard")
    text = str(failed.value)
    # The smallest layer: one expert, and what the kernel needs of rows and columns.
    assert "layer: w13_weight (1, 256, 64), w2_weight (1, 128, 64)" in text
    assert "w13_weight byte " in text
    assert "(E=0 half=" in text
    assert "w13_weight is that of a layer in gpt_oss order" in text
    assert "test_converters.py::test_a_failure_says" in text


def test_rows_of_w2_have_no_order() -> None:
    def other(layer: dict[str, Any]) -> dict[str, Any]:
        packed = as_packed(TRTLLM, engine="2026-08", order="gpt_oss")(layer)
        return {**as_packed(TRTLLM, engine="2026-08", order="standard")(layer), "w2_weight": packed["w2_weight"] ^ 1}

    with pytest.raises(AssertionError, match="w2_weight byte ") as failed:
        assert_converter(other, TRTLLM, engine="2026-08", order="standard", layer=mxfp4_layer(1, 256, 256), padded="256x256")
    assert "order\n" not in str(failed.value)


@pytest.mark.parametrize(
    ("fn", "sentence"),
    [
        (lambda layer: 1 / 0, "the converter raises ZeroDivisionError"),
        (lambda layer: 3, "the converter returns int, must return a mapping"),
        (lambda layer: {}, "the converter gives no w13_weight: it gives nothing"),
        (lambda layer: {**layer, "w2_bias": None}, "the converter gives no w2_bias"),
        (lambda layer: {**layer, "w13_weight": layer["w13_weight"][:, 1:]}, "the converter's w13_weight has"),
        (lambda layer: {**layer, "w13_weight": object()}, "the converter's w13_weight"),
        (lambda layer: {**layer, "more": layer["w2_bias"]}, "the converter gives more, which the backend has not"),
    ],
)
def test_what_is_not_an_answer(fn: Any, sentence: str) -> None:
    with pytest.raises(AssertionError) as failed:
        assert_converter(fn, "EMULATION", engine="2026-08", format="mxfp4", order="gpt_oss", layer=GPT_OSS)
    # The line that replays it names the test, and with it the sentence.
    assert sentence in str(failed.value).split("\nlayer: ")[0].split("\nreplay: ")[0]


GPT_OSS = mxfp4_layer(2, 64, 128)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: assert_converter(3, "XPU", format="mxfp4"), "fn is of type int, must be a function"),  # type: ignore[arg-type]
        (lambda: assert_converter(as_loaded, "XPU"), "format is missing: XPU converts mxfp4, "),
        (lambda: assert_converter(as_loaded, "XPV"), "unknown layout 'XPV'"),
        (lambda: assert_converter(as_loaded, "XPU", engine="2026-12"), "vllm@2026-12"),
        (lambda: assert_converter(as_loaded, "XPU", engine="2026-05", format="mxfp4", order="standard"), "are not converted by engine"),
        (lambda: layers("XPU", format="mxfp4", colour="red"), "unknown choice 'colour'"),
        (lambda: layers(TRTLLM, bias=False), "biases are missing"),
    ],
)
def test_sentences(call: Any, sentence: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert sentence in str(refused.value)
