#!/usr/bin/env bash
# version: paddlepaddle 3.3.1 (CPU)
# source: PaddlePaddle/Paddle, paddle/phi/common/float8_e4m3fn.h, float8_e4m3fn(float) for a CPU; float8_e5m2.h; OFP8 1.0 section 5.2: a NaN stays one
# behaviour: a cast into FP8 saturates, but from 480 (65536) on, where the next step of the format would end, not from 464 (61440) on, where rounding leaves its
#   range. What lies between rounds up into the code behind the largest number: a NaN in E4M3, an Inf in E5M2, while all that is larger, an Inf, and in E4M3 a NaN
#   itself become the largest number. So 470 is a NaN and NaN is 448. A cast of an integer goes the same way. Neither documented nor reported where we looked.
# seen: 2026-12-01
# | e4m3 [464.0, 470.0, 479.0, 480.0, 10000.0, inf, nan] -> [448.0, nan, nan, 448.0, 448.0, 448.0, 448.0]
# | e5m2 [57344.0, 61440.0, 65535.0, 65536.0, 1000000.0, inf, nan] -> [57344.0, inf, inf, 57344.0, 57344.0, 57344.0, nan]
# | e4m3 of the integers [463, 470, 500] -> [448.0, nan, 448.0]
# | of 524288 numbers of float32 from 464 to 480 524287 become a NaN
# | of 1048576 numbers of float32 from 480 to 512 0 become a NaN
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps paddlepaddle==3.3.1 numpy==2.4.6 networkx==3.6.1 opt_einsum==3.4.0 pillow==13.0.0 protobuf==7.36.2 \
  safetensors==0.8.0 typing_extensions==4.16.0 httpx==0.28.1 httpcore==1.0.9 h11==0.16.0 anyio==4.16.0 idna==3.20 certifi==2026.10.19.post1
"$work/venv/bin/python" -W ignore - > "$work/printed" 2> "$work/said" <<'PY' || { cat "$work/said"; exit 1; }
import numpy as np
import paddle


def cast(numbers, kind):
    return paddle.to_tensor(numbers).astype(kind).astype("float32").numpy()


for name, kind, numbers in (
    ("e4m3", "float8_e4m3fn", [464, 470, 479, 480, 10000, np.inf, np.nan]),
    ("e5m2", "float8_e5m2", [57344, 61440, 65535, 65536, 1e6, np.inf, np.nan]),
):
    x = np.array(numbers, np.float32)
    print(name, x.tolist(), "->", cast(x, kind).tolist())
integers = np.array([463, 470, 500])
print("e4m3 of the integers", integers.tolist(), "->", cast(integers, "float8_e4m3fn").tolist())


for low, high in ((464, 480), (480, 512)):
    first, end = np.array([low, high], np.float32).view(np.uint32)
    every = np.arange(first, end, dtype=np.uint32).view(np.float32)
    print("of", every.size, "numbers of float32 from", low, "to", high, int(np.isnan(cast(every, "float8_e4m3fn")).sum()), "become a NaN")
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
