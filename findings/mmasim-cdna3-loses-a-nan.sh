#!/usr/bin/env bash
# version: mmasim 2.1.1, torch 2.13.0 (CPU; takes a C++ compiler)
# source: microsoft/MMA-Sim, mmasim/arithmetic/fdpa.py, gtr_fdpa
# behaviour: the simulator of MI300's bf8 by bf8 matrix instruction drops a NaN or an Inf in the accumulator beside a product of 2^25 or more and returns the
#   finite product: an Inf has the exponent that frexp gives it, -1, and so counts as too small to matter. A product of 2^24 keeps it, fp8 by fp8 always does.
# seen: 2026-11-29
# | C nan, product 2^24: nan
# | C nan, product 2^25: 33554432.0
# | C inf, product 2^24: inf
# | C inf, product 2^25: 33554432.0
# | C 1e+30, product 2^25: 1.0000000150474662e+30
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps mmasim==2.1.1 ninja==1.13.2
export TORCH_EXTENSIONS_DIR=$work/extensions PATH=$work/venv/bin:$PATH
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import torch
from mmasim.amd import MFMA

unit = MFMA("CDNA3", "f32_16x16x32_bf8_bf8")
for c in (float("nan"), float("inf"), 1e30):
    for exponent in (24, 25) if c != 1e30 else (25,):
        a, b = torch.zeros(1, 32), torch.zeros(32, 1)
        a[0, 0], b[0, 0] = 2.0**12, 2.0 ** (exponent - 12)
        d = unit(a.to(torch.float8_e5m2fnuz), b.to(torch.float8_e5m2fnuz), torch.full((1, 1), c))
        print(f"C {c}, product 2^{exponent}: {d.item()}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
