"""The package and the program give the same bits and the same documents."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxact
from conftest import SOURCE, finite_f32, hard_f32, program


def test_every_profile_quantizes_as_the_program_does() -> None:
    tried = 0
    for profile in mxact.profiles():
        for format in mxact.block_formats():
            rows, columns = (128, 128) if format.endswith("128x128") else (3, 128)
            x = hard_f32(rows * columns, 7).reshape(rows, columns)
            try:
                q = mxact.quantize(x.view(np.float32), format, profile=profile)
            except mxact.Error as error:
                assert error.code == "usage", error
                continue
            blocks = program("quantize", format, "--profile", profile, "--rows", str(rows), values=x)
            assert [int(block["scale"], 16) for block in blocks["blocks"]] == q.scales.view(f"u{q.scales.itemsize}").reshape(-1).tolist(), (profile, format)
            codes = [int(element["code"], 16) for block in blocks["blocks"] for element in block["elements"]]
            # Squares come one after the other, and here is one.
            assert codes == q.codes.view(np.uint8).reshape(-1).tolist(), (profile, format)
            tried += 1
    assert tried >= 60


@pytest.mark.parametrize("source", ["bf16", "fp16"])
def test_sources_of_16_bits(source: str) -> None:
    x = np.random.default_rng(5).integers(0, 1 << 16, (2, 128), dtype=np.uint16)
    for format in ("mxfp4", "mxfp8_e4m3", "mxfp6_e3m2", "mxint8"):
        q = mxact.quantize(x, format, source=source)
        blocks = program("quantize", format, "--from", source, "--rows", "2", values=x, bits=16)["blocks"]
        assert [int(block["scale"], 16) for block in blocks] == q.scales.view(np.uint8).reshape(-1).tolist()
        assert [int(element["code"], 16) for block in blocks for element in block["elements"]] == q.codes.view(np.uint8).reshape(-1).tolist()


def test_squares_are_quantized_each_by_itself() -> None:
    x = finite_f32(2 * 256 * 384, 8).reshape(2, 256, 384)
    q = mxact.quantize(x, "fp8_e4m3_128x128", profile="deepgemm")
    assert q.scales.shape == (2, 2, 3)
    numbers = mxact.dequantize(q)
    for i, row, column in np.ndindex(2, 2, 3):
        part = i, slice(128 * row, 128 * (row + 1)), slice(128 * column, 128 * (column + 1))
        one = mxact.quantize(x[part], "fp8_e4m3_128x128", profile="deepgemm")
        assert q.codes[part].tobytes() == one.codes.tobytes()
        assert q.scales[i, row, column] == one.scales[0, 0]
        assert numbers[part].tobytes() == mxact.dequantize(one).tobytes()


def test_every_profile_dequantizes_as_the_program_does() -> None:
    tried = 0
    for profile in mxact.profiles():
        for format in mxact.block_formats():
            x = hard_f32(256, 11).reshape(2, 128)
            try:
                q = mxact.quantize(x.view(np.float32), format, profile=profile)
            except mxact.Error:
                continue
            blocks = program("quantize", format, "--profile", profile, "--rows", "2", values=x)
            expected = [int(element["dequantized"], 16) for block in blocks["blocks"] for element in block["elements"]]
            assert mxact.dequantize(q).view(np.uint32).reshape(-1).tolist() == expected, (profile, format)
            tried += 1
    assert tried >= 60


def test_every_conversion_from_fp32_is_the_programs() -> None:
    tried = 0
    x = hard_f32(200, 3)
    for profile in mxact.profiles():
        for format in mxact.formats():
            try:
                codes = mxact.convert(x.view(np.float32), format, profile=profile)
            except mxact.Error as error:
                assert error.code == "usage", error
                continue
            results = program("encode", format, "--profile", profile, values=x)["results"]
            assert [int(result["code"], 16) for result in results] == codes.view(f"u{codes.itemsize}").tolist(), (profile, format)
            tried += 1
    assert tried >= 150


@pytest.mark.parametrize("source", ["bf16", "fp16", "e4m3fn", "e5m2", "e2m1", "e8m0", "mxint8"])
def test_narrow_sources(source: str) -> None:
    width = {"bf16": 16, "fp16": 16, "e2m1": 4}.get(source, 8)
    every = np.arange(1 << width).astype(np.uint16 if width == 16 else np.uint8)
    # All codes at once go by a table, a few of them by the model.
    some = every[:: max(1, every.size // 100)]
    for target in ("f32", "bf16", "e4m3fn", "e2m3"):
        codes = mxact.convert(every, target, source=source)
        results = program("encode", target, "--from", source, values=some, bits=width)["results"]
        few = mxact.convert(some, target, source=source)
        assert [int(result["code"], 16) for result in results] == few.view(f"u{few.itemsize}").tolist()
        assert np.array_equal(codes.view(f"u{codes.itemsize}")[:: max(1, every.size // 100)], few.view(f"u{few.itemsize}"))


def without_head(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in ("schema", "mxact")}


def test_choices_of_the_example_deployments(examples: list[Path]) -> None:
    tried = 0
    for path in examples:
        for engine in mxact.engines():
            for strict in (False, True):
                try:
                    answer = mxact.select(path, engine=engine, strict=strict)
                except mxact.Error as error:
                    assert engine != "vllm@2026-05" and str(error).startswith(f"{engine} has no tables of oracle"), error
                    continue
                words = ["select", str(path), "--engine", engine, *(["--strict"] if strict else [])]
                assert answer == without_head(program(*words, status=0 if "choice" in answer else 4))
                assert answer == mxact.select(path.read_text(), engine=engine, strict=strict)
                assert answer == mxact.select(str(path), engine=engine, strict=strict)
                tried += 1
    assert tried >= 40


def test_needs_and_audit_are_those_of_the_program() -> None:
    assert mxact.needs(engine="vllm@2026-05") == without_head(program("audit", "--needs", "--engine", "vllm@2026-05"))
    assert mxact.needs(oracle="fp8") == without_head(program("audit", "--needs", "--oracle", "fp8"))
    assert mxact.audit(oracle="w4a8") == without_head(program("audit", "--oracle", "w4a8"))
    for call, sentence in [
        (lambda: mxact.needs(oracle="fp9"), "fp9"),
        (lambda: mxact.audit(engine="vllm@2020-01"), "vllm@2020-01"),
        (lambda: mxact.audit(oracle=3), "oracle is of type int"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(mxact.Error) as refused:
            call()
        assert sentence in str(refused.value)


def test_a_model_is_a_deployment() -> None:
    for name, platform, tp, ep in [("gpt-oss-120b", "B200", 8, True), ("step-3.5-flash-fp8", "H200", 8, True), ("qwen3-30b-a3b-fp8", "NVIDIA H100 80GB HBM3", 4, False)]:
        model = SOURCE / "golden/words" / name
        words = ["select", str(model), "--platform", platform, "--tp", str(tp), *(["--ep"] if ep else [])]
        answer = mxact.select(model, platform=platform, tp=tp, ep=ep)
        assert answer == without_head(program(*words))
        assert answer == mxact.select(str(model / "config.json"), platform=platform, tp=tp, ep=ep) | {"model": answer["model"]}
        texts = mxact.infos(model, platform=platform, tp=tp, ep=ep)
        assert list(texts) == [kind["layers"] for kind in answer["kinds"]]
        for kind in answer["kinds"]:
            again = mxact.select(texts[kind["layers"]] + "\n")
            assert again == {key: value for key, value in kind.items() if key not in ("layers", "deployment", "info")}
    with_variable = mxact.select(SOURCE / "golden/words/gpt-oss-120b", platform="MI355X", tp=8, ep=True, env={"VLLM_ROCM_USE_AITER": 1})
    assert with_variable["kinds"][0]["choice"]["backend"] == "AITER_MXFP4_BF16"
    for given, sentence in [
        ({}, "--platform is missing"),
        ({"platform": "B2000"}, "did you mean B200?"),
        ({"platform": "B200", "tp": 0}, "tp is 0, must be in 1..4096"),
        ({"platform": "B200", "tp": 5}, "num_attention_heads is 64, which 5 tensor parallel ranks cannot share"),
        ({"platform": "B200", "env": {"VLLM_ROCM_USE_AITR": 1}}, "VLLM_ROCM_USE_AITER"),
    ]:
        with pytest.raises(mxact.Error) as refused:
            mxact.select(SOURCE / "golden/words/gpt-oss-120b", **given)  # type: ignore[arg-type]
        assert sentence in str(refused.value)


def test_a_model_is_audited_laid_out_and_packed() -> None:
    model = SOURCE / "golden/words/gpt-oss-120b"
    words = ["--platform", "B200", "--tp", "2", "--dp", "4", "--ep"]
    assert mxact.audit(model, platform="B200", tp=2, dp=4, ep=True) == without_head(program("audit", str(model), *words, status=1))
    info = next(iter(mxact.infos(model, platform="B200", tp=2, dp=4, ep=True).values())) + "\n"
    of_kind = mxact.audit(model, platform="B200", tp=2, dp=4, ep=True)["kinds"][0]
    assert mxact.audit(info) == {key: value for key, value in of_kind.items() if key not in ("layers", "deployment", "info")}
    for given in ({"tp": 8}, {"tp": 8, "ep": True}, {"tp": 4, "dp": 2, "layer": 35}, {"env": {"VLLM_MXFP4_USE_MARLIN": 1}, "engine": "2026-05"}):
        found = mxact.layout(model, platform="B200", tensor="w2_weight", **given)  # type: ignore[arg-type]
        options: list[str] = []
        for name, value in given.items():
            named = [f"{key}={one}" for key, one in value.items()] if isinstance(value, dict) else [] if value is True else [str(value)]
            options += [f"--{name}", *named]
        asked = program("layout", "where", str(model), "--platform", "B200", "--tensor", "w2_weight", "--coord", "E=1,N=5,K=70", *options)
        assert found.name == asked["layout"]
        assert found.where(E=1, N=5, K=70) == asked["places"][0]["address"]
    assert ",rank-shape=128x384x2880," in mxact.layout(model, platform="B200", tp=8).name
    assert ",shape=16x2880x2880," in mxact.layout(str(model / "config.json"), platform="B200", tp=8, ep=True).name
    tiny = SOURCE / "golden/witness/checkpoints/tiny-gpt-oss"
    choice = mxact.select(tiny, platform="H100")["kinds"][0]["choice"]["backend"]
    packed = mxact.pack(tiny, layer=1, platform="H100")
    assert packed.spec.startswith(choice)
    named = mxact.pack(tiny, choice, layer=1, platform="H100")
    assert all(np.array_equal(packed[name], named[name]) for name in named.tensors)
    for call, sentence in [
        (lambda: mxact.audit(model), "--platform is missing"),
        (lambda: mxact.audit(platform="B200"), "platform is for one deployment, which is not given"),
        (lambda: mxact.audit({"platform": "SM100"}, tp=2), "tp is for a model's directory or configuration"),
        (lambda: mxact.layout(model), "platform is missing"),
        (lambda: mxact.layout(model, platform="B200", ep="perhaps"), "ep is 'perhaps', must be yes or no"),
        (lambda: mxact.layout(model, platform="B200", layer=36), "layer 36 has no experts: layers 0-35 have"),
        (lambda: mxact.layout("MARLIN", "64x64", ep=True), "ep is for a model's directory or configuration"),
        (lambda: mxact.layout("sf_128x4", "128x4", dp=2), "dp is for a model's directory or configuration"),
        (lambda: mxact.pack(tiny, layer=0), "platform is missing"),
        (lambda: mxact.pack({}, platform="B200"), "backend is missing: arrays have no configuration"),
        (lambda: mxact.pack(tiny / "model-00001-of-00002.safetensors", layer=0), "no config.json by which the engine would choose one"),
    ]:
        with pytest.raises(mxact.Error) as refused:
            call()
        assert sentence in str(refused.value)


def test_a_dict_is_a_file() -> None:
    layer = {"experts": 128, "top_k": 4, "hidden": 2880, "intermediate": 2880}
    deployment = {"platform": "SM100", "layer": layer, "parallel": {"tp": np.int64(2)}, "env": {"VLLM_MXFP4_USE_MARLIN": 1}, "backend": "auto"}
    text = "platform SM100\nlayer { experts 128 top_k 4 hidden 2880 intermediate 2880 }\nparallel { tp 2 }\nenv { VLLM_MXFP4_USE_MARLIN 1 }\nbackend auto\n"
    text = text.replace(" top_k", "\ntop_k").replace(" hidden", "\nhidden").replace(" intermediate", "\nintermediate")
    assert mxact.select(deployment) == mxact.select(text)
    for where, key, value, sentence in [
        ("layer", "hiden", 2880, "deployment: unknown key of layer 'hiden' (did you mean hidden?)"),
        ("layer", "top_k", 129, "deployment: layer.top_k is '129', must be a whole number in [1, 128]"),
        ("layer", "hidden", 2880.5, "deployment: layer.hidden is '2880.5', must be a whole number in [1, 1048576]"),
        ("layer", "bias", "perhaps", "deployment: layer.bias is 'perhaps', must be true or false"),
        ("layer", "hidden", None, "deployment: layer.hidden is of type NoneType, must be text, a number, a flag or a dict"),
        ("layer", "hidden", {"of": 1}, "deployment: layer.hidden takes a value, not a block"),
        ("parallel", "TP", 2, "deployment: 'tp' is already given as 'TP'"),
        ("", "layer", 3, "deployment: layer takes a block in braces, not a value"),
        ("", "no key", 1, "deployment: 'no key' is no key"),
        ("", 7, 1, "deployment: has a key that is no text but of type int"),
    ]:
        broken: dict[Any, Any] = {**deployment, "layer": dict(layer), "parallel": {}}
        target = broken[where] if where else broken
        target[key] = value
        if key == "TP":
            target["tp"] = 1
        with pytest.raises(mxact.Error) as refused:
            mxact.select(broken)
        assert str(refused.value) == sentence
        assert (refused.value.code, refused.value.place) == ("input", "deployment")


def nearest_f32(exact: Fraction) -> np.float32:
    """The nearest fp32 number, of two equally near ones the even one, for what is not too large for fp32."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    step = Fraction(2) ** (max(exponent, -126) - 23)
    return np.float32(float(round(exact / step) * step))


def test_the_nearest_fp32_number() -> None:
    one = Fraction(1 << 24)
    for numerator, nearest in [(one + 1, 1 << 24), (one + 2, (1 << 24) + 2), (one + 3, (1 << 24) + 4), (one + Fraction(101, 100), (1 << 24) + 2), (1 - one * 2 - 3, 2 - one * 2 - 4)]:
        assert nearest_f32(Fraction(numerator)) == np.float32(float(nearest))
    tiny = Fraction(1, 1 << 149)
    assert [nearest_f32(tiny * part).view(np.uint32) for part in (Fraction(1, 2), Fraction(51, 100), Fraction(3, 2), Fraction(1))] == [0, 1, 2, 1]


def test_dot_products_of_the_contracts() -> None:
    # By hand: 1 * 2 + 3 * 4, exact in every contract that takes fp32 numbers.
    a, b = np.float32([1, 3]), np.float32([2, 4])
    assert mxact.dot(a, b, "exact") == np.float32(14)
    assert mxact.dot(a, b, "exact", c=1, bias=0.5) == np.float32(15.5)
    # An exact sum in Python's own rationals, rounded once.
    x, y = finite_f32(64, 1), finite_f32(64, 2)
    x, y = np.clip(x, -1e9, 1e9), np.clip(y, -1e9, 1e9)
    total = sum(Fraction(float(p)) * Fraction(float(r)) for p, r in zip(x, y, strict=True))
    assert mxact.dot(x, y, "exact").view(np.uint32) == nearest_f32(total).view(np.uint32)
    q = mxact.quantize(x, "mxfp4"), mxact.quantize(y, "mxfp4")
    numbers = [mxact.dequantize(one).astype(np.float64) for one in q]
    exact = sum(Fraction(p) * Fraction(r) for p, r in zip(*(one.tolist() for one in numbers), strict=True))
    assert mxact.dot(*q, "exact").view(np.uint32) == nearest_f32(exact).view(np.uint32)


def test_names_are_those_of_the_program() -> None:
    tables = program("formats")
    assert [*mxact.formats(), "tf32"] == [row["name"] for row in tables["formats"]]  # a factor of products alone
    assert mxact.block_formats() == [row["name"] for row in tables["block_formats"]]
    assert mxact.profiles() == [row["name"] for row in tables["profiles"]]
    assert mxact.contracts() == [row["name"] for row in tables["contracts"]]
    layouts = program("layout", "list")
    assert mxact.layouts() == [row["name"] for row in layouts["building_blocks"]]
    assert sorted(mxact.backends()) == sorted({row["backend"] for row in layouts["backends"]})
    for engine in ("vllm@2026-05", "vllm@2026-08"):
        rows = program("layout", "list", "--engine", engine)["backends"]
        assert sorted(mxact.backends(engine=engine)) == sorted({row["backend"] for row in rows})
    version = (SOURCE / "CMakeLists.txt").read_text().split("project(mxact VERSION ")[1].split()[0]
    assert mxact.__version__ == version
