"""The mxact model for Python: one file over libmxact.so, no dependencies; arrays of NumPy in and out where NumPy is installed.

    import mxact
    codes = mxact.convert(bits, "f32", "e4m3fn", profile="ocp")[0]

The library is looked for at the path in MXACT_LIBRARY, then by the name libmxact.so.
"""

import ctypes
import os

try:
    import numpy
except ImportError:
    numpy = None

ABI_VERSION = 1


class Error(ValueError):
    """What the library refused: a name, id, size or combination that does not exist, or a machine that cannot."""


class _Tensor(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("encode", "decode", "has_encode", "has_decode")]


def _load():
    library = ctypes.CDLL(os.environ.get("MXACT_LIBRARY", "libmxact.so"))
    for name in ("mxact_version", "mxact_status_text"):
        getattr(library, name).restype = ctypes.c_char_p
    library.mxact_abi_version.restype = ctypes.c_uint32
    if library.mxact_abi_version() != ABI_VERSION:
        raise Error(f"libmxact.so has ABI {library.mxact_abi_version()}, this module {ABI_VERSION}")
    return library


_library = _load()


def version():
    """Version of the library: '0.1.0'."""
    return _library.mxact_version().decode()


def _checked(status, what):
    if status != 0:
        raise Error(f"{what}: {_library.mxact_status_text(status).decode()}")


def _id(kind, name):
    number = getattr(_library, f"mxact_{kind}_id")(name.encode())
    if number < 0:
        raise Error(f"unknown {kind} {name!r}")
    return number


def _lanes(values):
    """uint32 lanes of a sequence or an array."""
    flat = [int(value) for value in (values.reshape(-1) if hasattr(values, "reshape") else values)]
    return (ctypes.c_uint32 * len(flat))(*flat)


def _array(lanes):
    return numpy.ctypeslib.as_array(lanes).copy() if numpy is not None else list(lanes)


def _tensor(encode, decode):
    if encode is None and decode is None:
        return None
    return ctypes.byref(_Tensor(encode or 0, decode or 0, encode is not None, decode is not None))


def convert(codes, source, target, profile="ocp"):
    """Codes of one format in another, and their flags."""
    ids = _id("profile", profile), _id("format", source), _id("format", target)
    lanes = _lanes(codes)
    results, flags = (ctypes.c_uint32 * len(lanes))(), (ctypes.c_uint32 * len(lanes))()
    result, flag = ctypes.c_uint32(), ctypes.c_uint32()
    for i, code in enumerate(lanes):
        status = _library.mxact_convert(*ids, ctypes.c_uint32(code), ctypes.c_uint32(0), ctypes.byref(result), ctypes.byref(flag))
        _checked(status, f"{source} 0x{code:x} -> {target}")
        results[i], flags[i] = result.value, flag.value
    return _array(results), _array(flags)


def quantize_block(codes, block_format, source="f32", profile="ocp", encode=None, decode=None):
    """Scale and codes of one block of codes of `source`; encode and decode are fp32 bits of the tensor's scales."""
    lanes = _lanes(codes)
    scale, results = ctypes.c_uint32(), (ctypes.c_uint32 * len(lanes))()
    status = _library.mxact_quantize_block(_id("profile", profile), _id("block_format", block_format), _id("format", source), lanes,
                                           ctypes.c_size_t(len(lanes)), _tensor(encode, decode), ctypes.byref(scale), results)
    _checked(status, f"{len(lanes)} elements into {block_format} by {profile}")
    return scale.value, _array(results)


def dequantize(scale, codes, block_format, target="f32", profile="ocp", encode=None, decode=None):
    """Codes of `target` for codes under one scale."""
    lanes = _lanes(codes)
    results = (ctypes.c_uint32 * len(lanes))()
    status = _library.mxact_dequantize(_id("profile", profile), _id("block_format", block_format), _id("format", target), ctypes.c_uint32(scale), lanes,
                                       ctypes.c_size_t(len(lanes)), _tensor(encode, decode), results)
    _checked(status, f"{len(lanes)} codes of {block_format} into {target} by {profile}")
    return _array(results)


def layout_address(layout, rows, columns, row, column):
    """Address of an element of a matrix in a named layout."""
    address = ctypes.c_uint64()
    _checked(_library.mxact_layout_address(_id("layout", layout), rows, columns, row, column, ctypes.byref(address)), f"({row}, {column}) in {layout}")
    return address.value
