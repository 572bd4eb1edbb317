#!/usr/bin/env bash
# version: tensorstore 0.1.86 (ml_dtypes 0.6.0 and numpy 2.4.6 beside it)
# source: google/tensorstore, tensorstore/util/float8.h, numeric_limits_float8_e8m0fnu and TraitsBase; OCP MX 1.0 section 5.4.1: byte 127 is 1
# behaviour: a store of float8_e8m0fnu keeps the bytes that ml_dtypes gives it. Written or read through another type, by astype, the byte is taken for a sign, 7
#   bits of exponent and a bias of 63, since the type's limits inherit is_signed = true: 1 is stored as 2^-64, 2^-127 as NaN, and stored scales from 2 on come back
#   as negative numbers of 2^64 times their size. The way there and back again through tensorstore agrees with itself, which is what its own tests compare.
#   New with the type, in 0.1.85, of which the source was read; neither documented nor reported where we looked.
# seen: 2026-12-01
# | written as    e8m0 [0.25, 0.5, 1.0, 2.0, 4.0]: bytes [125, 126, 127, 128, 129]
# | written as float32 [0.25, 0.5, 1.0, 2.0, 4.0]: bytes [61, 62, 63, 64, 65]
# | written as float32 2^-127: byte 255, a NaN
# | bytes [125, 126, 127, 128, 129] read as float32: ['2^62', '2^63', '2^64', '-2^65', '-2^66']
# | of 254 scales that float32 has as normal numbers, read right: 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps tensorstore==0.1.86 numpy==2.4.6 ml_dtypes==0.6.0
"$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import math

import ml_dtypes
import numpy as np
import tensorstore as ts

scales = np.array([0.25, 0.5, 1, 2, 4], np.float32)


def store(size):
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    return ts.open(spec, create=True, dtype=ts.float8_e8m0fnu, shape=[size]).result()


def kept(numbers, kind):
    there = store(len(numbers))
    there.astype(kind).write(numbers).result()
    return there.read().result().view(np.uint8).tolist()


def power(number):
    return f"{'-' if number < 0 else ''}2^{math.frexp(number)[1] - 1}"


print(f"written as    e8m0 {scales.tolist()}: bytes {kept(scales.astype(ml_dtypes.float8_e8m0fnu), ts.float8_e8m0fnu)}")
print(f"written as float32 {scales.tolist()}: bytes {kept(scales, ts.float32)}")
[byte] = kept(np.array([2.0**-127], np.float32), ts.float32)
print(f"written as float32 2^-127: byte {byte}, {'a NaN' if byte == 255 else 'a number'}")
every = np.arange(1, 255, dtype=np.uint8)
there = store(len(every))
there.write(every.view(ml_dtypes.float8_e8m0fnu)).result()
back = there.astype(ts.float32).read().result()
print("bytes [125, 126, 127, 128, 129] read as float32:", [power(number) for number in back[124:129].tolist()])
print("of 254 scales that float32 has as normal numbers, read right:", int((back == 2.0 ** (every.astype(np.float64) - 127)).sum()))
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
