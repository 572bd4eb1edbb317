#!/usr/bin/env bash
# version: h5py 3.16.0 with HDF5 2.0.0 (ml_dtypes 0.6.0 and numpy 2.4.6 beside it)
# source: HDFGroup/hdf5, src/H5Tconv_float.c, H5T__conv_f_f_loop (a carry out of a denormalized mantissa is dropped); src/H5Tpublic.h, H5T_FLOAT_F8E4M3
# behaviour: a number below the least normal one that rounds up to a power of two is stored as half of it, for the carry out of the mantissa is lost: in HDF5's own
#   E5M2 and E4M3 this is 4 and 3 sixteenths of what lies there, up to 0.0155, which E4M3 has as 2^-6. h5py's big-endian float16 goes through the same code; the
#   little-endian one does not. Ties round up, not to even. On the way back 256 to 448 of E4M3 are Inf and NaN, so the largest weight of a scaled tensor always is.
#   Halves of float16 were reported in 2019 (h5py/h5py issue 1221, open); since HDF5 has a native float16, those of the host's own byte order are right, and the
#   FP8 types came with the old code. HDF5's documents say of these that some values may be converted improperly, to Inf and NaN; not that they may be halved.
# seen: 2026-12-01
# | e4m3 least normal number 0.015625: 0.0155 is stored as 0.0078125
# | below it, of 65536 numbers: e4m3 12326 are halved, e5m2 16442, big-endian float16 324, little-endian float16 0
# | e4m3 code 0x77 to 0x7e, read as float32: [240.0, inf, nan, nan, nan, nan, nan, nan]
# | e4m3 448 is stored as code 0x78, the tie 1.0625 as 1.125
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps h5py==3.16.0 numpy==2.4.6 ml_dtypes==0.6.0
cd "$work"
venv/bin/python -W ignore - > printed <<'PY'
import ctypes
import glob

import h5py
import ml_dtypes
import numpy as np
from h5py import h5d, h5s, h5t

library = ctypes.CDLL(glob.glob(h5py.__path__[0] + ".libs/libhdf5-*.so*")[0])
file = h5py.File("x.h5", "w", driver="core", backing_store=False)


# HDF5's own type, which h5py has no name for: its handle is a variable of the library.
def type_of(name):
    return h5t.TypeFloatID(ctypes.c_int64.in_dll(library, name).value).copy()


def dataset(kind, size):
    return h5d.create(file.id, None, kind, h5s.create_simple((size,)))


def stored(numbers, kind):
    numbers = np.asarray(numbers, np.float32)
    there, codes = dataset(kind, numbers.size), np.zeros(numbers.size, np.uint8)
    there.write(h5s.ALL, h5s.ALL, numbers)
    there.read(h5s.ALL, h5s.ALL, codes, mtype=kind)
    return codes


def halved(there, right):
    return int(((there != right) & (there == right / 2)).sum())


e4m3, e5m2 = type_of("H5T_FLOAT_F8E4M3_g"), type_of("H5T_FLOAT_F8E5M2_g")
print(f"e4m3 least normal number {2.0**-6}: 0.0155 is stored as {stored([0.0155], e4m3).view(ml_dtypes.float8_e4m3fn)[0]}")
unit, counts = np.random.default_rng(0).random(65536), []
for kind, twin in ((e4m3, ml_dtypes.float8_e4m3fn), (e5m2, ml_dtypes.float8_e5m2)):
    x = (unit * float(ml_dtypes.finfo(twin).smallest_normal)).astype(np.float32)
    counts.append(halved(stored(x, kind).view(twin).astype(np.float64), x.astype(twin).astype(np.float64)))
x = (unit * 2.0**-14).astype(np.float32)
for order in (">f2", "<f2"):
    there = file.create_dataset(order, x.shape, order)
    there[:] = x
    counts.append(halved(there[:].astype(np.float64), x.astype(np.float16).astype(np.float64)))
print("below it, of 65536 numbers: e4m3 %d are halved, e5m2 %d, big-endian float16 %d, little-endian float16 %d" % tuple(counts))
there, back = dataset(e4m3, 8), np.zeros(8, np.float32)
there.write(h5s.ALL, h5s.ALL, np.arange(0x77, 0x7F, dtype=np.uint8), mtype=e4m3)
there.read(h5s.ALL, h5s.ALL, back)
print("e4m3 code 0x77 to 0x7e, read as float32:", back.tolist())
code, tie = stored([448, 1.0625], e4m3)
print(f"e4m3 448 is stored as code {code:#x}, the tie 1.0625 as {np.array([tie]).view(ml_dtypes.float8_e4m3fn)[0]}")
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
