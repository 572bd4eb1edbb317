#!/usr/bin/env bash
# version: tinygrad 0.14.0 (numpy 2.4.6), DEV=PYTHON; DEV=CPU compiles the same steps
# source: tinygrad/tinygrad, tinygrad/codegen/decomp/dtype.py, f2f
# behaviour: E5M2 has subnormals, 2^-16 and 2^-15 among them, which fp16 holds. A cast of such a number from fp16 gives 0, the same cast from fp32 or of a list
#   gives the code, and an E5M2 tensor that holds it is 0 as soon as a kernel reads it: whatever is below the least normal number is taken for none.
# seen: 2026-11-30
# | 2^-15 as E5M2: code 0 from fp16, 2 from fp32, 2 of a list
# | E5M2 code 2 read as fp16: 0.0
# | of fp16's 63488 finite numbers 1790 have another E5M2 code than from fp32, each 0 or -0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check tinygrad==0.14.0 numpy==2.4.6
DEV=PYTHON CACHELEVEL=0 "$work/venv/bin/python" -W ignore - > "$work/printed" 2> "$work/said" <<'PY' || { cat "$work/said"; exit 1; }
import numpy as np
from tinygrad import Tensor, dtypes


def codes(values, of):
    return Tensor(values, dtype=of).cast(dtypes.fp8e5m2).contiguous().realize().bitcast(dtypes.uint8).numpy()


small = [2.0**-15]
listed = Tensor(small, dtype=dtypes.fp8e5m2)
print(f"2^-15 as E5M2: code {codes(small, dtypes.float16)[0]} from fp16, {codes(small, dtypes.float32)[0]} from fp32, {listed.bitcast(dtypes.uint8).numpy()[0]} of a list")
read = Tensor([2], dtype=dtypes.uint8).bitcast(dtypes.fp8e5m2).cast(dtypes.float16).contiguous().realize().numpy()[0]
print(f"E5M2 code 2 read as fp16: {read}")
every = np.arange(65536, dtype=np.uint16).view(np.float16)
every = every[np.isfinite(every)]
short, wide = codes(every, dtypes.float16), codes(every.astype(np.float32), dtypes.float32)
unlike = short[short != wide]
print(f"of fp16's {every.size} finite numbers {unlike.size} have another E5M2 code than from fp32, each {' or '.join({0: '0', 128: '-0'}.get(code, str(code)) for code in np.unique(unlike))}")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
