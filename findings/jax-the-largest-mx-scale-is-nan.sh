#!/usr/bin/env bash
# version: jax 0.10.2, jaxlib 0.10.2
# source: jax-ml/jax, jax/_src/dtypes.py, supports_inf, for max, min, argmax and nanmax; jax/_src/nn/functions.py, softmax; jax/_src/ops/scatter.py, segment_max
# behaviour: a maximum starts from -Inf, which in E8M0 is a NaN. jax has a list of types without an Inf that start from their least number; E8M0 is not in it, so
#   the largest and the least of any MX scales are NaN (nanmax, too), and argmax is 0. sort, top_k and maximum of two are right, and so is numpy's max of the same.
#   E4M3 is in the list, but softmax and segment_max hand an Inf in by themselves: NaN from numbers, where E5M2 gives numbers.
#   max of E4M3 was reported in 2023 (jax-ml/jax issue 19011) and is right since; of E8M0, and of the two others, we found no report.
# seen: 2026-12-01
# | scales [1.0, 2.0, 4.0, 0.5] max nan nanmax nan min nan argmax 0 argmin 0
# | by numpy, of the same array: max 4.0 min 0.5 argmax 2 argmin 3
# | by jax: sort [0.5, 1.0, 2.0, 4.0] top_k [4.0, 2.0]
# | float8_e5m2 max 4.0 softmax [0.0390625, 0.09375, 0.75, 0.0234375] segment_max [2.0, 4.0]
# | float8_e4m3fn max 4.0 softmax [nan, nan, nan, nan] segment_max [nan, nan]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6 scipy==1.17.1 opt_einsum==3.4.0
JAX_PLATFORMS=cpu "$work/venv/bin/python" -W ignore - > "$work/printed" <<'PY'
import jax
import jax.numpy as jnp
import numpy as np


def numbers(array):
    return np.asarray(array).astype(np.float64).tolist()


scales = jnp.array([1, 2, 4, 0.5], jnp.float8_e8m0fnu)
maxima = {name: numbers(getattr(jnp, name)(scales)) for name in ("max", "nanmax", "min")}
print("scales", numbers(scales), *(word for pair in maxima.items() for word in pair), "argmax", int(jnp.argmax(scales)), "argmin", int(jnp.argmin(scales)))
same = np.asarray(scales)
print("by numpy, of the same array: max", float(same.max()), "min", float(same.min()), "argmax", int(same.argmax()), "argmin", int(same.argmin()))
print("by jax: sort", numbers(jnp.sort(scales)), "top_k", numbers(jax.lax.top_k(scales, 2)[0]))
for kind in (jnp.float8_e5m2, jnp.float8_e4m3fn):
    x = jnp.array([1, 2, 4, 0.5], kind)
    segments = jax.ops.segment_max(x, jnp.array([0, 0, 1, 1]), num_segments=2)
    print(x.dtype, "max", numbers(jnp.max(x)), "softmax", numbers(jax.nn.softmax(x)), "segment_max", numbers(segments))
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
