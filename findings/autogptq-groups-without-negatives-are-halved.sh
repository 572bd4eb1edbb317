#!/usr/bin/env bash
# version: auto-gptq 0.7.1 (torch 2.13.0)
# source: AutoGPTQ/AutoGPTQ, auto_gptq/quantization/quantizer.py, Quantizer.find_params with sym=True, its default
# behaviour: the range is made symmetric only where a weight is negative, but the zero point is the middle in any case. In a group without a negative
#   weight 4 bits have codes 8 to 15 for a range of fifteen steps: everything above 7/15 of the largest weight becomes 7/15 of it. One tiny negative
#   weight in the group, and all come out as they should.
# seen: 2026-11-30
# | group                     comes out as
# | 0, 3, 6, 9, 12, 15        0, 3, 6, 7, 7, 7
# | -0.001, 3, 6, 9, 12, 15   0, 4, 6, 8, 12, 14
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps torch==2.13.0 auto-gptq==0.7.1 numpy==2.4.6 typing_extensions==4.16.0 sympy==1.14.0 \
  mpmath==1.4.1 networkx==3.6.1 Jinja2==3.1.6 MarkupSafe==3.0.4 filelock==4.3.1 fsspec==2026.9.0
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import importlib.util
import sysconfig

import torch

# The file alone: the package around it wants a GPU's libraries.
path = sysconfig.get_paths()["purelib"] + "/auto_gptq/quantization/quantizer.py"
spec = importlib.util.spec_from_file_location("quantizer", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

print(f"{'group':25} comes out as")
for least in (0, -0.001):
    group = torch.tensor([[least, 3.0, 6.0, 9.0, 12.0, 15.0]])
    quantizer = module.Quantizer()
    quantizer.configure(bits=4, perchannel=True, sym=True)
    quantizer.find_params(group, weight=True)
    words = [", ".join(f"{x:g}" for x in row) for row in (group[0].tolist(), quantizer.quantize(group)[0].tolist())]
    print(f"{words[0]:25} {words[1]}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
