"""Arrays in: any dtype, shape, stride and order; arrays out: dtypes, shapes, empty ones; and what is refused, in one sentence each."""

from __future__ import annotations

import json
import pickle
import subprocess
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxact
from conftest import PROGRAM, hard_f32


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def test_a_handle_converts_single_numbers() -> None:
    for source, to, profile in [("e4m3fn", "f32", "ocp"), ("bf16", "e5m2", "torch-cpu"), ("f32", "e4m3fn", "torch-cpu")]:
        codes = hard_f32(200, 2) if source == "f32" else np.arange(256, dtype=np.uint8 if source == "e4m3fn" else np.uint16)
        c = mxact.converter(source, to, profile=profile)
        expected = mxact.convert(codes, to, profile=profile, source=source)
        assert [c(int(code)) for code in codes] == expected.view(f"u{expected.itemsize}").tolist()
    assert mxact.converter("fp32", "e4m3fn")(np.uint32(0x3F800000)) == 0x38
    c = mxact.converter("e4m3fn", "f32")
    for code, sentence in [(256, "code is no code of e4m3fn, which has 8 bits"), (-1, "code is no code"), (1 << 80, "code is no code"), (1.0, "code is of type float, must be a whole"), ("a", "of type str")]:
        with pytest.raises(mxact.Error, match=sentence):
            c(code)  # type: ignore[arg-type]
    with pytest.raises(mxact.Error, match="takes random bits"):
        mxact.converter("f32", "e4m3fn", profile="hip-stochastic")


def test_dtypes_out() -> None:
    x = np.zeros((2, 64), np.float32)
    for format, codes, scales in [
        ("mxfp4", ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu),
        ("mxfp8_e4m3", ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu),
        ("mxfp8_e5m2", ml_dtypes.float8_e5m2, ml_dtypes.float8_e8m0fnu),
        ("mxfp6_e2m3", ml_dtypes.float6_e2m3fn, ml_dtypes.float8_e8m0fnu),
        ("mxint8", np.uint8, ml_dtypes.float8_e8m0fnu),
    ]:
        q = mxact.quantize(x, format)
        assert (q.codes.dtype, q.scales.dtype) == (np.dtype(codes), np.dtype(scales))
        assert (q.codes.shape, q.scales.shape) == ((2, 64), (2, 2))
    q = mxact.quantize(x, "nvfp4", profile="vllm-nvfp4", tensor_scale=1)
    assert (q.scales.dtype, q.scales.shape) == (np.dtype(ml_dtypes.float8_e4m3fn), (2, 4))
    q = mxact.quantize(x, "fp8_e4m3", profile="torchao-fp8")
    assert (q.scales.dtype, q.scales.shape) == (np.dtype(np.float32), (2, 1))
    assert mxact.convert(x, "bf16").dtype == np.dtype(ml_dtypes.bfloat16)
    assert mxact.convert(x, "ue4m3").dtype == np.dtype(np.uint8)
    assert [mxact.dequantize(mxact.quantize(x, "mxfp4"), to, profile="ocp").dtype.name for to in ("f32", "bf16", "fp16")] == ["float32", "bfloat16", "float16"]


@given(st.data())
def test_any_order_and_stride_is_the_copy(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    full = list(shape)
    full[axis] = 32 * data.draw(st.integers(0, 3))
    base = hard_f32(int(np.prod([2 * side for side in full])), data.draw(st.integers(0, 99))).view(np.float32)
    order = data.draw(st.permutations(range(len(full))))
    x = base.reshape([2 * full[i] for i in order]).transpose(np.argsort(order))
    x = x[tuple(slice(None, None, 2) if data.draw(st.booleans()) else slice(side, None) for side in full)]
    x = x[tuple(slice(None, None, data.draw(st.sampled_from([1, -1]))) for _ in full)]
    x.flags.writeable = data.draw(st.booleans())
    assert x.shape == tuple(full)
    q = mxact.quantize(x, "mxfp4", axis=axis)
    rows = np.ascontiguousarray(np.moveaxis(x, axis, -1)).reshape(-1, 32)
    if rows.size:
        flat = mxact.quantize(rows, "mxfp4")
        assert same(np.moveaxis(q.codes, axis, -1).reshape(-1, 32), flat.codes)
        assert same(np.moveaxis(q.scales, axis, -1).reshape(-1, 1), flat.scales)
        assert same(np.moveaxis(mxact.dequantize(q), axis, -1).reshape(-1, 32), mxact.dequantize(flat))
    assert q.codes.shape == x.shape
    assert same(mxact.convert(x, "e4m3fn"), mxact.convert(np.ascontiguousarray(x), "e4m3fn"))


TYPES = st.one_of(hnp.scalar_dtypes(), st.sampled_from([np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.float8_e3m4)]))


@given(
    st.tuples(TYPES, hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)),
    st.sampled_from([None, "f32", "bf16", "e2m1", "nothing"]),
)
def test_what_is_not_taken_is_an_error_of_the_package(kind: tuple[np.dtype[Any], tuple[int, ...]], source: str | None) -> None:
    x = np.zeros(kind[1], kind[0])
    for call in (
        lambda: mxact.convert(x, "e4m3fn", source=source),
        lambda: mxact.quantize(x, "mxfp4", source=source),
        lambda: mxact.dot(x, x, "exact", source=(source, source)),
    ):
        try:
            call()
        except mxact.Error as error:
            assert error.code in ("usage", "input", "unsupported")
            assert "\n" not in str(error)


KEYS = st.sampled_from(["platform", "hardware", "layer", "parallel", "env", "software", "experts", "top_k", "hidden", "tp", "bias"]) | st.text(max_size=5) | st.integers()
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["SM100", "cuda", np.int8(3), np.bool_(True), np.float32(2), b"x", [1]])


@given(st.recursive(VALUES, lambda below: st.dictionaries(KEYS, below, max_size=4), max_leaves=12))
def test_any_deployment_is_answered_or_refused(deployment: Any) -> None:
    try:
        mxact.select(deployment)
    except mxact.Error as error:
        assert "\n" not in str(error)


def test_other_classes_of_arrays() -> None:
    x = hard_f32(64, 4).view(np.float32)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(x)
    assert same(mxact.convert(matrix, "e5m2"), mxact.convert(x.reshape(1, 64), "e5m2"))
    assert same(mxact.quantize(memoryview(x), "mxfp4").codes, mxact.quantize(x, "mxfp4").codes)


class OfADevice:
    """An array as DLPack shows it, in the memory of a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __array__(self) -> np.ndarray[Any, Any]:
        raise AssertionError("device memory was read")


def nested(depth: int, key: str = "layer") -> dict[str, Any]:
    """A dict in a dict in a dict."""
    return {key: nested(depth - 1, key)} if depth else {}


ROW = np.zeros(64, np.float32)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mxact.convert(np.zeros(3), "e4m3fn"), "x is float64, must be one of float8_e4m3fn, "),
        (lambda: mxact.convert(OfADevice(), "e4m3fn"), "x is in the memory of device cuda:0: copy it to the host"),
        (lambda: mxact.convert(np.zeros(3, np.uint8), "f32"), "x is uint8: say in source which format its codes have"),
        (lambda: mxact.convert(np.zeros(3, np.uint16), "f32", source="e4m3fn"), "x is uint16, but codes of e4m3fn are uint8"),
        (lambda: mxact.convert(np.zeros(3, ">u2"), "f32", source="bf16"), "of the other byte order"),
        (lambda: mxact.convert(np.uint8([3, 0x1F]), "f32", source="e2m1"), "element 1 is 31, but codes of e2m1 have 4 bits"),
        (lambda: mxact.convert(ROW, "e4m3fm"), "unknown format 'e4m3fm' (did you mean e4m3fn?)"),
        (lambda: mxact.convert(ROW, "e4m3fn", profile="trition"), "unknown profile 'trition' (did you mean triton?)"),
        (lambda: mxact.convert(ROW, "e4m3fn", profile="hip-stochastic"), "takes random bits"),
        (lambda: mxact.convert(ROW, 7), "to is of type int, must be text"),
        (lambda: mxact.convert(ROW, "\ud800"), "to is no UTF-8"),
        (lambda: mxact.convert(ROW, "e4m3fn", source="bf16"), "x is float32, which has codes of f32, not of bf16"),
        (lambda: mxact.convert("text", "e4m3fn"), "x is <U4, must be one of"),
        (lambda: mxact.convert([[1.0], [1.0, 2.0]], "e4m3fn"), "x is of type list, which NumPy makes no array of"),
        (lambda: mxact.convert(np.ma.masked_array(ROW), "e4m3fn"), "x is a masked array"),
        (lambda: mxact.quantize(ROW[:33], "mxfp4"), "x has 33 elements along its blocks, must be a multiple of 32"),
        (lambda: mxact.quantize(np.float32(1), "mxfp4"), "x has no axes"),
        (lambda: mxact.quantize(ROW, "mxfp4", axis=1), "axis is 1, must be in [-1, 1) for 1 axes"),
        (lambda: mxact.quantize(ROW, "mxfp4", axis=0.5), "axis is 0.5, must be a whole number"),
        (lambda: mxact.quantize(ROW, "nvfp4"), "profile 'ocp'"),
        (lambda: mxact.quantize(ROW, "nvfp4", profile="vllm-nvfp4"), "needs the encode scale of the tensor"),
        (lambda: mxact.quantize(ROW[:0], "nvfp4", profile="vllm-nvfp4"), "needs the encode scale of the tensor"),
        (lambda: mxact.quantize(ROW, "mxfp4", tensor_scale=2), "needs none of a tensor's scales"),
        (lambda: mxact.quantize(ROW, "nvfp4", profile="vllm-nvfp4", tensor_scale="2"), "tensor_scale is '2', must be a number"),
        (lambda: mxact.quantize(ROW, "nvfp4", profile="vllm-nvfp4", tensor_scale=0), "encode"),
        (lambda: mxact.quantize(ROW, "mxfp4", profile="aiter-floor"), "scales"),
        (lambda: mxact.quantize(ROW.astype(ml_dtypes.float8_e5m2), "mxfp4"), "e5m2"),
        (lambda: mxact.quantize(np.zeros((64, 128), np.float32), "fp8_e4m3_128x128", profile="deepgemm"), "x has 64 rows, must be a multiple of 128"),
        (lambda: mxact.dequantize(3), "q is of type int, must be Quantized"),
        (lambda: mxact.dequantize(mxact.quantize(ROW, "mxfp4"), "e4m3fn"), "e4m3fn"),
        (lambda: mxact.dot(ROW, ROW[:3], "exact"), "a has 64 elements, b 3: must be as many"),
        (lambda: mxact.dot(ROW, ROW, "exakt"), "unknown contract 'exakt' (did you mean exact?)"),
        (lambda: mxact.select(7), "deployment is of type int, must be a path, text or a dict"),
        (lambda: mxact.select("no/such/file"), "no/such/file"),
        (lambda: mxact.select({}), "platform is missing"),
        (lambda: mxact.select({}, oracle="mxfp5"), "unknown oracle 'mxfp5' (did you mean mxfp4?)"),
        (lambda: mxact.select({}, engine="2025-01"), "2025-01"),
        (lambda: mxact.select({}, strict="yes"), "strict is 'yes', must be True or False"),
        (lambda: mxact.select("a\0b"), "deployment has a zero byte"),
        (lambda: mxact.select(""), "deployment is empty"),
        (lambda: mxact.audit(""), "deployment is empty"),
        (lambda: mxact.infos("", platform="B200"), "model is empty"),
        (lambda: mxact.inspect(""), "checkpoint is empty"),
        (lambda: mxact.inspect(None), "checkpoint is of type NoneType, must be text"),  # type: ignore[arg-type]
        (lambda: mxact.pack("", "TRITON", layer=0), "source is empty"),
        (lambda: mxact.matmul(np.zeros((2, 0), np.float32), np.zeros((0, 2), np.float32), "exact"), "a and b have a k of 0"),
        (lambda: mxact.select(nested(40)), "deployment: "),
        (lambda: mxact.select(nested(40, "")), "nests too deep"),
        (lambda: mxact.threads(0), "0 threads, allowed are 1 to 1024"),
        (lambda: mxact.threads(1025), "1025 threads, allowed are 1 to 1024"),
        (lambda: mxact.threads("2"), "threads is '2', must be a whole number"),
        (lambda: mxact.backends(engine="vllm@2026-12"), "engine vllm@2026-12 is not known"),
    ],
)
def test_sentences(call: Any, sentence: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert sentence in str(refused.value)
    assert refused.value.message == str(refused.value)
    assert refused.value.code in ("usage", "input", "unsupported", "resource")
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.message, again.code, again.place) == (refused.value.message, refused.value.code, refused.value.place)


def test_empty_arrays_give_empty_ones() -> None:
    for shape in [(0,), (0, 64), (3, 0), (2, 0, 32)]:
        q = mxact.quantize(np.zeros(shape, np.float32), "mxfp4")
        assert (q.codes.shape, q.codes.dtype.name) == (shape, "float4_e2m1fn")
        assert q.scales.shape == shape[:-1] + (shape[-1] // 32,)
        assert mxact.dequantize(q).shape == shape
        assert mxact.convert(np.zeros(shape, np.float32), "e4m3fn").dtype.name == "float8_e4m3fn"
    assert mxact.convert(np.float32(1), "e4m3fn").shape == ()
    for rows, columns in [(0, 3), (2, 0), (0, 0)]:
        made = mxact.matmul(np.zeros((rows, 32), np.float32), np.zeros((32, columns), np.float32), "exact", scales=(2, None), to="bf16")
        assert (made.shape, made.dtype.name) == ((rows, columns), "bfloat16")


def test_quantized_pickles() -> None:
    q = mxact.quantize(hard_f32(128, 5).view(np.float32).reshape(2, 64), "nvfp4", profile="vllm-nvfp4", tensor_scale=np.float32(2))
    again = pickle.loads(pickle.dumps(q))
    assert same(q.codes, again.codes) and same(q.scales, again.scales)
    assert (again.tensor_scale, again.format, again.profile, again.source, again.axis) == (mxact.TensorScale(encode=2.0), "nvfp4", "vllm-nvfp4", "f32", 1)


def test_the_scale_of_the_tensor_is_not_forgotten() -> None:
    x = np.resize(np.float32([0.5, -3, 6, 1, 0, 4]), 64).astype(ml_dtypes.bfloat16)
    q = mxact.quantize(x, "nvfp4", profile="flashinfer-exact-no-fast-math", tensor_scale=4)
    with pytest.raises(mxact.Error, match="leaves out the scale of the tensor: name a profile"):
        mxact.dequantize(q)
    # Powers of two: every step is exact, in NumPy as well.
    expected = q.codes.astype(np.float32).reshape(4, 16) * (q.scales.astype(np.float32) / np.float32(4)).reshape(4, 1)
    assert np.array_equal(mxact.dequantize(q, profile="vllm-nvfp4"), expected.reshape(-1))
    assert np.array_equal(mxact.dequantize(mxact.quantize(x, "nvfp4", profile="vllm-nvfp4", tensor_scale=4)), expected.reshape(-1))
    with pytest.raises(mxact.Error, match="needs the encode scale of the tensor"):
        mxact.dequantize(q, profile="vllm-nvfp4", tensor_scale=mxact.TensorScale())


def test_the_memory_of_a_dropped_result_is_used_again_and_never_shared() -> None:
    x = np.linspace(-8, 8, 1 << 21, dtype=np.float32)
    first = mxact.convert(x, "f32", source="f32")
    place = first.ctypes.data
    view = first[1:]
    second = mxact.convert(x * 2, "f32")
    assert second.ctypes.data != place
    # A view keeps its memory.
    del first
    third = mxact.convert(x * 3, "f32")
    assert third.ctypes.data != place
    assert np.array_equal(view, x[1:]) and np.array_equal(second, x * 2) and np.array_equal(third, x * 3)
    del view
    fourth = mxact.convert(x * 4, "f32")
    assert fourth.ctypes.data == place
    assert np.array_equal(fourth, x * 4) and np.array_equal(second, x * 2) and np.array_equal(third, x * 3)


def test_a_profile_says_which_way_its_blocks_take() -> None:
    assert mxact.ways("gguf-mxfp4") == {"quantize": {("mxfp4", "f32"): "thresholds"}, "dequantize": {("mxfp4", "f32"): "kernel"}}
    assert set(mxact.ways("ocp")["dequantize"].values()) == {"kernel"}
    assert set(mxact.ways("aiter-floor")["quantize"].values()) == {"model"}
    assert mxact.ways("torch-cpu") == {"quantize": {}, "dequantize": {}}
    # Nothing that gives codes is left to the model but elements that are rounded twice, scales that are not what elements meet, and profiles that are rules.
    rules = ("ggml", "mlx-metal", "te-nvfp4")
    assert mxact.ways("nncf-mx")["quantize"][("mxfp4", "f32")] == "thresholds" and mxact.ways("nncf-mx")["quantize"][("mxfp8_e4m3", "f32")] == "model"
    # Arithmetic that flushes subnormals has its kernel from AVX-512 on.
    kernels: str = json.loads(subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, check=True).stdout)["kernels"]
    flushing: set[str] = set() if kernels.startswith("avx512") else {"flashinfer-fast", "flashinfer-exact"}
    for profile in mxact.profiles():
        ways = mxact.ways(profile)
        found = {*ways["quantize"].values(), *ways["dequantize"].values()}
        if profile.startswith(rules):
            assert found == {"model"}, profile
        elif not profile.startswith(("aiter-", "quark-even-round", "nncf-mx", "nncf-group")):
            assert ("model" in found) == (profile in flushing), profile
    with pytest.raises(mxact.Error, match="gguf"):
        mxact.ways("gguff-mxfp4")
