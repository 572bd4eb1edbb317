"""IEEE P3109 (draft 4.0) written down once more, in fractions of Python's own integers: what test_p3109.py holds the package to."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

# A closed extended real: a fraction, or one of these words.
INF, MINUS_INF, NAN = "inf", "-inf", "nan"
Real = Fraction | str
EXTERNAL = {"binary32": (32, 24, 127), "binary16": (16, 11, 15), "BFloat16": (16, 8, 127)}


class Form:
    """A format by its name."""

    def __init__(self, name: str) -> None:
        self.external = name in EXTERNAL
        if self.external:
            (self.bits, self.precision, self.bias), self.signed, self.extended = EXTERNAL[name], True, True
            return
        width, rest = name.lower().removeprefix("binary").split("p")
        self.bits, self.precision, self.signed, self.extended = int(width), int(rest[:-2]), rest[-2] == "s", rest[-1] == "e"
        self.bias = 1 << (self.bits - self.precision - (1 if self.signed else 0))
        self.nan = (1 << self.bits - 1) if self.signed else (1 << self.bits) - 1
        top = (1 << self.bits - 1) - 1 if self.signed else (1 << self.bits) - 2
        self.inf, self.last = top, top - self.extended

    def decode(self, code: int) -> Real:
        sign = 1 << self.bits - 1
        if self.external:
            fields = (sign - 1) & ~((1 << self.precision - 1) - 1)
            if code & fields == fields:
                return NAN if code & ~(fields | sign) else MINUS_INF if code & sign else INF
        elif code == self.nan:
            return NAN
        if self.signed and code & sign:
            rest = self.decode(code - sign)
            return MINUS_INF if rest == INF else -rest  # type: ignore[operator]
        if not self.external and self.extended and code == self.inf:
            return INF
        field, tail = divmod(code, 1 << self.precision - 1)
        return Fraction(tail + (0 if field == 0 else 1 << self.precision - 1)) * Fraction(2) ** (max(field, 1) - self.bias - self.precision + 1)

    @property
    def largest(self) -> Fraction:
        code = (((1 << self.bits - 1) - 1) & ~((1 << self.precision - 1) - 1)) - 1 if self.external else self.last
        value = self.decode(code)
        assert isinstance(value, Fraction)
        return value

    def encode(self, x: Real) -> int:
        if self.external:
            whole = ((1 << self.bits - 1) - 1) & ~((1 << self.precision - 1) - 1)
            if isinstance(x, str):
                return {NAN: whole | 1 << self.precision - 2, INF: whole, MINUS_INF: whole | 1 << self.bits - 1}[x]
        elif isinstance(x, str):
            return {NAN: self.nan, INF: self.inf, MINUS_INF: self.inf | 1 << self.bits - 1}[x]
        if x < 0:
            return self.encode(-x) + (1 << self.bits - 1)
        if x == 0:
            return 0
        e = max(exponent(x), 1 - self.bias)
        s = x * Fraction(2) ** (self.precision - 1 - e)
        assert s.denominator == 1
        return int(s) if s < 1 << self.precision - 1 else int(s) % (1 << self.precision - 1) + (e + self.bias) * (1 << self.precision - 1)


def exponent(x: Fraction) -> int:
    """floor(log2(x))."""
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


def round_to(x: Real, form: Form, mode: str, bits: int, random: int) -> Real:
    if isinstance(x, str) or x == 0:
        return x
    q = max(exponent(abs(x)), 1 - form.bias) - form.precision + 1
    s = abs(x) / Fraction(2) ** q
    low, nu = floor(s), s - floor(s)
    even = low % 2 == 0 if form.precision > 1 else low == 0 or (q + form.bias) % 2 == 0
    nearest = floor(nu * 2**bits)
    rest = nu * 2**bits - nearest
    nearest += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and nearest % 2 == 1)
    away = {
        "TowardZero": False,
        "TowardPositive": nu > 0 and x > 0,
        "TowardNegative": nu > 0 and x < 0,
        "NearestTiesToAway": nu >= Fraction(1, 2),
        "NearestTiesToEven": nu > Fraction(1, 2) or (nu == Fraction(1, 2) and not even),
        "ToOdd": nu > 0 and even,
        "StochasticA": floor(nu * 2**bits) + random >= 2**bits,
        "StochasticB": floor(nu * 2 ** (bits + 1)) + 2 * random + 1 >= 2 ** (bits + 1),
        "StochasticC": nearest + random >= 2**bits,
    }[mode]
    return (low + away) * Fraction(2) ** q * (1 if x > 0 else -1)


def saturate(x: Real, form: Form, mode: str, how: str) -> Real:
    high = form.largest
    low = -high if form.signed else Fraction(0)
    if x == NAN or (not isinstance(x, str) and low <= x <= high):
        return x
    above = x == INF or (x != MINUS_INF and x > high)  # type: ignore[operator]
    if how == "SatFinite" or (how == "SatPropagate" and not isinstance(x, str)):
        return high if above else low
    if x == INF:
        return INF if form.extended else high
    if x == MINUS_INF and how == "SatPropagate":
        return MINUS_INF if form.signed and form.extended else low
    if x == MINUS_INF:
        return MINUS_INF if form.signed and form.extended else low if form.signed else NAN
    if above and ((mode == "ToOdd" and not form.signed and form.extended) or mode in ("TowardZero", "TowardNegative")):
        return high
    if above:
        return INF if form.extended else high
    if mode in ("TowardZero", "TowardPositive"):
        return low
    return (MINUS_INF if form.extended else low) if form.signed else NAN


def project(x: Real, name: str, mode: str, how: str, bits: int = 0, random: int = 0) -> int:
    form = Form(name)
    return form.encode(saturate(round_to(x, form, mode, bits, random), form, mode, how))


def sign(x: Real) -> int:
    return 1 if x == INF else -1 if x == MINUS_INF else (x > 0) - (x < 0)  # type: ignore[operator]


def signed_inf(s: int) -> Real:
    return INF if s > 0 else MINUS_INF


def add(x: Real, y: Real) -> Real:
    if NAN in (x, y) or {x, y} == {INF, MINUS_INF}:
        return NAN
    return x if isinstance(x, str) else y if isinstance(y, str) else x + y


def negate(x: Real) -> Real:
    return x if x == NAN else signed_inf(-sign(x)) if isinstance(x, str) else -x


def multiply(x: Real, y: Real) -> Real:
    if NAN in (x, y):
        return NAN
    if isinstance(x, str) or isinstance(y, str):
        return NAN if sign(x) * sign(y) == 0 else signed_inf(sign(x) * sign(y))
    return x * y


def divide(x: Real, y: Real) -> Real:
    if NAN in (x, y) or y == 0 or (isinstance(x, str) and isinstance(y, str)):
        return NAN
    if isinstance(y, str):
        return Fraction(0)
    return signed_inf(sign(x) * sign(y)) if isinstance(x, str) else x / y


def less(x: Real, y: Real) -> bool:
    order = {INF: 1, MINUS_INF: -1}
    a, b = (order.get(v, 0) if isinstance(v, str) else 0 for v in (x, y))
    return a < b if a != 0 or b != 0 else x < y  # type: ignore[operator]


def magnitude(x: Real) -> Real:
    return x if x == NAN else INF if isinstance(x, str) else abs(x)


def pick(smaller: bool, by: Callable[[Real], Real], nan_wins: bool, finite: bool) -> Callable[[Real, Real], Real]:
    def chosen(x: Real, y: Real) -> Real:
        if NAN in (x, y):
            return NAN if nan_wins else y if x == NAN else x
        if finite and isinstance(x, str) != isinstance(y, str):
            return y if isinstance(x, str) else x
        first, second = (x, y) if smaller else (y, x)
        if less(by(first), by(second)) or (by(first) == by(second) and less(first, second)):
            return x
        return y

    return chosen


def same(x: Real) -> Real:
    return x


EXTREMA = {
    f"{'Minimum' if smaller else 'Maximum'}{'Magnitude' if by is magnitude else ''}{'' if nan_wins else 'Number'}": pick(smaller, by, nan_wins, False)
    for smaller in (True, False)
    for by in (same, magnitude)
    for nan_wins in (True, False)
} | {"MinimumFinite": pick(True, same, False, True), "MaximumFinite": pick(False, same, False, True)}


def copy_sign(x: Real, y: Real) -> Real:
    return NAN if NAN in (x, y) else magnitude(x) if sign(y) >= 0 else negate(magnitude(x))


BINARY: dict[str, Callable[[Real, Real], Real]] = EXTREMA | {
    "Add": add,
    "Subtract": lambda x, y: add(x, negate(y)),
    "Multiply": multiply,
    "Divide": divide,
    "CopySign": copy_sign,
}
UNARY: dict[str, Callable[[Real], Real]] = {
    "Convert": same,
    "Abs": magnitude,
    "Negate": negate,
    "Recip": lambda x: Fraction(0) if x in (INF, MINUS_INF) else divide(Fraction(1), x),
}


def over(x: Real, scale: Real) -> Real:
    if NAN in (x, scale):
        return NAN
    if scale == 0:
        return Fraction(0)
    return Fraction(sign(x) * sign(scale)) if isinstance(scale, str) else divide(x, scale)
