#!/usr/bin/env bash
# version: jax 0.10.2, jaxlib 0.10.2 (ml_dtypes 0.6.0 beside it)
# source: jax-ml/jax, jax/_src/lax/lax.py, convert_element_type, as jaxlib's XLA compiles it for a CPU
# behaviour: FP4's largest number, 6, becomes the largest of the integer type, -6 its least: 2147483647 of int32, 127 of int8. Every other number is right, and
#   so is 6 on its way to float32.
# seen: 2026-11-29
# | numbers   [6.0, 4.0, 1.5, -4.0, -6.0]
# | int32     [2147483647, 4, 1, -4, -2147483648]
# | int8      [127, 4, 1, -4, -128]
# | ml_dtypes [6, 4, 1, -4, -6]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0 scipy==1.17.1 opt_einsum==3.4.0
"$work/venv/bin/python" - > "$work/printed" <<'PY'
import jax.numpy as jnp
import ml_dtypes
import numpy as np

numbers = [6, 4, 1.5, -4, -6]
x = jnp.array(numbers, jnp.float4_e2m1fn)
print("numbers  ", x.astype(jnp.float32).tolist())
print("int32    ", x.astype(jnp.int32).tolist())
print("int8     ", x.astype(jnp.int8).tolist())
print("ml_dtypes", np.array(numbers, ml_dtypes.float4_e2m1fn).astype(np.int32).tolist())
PY
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
