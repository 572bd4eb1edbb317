"""CUDA text into machine code: by the nvcc that is installed, else by NVRTC. Nothing is downloaded, nothing is kept."""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path

from mxact.hwcheck._questions import NotHere


def architecture(unit: str) -> str:
    """The target with the unit's own instructions: sm_90a, sm_100a; older units have none of their own."""
    return f"{unit}a" if int(unit) >= 90 else unit


def _nvcc() -> str:
    homes = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    found = [shutil.which("nvcc"), *(str(Path(home) / "bin" / "nvcc") for home in [*homes, "/usr/local/cuda"] if home)]
    return next((path for path in found if path and os.access(path, os.X_OK)), "")


def _by_nvcc(nvcc: str, text: str, target: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder) / "kernels.cu", Path(folder) / "kernels.cubin"
        source.write_text(text, encoding="utf-8")
        words = [nvcc, "-cubin", f"-gencode=arch=compute_{target},code=sm_{target}", "-o", str(code), str(source)]
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ended.returncode != 0 or not code.exists():
            raise NotHere("nvcc: " + " ".join(ended.stderr.split())[:300])
        return code.read_bytes()


def _nvrtc() -> ctypes.CDLL | None:
    places = [f"{path}/nvidia/{part}/lib/libnvrtc.so*" for path in sys.path for part in ("cuda_nvrtc", "cu13", "cu12")]
    paths = [path for place in places for path in sorted(glob.glob(place)) if "builtins" not in path and "alt" not in path]
    for name in [*paths, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _by_nvrtc(lib: ctypes.CDLL, text: str, target: str) -> bytes:
    program = c_void_p()
    lib.nvrtcCreateProgram(byref(program), text.encode(), b"kernels.cu", c_int(0), None, None)
    options = (c_char_p * 1)(f"--gpu-architecture=sm_{target}".encode())
    code = lib.nvrtcCompileProgram(program, c_int(1), options)
    size = c_size_t()
    if code != 0:
        lib.nvrtcGetProgramLogSize(program, byref(size))
        log = ctypes.create_string_buffer(size.value)
        lib.nvrtcGetProgramLog(program, log)
        raise NotHere("NVRTC: " + " ".join(log.value.decode(errors="replace").split())[:300])
    lib.nvrtcGetCUBINSize(program, byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, cubin)
    lib.nvrtcDestroyProgram(byref(program))
    return cubin.raw


def compiled(text: str, unit: str) -> tuple[bytes, str]:
    """Machine code for a unit, and who made it. Raises NotHere: no compiler, or what it says."""
    target = architecture(unit)
    nvcc = _nvcc()
    if nvcc:
        return _by_nvcc(nvcc, text, target), "nvcc"
    lib = _nvrtc()
    if lib is None:
        raise NotHere("neither nvcc nor NVRTC is here: instructions are not asked")
    return _by_nvrtc(lib, text, target), "NVRTC"
