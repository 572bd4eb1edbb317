"""Arrays of other libraries: torch tensors in, torch tensors out; anything that shows its memory through DLPack in."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from mxact._error import Error

Array = np.ndarray[Any, np.dtype[Any]]

# Devices of DLPack (dlpack.h, DLDeviceType). The processor reads the host's own memory and pinned memory.
_DEVICES = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 9: "vpi", 10: "rocm", 12: "ext_dev", 13: "cuda_managed", 14: "oneapi", 15: "webgpu", 16: "hexagon"}
_HOST = (1, 3, 11)
# Names of torch's dtypes that NumPy itself has not: what their memory is in NumPy.
_TORCH: dict[str, np.dtype[Any]] = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
}
_TORCH["float4_e2m1fn_x2"] = np.dtype(np.uint8)
_TORCH_NAMES = {dtype: name for name, dtype in _TORCH.items() if dtype != np.uint8}


def is_tensor(value: object) -> bool:
    """Of torch, which must be imported then."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def of_tensor(name: str, tensor: Any) -> Array:
    """A torch tensor's memory as NumPy has it, not copied."""
    if tensor.device.type != "cpu":
        raise Error(f"{name} is in the memory of device {tensor.device}: copy it to the host", place=name)
    torch = sys.modules["torch"]
    if tensor.layout != torch.strided:
        raise Error(f"{name} is a tensor of layout {tensor.layout}, must be strided", place=name)
    dtype = _TORCH.get(str(tensor.dtype).removeprefix("torch."))
    values = tensor.detach()
    if dtype is not None:
        integers = torch.uint8 if dtype.itemsize == 1 else torch.int16
        return np.asarray(values.view(integers).numpy()).view(dtype)
    return np.asarray(values.numpy())


def like(given: object, results: Array | np.generic) -> Any:
    """Results as the caller's library has them: a torch tensor over the same memory for a torch tensor; of a dtype that torch has not, its codes."""
    return to_tensor(results) if is_tensor(given) else results


def like_any(given: Iterable[object], results: dict[str, Array]) -> dict[str, Any]:
    """The same for several by name, where one of several was a tensor."""
    return {name: to_tensor(values) for name, values in results.items()} if any(is_tensor(one) for one in given) else dict(results)


def to_tensor(results: Array | np.generic) -> Any:
    torch = sys.modules["torch"]
    name = _TORCH_NAMES.get(results.dtype)
    # A NumPy scalar has no memory of its own.
    values = np.asarray(results)
    if name is not None and hasattr(torch, name):
        return torch.from_numpy(_integers(values)).view(getattr(torch, name))
    return torch.from_numpy(values if values.dtype.kind in "iufb" else _integers(values))


def _integers(values: Array) -> Array:
    return values.view(np.dtype(np.uint8 if values.itemsize == 1 else np.int16))


def require_host(name: str, value: object) -> None:
    """Refuses the memory of a device by its name, where the array says where it is."""
    device = getattr(value, "__dlpack_device__", None)
    if device is None:
        return
    try:
        kind, number = device()
        kind = int(kind)
    except Exception as problem:  # noqa: BLE001  (another library's, of any kind)
        raise Error(f"{name} is of type {type(value).__name__}, which does not say where its memory is: {problem}", place=name) from None
    if kind not in _HOST:
        raise Error(f"{name} is in the memory of device {_DEVICES.get(kind, kind)}:{number}: copy it to the host", place=name)
