"""docs/measured/dialects.json: every composition is one that the program reads, and gives the codes of the recordings that its row names."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import numpy as np
import pytest

import mxact
from conftest import PROGRAM, SOURCE, recorded_values

TABLES = {table["name"]: table for table in json.loads((SOURCE / "docs/measured/dialects.json").read_text())["tables"]}
SETS = SOURCE / "golden/witness/numerics-2"
ENTRIES = {
    f"{folder.name}/{entry['id']}": (folder, entry)
    for folder in (SETS / name for name in ("encode_dialects", "encode_formats", "encode_ieee"))
    for entry in json.loads((folder / "manifest.json").read_text())["entries"]
}
# Names of the recordings and of the program that are not the same.
NAMES = {"e4m3": "e4m3ieee"}


def compositions(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def unsigned(dtype: str) -> np.dtype[Any]:
    """Codes of "u8", "fp16", "f64" as they lie in the file."""
    return np.dtype(f"u{int(re.sub(r'[a-z]', '', dtype)) // 8}")


def is_nan(codes: Any, name: str) -> Any:
    return np.isnan(mxact.convert(codes, "f32", source=name))


def of_fp64(words: Any, target: str, rules: str) -> Any:
    """Codes of fp64, which arrays do not have and the program does."""
    codes = []
    for some in np.array_split(words, -(-words.size // 2000)):
        command = [PROGRAM, "encode", target, "--profile", rules, "--from", "f64", "--json", *(f"{word:#018x}" for word in some.tolist())]
        codes += [int(one["code"], 16) for one in json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["results"]]
    return np.array(codes, np.uint8)


@pytest.mark.parametrize("row", TABLES["conversions"]["rows"], ids=lambda row: f"{row[0]} {row[3]}")
def test_a_peers_rules_give_its_recorded_codes(row: list[str]) -> None:
    cells = dict(zip(TABLES["conversions"]["columns"], row, strict=True))
    (rules,) = compositions(cells["composition"])
    recordings = cells["recordings"].split()
    assert recordings
    for recording in recordings:
        folder, entry = ENTRIES[recording]
        source, target = (NAMES.get(entry["params"][key], entry["params"][key]) for key in ("source", "format"))
        x, wanted = (recorded_values(folder / told["file"], unsigned(told["dtype"])) for told in (entry["inputs"]["x"], entry["outputs"]["codes"]))
        assert x.size > 50
        codes = of_fp64(x, target, rules) if source == "f64" else mxact.convert(x, target, profile=rules, source=source).view(np.uint8)
        wrong = (codes != wanted) & ~(is_nan(codes, target) & is_nan(wanted, target))
        assert not wrong.any(), f"{recording}: {hex(int(x[wrong][0]))} gives {codes[wrong][0]:#x}, recorded {wanted[wrong][0]:#x}"


def test_every_other_composition_is_read() -> None:
    read = 0
    for name, column in (("random bits, devices, documents", "composition"), ("blocks", "composition"), ("formats", "as rules")):
        table = TABLES[name]
        for row in table["rows"]:
            for rules in compositions(row[table["columns"].index(column)]):
                if column == "as rules":
                    assert mxact.rules(f"{rules},round=rne,overflow=saturate")
                elif rules.startswith("block="):
                    shape = re.sub(r"element=\((\w+)[^)]*\)", r"element=\1", rules).split(",rule=")[0]
                    assert mxact.rules(shape, profile=rules)
                elif column == "composition" and name == "blocks":
                    assert "=" in rules or mxact.rules("mxfp4" if rules in ("ggml", "mlx-metal") else "nvfp4", profile=rules)
                elif rules.startswith("step="):
                    assert mxact.contract_record(rules) == rules
                else:
                    first = rules.split(",")[0]
                    assert mxact.rules("e4m3fn" if "=" in first or "," not in rules else first, profile=rules)
                read += 1
    assert read > 25
