#!/usr/bin/env bash
# version: torchao 0.18.0 (torch 2.13.0, numpy 2.4.6)
# source: pytorch/ao, torchao/prototype/mx_formats/mx_tensor.py, to_mx and MXTensor.to_mx; inference_workflow.py MXDynamicActivationMXWeightConfig
# behaviour: to_mx and MXTensor.to_mx take the scale rule FLOOR where none is asked, and quantize_ with MXDynamicActivationMXWeightConfig takes RCEIL. One package
#   gives the same weight two sets of scales and codes; a trainer that calls the one and an engine that takes the other part before any product.
# seen: 2026-11-30
# | float8_e4m3fn: 346 of 2048 scales differ
# | float4_e2m1fn_x2: 605 of 2048 scales differ
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps torchao==0.18.0 numpy==2.4.6
"$work/venv/bin/python" -W ignore - > "$work/all" 2> "$work/said" <<'PY' || { tail -n 20 "$work/said"; exit 1; }
import torch
from torchao.prototype.mx_formats import MXDynamicActivationMXWeightConfig
from torchao.prototype.mx_formats.mx_tensor import to_mx
from torchao.prototype.mx_formats.utils import from_blocked
from torchao.quantization import quantize_

torch.manual_seed(0)
weight = torch.randn(256, 256, dtype=torch.bfloat16)
for dtype in (torch.float8_e4m3fn, torch.float4_e2m1fn_x2):
    layer = torch.nn.Linear(256, 256, bias=False, dtype=torch.bfloat16)
    layer.weight.data.copy_(weight)
    quantize_(layer, MXDynamicActivationMXWeightConfig(activation_dtype=dtype, weight_dtype=dtype))
    by_config = from_blocked(layer.weight.scale, 256, 8).view(torch.uint8)
    by_default = to_mx(weight, dtype, 32)[0].view(torch.uint8)
    print(f"{str(dtype).removeprefix('torch.')}: {(by_config != by_default).sum().item()} of {by_default.numel()} scales differ")
PY
grep -a "scales differ" "$work/all" > "$work/printed"
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
