#!/usr/bin/env bash
# version: safetensors 0.8.0, torch 2.13.0
# source: huggingface/safetensors, bindings/python/py_src/safetensors/torch.py, _getdtype and _TYPES
# behaviour: save() writes FP4 and E8M0 tensors as F4 and F8_E8M0, save_file() and load_file() agree about them, and load() of the very bytes that save() made
#   ends with a KeyError. get_slice() says of FP4 how many numbers there are, and cannot cut them.
# seen: 2026-11-29
# | float8_e4m3fn    saved as F8_E4M3  load float8_e4m3fn    load_file float8_e4m3fn    slice [1, 4]
# | float8_e8m0fnu   saved as F8_E8M0  load KeyError         load_file float8_e8m0fnu   slice [1, 4]
# | float4_e2m1fn_x2 saved as F4       load KeyError         load_file float4_e2m1fn_x2 slice RuntimeError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps safetensors==0.8.0 numpy==2.4.6 packaging==26.4
"$work/venv/bin/python" -W ignore - "$work/tensors" > "$work/printed" <<'PY'
import json
import sys

import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, save, save_file


def tried(call):
    try:
        return str(call()).removeprefix("torch.")
    except (KeyError, RuntimeError) as problem:
        return type(problem).__name__


for dtype in (torch.float8_e4m3fn, torch.float8_e8m0fnu, torch.float4_e2m1fn_x2):
    tensors = {"x": torch.ones(2, 4, dtype=torch.uint8).view(dtype)}
    written = save(tensors)
    word = json.loads(written[8 : 8 + int.from_bytes(written[:8], "little")])["x"]["dtype"]
    save_file(tensors, sys.argv[1])
    with safe_open(sys.argv[1], "pt") as file:
        cut = tried(lambda: list(file.get_slice("x")[:1].shape))
    loaded, read = tried(lambda: load(written)["x"].dtype), tried(lambda: load_file(sys.argv[1])["x"].dtype)
    print(f"{str(dtype).removeprefix('torch.'):16} saved as {word:8} load {loaded:16} load_file {read:16} slice {cut}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
