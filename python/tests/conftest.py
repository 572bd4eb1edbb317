"""What the tests share: the program, whose answers the package's are held to, and the recorded sets."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("ordinary", deadline=None, max_examples=100, derandomize=True)
hypothesis.settings.load_profile("ordinary")

SOURCE = Path(os.environ["MXACT_SOURCE"])
PROGRAM = os.environ["MXACT_PROGRAM"]


def program(*words: str, values: np.ndarray[Any, Any] | None = None, bits: int = 32, status: int = 0) -> dict[str, Any]:
    """The JSON of a verb; `values` go to it as codes of so many bits."""
    codes = [] if values is None else [f"0x{int(value):0{-(-bits // 4)}x}" for value in values.reshape(-1)]
    done = subprocess.run([PROGRAM, *words, "--json", *(["--", *codes] if codes else [])], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def hard_f32(count: int, seed: int) -> np.ndarray[Any, Any]:
    """fp32 bits: numbers of all sizes, ties, subnormals, zeros of both signs, now and then a NaN or an infinity."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, count, dtype=np.uint32)
    near = (random.integers(100, 150, count, dtype=np.uint32) << 23) | (random.integers(0, 16, count, dtype=np.uint32) << 19)
    kind = random.integers(0, 8, count)
    bits = np.where(kind < 5, near | (bits & 0x80000000), bits)
    bits = np.where(kind == 5, bits & 0x80000007, bits)
    edge = np.resize(np.uint32([0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F7FFFFF]), count)
    return np.where(random.integers(0, 64, count) == 0, edge, bits).astype(np.uint32)


def finite_f32(count: int, seed: int) -> np.ndarray[Any, Any]:
    values = hard_f32(count, seed).view(np.float32)
    return np.where(np.isfinite(values), values, np.float32(1.5))


def recorded_values(file: Path, dtype: Any) -> np.ndarray[Any, Any]:
    """The values of a recording's file, which may lie compressed as FILE.gz."""
    packed = file.with_name(file.name + ".gz")
    return np.frombuffer(gzip.decompress(packed.read_bytes()), dtype) if packed.exists() else np.fromfile(file, dtype)


class Recorded:
    """A set of golden/witness/numerics."""

    def __init__(self, name: str) -> None:
        self.folder = SOURCE / "golden/witness/numerics" / name
        self.entries = json.loads((self.folder / "manifest.json").read_text())["entries"]

    def tensor(self, described: dict[str, Any]) -> np.ndarray[Any, Any]:
        dtype = {"u8": np.uint8, "bf16": np.uint16, "fp16": np.uint16, "f32": np.uint32}[described["dtype"]]
        if "generate" in described:
            assert described["generate"] == "iota"
            return np.arange(np.prod(described["shape"])).astype(dtype).reshape(described["shape"])
        values = recorded_values(self.folder / described["file"], dtype)
        if "delta" in described:
            index, value = recorded_values(self.folder / described["delta"]["file"], np.uint32).reshape(-1, 2).T
            values[index] = value.astype(dtype)
        return values.reshape(described["shape"])


@pytest.fixture(scope="session")
def examples() -> list[Path]:
    return sorted((SOURCE / "docs/examples").glob("*.info"))
