"""Operations of IEEE P3109, scalar and on blocks, against the document written down once more (p3109_document.py)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

import mxact
from p3109_document import BINARY, EXTREMA, INF, MINUS_INF, NAN, UNARY, Form, Real, add, less, magnitude, multiply, over, project, sign

MODES = ["NearestTiesToEven", "NearestTiesToAway", "TowardPositive", "TowardNegative", "TowardZero", "ToOdd"]
SATURATIONS = ["SatFinite", "SatPropagate", "SatNone"]
FORMS = ["Binary4p2sf", "Binary4p2se", "Binary4p1se", "Binary5p3ue", "Binary5p2uf", "Binary3p1uf"]


def compared(specialization: str, operands: Sequence[Sequence[int]], expected: Sequence[object], random: object = None) -> None:
    codes = np.array(operands, np.uint32)
    got = mxact.p3109(specialization, codes, None if random is None else np.array(random, np.uint32)).tolist()
    wrong = [(one, g, e) for one, g, e in zip(operands, got, expected, strict=True) if g != e]
    assert not wrong, f"{specialization}: {wrong[0]}, {len(wrong)} of {len(got)}"


@pytest.mark.parametrize("name", sorted(BINARY))
def test_operations_of_two_numbers(name: str) -> None:
    # Every rounding with every saturation over all operations, each with several formats.
    first = 5 * sorted(BINARY).index(name)
    projections = list(itertools.product(MODES, SATURATIONS))
    for i in range(first, first + 5):
        fx, fy, fr = (FORMS[(i * step + step) % 6] for step in (1, 5, 7))
        mode, how = projections[i % len(projections)]
        tuples = list(itertools.product(range(1 << Form(fx).bits), range(1 << Form(fy).bits)))
        x, y = ([Form(f).decode(c) for c in range(1 << Form(f).bits)] for f in (fx, fy))
        expected = [[project(BINARY[name](x[a], y[b]), fr, mode, how)] for a, b in tuples]
        compared(f"{name}<{fx}, {fy}, {fr}, ({mode}, {how})>", tuples, expected)


@pytest.mark.parametrize("fr", [*FORMS, "Binary8p4se", "Binary15p1ue", "binary16", "BFloat16"])
def test_operations_of_one_number(fr: str) -> None:
    projections = itertools.product(MODES, SATURATIONS)
    for i, (mode, how) in enumerate(projections):
        (name, function), fx = list(UNARY.items())[i % len(UNARY)], ["Binary6p3se", "Binary9p1ue", "Binary4p2se"][i // 2 % 3]
        codes = range(1 << Form(fx).bits)
        expected = [[project(function(Form(fx).decode(c)), fr, mode, how)] for c in codes]
        compared(f"{name}<{fx}, {fr}, ({mode}, {how})>", [[c] for c in codes], expected)


def test_roots_lie_between_their_squares() -> None:
    # The floor of a root is decided by integers alone.
    for fx, fr in (("Binary8p4se", "Binary8p3se"), ("Binary8p1uf", "Binary12p6se")):
        for code in range(1 << Form(fx).bits):
            x, root = Form(fx).decode(code), mxact.p3109(f"Sqrt<{fx}, {fr}, (TowardZero, SatFinite)>", np.uint32([code]))[0]
            if x == NAN or sign(x) < 0:
                assert root == Form(fr).nan
            elif x == INF:
                assert root == Form(fr).last
            elif isinstance(x, Fraction) and x > 0:
                scaled = x * Fraction(4) ** 200
                floored = Fraction(isqrt(scaled.numerator // scaled.denominator), 2**200)
                assert root == project(floored, fr, "TowardZero", "SatFinite"), (fx, code)


@pytest.mark.parametrize("variant", ["StochasticA", "StochasticB", "StochasticC"])
def test_stochastic_roundings(variant: str) -> None:
    for fr, how in (("Binary4p2sf", "SatNone"), ("Binary5p2uf", "SatPropagate"), ("Binary4p1se", "SatNone")):
        tuples = [(c, r) for c in range(1 << 8) for r in range(8)]
        x = [Form("Binary8p4se").decode(c) for c in range(1 << 8)]
        expected = [[project(x[c], fr, variant, how, 3, r)] for c, r in tuples]
        compared(f"Convert<Binary8p4se, {fr}, ({variant}3, {how})>", [[c] for c, _ in tuples], expected, [[r] for _, r in tuples])


def test_fused_operations() -> None:
    rng = np.random.default_rng(3109)
    for name, fr in (("FMA", "binary32"), ("FMA", "Binary8p3se"), ("FAA", "BFloat16"), ("FAA", "Binary6p2ue")):
        tuples = rng.integers(0, 256, (600, 3)).tolist() + list(itertools.product([0, 1, 0x7F, 0x80, 0xFF, 0x40], repeat=3))
        x = [Form("Binary8p4se").decode(c) for c in range(256)]
        expected = []
        for a, b, c in tuples:
            first = multiply(x[a], x[b]) if name == "FMA" else add(x[a], x[b])
            expected.append([project(add(first, x[c]), fr, "NearestTiesToEven", "SatNone")])
        compared(f"{name}<Binary8p4se, Binary8p4se, Binary8p4se, {fr}, (NearestTiesToEven, SatNone)>", tuples, expected)


def test_comparisons_predicates_and_neighbours() -> None:
    for name in FORMS:
        form = Form(name)
        values = {c: form.decode(c) for c in range(1 << form.bits)}
        numbers = sorted((c for c, v in values.items() if v != NAN), key=lambda c: (sign(values[c]) if isinstance(values[c], str) else 0, values[c] if isinstance(values[c], Fraction) else 0))
        for c, v in values.items():
            place = numbers.index(c) if c in numbers else None
            up = form.nan if place is None or place + 1 == len(numbers) else numbers[place + 1]
            down = form.nan if place is None or place == 0 else numbers[place - 1]
            normal = isinstance(v, Fraction) and v != 0 and abs(v) >= Fraction(2) ** (1 - form.bias)
            facts = {
                "NextGreaterThan": up,
                "NextLessThan": down,
                "IsZero": v == 0,
                "IsOne": v == 1,
                "IsNaN": v == NAN,
                "IsInfinite": v in (INF, MINUS_INF),
                "IsFinite": isinstance(v, Fraction),
                "IsSignMinus": v != NAN and sign(v) < 0,
                "IsNormal": normal,
                "IsSubnormal": isinstance(v, Fraction) and v != 0 and not normal,
            }
            for fact, value in facts.items():
                assert mxact.p3109(f"{fact}<{name}>", np.uint32([c])) == [int(value)], (fact, name, c)
        tuples = list(itertools.product(values, values))
        below = {(a, b): NAN not in (values[a], values[b]) and less(values[a], values[b]) for a, b in tuples}
        equal = {(a, b): NAN not in (values[a], values[b]) and values[a] == values[b] for a, b in tuples}
        tables = {
            "CompareLess": [below[p] for p in tuples],
            "CompareLessEqual": [below[p] or equal[p] for p in tuples],
            "CompareEqual": [equal[p] for p in tuples],
            "CompareGreaterEqual": [below[p[::-1]] or equal[p] for p in tuples],
            "CompareGreater": [below[p[::-1]] for p in tuples],
            "TotalOrder": [values[a] == NAN or below[a, b] or equal[a, b] for a, b in tuples],
        }
        for operation, answers in tables.items():
            compared(f"{operation}<{name}, {name}>", tuples, [[int(answer)] for answer in answers])


BLOCK, EVEN = 4, "(NearestTiesToEven, SatNone)"


def blocks(rng: np.random.Generator, scale: str, element: str, count: int) -> tuple[list[list[int]], list[list[Real]]]:
    s, e = Form(scale), Form(element)
    codes = np.concatenate([rng.integers(0, 1 << s.bits, (count, 1)), rng.integers(0, 1 << e.bits, (count, BLOCK))], 1).tolist()
    return codes, [[multiply(s.decode(row[0]), e.decode(c)) for c in row[1:]] for row in codes]


@pytest.mark.parametrize(("scale", "element"), [("Binary8p1uf", "Binary4p2sf"), ("Binary4p2se", "Binary5p3ue"), ("Binary8p1ue", "Binary8p3se")])
def test_blocks(scale: str, element: str) -> None:
    rng = np.random.default_rng(1)
    x, values = blocks(rng, scale, element, 120)
    y, others = blocks(rng, scale, element, 120)
    for fr in ("Binary8p4se", "binary32"):
        compared(f"ConvertFromBlock<4, {scale}, {element}, {fr}, {EVEN}>", x, [[project(v, fr, *EVEN[1:-1].split(", ")) for v in row] for row in values])
        sums, products, dots = [], [], []
        for row, other in zip(values, others, strict=True):
            total, whole, dot = Fraction(0), Fraction(1), Fraction(0)
            for v, w in zip(row, other, strict=True):
                total, whole, dot = add(total, v), multiply(whole, v), add(dot, multiply(v, w))
            sums.append([project(total, fr, "NearestTiesToEven", "SatNone")])
            products.append([project(whole, fr, "NearestTiesToEven", "SatNone")])
            dots.append([project(dot, fr, "NearestTiesToEven", "SatNone")])
        compared(f"BlockReduceAdd<4, {scale}, {element}, {fr}, {EVEN}>", x, sums)
        compared(f"BlockReduceMultiply<4, {scale}, {element}, {fr}, {EVEN}>", x, products)
        both = [a + b for a, b in zip(x, y, strict=True)]
        compared(f"BlockDotProduct<4, {scale}, {element}, {scale}, {element}, {fr}, {EVEN}>", both, dots)
        scales = rng.integers(0, 1 << Form(scale).bits, 120).tolist()
        for name in ("Add", "Divide", "MinimumFinite"):
            expected = [
                [s] + [project(over(BINARY[name](v, w), Form(scale).decode(s)), fr, "TowardZero", "SatPropagate") for v, w in zip(a, b, strict=True)]
                for a, b, s in zip(values, others, scales, strict=True)
            ]
            given = [row + [s] for row, s in zip(both, scales, strict=True)]
            compared(f"Block{name}<4, ({scale}, {element}), ({scale}, {element}), {scale}, {fr}, (TowardZero, SatPropagate)>", given, expected)
    pairs = [[a[0], a[1], b[0], b[1]] for a, b in zip(x, y, strict=True)]
    for name in ("Add", "Subtract", "Multiply"):
        expected = [[project(BINARY[name](v[0], w[0]), "BFloat16", "NearestTiesToEven", "SatNone")] for v, w in zip(values, others, strict=True)]
        compared(f"Scaled{name}<({scale}, {element}), ({scale}, {element}), BFloat16, {EVEN}>", pairs, expected)


@pytest.mark.parametrize("fs", ["Binary8p1uf", "Binary8p1ue", "Binary4p2se"])
def test_blocks_get_the_largest_finite_magnitude_as_their_scale(fs: str) -> None:
    rng = np.random.default_rng(2)
    fx, fr = "Binary8p3se", "Binary4p2sf"
    codes = rng.integers(0, 256, (150, BLOCK)).tolist() + [[0x80] * 4, [0x7F, 0xFF, 0x7F, 0x7F], [0] * 4, [0x7F, 1, 2, 0x80]]
    expected = []
    for row in codes:
        x = [Form(fx).decode(c) for c in row]
        largest: Real = NAN
        for v in x:
            largest = EXTREMA_FINITE(largest, magnitude(v))
        scale = project(largest, fs, "TowardPositive", "SatFinite")
        expected.append([scale] + [project(over(v, Form(fs).decode(scale)), fr, "NearestTiesToEven", "SatFinite") for v in x])
    compared(f"ConvertToBlockMaxAbsFinite<4, {fx}, {fs}, {fr}, (TowardPositive, SatFinite), (NearestTiesToEven, SatFinite)>", codes, expected)
    given = [row + [one[0]] for row, one in zip(codes, expected, strict=True)]
    compared(f"ConvertToBlock<4, {fx}, {fs}, {fr}, (NearestTiesToEven, SatFinite)>", given, expected)


EXTREMA_FINITE = EXTREMA["MaximumFinite"]


def test_facts_of_formats_are_those_of_the_document() -> None:
    def fact(name: str, form: str) -> int:
        return int(mxact.p3109(f"{name}<{form}>", np.zeros(0, np.uint32))[0])

    assert [fact(name, "Binary8p4se") for name in ("BitwidthOf", "PrecisionOf", "SignednessOf", "DomainOf", "ExponentBiasOf")] == [8, 4, 0, 1, 8]
    assert [fact(name, "Binary8p1uf") for name in ("ExponentBitwidthOf", "TrailingSignificandBitwidthOf", "ExponentBiasOf")] == [8, 0, 128]
    assert [fact(name, "binary32") for name in ("PrecisionOf", "ExponentBiasOf", "MaxFiniteOf")] == [24, 127, 0x7F7FFFFF]
    codes = [fact(name, "Binary8p4se") for name in ("MaxFiniteOf", "MinFiniteOf", "MinPositiveOf", "MaxSubnormalOf", "MinNormalOf")]
    assert codes == [0x7E, 0xFE, 1, 7, 8]
    assert fact("MaxSubnormalOf", "Binary8p1uf") == 0xFF  # no subnormals: NaN


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ad<Binary8p4se, Binary8p4se, Binary8p4se, (NearestTiesToEven, SatNone)>", "did you mean Add?"),
        ("Add<Binary8p4se, Binary8p4se, (NearestTiesToEven, SatNone)>", "Add has 3 formats and 1 (rounding, saturation)"),
        ("Convert<Binary8p4se, Binary8p3se, (StochasticA, SatNone)>", "StochasticA8"),
        ("Convert<Binary8p4se, Binary8p9se, (TowardZero, SatNone)>", "Binary8p9se"),
        ("BlockAbs<0, (Binary8p1uf, Binary4p2sf), Binary8p1uf, Binary4p2sf, (TowardZero, SatNone)>", "block size"),
        ("NextLessThan<binary16>", "no external ones"),
        ("Convert<Binary8p4se, Binary8p3se, (TowardZero, OvfInf)>", "saturation"),
    ],
)
def test_what_is_no_specialization_is_told(text: str, words: str) -> None:
    with pytest.raises(mxact.Error, match=words.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")):
        mxact.p3109(text, np.zeros(2, np.uint32))
    with pytest.raises(mxact.Error, match="is no code of Binary4p2sf"):
        mxact.p3109("Abs<Binary4p2sf, Binary4p2sf, (TowardZero, SatNone)>", np.uint32([16]))
