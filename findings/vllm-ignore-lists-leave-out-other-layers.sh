#!/usr/bin/env bash
# version: vllm 0.33.0 (its two functions alone, read from the wheel: no GPU, no torch)
# source: vllm-project/vllm, vllm/model_executor/layers/quantization/utils/quant_utils.py, is_layer_skipped; modelopt.py beside it, is_layer_excluded
# behaviour: which experts a checkpoint's list of unquantized layers leaves out depends on the quantization method. Under fp8 an entry for one projection of
#   one expert leaves out all experts of the layer, and an entry for the whole mlp leaves out none; under modelopt the entry model.layers.1 leaves out layers
#   10 to 19 as well.
# seen: 2026-11-29
# | fp8: ['model.layers.1.mlp.experts.0.down_proj'] leaves out the experts of layers [1]
# | fp8: ['model.layers.1.mlp'] leaves out the experts of layers []
# | modelopt: ['model.layers.1'] leaves out the experts of layers [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]
# | modelopt: ['model.layers.1.*'] leaves out the experts of layers [1]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$work" vllm==0.33.0
"$work/venv/bin/python" - "$work"/vllm-0.33.0-*.whl > "$work/printed" <<'PY'
import ast
import sys
import types
import zipfile
from collections.abc import Mapping
from fnmatch import fnmatch
from typing import Literal

folder = "vllm/model_executor/layers/quantization/"
names = {"Mapping": Mapping, "MappingProxyType": types.MappingProxyType, "Literal": Literal, "fnmatch": fnmatch}
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for file, wanted in (("utils/quant_utils.py", "is_layer_skipped"), ("modelopt.py", "is_layer_excluded")):
        tree = ast.parse(wheel.read(folder + file))
        [function] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == wanted]
        exec(compile(ast.Module([function], []), file, "exec"), names)


def excluded(experts, entries):
    return names["is_layer_excluded"](types.SimpleNamespace(exclude_modules=entries, packed_modules_mapping={}), experts)


def left_out(by, entries):
    return [layer for layer in range(24) if by(f"model.layers.{layer}.mlp.experts", entries)]


for entry in ("model.layers.1.mlp.experts.0.down_proj", "model.layers.1.mlp"):
    print("fp8:", [entry], "leaves out the experts of layers", left_out(names["is_layer_skipped"], [entry]))
for entry in ("model.layers.1", "model.layers.1.*"):
    print("modelopt:", [entry], "leaves out the experts of layers", left_out(excluded, [entry]))
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
