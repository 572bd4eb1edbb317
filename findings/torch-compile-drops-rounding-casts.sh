#!/usr/bin/env bash
# version: torch 2.13.0 (CPU, inductor; takes a C++ compiler)
# source: pytorch/pytorch, torch/_inductor/fx_passes/joint_graph.py, pointless_convert
# behaviour: compiled, a number that is rounded to fp16 or bf16 and widened again is not rounded: the pair of casts is taken for pointless. A simulated
#   quantization that casts there and back loses its rounding, its overflow and its Inf under torch.compile; casts through FP8 stay.
# seen: 2026-11-29
# | float16 eager    [inf, inf, 0.333251953125, 3.140625]
# | float16 compiled [1000000.0, 70000.0, 0.3333333432674408, 3.1415927410125732]
# | bfloat16 eager    [999424.0, 70144.0, 0.333984375, 3.140625]
# | bfloat16 compiled [1000000.0, 70000.0, 0.3333333432674408, 3.1415927410125732]
# | float8_e4m3fn eager    [448.0, 448.0, 0.34375, 3.25]
# | float8_e4m3fn compiled [448.0, 448.0, 0.34375, 3.25]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
export TORCHINDUCTOR_CACHE_DIR=$work/cache
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import torch

x = torch.tensor([1e6, 7e4, 1 / 3, 3.14159265])
for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn):

    def there_and_back(x):
        return x.to(dtype).to(torch.float32)

    torch._dynamo.reset()
    name = str(dtype).removeprefix("torch.")
    print(name, "eager   ", there_and_back(x).tolist())
    print(name, "compiled", torch.compile(there_and_back)(x).tolist())
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
