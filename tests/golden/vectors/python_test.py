"""The Python module against values of the documents: with NumPy where it is installed, and in a second process without it."""

import os
import subprocess
import sys

if "--without-numpy" in sys.argv:
    sys.modules["numpy"] = None  # an import raises ImportError
import mxact

checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"failed: {what}")


def refused(call):
    try:
        call()
    except mxact.Error:
        return True
    return False


def test_values():
    check(mxact.version() == "0.1.0", "version")
    # OFP8 1.0: 448 is 0x7E and the largest; 1000 saturates.
    codes, flags = mxact.convert([0x43E00000, 0x447A0000], "f32", "e4m3fn")
    check(list(codes) == [0x7E, 0x7E], "codes")
    check(list(flags) == [0, 1 + 4 + 32], "flags")
    # MX 1.0 section 6.3: 12 under the scale 2 is 6.
    scale, codes = mxact.quantize_block([0x4140] + [0] * 31, "mxfp4", source="bf16")
    check(scale == 128 and codes[0] == 7 and not any(codes[1:]), "block")
    check(mxact.dequantize(scale, codes, "mxfp4")[0] == 0x41400000, "back")
    # NVFP4 with g = 1: amax 6 has the scale 1, 0x38 in E4M3.
    check(mxact.quantize_block([0x40C00000] + [0] * 15, "nvfp4", profile="vllm-nvfp4", encode=0x3F800000)[0] == 0x38, "two levels")
    # 1.5 * -6 = -9; 12 * 12 = 144.
    check(mxact.product("e2m1", 3, "e2m1", 0xF) == 0xC1100000, "product")
    check(mxact.dot_block("exact", "mxfp4", scale, codes, "mxfp4", scale, codes) == 0x43100000, "dot product")
    check(mxact.layout_address("sf_128x4", 256, 8, 33, 5) == 512 + 16 + 4 + 1, "address")
    # A gate of zero closes: 0 / (1 + 1) * (0 + 1).
    check(mxact.activate("swiglu_oai", 0, 0) == 0, "activation")


def test_layers():
    # OFP8 and MX codes by hand: 1 + 1 + 1 + 36 = 39 by 2, and 1 more.
    e2m1 = mxact.Matrix("e2m1", [2, 2, 2, 7])
    check(mxact.dot("exact", e2m1, mxact.Matrix("e2m1", [2, 2, 2, 7], "e8m0", [128], 4), bias=0x3F800000) == 0x429E0000, "79")
    check(mxact.layout_size("sf_128x4", 100, 6) == (1024, 8), "two tiles")
    check(mxact.activate("swiglu_oai", 0x41000000, 0xC1000000, constants={"limit": 0x40800000}) == 0xC1000000, "4 / 2 * (-4 + 0)")
    chosen, weights = mxact.route([0xBF800000, 0, 0], "gpt-oss", 2)
    check(chosen == [1, 2] and list(weights) == [0x3F000000] * 2, "two equal logits")
    chosen, weights = mxact.route([0, 0, 0, 0], "deepseek-v3-vllm", 2, bias=[0, 0, 0x3F800000, 0x40000000], groups=2)
    check(chosen == [3, 2] and list(weights) == [0x3F000000] * 2, "groups")
    # One expert, x = 2: gate 128 * 2 and up 2 through silu, which leaves 256, times a w2 of 1 and of 2; a weight of 1/2, and a slot of no expert.
    layer = dict(experts=1, hidden=2, intermediate=1, w13=mxact.Matrix("e2m1", [6, 0, 2, 0], "e8m0", [132, 127], 2),
                 w2=mxact.Matrix("e2m1", [2, 4]), x=mxact.Matrix("bf16", [0x4000, 0]), chosen=[0, -1], weights=[0x3F000000, 0x3F000000],
                 activation="silu_and_mul")
    out, stages = mxact.moe_layer(stages=True, **layer)
    check(list(out) == [0x43800000, 0x44000000], "256 and 512")
    check(list(stages["gate_up"]) == [0x43800000, 0x40000000, 0, 0] and list(stages["act"]) == [0x44000000, 0], "256, 2, 512")
    check(list(stages["expert_out"]) == [0x44000000, 0x44800000, 0, 0], "512 and 1024")
    check(list(mxact.moe_layer(**layer, w2_scale=[0x3F000000], w2_bias=[0x3F800000, 0])) == [0x43008000, 0x43800000], "128 + 1/2 and 256")
    for change in ({"chosen": [0]}, {"weights": [0]}, {"w2_bias": [0]}, {"chosen": [1, -1]}, {"chosen": [-2, 0]}, {"chosen": [0.5, 0]},
                   {"chosen": [1 << 32, 0]}, {"x": mxact.Matrix("bf16", [0x4000, 0, 0, 0]), "chosen": [0, 0, 0]}, {"round_all": 1},
                   {"round_act": 2}, {"activation": "gelu_and_mul"}, {"w2": mxact.Matrix("e2m1", [2])}, {"hidden": 0},
                   {"contract": "int8-block"}):
        check(refused(lambda: mxact.moe_layer(**{**layer, **change})), f"a layer with another {change}")


def test_committed_layers():
    """The library on the committed layers: routed, every stage and the output, to the last bit."""
    path = os.path.join(os.path.dirname(mxact.__file__), "..", "v1", "moe", "moe_layer.exact.directed.hex")
    with open(path) as file:
        lines = file.read().splitlines()
    columns = [(name, *map(int, size.split("x"))) for name, size in (word.split(":") for word in lines[1].split()[2:])]
    rows = [line.split("_") for line in lines[2:]]
    check(f" n={len(rows)} " in lines[0], "as many layers as the header says")
    for row in rows:
        lane = {}
        for (name, count, bits), text in zip(columns, row):
            number = int(text, 16)
            lane[name] = [(number >> (i * bits)) & ((1 << bits) - 1) for i in range(count)]
        x = mxact.Matrix("bf16", lane["x"])
        chosen, weights = mxact.route_token("exact", x, mxact.Matrix("bf16", lane["router"]), 2, bias=lane["router_bias"])
        out, stages = mxact.moe_layer(4, 32, 32, mxact.Matrix("e2m1", lane["w13"], "e8m0", lane["w13_scale"], 32),
                                      mxact.Matrix("e2m1", lane["w2"], "e8m0", lane["w2_scale"], 32), x, chosen, weights, stages=True,
                                      w13_bias=[code << 16 for code in lane["w13_bias"]], w2_bias=[code << 16 for code in lane["w2_bias"]])
        check(chosen == lane["experts"] and list(weights) == lane["weights"], "experts and weights")
        check(list(stages["gate_up"]) == lane["gate_up"] and list(stages["act"]) == lane["act"] and list(out) == lane["out"], "a layer")


def test_refusals():
    for call in (lambda: mxact.convert([0], "f32", "e4m3x"), lambda: mxact.convert([256], "e4m3fn", "f32"), lambda: mxact.convert([-1], "f32", "e4m3fn"),
                 lambda: mxact.convert([1 << 32], "f32", "e4m3fn"), lambda: mxact.convert([1.5], "f32", "e4m3fn"), lambda: mxact.convert([], "f32", "bf16"),
                 lambda: mxact.quantize_block([0] * 31, "mxfp4"), lambda: mxact.dequantize(256, [0] * 32, "mxfp4"),
                 lambda: mxact.dot_block("exact", "mxfp4", 127, [0] * 32, "mxfp4", 127, [0] * 31), lambda: mxact.layout_address("sf_128x4", 256, 8, 256, 0)):
        check(refused(call), "a refusal")


def test_arrays():
    numpy = mxact.numpy
    codes = numpy.arange(256, dtype=numpy.uint8)
    wide = mxact.convert(codes, "e4m3fn", "f32")[0]
    check(isinstance(wide, numpy.ndarray) and wide.dtype == numpy.uint32, "an array")
    # NumPy's own reading of those bits: every finite code is what OFP8's formula says.
    exponent, mantissa = (codes >> 3) & 15, codes & 7
    value = numpy.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0 ** (exponent.astype(float) - 10)) * numpy.where(codes >> 7, -1, 1)
    finite = (codes & 0x7F) != 0x7F
    check(numpy.array_equal(wide.view(numpy.float32)[finite], value[finite]), "every finite code of e4m3fn")
    check(numpy.isnan(wide.view(numpy.float32)[~finite]).all(), "both NaNs")
    check(numpy.array_equal(mxact.convert(wide[::2], "f32", "e4m3fn")[0][:60], codes[::2][:60]), "a view with strides")


def test_example():
    numpy = mxact.numpy
    shown = subprocess.run([sys.executable, os.path.join(os.path.dirname(mxact.__file__), "compare_converter.py")], check=True, capture_output=True, text=True)
    # What cutting gets wrong: numbers that nearest-even rounds up, here by NumPy's own arithmetic, and NaNs but for the one that stays as it is.
    x = numpy.arange(0, 1 << 32, 65521, dtype=numpy.uint64)
    is_nan = (x & 0x7FFFFFFF) > 0x7F800000
    rounded = (x + 0x7FFF + ((x >> 16) & 1)) >> 16
    wrong = numpy.where(is_nan, x >> 16 != 0x7FC0, rounded != x >> 16)
    check(shown.stdout == f"{wrong.sum()} of {x.size} differ, the first at 0x{x[wrong.argmax()]:08x}\n", shown.stdout)


test_values()
test_layers()
test_committed_layers()
test_refusals()
if mxact.numpy is not None:
    test_arrays()
    test_example()
    subprocess.run([sys.executable, __file__, "--without-numpy"], check=True)
print(f"{checks} checks, NumPy {'there' if mxact.numpy is not None else 'not there'}")
