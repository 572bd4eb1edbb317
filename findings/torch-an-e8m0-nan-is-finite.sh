#!/usr/bin/env bash
# version: torch 2.13.0 (CPU)
# source: pytorch/pytorch, aten/src/ATen/native/TensorCompare.cpp, isfinite; torch/headeronly/util/Float8_e8m0fnu.h
# behaviour: the NaN of float8_e8m0fnu, scale byte 255, is finite for torch.isfinite and a NaN for torch.isnan, so that a check of scales by isfinite(...).all()
#   passes what poisons its block. As float32 it is 0x7f800001, a signalling NaN. torch.isinf has no answer for the type, nor torch.isfinite for float8_e4m3fn.
# seen: 2026-11-29
# | isfinite [True, True, True]
# | isnan    [False, False, True]
# | float32  ['0x00400000', '0x7f000000', '0x7f800001']
# | isinf of float8_e8m0fnu: NotImplementedError
# | isfinite of float8_e4m3fn: NotImplementedError
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check torch==2.13.0 numpy==2.4.6
cd "$work"
venv/bin/python - > printed 2> warned <<'PY'
import torch

scales = torch.tensor([0, 254, 255], dtype=torch.uint8).view(torch.float8_e8m0fnu)
print("isfinite", torch.isfinite(scales).tolist())
print("isnan   ", torch.isnan(scales).tolist())
print("float32 ", [f"0x{bits:08x}" for bits in scales.float().view(torch.int32).tolist()])
for name, numbers in (("isinf", scales), ("isfinite", torch.zeros(1).to(torch.float8_e4m3fn))):
    try:
        print(name, getattr(torch, name)(numbers).tolist())
    except NotImplementedError as missing:
        print(f"{name} of {str(numbers.dtype).removeprefix('torch.')}: {type(missing).__name__}")
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
