"""Tensors of torch in, tensors of torch out; arrays of JAX in. Where they are installed."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import hard_f32
from mxact.testing import assert_quantizer

torch = pytest.importorskip("torch")
X = hard_f32(4 * 64, 5).view(np.float32).reshape(4, 64)
FP8 = {"float8_e4m3fn": "e4m3fn", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e8m0fnu": "e8m0", "bfloat16": "bf16"}


def bytes_of(tensor: Any) -> bytes:
    whole = tensor.contiguous()
    return whole.view(torch.uint8).numpy().tobytes() if whole.ndim else whole.reshape(1).view(torch.uint8).numpy().tobytes()


@pytest.mark.parametrize("name", FP8)
def test_dtypes_there_and_back(name: str) -> None:
    bits = 16 if name == "bfloat16" else 8
    codes = np.arange(1 << bits).astype(np.uint16 if bits == 16 else np.uint8)
    tensor = torch.from_numpy(codes.view(np.int16 if bits == 16 else np.uint8)).view(getattr(torch, name))
    numbers = mxact.convert(tensor, "f32")
    assert numbers.dtype == torch.float32
    assert bytes_of(numbers) == mxact.convert(codes, "f32", source=FP8[name]).tobytes()
    if name != "float8_e8m0fnu":
        back = mxact.convert(torch.from_numpy(X), FP8[name])
        assert back.dtype == getattr(torch, name)
        assert bytes_of(back) == mxact.convert(X, FP8[name]).tobytes()


@pytest.mark.parametrize("source", [torch.float32, torch.bfloat16, torch.float16])
def test_a_quantized_tensor_is_of_torch(source: Any) -> None:
    x = torch.from_numpy(X).to(source)
    same = x.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if source == torch.bfloat16 else x.numpy()
    for format, dtype in [("mxfp8_e4m3", torch.float8_e4m3fn), ("mxfp4", torch.uint8)]:
        q, expected = mxact.quantize(x, format, flags=True), mxact.quantize(same, format, flags=True)
        assert (q.codes.dtype, q.scales.dtype, q.flags.dtype) == (dtype, torch.float8_e8m0fnu, torch.uint8)
        assert (bytes_of(q.codes), bytes_of(q.scales), bytes_of(q.flags)) == (expected.codes.tobytes(), expected.scales.tobytes(), expected.flags.tobytes())
        numbers = mxact.dequantize(q, "bf16", profile="ocp")
        assert numbers.dtype == torch.bfloat16
        assert bytes_of(numbers) == mxact.dequantize(expected, "bf16", profile="ocp").tobytes()
    assert mxact.dot(x[0].float().nan_to_num(0, 1, 1), x[0].float().nan_to_num(0, 1, 1), "exact").dtype == torch.float32


def test_strides_gradients_and_empty_tensors() -> None:
    x = torch.from_numpy(X.copy())
    assert bytes_of(mxact.quantize(x.T, "mxfp4", axis=0).codes) == mxact.quantize(X.T, "mxfp4", axis=0).codes.tobytes()
    assert bytes_of(mxact.convert(x.requires_grad_(True)[:, ::2], "fp16")) == mxact.convert(X[:, ::2], "fp16").tobytes()
    empty = mxact.quantize(torch.zeros(0, 32), "mxfp8_e5m2")
    assert (empty.codes.dtype, tuple(empty.codes.shape), tuple(empty.scales.shape)) == (torch.float8_e5m2, (0, 32), (0, 1))


def test_layers_of_torch() -> None:
    random = np.random.default_rng(0)
    shapes = {"w13_weight": (8, 512, 128), "w13_weight_scale": (8, 512, 8), "w2_weight": (8, 256, 128), "w2_weight_scale": (8, 256, 8)}
    layer: dict[str, Any] = {name: random.integers(0, 200, shape, dtype=np.uint8) for name, shape in shapes.items()}
    layer |= {"w13_bias": random.standard_normal((8, 512)).astype(ml_dtypes.bfloat16), "w2_bias": random.standard_normal((8, 256)).astype(ml_dtypes.bfloat16)}
    tensors = {name: torch.from_numpy(values.view(np.uint8 if values.dtype == np.uint8 else np.int16)) for name, values in layer.items()}
    tensors |= {name: tensors[name].view(torch.bfloat16) for name in ("w13_bias", "w2_bias")}
    tensors["w13_weight_scale"] = tensors["w13_weight_scale"].view(torch.float8_e8m0fnu)
    packed = mxact.pack(tensors, "FLASHINFER_TRTLLM_MXFP4_BF16", engine="2026-08", order="standard")
    expected = mxact.pack(layer, "FLASHINFER_TRTLLM_MXFP4_BF16", engine="2026-08", order="standard")
    assert {name: bytes_of(values) for name, values in packed.tensors.items()} == {name: values.tobytes() for name, values in expected.tensors.items()}
    assert {name: bytes_of(values) for name, values in mxact.unpack(packed).items()} == {name: values.tobytes() for name, values in layer.items()}
    layout = mxact.layout("sf_128x4", (128, 4))
    scales = torch.arange(512, dtype=torch.int32).to(torch.uint8).reshape(128, 4)
    assert torch.equal(layout.restore(layout.apply(scales))[0], scales)


def test_memory_that_is_not_the_hosts_is_refused_by_its_name() -> None:
    for tensor, sentence in [
        (torch.zeros(32, device="meta"), "x is in the memory of device meta: copy it to the host"),
        (torch.zeros(4, 32).to_sparse(), "x is a tensor of layout torch.sparse_coo, must be strided"),
        (torch.zeros(32, dtype=torch.complex64), "x is complex64, must be one of"),
        (torch.zeros(32, dtype=torch.float64), "x is float64, must be one of"),
    ]:
        with pytest.raises(mxact.Error, match=sentence):
            mxact.quantize(tensor, "mxfp4")


def test_a_quantizer_of_torch_is_held() -> None:
    def quantizer(x: Any) -> tuple[Any, Any]:
        q = mxact.quantize(torch.from_numpy(x), "mxfp8_e4m3", profile="torchao-rceil")
        return q.codes, q.scales

    assert_quantizer(quantizer, "mxfp8_e4m3", profile="torchao-rceil")
    with pytest.raises(AssertionError, match="differs from profile torchao-floor"):
        assert_quantizer(quantizer, "mxfp8_e4m3", profile="torchao-floor")


def test_comparisons_of_tensors_are_shown_tensors() -> None:
    from mxact.testing import power

    def same(candidate: Any, expected: Any) -> bool:
        assert candidate.dtype == expected.dtype == torch.bfloat16
        return bool(torch.equal(candidate, expected))

    found = power(same, format="mxfp4", activation="SILU", sizes=(4, 128, 128), tokens=2, contract="hopper-bf16", dtype=torch.bfloat16, data=["plain"])
    assert found.share == 1 and found.failing == ()
