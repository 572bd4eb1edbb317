"""The mxact model for Python: one file over libmxact.so, no dependencies; arrays of NumPy in and out where NumPy is installed.

    import mxact
    codes, flags = mxact.convert(bits, "f32", "e4m3fn", profile="ocp")

Codes are whole numbers: lists, or arrays of any unsigned type. The library is looked for at the path in MXACT_LIBRARY, then by the name libmxact.so.
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


_Words = ctypes.POINTER(ctypes.c_uint32)
_Word, _Id, _Size = ctypes.c_uint32, ctypes.c_int32, ctypes.c_size_t
_SIGNATURES = {
    "convert_many": (_Id, _Id, _Id, _Words, _Size, _Words, _Words),
    "quantize_block": (_Id, _Id, _Id, _Words, _Size, ctypes.POINTER(_Tensor), _Words, _Words),
    "dequantize": (_Id, _Id, _Id, _Word, _Words, _Size, ctypes.POINTER(_Tensor), _Words),
    "product": (_Id, _Word, _Id, _Word, _Words),
    "dot_block": (_Id, _Id, _Word, _Words, _Id, _Word, _Words, _Size, _Words),
    "layout_address": (_Id, _Word, _Word, _Word, _Word, ctypes.POINTER(ctypes.c_uint64)),
    "activate": (_Id, _Id, _Word, _Word, _Words),
    **{f"{kind}_id": (ctypes.c_char_p,) for kind in ("format", "block_format", "profile", "contract", "layout", "activation")},
}


def _load():
    library = ctypes.CDLL(os.environ.get("MXACT_LIBRARY", "libmxact.so"))
    library.mxact_abi_version.restype = ctypes.c_uint32
    if library.mxact_abi_version() != ABI_VERSION:
        raise ImportError(f"libmxact.so has ABI {library.mxact_abi_version()}, this module {ABI_VERSION}")
    for name in ("mxact_version", "mxact_status_text"):
        getattr(library, name).restype = ctypes.c_char_p
    for name, arguments in _SIGNATURES.items():
        getattr(library, f"mxact_{name}").argtypes = arguments
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
    """uint32 lanes of codes: a view where they are that already, else a copy. A number that is no code is refused, never wrapped."""
    if numpy is not None:
        given = numpy.asarray(values)
        if given.size and given.dtype.kind not in "ui":
            raise Error(f"codes are whole numbers, not {given.dtype}")
        if given.size and (int(given.min()) < 0 or int(given.max()) >> 32):
            raise Error(f"codes have at most 32 bits: {int(given.min())} to {int(given.max())}")
        return numpy.ascontiguousarray(given, dtype=numpy.uint32).reshape(-1)
    for value in values:
        if not isinstance(value, int) or value < 0 or value >> 32:
            raise Error(f"{value!r} is no whole number of at most 32 bits")
    return (ctypes.c_uint32 * len(values))(*values)


def _empty(count):
    return numpy.empty(count, numpy.uint32) if numpy is not None else (ctypes.c_uint32 * count)()


def _pointer(lanes):
    return lanes.ctypes.data_as(_Words) if numpy is not None else lanes


def _result(lanes):
    return lanes if numpy is not None else list(lanes)


def _tensor(encode, decode):
    if encode is None and decode is None:
        return None
    return ctypes.byref(_Tensor(encode or 0, decode or 0, encode is not None, decode is not None))


def convert(codes, source, target, profile="ocp"):
    """Codes of one format in another, and their flags."""
    lanes = _lanes(codes)
    results, flags = _empty(len(lanes)), _empty(len(lanes))
    status = _library.mxact_convert_many(_id("profile", profile), _id("format", source), _id("format", target), _pointer(lanes), len(lanes),
                                         _pointer(results), _pointer(flags))
    _checked(status, f"{len(lanes)} codes {source} -> {target} by {profile}")
    return _result(results), _result(flags)


def quantize_block(codes, block_format, source="f32", profile="ocp", encode=None, decode=None):
    """Scale and codes of one block of codes of `source`; encode and decode are fp32 bits of the tensor's scales."""
    lanes = _lanes(codes)
    scale, results = ctypes.c_uint32(), _empty(len(lanes))
    status = _library.mxact_quantize_block(_id("profile", profile), _id("block_format", block_format), _id("format", source), _pointer(lanes),
                                           len(lanes), _tensor(encode, decode), ctypes.byref(scale), _pointer(results))
    _checked(status, f"{len(lanes)} elements into {block_format} by {profile}")
    return scale.value, _result(results)


def dequantize(scale, codes, block_format, target="f32", profile="ocp", encode=None, decode=None):
    """Codes of `target` for codes under one scale."""
    lanes = _lanes(codes)
    results = _empty(len(lanes))
    status = _library.mxact_dequantize(_id("profile", profile), _id("block_format", block_format), _id("format", target), int(scale),
                                       _pointer(lanes), len(lanes), _tensor(encode, decode), _pointer(results))
    _checked(status, f"{len(lanes)} codes of {block_format} into {target} by {profile}")
    return _result(results)


def product(format_a, a, format_b, b):
    """fp32 bits of the exact product of two codes."""
    result = ctypes.c_uint32()
    _checked(_library.mxact_product(_id("format", format_a), a, _id("format", format_b), b, ctypes.byref(result)), f"{format_a} 0x{a:x} * {format_b} 0x{b:x}")
    return result.value


def dot_block(contract, block_format_a, scale_a, a, block_format_b, scale_b, b):
    """fp32 bits of the dot product of two blocks under an arithmetic contract."""
    first, second = _lanes(a), _lanes(b)
    if len(first) != len(second):
        raise Error(f"{len(first)} codes by {len(second)}")
    result = ctypes.c_uint32()
    status = _library.mxact_dot_block(_id("contract", contract), _id("block_format", block_format_a), int(scale_a), _pointer(first),
                                      _id("block_format", block_format_b), int(scale_b), _pointer(second), len(first), ctypes.byref(result))
    _checked(status, f"{len(first)} codes of {block_format_a} by {block_format_b} under {contract}")
    return result.value


def layout_address(layout, rows, columns, row, column):
    """Address of an element of a matrix in a named layout."""
    address = ctypes.c_uint64()
    _checked(_library.mxact_layout_address(_id("layout", layout), rows, columns, row, column, ctypes.byref(address)), f"({row}, {column}) in {layout}")
    return address.value


def activate(activation, gate, up, type="f32"):
    """fp32 bits of an activation of gate and up, which are fp32 bits of values of `type`."""
    result = ctypes.c_uint32()
    _checked(_library.mxact_activate(_id("activation", activation), _id("format", type), gate, up, ctypes.byref(result)), f"{activation} of 0x{gate:x}")
    return result.value
