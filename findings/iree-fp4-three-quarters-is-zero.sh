#!/usr/bin/env bash
# version: iree-base-compiler 3.13.0, iree-base-runtime 3.13.0 (llvm-cpu)
# source: iree-org/iree, compiler/src/iree/compiler/Codegen/Common/ConvertUnsupportedFloatArithPass.cpp, the expansion of arith.truncf
# behaviour: f32 to f4E2M1FN: what rounds up from below the least normal number, 1, becomes zero. 0.74 is 0.5 and 1 is 1, but 0.75 to 0.99 are 0: a tenth of
#   the elements of an ordinary MXFP4 block. The same rounding in FP8 loses only numbers beside 2^-6.
# seen: 2026-11-29
# | x       [0.2, 0.3, 0.74, 0.75, 0.8, 0.9, 0.99, 1.0, 1.3, 5.0, 7.0]
# | iree    [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 1.5, 4.0, 6.0]
# | nearest [0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 4.0, 6.0]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps iree-base-compiler==3.13.0 iree-base-runtime==3.13.0 numpy==2.4.6 ml_dtypes==0.6.0
cd "$work"
venv/bin/python - > printed <<'PY'
import iree.compiler
import iree.runtime
import ml_dtypes
import numpy as np

x = np.array([0.2, 0.3, 0.74, 0.75, 0.8, 0.9, 0.99, 1, 1.3, 5, 7], np.float32)
program = """
func.func @there_and_back(%x: tensor<11xf32>) -> tensor<11xf32> {
  %empty = tensor.empty() : tensor<11xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<11xf32>) outs(%empty : tensor<11xf32>) {
  ^bb0(%number: f32, %unused: f32):
    %code = arith.truncf %number : f32 to f4E2M1FN
    %back = arith.extf %code : f4E2M1FN to f32
    linalg.yield %back : f32
  } -> tensor<11xf32>
  return %y : tensor<11xf32>
}
"""
module = iree.compiler.compile_str(program, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=generic"])
context = iree.runtime.SystemContext(config=iree.runtime.Config("local-task"))
context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, module))
print("x      ", [float(f"{number:.6g}") for number in x])
print("iree   ", context.modules.module.there_and_back(x).to_host().tolist())
print("nearest", x.astype(ml_dtypes.float4_e2m1fn).astype(np.float32).tolist())
PY
cd - > /dev/null
cat "$work/printed"
if diff <(sed -n 's/^# | //p' "$0") "$work/printed"; then echo "as seen"; else echo "changed"; exit 1; fi
