"""A device for `mxact gen f32_to_e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f --flags ieee`: a format that no table has, rounded to odd.

usage: mxact gen ... --no-header | python3 docs/examples/own_format.py [cut] | mxact ver ...   (cut: it rounds toward zero instead)
"""

import sys
from fractions import Fraction

CUTS = "cut" in sys.argv
BIAS, MANTISSA, LARGEST, NAN = 5, 3, 0x3F, 0x3F
INEXACT, UNDERFLOW, OVERFLOW, INVALID = 1, 2, 4, 16


def number(units, field, bias, mantissa):
    """units of the binade of an exponent field."""
    return Fraction(units) * Fraction(2) ** (max(field, 1) - bias - mantissa)


NUMBERS = [number(code & 7 | (8 if code >> 3 else 0), code >> 3, BIAS, MANTISSA) for code in range(LARGEST + 1)]
STEP = NUMBERS[-1] - NUMBERS[-2]


def converted(bits):
    """Code and flags of an fp32 pattern."""
    sign, field, fraction = bits >> 31 << 6, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if field == 0xFF and fraction:
        return NAN, 0 if fraction >> 22 else INVALID
    if field == 0xFF:
        return sign | LARGEST, INEXACT
    x = number(fraction | (1 << 23 if field else 0), field, 127, 23)
    if x > NUMBERS[-1]:
        return sign | LARGEST, INEXACT | (OVERFLOW if x >= NUMBERS[-1] + STEP else 0)
    code = max(i for i, below in enumerate(NUMBERS) if below <= x)
    if NUMBERS[code] == x:
        return sign | code, 0
    return sign | code | (0 if CUTS else 1), INEXACT | (UNDERFLOW if code < 8 else 0)


if __name__ == "__main__":
    for line in sys.stdin:
        print(line.strip(), "{:02x} {:02x}".format(*converted(int(line.split()[0], 16))))
