#!/usr/bin/env bash
# version: jax 0.10.2, jaxlib 0.10.2
# source: jax-ml/jax, jax/_src/lax/lax.py, log2 and exp2, as jaxlib's XLA compiles them for a CPU
# behaviour: log2 of a power of two is not its exponent and exp2 of a whole number no power of two, in fp32 and bf16 and on every instruction set. A scale by
#   MX's rule, 2^floor(log2(amax)) divided by the element's range, is half of what it must be at 2^13, and as exp2 makes it no scale that E8M0 has.
# seen: 2026-11-29
# | SSE4_2 floor(log2(8192)) 12
# | SSE4_2 log2(2^k) below k for 23 of 254 k, exp2(k) is not 2^k for 221, bf16 244 of 254
# | AVX512 floor(log2(8192)) 12
# | AVX512 log2(2^k) below k for 23 of 254 k, exp2(k) is not 2^k for 221, bf16 244 of 254
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0 scipy==1.17.1 opt_einsum==3.4.0
for isa in SSE4_2 AVX512; do
  XLA_FLAGS=--xla_cpu_max_isa=$isa "$work/venv/bin/python" - $isa >> "$work/printed" <<'PY'
import sys

import jax.numpy as jnp
import numpy as np

exponents = range(-126, 128)
powers = np.exp2(np.array(exponents, np.float64)).astype(np.float32)
below = int((np.asarray(jnp.log2(jnp.asarray(powers))) < np.array(exponents)).sum())
wrong = int((np.asarray(jnp.exp2(jnp.array(exponents, jnp.float32))) != powers).sum())
half = jnp.array(exponents, jnp.bfloat16)  # as many of these as bf16 has
wrong_half = int((np.asarray(jnp.exp2(half)).astype(np.float32) != np.exp2(np.asarray(half).astype(np.float32))).sum())
print(sys.argv[1], "floor(log2(8192))", int(jnp.floor(jnp.log2(jnp.float32(8192)))))
print(sys.argv[1], f"log2(2^k) below k for {below} of {len(exponents)} k, exp2(k) is not 2^k for {wrong}, bf16 {wrong_half} of {len(exponents)}")
PY
done
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
