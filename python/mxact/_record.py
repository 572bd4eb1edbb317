"""Records what an implementation computes, in the forms that `mxact witness DIR` holds the model against.

    import mxact
    mxact.record("e4m3fn", lambda x: mine(x), x, implementation="mine", overflow="saturate", nan_pos="0x7F", nan_neg="0xFF")
    mxact.record("sf_128x4", swizzle, (256, 12), implementation="mine", rows=256, cols=12, role="scale")

record() is one call of one function in a folder of its own; Recorder and LayoutRecorder put many into one. Arrays are of numpy (ml_dtypes' bf16, fp8, fp6
and fp4 included) or anything with .detach().cpu() (torch tensors). Conversions are compared whoever ran them; for block operations the name of the
implementation is the dialect: "ocp" for one that follows the MX document to the letter. LayoutRecorder does the same for converters that move bytes: it
finds out by itself which input unit went where.

The file needs numpy alone: without the package it is used as it is, `from _record import Recorder`; installed with the vectors it is called record.py.
`_record.py --self-test DIR` records a small example of both, computed with numpy alone.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = {"uint8": "u8", "int8": "i8", "int32": "i32", "uint32": "u32", "uint64": "u64",
          "float16": "fp16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
# Beginnings of ml_dtypes' names of codes that have a byte each.
SMALL = ("float8_", "float6_", "float4_")
LAYOUT_DTYPES = {"uint8": 1, "float8_e4m3fn": 1, "float8_e8m0fnu": 1, "bfloat16": 2, "float16": 2, "float32": 4}


def as_numpy(array: Any) -> tuple[Array, str]:
    """A numpy array with the same bits, and its element type in the words of the manifest; codes of 8 bits and fewer are u8."""
    if hasattr(array, "detach"):
        tensor = array.detach().cpu().contiguous()
        kind = str(tensor.dtype).removeprefix("torch.")
        if kind == "bfloat16" or kind.startswith("float8"):
            torch: Any = sys.modules["torch"]
            wide = kind == "bfloat16"
            return tensor.view(torch.int16 if wide else torch.uint8).numpy(), "bf16" if wide else "u8"
        array = tensor.numpy()
    array = np.ascontiguousarray(array)
    if array.size == 0:
        raise ValueError(f"an array of shape {array.shape} has no values: nothing would be compared")
    if array.dtype.name.startswith(SMALL):
        return array.view(np.uint8), "u8"
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16), "bf16"
    if array.dtype.name not in DTYPES:
        raise ValueError(f"no element type for {array.dtype}: use one of {', '.join(DTYPES)}")
    return array, DTYPES[array.dtype.name]


def little_endian(array: Array) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


# What a converter moves whole, by the bits that it has; the coarsest first.
UNITS = {"byte": 8, "nibble": 4, "bit": 1}


class _Set:
    """A directory with a manifest: one file for equal bytes, one line for each entry."""

    def __init__(self, directory: str | pathlib.Path, head: dict[str, Any]) -> None:
        self.directory = pathlib.Path(directory)
        self.head = head
        self.entries: list[dict[str, Any]] = []
        self.files: dict[str, str] = {}
        self.directory.mkdir(parents=True, exist_ok=True)
        if (self.directory / "manifest.json").exists():
            raise FileExistsError(f"{self.directory / 'manifest.json'}: recordings are not overwritten")

    def add(self, entry: dict[str, Any]) -> None:
        if any(known["id"] == entry["id"] for known in self.entries):
            raise ValueError(f"two entries with the id {entry['id']}")
        self.entries.append(entry)

    def store(self, name: str, data: bytes) -> str:
        """Writes the bytes once and returns the name of their file."""
        digest = hashlib.sha256(data).hexdigest()
        if digest not in self.files:
            if "/" in name or name in self.files.values():
                raise ValueError(f"{name} is no new plain file name")
            (self.directory / name).write_bytes(data)
            self.files[digest] = name
        return self.files[digest]

    def write(self) -> None:
        lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in self.head.items()]
        body = ",\n".join("  " + json.dumps(entry) for entry in self.entries)
        text = "{\n" + "\n".join(lines) + '\n "entries": [\n' + body + "\n ]\n}\n"
        (self.directory / "manifest.json").write_text(text)


class Recorder(_Set):
    """Records conversions, block quantization, layers: the form mxact-witness/3, which has all words of 1 and 2."""

    def __init__(self, directory: str | pathlib.Path, set_name: str, split: str = "public") -> None:
        super().__init__(directory, {"format": "mxact-witness/3", "set": set_name, "split": split})

    def entry(
        self,
        id: str,
        op: str,
        params: dict[str, Any],
        profile: dict[str, str],
        inputs: dict[str, Any],
        outputs: dict[str, Any],
        relation: dict[str, Any] | None = None,
        skip: dict[str, Any] | None = None,
        grounds: str = "library",
        level: str = "must",
        note: str | None = None,
    ) -> None:
        """Adds one entry.

        params, profile: the words of the operation; floating values as hex strings of their bits ("0x7F", "0x3F800000").
        inputs, outputs: name -> array, or {"generate": "iota", "dtype": ..., "shape": [...]} for generated inputs.
        relation: name -> {"kind": ...} for outputs that are not compared bit for bit.
        skip: name -> {"input_nan": True} and the like; a mask is given as {"mask": uint8 array}.
        """
        known = {name: self._tensor(f"{id}.{name}", array) for name, array in {**inputs, **outputs}.items()}
        relation = relation or {}
        entry: dict[str, Any] = {"id": id, "op": op, "params": params, "profile": profile,
                 "inputs": {name: known[name] for name in inputs}, "outputs": {name: known[name] for name in outputs},
                 "relation": {name: relation.get(name, {"kind": "bits"}) for name in outputs}}
        if skip:
            entry["skip"] = {name: {key: self._tensor(f"{id}.{name}.skip", value) if key == "mask" else value for key, value in rule.items()}
                             for name, rule in skip.items()}
        entry |= {"grounds": grounds, "level": level}
        if note:
            entry["note"] = note
        self.add(entry)

    def _tensor(self, name: str, array: Any) -> dict[str, Any]:
        if isinstance(array, dict):
            return array
        array, dtype = as_numpy(array)
        return {"file": self.store(f"{name}.{dtype}.bin", little_endian(array)), "dtype": dtype, "shape": list(array.shape) or [1]}


def generated_bytes(seed: int, count: int) -> Array:
    """Low bytes of splitmix64, the input of digest checks."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31))).astype(np.uint8)


def fnv1a64(data: bytes) -> str:
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"


class LayoutRecorder(_Set):
    """Records converters that only move bytes, nibbles or bits: the form layout-vectors/2."""

    def __init__(self, directory: str | pathlib.Path, set_name: str, converter_versions: list[dict[str, str]]) -> None:
        """converter_versions: [{"label", "repo", "commit", "date"}, ...]."""
        super().__init__(directory, {"format": "layout-vectors/2", "set": set_name, "converter_versions": converter_versions})

    def perm(
        self,
        id: str,
        layout: str,
        role: str,
        params: dict[str, Any],
        shape: Sequence[int],
        convert: Callable[[Array], Any],
        source: dict[str, str],
        converter_version: str,
        unit: str | None = "byte",
        dtype: str = "uint8",
        stage: str = "stage-level",
        backends: Sequence[str] = (),
        arch: str = "any",
        level: str = "must",
        seed: int = 12345,
    ) -> None:
        """Calls `convert` (array of bytes in the input's shape -> array of bytes) with tagged inputs and records which unit went where.

        A position whose value no input changes is recorded as constant padding. The converter must write every position and change no value.
        unit: "byte", "nibble" or "bit"; None: the coarsest that the converter moves whole. Raises ValueError where it does more than move them.
        shape: of the input, in elements of `dtype`. source: {"repo", "commit", "path", "function"}.
        """
        width = LAYOUT_DTYPES[dtype]
        byte_shape = (*shape[:-1], shape[-1] * width)
        data = generated_bytes(seed, int(np.prod(byte_shape))).reshape(byte_shape)
        out = np.asarray(convert(data))
        for word in UNITS if unit is None else (unit,):
            bits = UNITS[word]
            units = data.size * 8 // bits
            perm, low = self._moves(convert, byte_shape, bits)
            constant = perm < 0
            if np.array_equal(np.where(constant, low, self._units(data, bits)[np.clip(perm, 0, units - 1)]), self._units(out, bits)):
                break
        else:
            raise ValueError(f"{id}: the converter changes values, it does not only move {'bits' if unit is None else f'a {unit}'}")
        unit = word
        used = np.unique(perm[~constant])
        pads = int(constant.sum())
        self.add({
            "id": id, "kind": "perm", "level": level, "layout": layout, "stage": stage, "converter_version": converter_version,
            "backends": list(backends), "arch": arch, "role": role, "params": params,
            "input": {"shape": list(shape), "dtype": dtype}, "output": {"shape": [out.size], "dtype": "uint8"},
            "unit": unit, "unit_bits": bits, "src_units": units, "dst_units": int(perm.size),
            "bijective": bool(used.size == units == perm.size), "injective_cover": bool(used.size == units),
            "pad_units": pads, "pad_values": sorted({int(v) for v in low[constant]}) if pads else None, "unwritten_units": 0,
            "dropped_src_units": int(units - used.size), "duplicate_units": int(perm.size - pads - used.size),
            "files": {"perm": self.store(f"{id}.perm.i32", little_endian(perm.astype(np.int32)))},
            "check_random_seed": seed, "check_output_fnv1a64": fnv1a64(out.astype(np.uint8).tobytes()), "source": source})

    @classmethod
    def _moves(cls, convert: Callable[[Array], Any], byte_shape: tuple[int, ...], bits: int) -> tuple[Array, Array]:
        """Which unit of the input comes to each of the output, -1 where none does; and the output of zeros."""

        def run(data: Array) -> Array:
            return cls._units(convert(data.reshape(byte_shape)), bits)

        count = int(np.prod(byte_shape))
        units = count * 8 // bits
        low = run(np.zeros(count, np.uint8))
        constant = low == run(np.full(count, 0xFF, np.uint8))
        index = np.zeros(low.size, np.int64)
        for shift in range(0, max(units - 1, 1).bit_length(), bits):
            tag = ((np.arange(units) >> shift) & ((1 << bits) - 1)).astype(np.uint8)
            parts = tag.reshape(-1, 8 // bits) << (np.arange(8 // bits) * bits).astype(np.uint8)
            index |= run(np.bitwise_or.reduce(parts, axis=1).astype(np.uint8)).astype(np.int64) << shift
        return np.where(constant, -1, index), low

    @staticmethod
    def _units(array: Any, bits: int) -> Array:
        flat = np.asarray(array, np.uint8).reshape(-1, 1)
        return (flat >> (np.arange(8 // bits) * bits).astype(np.uint8) & ((1 << bits) - 1)).reshape(-1)


# Element and scale format, block length of the block formats that one call records.
BLOCKS = {
    "mxfp8_e4m3": ("e4m3fn", "e8m0", 32),
    "mxfp8_e5m2": ("e5m2", "e8m0", 32),
    "mxfp6_e2m3": ("e2m3", "e8m0", 32),
    "mxfp6_e3m2": ("e3m2", "e8m0", 32),
    "mxfp4": ("e2m1", "e8m0", 32),
    "nvfp4": ("e2m1", "e4m3fn", 16),
}
NUMBERS = ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e2m3", "e3m2", "e2m1", "e8m0", "ue4m3", "ue5m3", "bf16", "fp16")


def record(
    name: str,
    fn: Callable[..., Any],
    inputs: Any,
    *,
    implementation: str,
    into: str | pathlib.Path = "recorded",
    device: str = "cpu",
    build: str = "default",
    version: str = "",
    role: str = "weight",
    unit: str | None = None,
    level: str = "must",
    note: str | None = None,
    **params: Any,
) -> pathlib.Path:
    """Calls fn once and records what it gave, as a set of its own that `mxact witness` reads.

    name: what fn does, by the program's names. A number format (`mxact formats`): fn takes the array `inputs` and returns codes. A block format: fn returns
    codes and scales, one scale a block, one code a byte. Any other name is a building block of `mxact layout list`: inputs is the shape of its input in
    bytes, [rows, bytes] or [batch, rows, bytes], fn takes an array of that shape and returns the bytes in memory; it is called a few times with tagged
    bytes. A backend's conversion has several tensors: mxact.testing.assert_converter holds it.
    implementation, device, build, version: whose fn is; of block formats they choose the dialect, "ocp" is the document's.
    params: the words of golden/witness/FORMAT.md and LAYOUTS.md, as `mxact witness` reads them: rounding="nearest_even", scale_rule="floor", rows=256.
    What a format implies (source, block, scale_format, axis) is filled in, of a layout batch, rows and, where the package is there, its version in `build`; `rounding` nearest_even, `overflow` saturate unless said; without nan_pos NaN inputs are
    skipped. A word that `mxact witness` does not know leaves this entry unsupported and no other.
    into: a folder; the set is written into a new folder of it, whose name has the name and a number.
    role, unit: of layouts: "weight", "scale", "bias"; "byte", "nibble" or "bit", without it the coarsest that fn moves whole. level: "must", or "info": reported and never failed.
    Returns the folder; a recording that fails leaves none. Raises ValueError: arrays without an element type or values, codes of another shape, a shape of other than positive integers, a converter that changes values.
    """
    if not name or "/" in name or name.startswith("."):
        raise ValueError(f"{name!r} is no name of a format or of a building block")
    folder = _new_folder(pathlib.Path(into), name)
    try:
        if name not in NUMBERS and name not in BLOCKS:
            extents = tuple(inputs) if isinstance(inputs, Iterable) else ()
            if len(extents) not in (2, 3) or any(not isinstance(extent, (int, np.integer)) or extent < 1 for extent in extents):
                raise ValueError(f"inputs is {inputs!r}, must be a shape in bytes, [rows, bytes] or [batch, rows, bytes], of positive integers")
            build = _version(name, extents) if build == "default" else build
            layouts = LayoutRecorder(folder, folder.name, [{"label": build, "repo": "", "commit": version, "date": ""}])
            source = {"repo": implementation, "commit": version, "path": "", "function": getattr(fn, "__name__", "")}
            layouts.perm(name, name, role, _counted(extents, params), tuple(map(int, extents)), fn, source, build, unit=unit, level=level)
            layouts.write()
            return folder
        profile = {"implementation": implementation, "device": device, "build": build, "version": version or implementation}
        x, kind = as_numpy(inputs)
        said: dict[str, Any] = {"source": kind, "format": name, "rounding": "nearest_even", "overflow": "saturate"}
        skip = {} if name in BLOCKS or params.keys() & {"nan_pos", "nan_rule"} else {"codes": {"input_nan": True}}
        made = fn(inputs)
        if name in BLOCKS:
            said |= dict(zip(("format", "scale_format", "block"), BLOCKS[name], strict=True), axis=-1)
            if not isinstance(made, (tuple, list)) or len(made) != 2:
                raise ValueError(f"fn returns {type(made).__name__}, must return codes and scales")
        outputs = {"codes": made[0], "scales": made[1]} if name in BLOCKS else {"codes": made}
        if (codes := as_numpy(outputs["codes"])[0]).shape != x.shape:
            raise ValueError(f"fn returns codes of shape {codes.shape} for numbers of shape {x.shape}: one code a number")
        recorder = Recorder(folder, folder.name)
        recorder.entry(name, "block_quantize" if name in BLOCKS else "encode", said | params, profile, {"x": inputs}, outputs, skip=skip, level=level, note=note)
        recorder.write()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


# Words of params that count rows of a matrix.
_ROWS = ("rows", "N", "mn", "size_n", "groups")


def _counted(shape: tuple[int, ...], params: dict[str, Any]) -> dict[str, Any]:
    """The words with the rows and the batch that the shape has, where they do not say them."""
    said = dict(params)
    if len(shape) > 1 and not any(word in said for word in _ROWS):
        said["rows"] = shape[-2]
    if len(shape) > 2 and "batch" not in said and "E" not in said:
        said["batch"] = shape[0]
    return said


def _version(name: str, shape: tuple[int, ...]) -> str:
    """The version of a building block that `mxact layout show` names first; "default" where the file stands alone, or the name is none of its."""
    try:
        from mxact import _core
    except ImportError:
        return "default"
    if name in _core.backends(None):
        raise ValueError(f"{name} is a backend, whose conversion has several tensors: mxact.testing.assert_converter holds it")
    if name not in _core.layouts():
        return "default"
    for columns in (shape[-1], 2 * shape[-1], shape[-1] // 2, shape[-1] // 4):
        try:
            spec = _core.Layout(name, [("shape", "x".join(map(str, (*shape[:-1], columns))))]).spec()
        except ValueError:
            continue
        return next(part.removeprefix("version=") for part in spec.split(",") if part.startswith("version="))
    return "default"


def _new_folder(into: pathlib.Path, name: str) -> pathlib.Path:
    into.mkdir(parents=True, exist_ok=True)
    return next(folder for number in itertools.count(1) if not (folder := into / f"{name}.{number}").exists())


def nearest_e2m1(x: Array) -> Array:
    """e2m1 codes by searching the table of all values: nearest, ties to the even code, saturating. No NaN."""
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    distance = np.abs(np.minimum(np.abs(x.astype(np.float64)), 6)[:, None] - values[None, :])
    nearest = distance == distance.min(axis=1, keepdims=True)
    # At most two neighbours are equally near, and one of two neighbours is even.
    even = nearest & (np.arange(8) % 2 == 0)
    code = np.where(nearest.sum(axis=1) == 2, even.argmax(axis=1), nearest.argmax(axis=1))
    return np.asarray(code | np.where(np.signbit(x), 8, 0)).astype(np.uint8)


def swizzle_128x4(matrix: Array) -> Array:
    """The 128x4 scale tiles by reshaping, padded with zeros."""
    rows, cols = -(-matrix.shape[0] // 128) * 128, -(-matrix.shape[1] // 4) * 4
    padded = np.zeros((rows, cols), np.uint8)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows // 128, 4, 32, cols // 4, 4).transpose(0, 3, 2, 1, 4).reshape(-1)


def self_test(directory: pathlib.Path) -> None:
    numpy_profile = {"implementation": "numpy", "device": "cpu", "build": "default", "version": f"numpy {np.__version__}"}
    own_profile = {"implementation": "own", "device": "cpu", "build": "numpy-float64", "version": f"numpy {np.__version__}"}
    recorder = Recorder(directory / "conversions", "example", "public")

    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    recorder.entry("fp16.numpy", "decode", {"format": "fp16", "target": "f32"}, numpy_profile,
                   {"codes": {"generate": "iota", "dtype": "fp16", "shape": [65536]}}, {"values": halves.astype(np.float32)},
                   relation={"values": {"kind": "bits_nan_equal"}})

    random = np.random.default_rng(1)
    x = np.concatenate([random.integers(0, 2**32, 4000, np.uint32).view(np.float32), random.normal(0, 3, 4000).astype(np.float32),
                        np.array([0, -0.0, 0.25, -0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.5, 6.5, np.inf, -np.inf, np.nan], np.float32)])
    with np.errstate(over="ignore", invalid="ignore"):
        recorder.entry("f32.fp16.numpy", "encode",
                       {"source": "f32", "format": "fp16", "rounding": "nearest_even", "overflow": "ieee"},
                       numpy_profile, {"x": x}, {"codes": x.astype(np.float16)}, skip={"codes": {"input_nan": True}})
    finite = np.where(np.isnan(x), np.float32(0), x)
    recorder.entry("f32.e2m1.table", "encode", {"source": "f32", "format": "e2m1", "rounding": "nearest_even", "overflow": "saturate"},
                   own_profile, {"x": x}, {"codes": nearest_e2m1(finite)}, skip={"codes": {"input_nan": True}}, grounds="own-reference")
    recorder.write()

    source = {"repo": "this file", "commit": "", "path": "python/mxact/_record.py", "function": "swizzle_128x4"}
    layouts = LayoutRecorder(directory / "layouts", "example", [{"label": "flashinfer-2026-08", "repo": "", "commit": "", "date": ""}])
    for rows, cols in [(128, 4), (256, 12), (130, 6)]:
        layouts.perm(f"sf128x4.m{rows}_n{cols}", "sf_128x4", "scale", {"rows": rows, "cols": cols}, [rows, cols], swizzle_128x4, source,
                     "flashinfer-2026-08")
    layouts.write()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", metavar="DIR", type=pathlib.Path, required=True, help="record the example into a new directory")
    arguments = parser.parse_args()
    self_test(arguments.self_test)


if __name__ == "__main__":
    main()
