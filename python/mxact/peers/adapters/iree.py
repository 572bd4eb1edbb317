"""IREE, compiled for the CPU by LLVM: arith.truncf and arith.extf."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.peers._rows import Cast, Fault, Operation, Peer

_TYPES = {"e2m1": "f4E2M1FN", "e4m3fn": "f8E4M3FN", "e5m2": "f8E5M2", "e4m3fnuz": "f8E4M3FNUZ", "e5m2fnuz": "f8E5M2FNUZ", "e8m0": "f8E8M0FNU"}
_PROGRAM = """
func.func @cast(%x: tensor<{n}xf32>) -> tensor<{n}x{out}> {{
  %empty = tensor.empty() : tensor<{n}x{out}>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{n}xf32>) outs(%empty : tensor<{n}x{out}>) {{
  ^bb0(%number: f32, %unused: {out}):
    %code = arith.truncf %number : f32 to {type}
    {last}
    linalg.yield %last : {out}
  }} -> tensor<{n}x{out}>
  return %y : tensor<{n}x{out}>
}}
"""
_BACK = """
func.func @cast(%x: tensor<{n}xi8>) -> tensor<{n}xf32> {{
  %empty = tensor.empty() : tensor<{n}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%x : tensor<{n}xi8>) outs(%empty : tensor<{n}xf32>) {{
  ^bb0(%byte: i8, %unused: f32):
    {code} to {type}
    %number = arith.extf %code : {type} to f32
    linalg.yield %number : f32
  }} -> tensor<{n}xf32>
  return %y : tensor<{n}xf32>
}}
"""
_COMPILED = """import iree.compiler, iree.runtime, numpy as np
module = iree.compiler.compile_str(program, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=generic"])
context = iree.runtime.SystemContext(config=iree.runtime.Config("local-sync"))
context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, module))
"""
_CHUNK = 1 << 16


def _cast(to: str) -> Cast:
    width = 4 if to == "e2m1" else 8
    bits = f"%bits = arith.bitcast %code : {_TYPES[to]} to i{width}\n    %last = " + ("arith.extui %bits : i4 to i8" if width == 4 else "arith.ori %bits, %bits : i8")
    names: dict[str, Any] = {"program": _PROGRAM.format(n=_CHUNK, out="i8", type=_TYPES[to], last=bits)}
    exec(_COMPILED, names)  # noqa: S102  (the lines of the fault's script)

    def fn(x: Array) -> Array:
        padded = np.zeros(-(-x.size // _CHUNK) * _CHUNK, np.float32)
        padded[: x.size] = x
        pieces = [names["context"].modules.module.cast(piece).to_host() for piece in padded.reshape(-1, _CHUNK)]
        codes = np.concatenate(pieces).view(np.uint8)[: x.size]
        if to == "e4m3fn":
            # Which of its two NaNs an overflow becomes follows no rule of its sign: here it has it.
            codes = np.where(((codes & 0x7F) == 0x7F) & ~np.isnan(x), 0x7F | np.signbit(x).astype(np.uint8) << 7, codes).astype(np.uint8)
        return codes

    why = "E8M0 is the exponent field" if to == "e8m0" else "what rounds up from below the least normal number to it is zero"
    return Cast(f"arith.truncf to {_TYPES[to]}", "f32", to, "iree-llvm-cpu", fn, why)


def _back(source: str) -> Cast:
    n = 16 if source == "e2m1" else 256
    code = "%half = arith.trunci %byte : i8 to i4\n    %code = arith.bitcast %half : i4" if source == "e2m1" else "%code = arith.bitcast %byte : i8"
    names: dict[str, Any] = {"program": _BACK.format(n=n, code=code, type=_TYPES[source])}
    exec(_COMPILED, names)  # noqa: S102  (the lines of the fault's script)

    def fn(x: Array) -> Array:
        codes = x.view(np.int8)
        # A profile is asked about one code first.
        padded = np.zeros(n, np.int8)
        padded[: codes.size] = codes
        return np.asarray(names["context"].modules.module.cast(padded).to_host()[: codes.size])

    why = {"e4m3fn": "code 0xff is -480", "e8m0": "code 0 is 0"}.get(source, "")
    return Cast(f"arith.extf of {_TYPES[source]}", source, "f32", "iree-llvm-cpu", fn, why)


def _operations() -> Sequence[Operation]:
    import_module("iree.runtime")
    return [*(_cast(to) for to in _TYPES), *(_back(source) for source in _TYPES)]


_THERE_AND_BACK = _PROGRAM.format(n=1, out="f32", type="f4E2M1FN", last="%last = arith.extf %code : f4E2M1FN to f32")
_OF_NAN = _BACK.format(n=1, code="%code = arith.bitcast %byte : i8", type="f8E4M3FN")

PEER = Peer(
    "iree",
    "iree-base-compiler",
    "3.13.0",
    "https://github.com/iree-org/iree",
    _operations,
    [
        Fault(
            "MLIR arith.truncf: rounded to nearest even",
            "f32 to FP4: numbers from 0.75 to 1 become 0",
            f'program = """{_THERE_AND_BACK}"""\n{_COMPILED}print(context.modules.module.cast(np.float32([0.9])).to_host()[0])',
            "0.0",
            "1.0",
        ),
        Fault(
            "OFP8 section 5.1: S.1111.111 of E4M3 is a NaN",
            "E4M3's negative NaN is -480 as fp32",
            f'program = """{_OF_NAN}"""\n{_COMPILED}print(context.modules.module.cast(np.int8([-1])).to_host()[0])',
            "-480.0",
            "nan",
        ),
    ],
    further=True,
)
