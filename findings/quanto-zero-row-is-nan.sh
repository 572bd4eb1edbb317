#!/usr/bin/env bash
# version: optimum-quanto 0.2.7, torch 2.13.0
# source: huggingface/optimum-quanto, optimum/quanto/tensor/optimizers/absmax_optimizer.py, AbsmaxOptimizer.optimize
# behaviour: a Linear layer with one output row of zeros (a pruned channel, a padded one) has the scale 0 there. As int8 the row stays zero, since 0 / 0 casts
#   to 0; as FP8 the same layer's output is NaN.
# seen: 2026-11-29
# | float32 [4.0, 0.0, 4.0]
# | qint8 [4.0, 0.0, 4.0]
# | qfloat8_e4m3fn [4.0, nan, 4.0]
# | qfloat8_e5m2 [4.0, nan, 4.0]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps optimum-quanto==0.2.7 safetensors==0.8.0 huggingface_hub==2.4.0 numpy==2.4.6 PyYAML==6.0.4 packaging==26.4 tqdm==4.70.1 httpx==0.28.1 httpcore==1.0.9 httpx2==2.16.2 httpcore2==2.16.2 truststore==0.10.5 h11==0.16.0 anyio==4.16.0 idna==3.20 certifi==2026.10.19.post1 ninja==1.13.2
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import torch
from optimum.quanto import freeze, qfloat8_e4m3fn, qfloat8_e5m2, qint8, quantize

for kind in (None, qint8, qfloat8_e4m3fn, qfloat8_e5m2):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3, bias=False))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0], [0.0], [1.0]]).expand(3, 4))
        if kind is not None:
            quantize(model, weights=kind)
            freeze(model)
        print(kind.name if kind else "float32", model(torch.ones(1, 4))[0].tolist())
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
