"""A card through the driver's own interface: memory, kernels from machine code, facts. Nothing of the device is changed."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mxact._arguments import Array
from mxact.hwcheck._questions import NotHere

# CUdevice_attribute: multiprocessors; compute capability, major and minor.
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76


class Driver:
    """The first card that is visible, in its primary context, which other libraries share."""

    def __init__(self) -> None:
        try:
            self._lib = ctypes.CDLL("libcuda.so.1")
        except OSError as problem:
            raise NotHere(f"no CUDA driver: {problem}") from None
        self._call("cuInit", 0)
        self._device = c_int()
        self._call("cuDeviceGet", byref(self._device), 0)
        context = c_void_p()
        self._call("cuDevicePrimaryCtxRetain", byref(context), self._device)
        self._context = context
        self.use()

    def use(self) -> None:
        """Makes its context this thread's, which other libraries may have changed."""
        self._call("cuCtxSetCurrent", self._context)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._lib, name)(*arguments)
        if code != 0:
            text = c_char_p()
            self._lib.cuGetErrorString(code, byref(text))
            raise NotHere(f"{name}: {(text.value or b'error').decode()} ({code})")

    def _attribute(self, number: int) -> int:
        value = c_int()
        self._call("cuDeviceGetAttribute", byref(value), number, self._device)
        return value.value

    def name(self) -> str:
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, 256, self._device)
        return text.value.decode()

    def unit(self) -> str:
        """The compute capability without its dot: "90"."""
        return f"{self._attribute(_MAJOR)}{self._attribute(_MINOR)}"

    def multiprocessors(self) -> int:
        return self._attribute(_MULTIPROCESSORS)

    def cuda(self) -> str:
        value = c_int()
        self._call("cuDriverGetVersion", byref(value))
        return f"{value.value // 1000}.{value.value % 1000 // 10}"

    def free_bytes(self) -> int:
        free, total = c_size_t(), c_size_t()
        self._call("cuMemGetInfo_v2", byref(free), byref(total))
        return int(free.value)

    def function(self, code: bytes, name: str) -> c_void_p:
        """A kernel of machine code."""
        module, function = c_void_p(), c_void_p()
        self._call("cuModuleLoadData", byref(module), code)
        self._call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def launch(self, function: c_void_p, grid: tuple[int, int], threads: int, inputs: list[Array], output: Array, numbers: list[int]) -> Array:
        """Runs a kernel of pointers to the inputs and the output and of ints behind them; the output comes back."""
        self.use()
        held: list[c_uint64] = []
        try:
            for values in [*inputs, output]:
                pointer = c_uint64()
                self._call("cuMemAlloc_v2", byref(pointer), c_size_t(max(values.nbytes, 16)))
                held.append(pointer)
                plain = np.ascontiguousarray(values)
                self._call("cuMemcpyHtoD_v2", pointer, plain.ctypes.data_as(c_void_p), c_size_t(values.nbytes))
            given: list[Any] = [*held, *(c_int(number) for number in numbers)]
            pointers = (c_void_p * len(given))(*(ctypes.cast(byref(one), c_void_p) for one in given))
            self._call("cuLaunchKernel", function, c_uint(grid[0]), c_uint(grid[1]), c_uint(1), c_uint(threads), c_uint(1), c_uint(1), c_uint(0), None, pointers, None)
            self._call("cuCtxSynchronize")
            found = np.empty_like(output)
            self._call("cuMemcpyDtoH_v2", found.ctypes.data_as(c_void_p), held[-1], c_size_t(found.nbytes))
            return found
        finally:
            for pointer in held:
                self._lib.cuMemFree_v2(pointer)


@lru_cache(maxsize=1)
def driver() -> Driver:
    return Driver()


def driver_version() -> str:
    """Of the kernel's module, as it says itself; empty where it does not."""
    try:
        first = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return ""
    return next((word for word in first.split() if word[:1].isdigit() and "." in word), "")
