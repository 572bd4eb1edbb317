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
_Numbers = ctypes.POINTER(ctypes.c_int32)
_Word, _Id, _Size = ctypes.c_uint32, ctypes.c_int32, ctypes.c_size_t


class _Constants(ctypes.Structure):
    _fields_ = [(name, _Word) for name in ("alpha", "beta", "limit", "linear_beta")]


class _Operand(ctypes.Structure):
    _fields_ = [("format", _Id), ("scale_format", _Id), ("block", _Id), ("codes", _Words), ("scales", _Words)]


class _Routing(ctypes.Structure):
    _fields_ = [("router", _Id)] + [(name, _Word) for name in ("experts", "top_k", "groups", "topk_groups", "factor")]


class _Experts(ctypes.Structure):
    _fields_ = ([(name, _Word) for name in ("experts", "hidden", "intermediate")] + [("w13", _Operand), ("w2", _Operand)]
                + [(name, _Words) for name in ("w13_scale", "w2_scale", "w13_bias", "w2_bias")])


class _Choices(ctypes.Structure):
    _fields_ = ([("contract", _Id), ("activation", _Id), ("constants", ctypes.POINTER(_Constants))]
                + [(name, _Id) for name in ("quantize_x", "round_gate_up", "round_act", "quantize_act", "round_expert_out", "weight_on_input")])


class _Stages(ctypes.Structure):
    _fields_ = [(name, _Words) for name in ("gate_up", "act", "expert_out")]


_SIGNATURES = {
    "convert_many": (_Id, _Id, _Id, _Words, _Size, _Words, _Words),
    "quantize_block": (_Id, _Id, _Id, _Words, _Size, ctypes.POINTER(_Tensor), _Words, _Words),
    "dequantize": (_Id, _Id, _Id, _Word, _Words, _Size, ctypes.POINTER(_Tensor), _Words),
    "product": (_Id, _Word, _Id, _Word, _Words),
    "dot_block": (_Id, _Id, _Word, _Words, _Id, _Word, _Words, _Size, _Words),
    "dot_biased": (_Id, ctypes.POINTER(_Operand), ctypes.POINTER(_Operand), _Size, _Words, _Words, _Words),
    "layout_size": (_Id, _Word, _Word, ctypes.POINTER(ctypes.c_uint64), _Numbers),
    "layout_address": (_Id, _Word, _Word, _Word, _Word, ctypes.POINTER(ctypes.c_uint64)),
    "activate_with": (_Id, _Id, _Word, _Word, ctypes.POINTER(_Constants), _Words),
    "route_logits": (ctypes.POINTER(_Routing), _Words, _Words, _Numbers, _Words),
    "route_token": (_Id, _Word, _Word, _Word, ctypes.POINTER(_Operand), ctypes.POINTER(_Operand), _Words, _Numbers, _Words),
    "moe_layer": (ctypes.POINTER(_Experts), ctypes.POINTER(_Choices), _Word, _Word, ctypes.POINTER(_Operand), _Numbers, _Words,
                  ctypes.POINTER(_Stages), _Words),
    **{f"{kind}_id": (ctypes.c_char_p,) for kind in ("format", "block_format", "profile", "contract", "layout", "activation", "router")},
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


def _lanes_of(values, count, what):
    """The same of exactly `count` codes, or None for None: C reads as many as the sizes say."""
    if values is None:
        return None
    lanes = _lanes(values)
    if len(lanes) != count:
        raise Error(f"{len(lanes)} {what}, expected {count}")
    return lanes


def _signed(values):
    """int32 numbers of a list or an array."""
    numbers = numpy.asarray(values).reshape(-1).tolist() if numpy is not None else list(values)
    for number in numbers:
        if not isinstance(number, int) or not -(1 << 31) <= number < 1 << 31:
            raise Error(f"{number!r} is no whole number of at most 32 bits")
    return (ctypes.c_int32 * len(numbers))(*numbers)


def _empty(count):
    return numpy.empty(count, numpy.uint32) if numpy is not None else (ctypes.c_uint32 * count)()


def _pointer(lanes):
    if lanes is None:
        return None
    return lanes.ctypes.data_as(_Words) if numpy is not None else ctypes.cast(lanes, _Words)


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


class Matrix:
    """Codes of a format, row after row, and their scales: one for each `block` codes of a row, none without a scale_format."""

    def __init__(self, format, codes, scale_format=None, scales=None, block=0):
        self.format, self.codes, self.scale_format, self.scales, self.block = format, _lanes(codes), scale_format, None, block
        if scale_format is not None:
            self.scales = _lanes(scales)

    def _operand(self, rows, columns):
        """What C reads: its arrays live as long as the matrix."""
        if len(self.codes) != rows * columns:
            raise Error(f"{len(self.codes)} codes, expected {rows} rows of {columns}")
        operand = _Operand(_id("format", self.format), -1, self.block, _pointer(self.codes), None)
        if self.scale_format is not None:
            if self.block < 1 or len(self.scales) != rows * -(-columns // self.block):
                raise Error(f"{len(self.scales)} scales for {rows} rows of {columns} in blocks of {self.block}")
            operand.scale_format, operand.scales = _id("format", self.scale_format), _pointer(self.scales)
        return operand


def dot(contract, a, b, c=None, bias=None):
    """fp32 bits of the dot product of two rows (Matrix) under an arithmetic contract; c and bias are fp32 bits."""
    length = len(a.codes)
    result = ctypes.c_uint32()
    addends = [None if addend is None else ctypes.byref(ctypes.c_uint32(addend)) for addend in (c, bias)]
    status = _library.mxact_dot_biased(_id("contract", contract), ctypes.byref(a._operand(1, length)), ctypes.byref(b._operand(1, length)), length,
                                       *addends, ctypes.byref(result))
    _checked(status, f"{length} codes of {a.format} by {b.format} under {contract}")
    return result.value


def layout_size(layout, rows, columns):
    """Addresses of a matrix in a named layout, padding included, and the bits that one address counts."""
    size, bits = ctypes.c_uint64(), ctypes.c_int32()
    _checked(_library.mxact_layout_size(_id("layout", layout), rows, columns, ctypes.byref(size), ctypes.byref(bits)), f"{rows} x {columns} in {layout}")
    return size.value, bits.value


def layout_address(layout, rows, columns, row, column):
    """Address of an element of a matrix in a named layout."""
    address = ctypes.c_uint64()
    _checked(_library.mxact_layout_address(_id("layout", layout), rows, columns, row, column, ctypes.byref(address)), f"({row}, {column}) in {layout}")
    return address.value


def activate(activation, gate, up, type="f32", constants=None):
    """fp32 bits of an activation of gate and up, which are fp32 bits of values of `type`; constants are those of _constants."""
    result = ctypes.c_uint32()
    status = _library.mxact_activate_with(_id("activation", activation), _id("format", type), gate, up, _constants(constants), ctypes.byref(result))
    _checked(status, f"{activation} of 0x{gate:x}")
    return result.value


def _constants(given):
    """fp32 bits by name ({"alpha": ..., "beta": ..., "limit": ..., "linear_beta": ...}, missing ones 0); None: those of the activation's row."""
    return None if given is None else ctypes.pointer(_Constants(**given))


def route(logits, router, top_k, bias=None, groups=1, topk_groups=1, factor=0x3F800000):
    """The experts of one token and their weights (fp32 bits), by descending choice, from its logits (fp32 bits)."""
    lanes = _lanes(logits)
    routing = _Routing(_id("router", router), len(lanes), top_k, groups, topk_groups, factor)
    chosen, weights = (ctypes.c_int32 * max(top_k, 1))(), _empty(top_k)
    status = _library.mxact_route_logits(ctypes.byref(routing), _pointer(lanes), _pointer(_lanes_of(bias, len(lanes), "biases")), chosen,
                                         _pointer(weights))
    _checked(status, f"{top_k} of {len(lanes)} experts by {router}")
    return list(chosen), _result(weights)


def route_token(contract, x, weight, top_k, bias=None):
    """The same by the router "gpt-oss" from a row x and the router's rows, one for each expert (both Matrix); bias: fp32 bits."""
    hidden = len(x.codes)
    experts = len(weight.codes) // max(hidden, 1)
    chosen, weights = (ctypes.c_int32 * max(top_k, 1))(), _empty(top_k)
    status = _library.mxact_route_token(_id("contract", contract), experts, hidden, top_k, ctypes.byref(x._operand(1, hidden)),
                                        ctypes.byref(weight._operand(experts, hidden)), _pointer(_lanes_of(bias, experts, "biases")), chosen,
                                        _pointer(weights))
    _checked(status, f"{top_k} of {experts} experts under {contract}")
    return list(chosen), _result(weights)


def moe_layer(experts, hidden, intermediate, w13, w2, x, chosen, weights, contract="exact", activation="swiglu_oai", constants=None, w13_scale=None,
              w2_scale=None, w13_bias=None, w2_bias=None, stages=False, **choices):
    """A layer of experts: fp32 bits of its output, row after row. w13, w2 and x are Matrix: of every expert `intermediate` gate rows, then as many up
    rows, of `hidden` codes; `hidden` rows of `intermediate` codes; a row for each token. `chosen` (-1: none) and `weights` (fp32 bits) have the same
    number of slots for each token. Scales (NVFP4's second level) and biases are fp32 bits. `choices`, 0 or 1 each: quantize_x, round_gate_up,
    round_act, quantize_act, round_expert_out, weight_on_input, as mxact.h has them. With stages: (output, {"gate_up", "act", "expert_out"})."""
    tokens = len(x.codes) // hidden if hidden else 0
    slots = _signed(chosen)
    top_k = len(slots) // tokens if tokens else 0
    if len(slots) != tokens * top_k:
        raise Error(f"{len(slots)} slots for {tokens} tokens")
    # Named, so that they live until the call is over.
    factors = [_lanes_of(w13_scale, experts, "scales of w13"), _lanes_of(w2_scale, experts, "scales of w2"),
               _lanes_of(w13_bias, experts * 2 * intermediate, "biases of w13"), _lanes_of(w2_bias, experts * hidden, "biases of w2")]
    slot_weights = _lanes_of(weights, tokens * top_k, "weights")
    given = _Experts(experts, hidden, intermediate, w13._operand(experts * 2 * intermediate, hidden), w2._operand(experts * hidden, intermediate),
                     *map(_pointer, factors))
    how = _Choices(_id("contract", contract), _id("activation", activation), _constants(constants))
    for name, value in choices.items():
        if name not in dict(_Choices._fields_):
            raise Error(f"unknown choice {name!r}")
        setattr(how, name, value)
    out = _empty(tokens * hidden)
    kept = {name: _empty(tokens * top_k * width) for name, width in (("gate_up", 2 * intermediate), ("act", intermediate), ("expert_out", hidden))}
    wanted = ctypes.byref(_Stages(*map(_pointer, kept.values()))) if stages else None
    status = _library.mxact_moe_layer(ctypes.byref(given), ctypes.byref(how), tokens, top_k, ctypes.byref(x._operand(tokens, hidden)), slots,
                                      _pointer(slot_weights), wanted, _pointer(out))
    _checked(status, f"a layer of {experts} experts, {tokens} tokens under {contract}")
    return (_result(out), {name: _result(lanes) for name, lanes in kept.items()}) if stages else _result(out)
