import mxact, numpy
x = numpy.arange(0, 1 << 32, 65521, dtype=numpy.uint64).astype(numpy.uint32)  # fp32 codes
mine = x >> 16  # the converter to compare: to bf16 by cutting
right, _ = mxact.convert(x, "f32", "bf16", profile="ocp")
print(f"{(mine != right).sum()} of {x.size} differ, the first at 0x{x[(mine != right).argmax()]:08x}")
