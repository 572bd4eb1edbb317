"""Layers packed for backends: where recordings of the engine's converters have every unit, and back."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mxact
from conftest import PROGRAM, SOURCE, recorded_values

Array = np.ndarray[Any, np.dtype[Any]]
RECORDED = SOURCE / "golden/witness/layouts"


def mxfp4_layer(experts: int, intermediate: int, hidden: int, seed: int = 1) -> dict[str, Array]:
    """Any codes; scales without NaN; biases of bf16 without NaN."""
    random = np.random.default_rng(seed)
    rows = {"w13": (2 * intermediate, hidden), "w2": (hidden, intermediate)}
    layer: dict[str, Array] = {}
    for name, (count, columns) in rows.items():
        layer[f"{name}_weight"] = random.integers(0, 256, (experts, count, columns // 2), dtype=np.uint8)
        layer[f"{name}_weight_scale"] = random.integers(110, 140, (experts, count, columns // 32), dtype=np.uint8)
        layer[f"{name}_bias"] = random.standard_normal((experts, count)).astype(ml_dtypes.bfloat16)
    return layer


def units(values: Array, bits: int) -> Array:
    """Units of so many bits in the order of memory, each as bytes; two nibbles of a byte, the low one first."""
    data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    if bits == 4:
        return np.stack([data & 15, data >> 4], axis=-1).reshape(-1, 1)
    return data.reshape(-1, bits // 8)


def entries() -> list[dict[str, Any]]:
    """Recorded conversions of whole MXFP4 layers, a tensor each."""
    all_entries = json.loads((RECORDED / "manifest.json").read_text())["entries"]
    return [one for one in all_entries if one["kind"] == "perm" and one["stage"] == "full" and one["layout"].startswith("oracle.")]


def packed_as(entry: dict[str, Any]) -> tuple[dict[str, Array], mxact.Packed]:
    order, backend = entry["layout"].split(".")[1:]
    params = dict(entry["params"])
    experts, intermediate, hidden = params.pop("E"), params.pop("intermediate"), params.pop("hidden")
    layer = mxfp4_layer(experts, intermediate, hidden)
    words = {"bfloat16": "bf16", "float16": "fp16", None: "none"}
    options = {name: words.get(value, value) for name, value in params.items()}
    # The converter was called with a layer whose sizes nothing had rounded before.
    options |= {"platform": entry["arch"].rstrip("+"), "format": "mxfp4", "order": order, "padded": f"{intermediate}x{hidden}"}
    if backend == "FLASHINFER_CUTLASS_MXFP4_BF16":
        options["flashinfer"] = "0.6.18"  # what was installed, and no release that this version of the engine asks for
    return layer, mxact.pack(layer, backend, engine="2026-08", **options)


def cast(entry: dict[str, Any], source: Array, memory: Array) -> Array:
    """Values that change on the way: biases as NumPy casts them, scale bytes by what the recording says is added."""
    if source.dtype != np.uint8:
        return source.astype(memory.dtype)
    added = {int(after[0], 16) - int(before, 16) for before, after in entry["value_map"].items()}
    assert len(added) == 1
    return source + np.uint8(added.pop())


def test_every_unit_is_where_the_engine_had_it() -> None:
    compared = 0
    backends = set()
    for entry in entries():
        layer, packed = packed_as(entry)
        source, memory = layer[entry["role"]], packed[entry["role"]]
        perm = recorded_values(RECORDED / entry["files"]["perm"], np.int32)
        if entry["unit"] == "bit":
            expected, found = (np.unpackbits(units(one, 8).reshape(-1), bitorder="little").reshape(-1, 1) for one in (source, memory))
        elif entry["unit"] == "value":
            expected, found = (units(one, 8 * memory.itemsize) for one in (cast(entry, source, memory), memory))
        else:
            expected, found = (units(one, entry["unit_bits"]) for one in (source, memory))
        assert len(found) == entry["dst_units"] == len(perm), entry["id"]
        held = perm >= 0
        assert np.array_equal(found[held], expected[perm[held]]), entry["id"]
        if entry.get("pad_values") == [0]:
            assert not found[perm == -1].any(), entry["id"]
        compared += int(held.sum())
        backends.add(entry["layout"])
    assert len(backends) == 10
    assert compared > 100_000


def test_the_way_back() -> None:
    layer = mxfp4_layer(3, 256, 512)
    backends = 0
    for engine in ("2026-05", "2026-08"):
        for backend in mxact.backends(engine=engine):
            try:
                packed = mxact.pack(layer, backend, engine=engine, format="mxfp4", order="standard")
            except mxact.Error as error:
                assert error.code == "usage", error
                assert "converts" in str(error) or "are not converted" in str(error), error
                continue
            back = mxact.unpack(pickle.loads(pickle.dumps(packed)), accept_losses=bool(packed.losses))
            assert not packed.losses or packed.losses[0].units > 0
            for name, values in layer.items():
                assert back[name].shape == values.shape
                if not any(loss.tensor == name for loss in packed.losses):
                    assert back[name].tobytes() == values.tobytes(), (backend, engine, name)
            backends += 1
    assert backends >= 24


def test_other_formats_and_forms() -> None:
    random = np.random.default_rng(2)
    nvfp4 = {name: random.integers(0, 256, shape, dtype=np.uint8) for name, shape in {"w13_weight": (2, 512, 128), "w2_weight": (2, 256, 128)}.items()}
    nvfp4 |= {name: random.integers(1, 120, shape, dtype=np.uint8) for name, shape in {"w13_weight_scale": (2, 512, 16), "w2_weight_scale": (2, 256, 16)}.items()}
    nvfp4 |= {"w13_global_scale": np.float32([0.5, 2]), "w2_global_scale": np.float32([1, 4])}
    packed = mxact.pack(nvfp4, "VLLM_CUTLASS", format="nvfp4", order="standard")
    assert {name: values.tobytes() for name, values in mxact.unpack(packed).items()} == {name: values.tobytes() for name, values in nvfp4.items()}
    # A code in each byte is the same as two in one; so are gpt-oss's blocks of 16 bytes.
    layer = mxfp4_layer(2, 64, 128)
    pairs = np.stack([layer["w13_weight"] & 15, layer["w13_weight"] >> 4], axis=-1).reshape(2, 128, 128).view(ml_dtypes.float4_e2m1fn)
    for same in (pairs, layer["w13_weight"].reshape(2, 128, -1, 16)):
        assert mxact.pack({**layer, "w13_weight": same}, "EMULATION", format="mxfp4")["w13_weight"].tobytes() == mxact.pack(layer, "EMULATION", format="mxfp4")["w13_weight"].tobytes()
    without = mxact.pack({name: values for name, values in layer.items() if "bias" not in name}, "EMULATION", format="mxfp4")
    assert sorted(without.tensors) == ["w13_weight", "w13_weight_scale", "w2_weight", "w2_weight_scale"]


def test_what_cannot_be_restored_and_what_is_lost_are_two_counts() -> None:
    # Marlin multiplies block scales by a power of two and divides the global scale by it: where all are small, every value is kept (vllm#34577).
    random = np.random.default_rng(3)
    shapes = {"w13": (2, 256, 128), "w2": (2, 128, 128)}
    layer = {f"{name}_weight": random.integers(0, 256, (*shape[:2], shape[2] // 2), dtype=np.uint8) for name, shape in shapes.items()}
    layer |= {f"{name}_weight_scale": random.integers(0x10, 0x18, (*shape[:2], shape[2] // 16), dtype=np.uint8) for name, shape in shapes.items()}
    layer |= {"w13_global_scale": np.float32([0.5, 0.5]), "w2_global_scale": np.float32([0.5, 0.5])}
    harmless = mxact.pack(layer, "MARLIN", format="nvfp4", order="standard", platform="sm90")
    assert harmless.losses and all(loss.destroyed == 0 and loss.kept == loss.units for loss in harmless.losses)
    # A scale far below the largest becomes 0.
    layer["w13_weight_scale"][0, 0, 0], layer["w13_weight_scale"][0, 0, 1] = 0x7E, 0x01
    harmful = mxact.pack(layer, "MARLIN", format="nvfp4", order="standard", platform="sm90")
    assert any(loss.tensor == "w13_weight_scale" and loss.destroyed > 0 for loss in harmful.losses)


LAYER = mxfp4_layer(2, 64, 128)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mxact.pack([], "XPU"), "source is of type list, must be a mapping of names to arrays or a checkpoint's path"),
        (lambda: mxact.pack({}, "XPU"), "layer has no w13_weight"),
        (lambda: mxact.pack({**LAYER, "w13_weight": LAYER["w13_weight"][0]}, "XPU"), "w13_weight has shape (128, 64), must have experts, rows"),
        (lambda: mxact.pack({**LAYER, "w13_weight": LAYER["w13_weight"][:, :127]}, "XPU"), "w13_weight has 127 rows, must have as many of gate"),
        (lambda: mxact.pack({**LAYER, "w2_weight": LAYER["w2_weight"][:1]}, "XPU"), "w2_weight has 1 experts, w13_weight 2"),
        (lambda: mxact.pack({**LAYER, "w3": LAYER["w2_weight"]}, "XPU", format="mxfp4"), "w3"),
        (lambda: mxact.pack({**LAYER, "w13_global_scale": np.float32([1, 2])}, "XPU", format="mxfp4"), "mxfp4 has no w13_global_scale"),
        (lambda: mxact.pack({**LAYER, "w2_weight_scale": None}, "XPU", format="mxfp4"), "missing from the layer"),
        (lambda: mxact.pack({**LAYER, "w2_weight": LAYER["w2_weight"][:, :, :8]}, "XPU", format="mxfp4"), "2048 bytes where the layout has 8192"),
        (lambda: mxact.pack({**LAYER, "w2_bias": ["a"]}, "XPU", format="mxfp4"), "bytes where the layout has"),
        (lambda: mxact.pack({**LAYER, "w13_weight_scale": LAYER["w13_weight_scale"].transpose(0, 2, 1)}, "XPU", format="mxfp4"), "w13_weight_scale has shape (2, 4, 128), must have (2, 128, 4)"),
        (lambda: mxact.pack({**LAYER, "w2_weight_scale": np.ascontiguousarray(LAYER["w2_weight_scale"].transpose(0, 2, 1))}, "XPU", format="mxfp4"), "w2_weight_scale has shape (2, 2, 128), must have (2, 128, 2)"),
        (lambda: mxact.pack({**LAYER, "w13_weight_scale": LAYER["w13_weight_scale"].transpose(1, 0, 2)}, "XPU", format="mxfp4"), "w13_weight_scale has shape (128, 2, 4), must have (2, 128, 4)"),
        (lambda: mxact.pack({**LAYER, "w13_bias": LAYER["w13_bias"].T}, "XPU", format="mxfp4"), "w13_bias has shape (128, 2), must have (2, 128)"),
        (lambda: mxact.pack({**LAYER, "w2_bias": LAYER["w2_bias"].astype(np.float16)}, "XPU", format="mxfp4"), "w2_bias is float16, must be bfloat16"),
        (lambda: mxact.pack({**LAYER, "w13_weight_scale": LAYER["w13_weight_scale"].view(np.float32)}, "XPU", format="mxfp4"), "w13_weight_scale is float32, must be uint8"),
        (lambda: mxact.pack({"w13_weigth": LAYER["w13_weight"], "w2_weight": LAYER["w2_weight"]}, "XPU", format="mxfp4"), "unknown tensor 'w13_weigth' (did you mean w13_weight?)"),
        (lambda: mxact.pack(LAYER, "XPV", format="mxfp4"), "unknown layout 'XPV' (did you mean XPU?)"),
        (lambda: mxact.pack(LAYER, "sf_128x4"), "'sf_128x4' is a building block and no backend"),
        (lambda: mxact.pack(LAYER, "XPU"), "format is missing: it converts mxfp4, "),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp5"), "mxfp5"),
        (lambda: mxact.pack(LAYER, "XPU", engine="2026-12", format="mxfp4"), "vllm@2026-12"),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp4", order="up_first"), "up_first"),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp4", platform="sm1"), "sm1"),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp4", colour="red"), "unknown choice 'colour'"),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp4", shape="1x2"), "shape is not given: the layer's tensors say it"),
        (lambda: mxact.pack(LAYER, "XPU", format="mxfp4", padded=1.5), "padded is of type float, must be text"),
        (lambda: mxact.unpack(3), "packed is of type int, must be Packed"),
        (lambda: mxact.unpack(mxact.Packed({}, (), "XPU")), "tensor is missing"),
        (lambda: mxact.unpack(mxact.Packed({}, (), "sf_128x4,shape=8x8")), "a building block and no backend"),
    ],
)
def test_sentences(call: Any, sentence: str) -> None:
    with pytest.raises(mxact.Error) as refused:
        call()
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "--" not in str(refused.value)


CHECKPOINT = SOURCE / "golden/witness/checkpoints/tiny-gpt-oss"
THEIRS = {"w13_weight": "gate_up_proj_blocks", "w13_weight_scale": "gate_up_proj_scales", "w2_weight": "down_proj_blocks", "w2_bias": "down_proj_bias"}


def tensors_of(file: Path) -> dict[str, bytes]:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    return {name: data[8 + size + one["data_offsets"][0] : 8 + size + one["data_offsets"][1]] for name, one in head.items() if name != "__metadata__"}


@pytest.mark.parametrize(("backend", "platform", "tp"), [("FLASHINFER_TRTLLM_MXFP4_BF16", "sm100", None), ("TRITON", "sm90", None), ("EMULATION", "sm90", 2)])
def test_a_checkpoints_layer_is_what_convert_writes(tmp_path: Path, backend: str, platform: str, tp: int | None) -> None:
    whole = {name: data for shard in CHECKPOINT.glob("*.safetensors") for name, data in tensors_of(shard).items()}
    rank = None if tp is None else tp - 1
    words = [] if tp is None else ["--tp", str(tp), "--rank", str(rank)]
    command = [PROGRAM, "convert", str(CHECKPOINT), "--backend", backend, "--platform", platform, "--any-platform", *words, "-o", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)
    options = {} if tp is None else {"tp": tp, "rank": rank}
    for layer in range(2):
        written = tensors_of(tmp_path / f"out/mxact-layer-{layer:05}.safetensors")
        packed = mxact.pack(CHECKPOINT, backend, platform=platform, layer=layer, **options)
        assert {name.rsplit(".", 1)[1]: data for name, data in written.items()} == {name: values.tobytes() for name, values in packed.tensors.items()}
        if tp is None and not packed.losses:
            back = mxact.unpack(packed)
            assert all(back[name].tobytes() == whole[f"model.layers.{layer}.mlp.experts.{theirs}"] for name, theirs in THEIRS.items())


def test_arrays_are_cut_over_ranks_as_the_engine_cuts_them() -> None:
    layer = mxfp4_layer(2, 320, 128)
    choices: dict[str, Any] = {"format": "mxfp4", "order": "gpt_oss", "platform": "sm90"}
    # Ten blocks of 32 over four ranks: three each, gate and up by turns in w13.
    for rank in range(4):
        first, last = min(96 * rank, 320), min(96 * rank + 96, 320)
        part = {name: np.zeros_like(values, shape=(2, 192, *values.shape[2:])) for name, values in layer.items() if name.startswith("w13")}
        part["w2_weight"], part["w2_weight_scale"] = np.zeros((2, 128, 48), np.uint8), np.zeros((2, 128, 3), np.uint8)
        part["w2_bias"] = layer["w2_bias"]
        for name in ("w13_weight", "w13_weight_scale", "w13_bias"):
            part[name][:, : 2 * (last - first)] = layer[name][:, 2 * first : 2 * last]
        part["w2_weight"][:, :, : (last - first) // 2] = layer["w2_weight"][:, :, first // 2 : last // 2]
        part["w2_weight_scale"][:, :, : (last - first) // 32] = layer["w2_weight_scale"][:, :, first // 32 : last // 32]
        packed = mxact.pack(layer, "EMULATION", tp=4, rank=rank, **choices)
        alone = mxact.pack(part, "EMULATION", **choices)
        assert all(packed[name].tobytes() == alone[name].tobytes() for name in alone.tensors)
        assert "rank-shape=2x96x128" in packed.spec
        assert all(values.tobytes() == part[name].tobytes() for name, values in mxact.unpack(packed).items())
    for arguments, sentence in (({"tp": 4}, "rank is missing"), ({"rank": 1}, "tp does not say"), ({"tp": 4, "rank": 4}, "rank 4 is not in 0..3"), ({"tp": 3, "rank": 0}, "not divisible by 3"), ({"tp": 0}, "tp: '0' is not a whole number in 1.."), ({"tp": -2}, "tp: '-2' is not a whole number")):
        with pytest.raises(mxact.Error, match=sentence):
            mxact.pack(layer, "EMULATION", **choices, **arguments)


def test_a_version_without_conversions_of_its_own_says_whose_it_takes() -> None:
    assert mxact.pack(LAYER, "XPU", format="mxfp4").notes == ()
    assert mxact.pack(LAYER, "XPU", engine="2026-08", format="mxfp4").notes == ()
    later = mxact.pack(LAYER, "XPU", engine="2026-11", format="mxfp4")
    assert later.notes == ("XPU: conversion of its weights run at vllm@2026-08, reads the same",)
    assert all((later[name] == mxact.pack(LAYER, "XPU", format="mxfp4")[name]).all() for name in later.tensors)
    release = mxact.pack(LAYER, "XPU", engine="vllm==0.33.0", format="mxfp4")
    assert release.notes[0].startswith("0.33.0 comes with flashinfer-python 0.7.2.post1")


def test_a_layer_of_a_further_layer_group_is_what_convert_writes(tmp_path: Path) -> None:
    # A block for further tokens in the same form, with layer 1's bytes under the number 0.
    source = tmp_path / "source"
    source.mkdir()
    shutil.copy(CHECKPOINT / "config.json", source)
    head: dict[str, dict[str, object]] = {}
    data = b""
    for shard in sorted(CHECKPOINT.glob("model-*.safetensors")):
        read = shard.read_bytes()
        size = int.from_bytes(read[:8], "little")
        for name, one in json.loads(read[8 : 8 + size]).items():
            if name == "__metadata__":
                continue
            tensor = read[8 + size + one["data_offsets"][0] : 8 + size + one["data_offsets"][1]]
            further = "mtp.layers.0" + name.removeprefix("model.layers.1")
            for known in [name, further] if name.startswith("model.layers.1.mlp") else [name]:
                head[known] = {**one, "data_offsets": [len(data), len(data) + len(tensor)]}
                data += tensor
    text = json.dumps(head).encode()
    (source / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    command = [PROGRAM, "convert", str(source), "--backend", "TRITON", "--platform", "sm90", "-o", str(tmp_path / "out")]
    subprocess.run(command, check=True, capture_output=True)
    files = {None: "mxact-layer-00000.safetensors", 1: "mxact-layer-00000.safetensors", 2: "mxact-family-2-layer-00000.safetensors"}
    for group, file in files.items():
        packed = mxact.pack(source, "TRITON", platform="sm90", layer=0, layer_group=group)
        assert {name.rsplit(".", 1)[1]: values for name, values in tensors_of(tmp_path / "out" / file).items() if name != "__metadata__"} == {
            name: values.tobytes() for name, values in packed.tensors.items()
        }
    assert mxact.pack(source, "TRITON", platform="sm90", layer=0, layer_group=2).tensors["w2_bias"].tobytes() != (
        mxact.pack(source, "TRITON", platform="sm90", layer=0).tensors["w2_bias"].tobytes()
    )
    for which, sentence in [(0, "layer_group is 0: layer groups are counted from 1"), (3, "there is no layer group 3: the checkpoint has 2"), (1 << 40, "layer_group is")]:
        with pytest.raises(mxact.Error) as refused:
            mxact.pack(source, "TRITON", layer=0, layer_group=which)
        assert sentence in str(refused.value)


def test_what_a_checkpoint_is_not_asked() -> None:
    for call, sentence in [
        (lambda: mxact.pack(CHECKPOINT, "TRITON"), "layer is missing"),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=7), "layer 7 is not in 0.."),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=0, order="standard"), "order is not given: the checkpoint says it"),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=0, tp=2), "rank is missing"),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=0, tp=0), "tp: '0' is not a whole number in 1.."),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=0, tp=2, rank=2), "rank 2 is not in 0..1"),
        (lambda: mxact.pack(CHECKPOINT, "TRITON", layer=0, warps=2), "'warps' is no choice of a checkpoint's conversion"),
        (lambda: mxact.pack(CHECKPOINT / "nothing", "TRITON", layer=0), "nothing"),
        (lambda: mxact.pack("a\0b", "TRITON", layer=0), "source has a zero byte"),
        (lambda: mxact.pack(LAYER, "XPU", layer=0), "layer and layer_group choose from a checkpoint"),
    ]:
        with pytest.raises(mxact.Error) as refused:
            call()
        assert sentence in str(refused.value)


def test_lists_are_taken_and_a_dtype_that_does_not_fit_is_named() -> None:
    random = np.random.default_rng(3)
    layer = {
        "w13_weight": random.integers(0, 256, (1, 64, 32), dtype=np.uint8),
        "w13_weight_scale": random.integers(120, 130, (1, 64, 2), dtype=np.uint8),
        "w2_weight": random.integers(0, 256, (1, 64, 16), dtype=np.uint8),
        "w2_weight_scale": random.integers(120, 130, (1, 64, 1), dtype=np.uint8),
    }
    choices = {"backend": "XPU", "format": "mxfp4", "order": "standard"}
    made, of_lists = mxact.pack(layer, **choices), mxact.pack({name: values.tolist() for name, values in layer.items()}, **choices)
    assert {name: values.tobytes() for name, values in made.tensors.items()} == {name: values.tobytes() for name, values in of_lists.tensors.items()}
    with pytest.raises(mxact.Error, match=r"w2_weight.* bytes where the layout has 1024; it is float32: codes are uint8 or a dtype of ml_dtypes"):
        mxact.pack({**layer, "w2_weight": layer["w2_weight"].astype(np.float32)}, **choices)
    with pytest.raises(mxact.Error, match=r"w13_weight\[0, 0, 0\] is 300, which no uint8 is"):
        mxact.pack({**layer, "w13_weight": np.full((1, 64, 32), 300).tolist()}, **choices)
    with pytest.raises(mxact.Error, match="did you mean A10, H100 or H20"):
        mxact.pack(layer, platform="H10", **choices)


def test_forms_are_those_in_which_the_kernels_are_handed_the_tensors() -> None:
    tiny = SOURCE / "golden/witness/checkpoints/tiny-gpt-oss"
    marlin = mxact.pack(tiny, layer=0, backend="MARLIN", platform="sm90")
    assert marlin.forms["w13_weight"] == ("int32", (8, 16, 1024), (16384, 1024, 1))
    assert marlin.forms["w2_weight_scale"] == mxact.KernelForm("float8_e8m0fnu", (8, 8, 256), (2048, 256, 1))
    assert marlin["w13_weight"].nbytes == 4 * 8 * 16 * 1024
    triton = mxact.pack(tiny, layer=0, backend="TRITON", platform="sm90", engine="2026-05")
    assert triton.forms["w13_weight"].strides == (65536, 1, 512)
    for name, form in {**marlin.forms, **{f"triton.{name}": form for name, form in triton.forms.items()}}.items():
        assert len(form.shape) == len(form.strides), name
