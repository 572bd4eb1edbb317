"""A device for `mxact gen dot_bf16_bf16 --operand-c yes`: groups of 8 products and the sum before, aligned to the largest, truncated, 20 bits kept.

usage: mxact gen ... --no-header | python3 docs/examples/accumulator.py [ALIGN] | mxact ver ...   (ALIGN: bits below the largest exponent, 20)
"""

import sys

ALIGN = int(sys.argv[1]) if len(sys.argv) > 1 else 20
KEEP, GROUP, NAN, INF = 20, 8, 0x7FC00000, 0x7F800000


def fields(bits, mantissa):
    """Signed significand, exponent of its unit, exponent field; "nan" or "inf" in place of a number."""
    sign = -1 if bits >> (mantissa + 8) else 1
    field, rest = bits >> mantissa & 0xFF, bits & (1 << mantissa) - 1
    if field == 0xFF:
        return ("nan" if rest else "inf"), sign, 0
    nominal = max(field, 1) - 127
    return sign * (rest | (1 << mantissa if field else 0)), nominal - mantissa, nominal


def cut(number, bits):
    """number / 2^bits, toward zero."""
    return number << -bits if bits < 0 else (number >> bits if number >= 0 else -(-number >> bits))


def group_sum(terms):
    special = {(kind, sign) for kind, sign, _ in terms if isinstance(kind, str)}
    if any(kind == "nan" for kind, _ in special) or len(special) > 1:
        return NAN
    if special:
        return INF | (0x80000000 if special.pop()[1] < 0 else 0)
    counted = [term for term in terms if term[0]]
    if not counted:
        return 0
    unit = max(nominal for _, _, nominal in counted) - ALIGN
    total = sum(cut(number, unit - exponent) for number, exponent, _ in counted)
    bits = max(abs(total).bit_length() - KEEP, -126 - KEEP + 1 - unit, 0)
    number, exponent = cut(total, bits), unit + bits
    if number == 0:
        return 0
    sign, size = (0x80000000 if number < 0 else 0), abs(number).bit_length()
    if exponent + size - 1 > 127:
        return sign | INF
    field = exponent + size - 1 + 127
    mantissa = abs(number) << 24 - size if field > 0 else abs(number) << exponent + 149
    return sign | (field << 23) + (mantissa - (1 << 23)) if field > 0 else sign | mantissa


def product(a, b):
    (m, e, n), (p, f, q) = fields(a, 7), fields(b, 7)
    if isinstance(m, str) or isinstance(p, str):
        sign = (e if isinstance(m, str) else (-1 if a >> 15 else 1)) * (f if isinstance(p, str) else (-1 if b >> 15 else 1))
        return ("nan" if "nan" in (m, p) or m == 0 or p == 0 else "inf"), sign, 0
    return m * p, e + f, n + q


for line in sys.stdin:
    a, b, c = (int(word, 16) for word in line.split()[:3])
    for k in range(0, 32, GROUP):
        c = group_sum([fields(c, 23)] + [product(a >> 16 * i & 0xFFFF, b >> 16 * i & 0xFFFF) for i in range(k, k + GROUP)])
    print(line.strip(), f"{c:08x}")
