"""A quantizer of somebody else, held to a profile's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mxact import _core
from mxact._arguments import Array, array, dtype_of, format_of, word
from mxact._blocks import Quantized, TensorScale, _scale_for, quantize
from mxact._error import Error
from mxact._tables import profiles
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._runs import Broken, CannotStart, compared, for_all, settings, told
from mxact.testing._strategies import block_shape, blocks, hard_batch, source_of

# Elements of a batch that is asked in one call, beside what hypothesis draws.
_BATCH = 200_000
_BATCHES = 4


def assert_quantizer(
    fn: Callable[..., Any],
    format: str,
    profile: str = "ocp",
    source: str = "f32",
    tensor_scale: object = None,
) -> None:
    """fn quantizes every block as the profile's implementation does, codes and scales bit for bit.

    fn: takes an array [rows, K] of the source's dtype (float32, ml_dtypes' bfloat16, float16; C-contiguous, its own copy), K a multiple of the block
    length, rows too for square blocks; with a tensor_scale that as its second argument. Returns (codes, scales) as arrays on the host or what NumPy
    makes one of: codes [rows, K], one a byte also of 4 bits, in ml_dtypes' dtype or uint8; scales, one for each block, row after row, in the dtype of
    the scale format or unsigned integers of its width.
    format: a name of mxact.block_formats(). profile: a name of mxact.profiles(). source: "f32", "bf16" or "fp16".
    tensor_scale: None; a number or mxact.TensorScale that every call gets; or "given": a number is drawn for each call.
    Tried are some thousands of blocks, those of mxact.testing.blocks() among them: all powers of two, numbers at and beside every border of rounding
    and of the scale rule, subnormals, NaNs, infinities.
    Raises AssertionError: the smallest case that was found, what is right, which profile's rule explains the answers, and the line that repeats it;
    also for an fn that raises, or answers another shape or dtype. mxact.Error: unknown names, a profile without this recipe, a tensor scale that the
    recipe does not take or lacks. Source: the profile's row; `mxact formats --profile NAME` shows it.
    """
    law = _Law.of(fn, format, profile, source, tensor_scale)
    law.refuse_what_cannot_be()
    random = np.random.default_rng(settings.seed)
    rows, columns = block_shape(law.format)
    with told(law.explanation):
        for _ in range(_BATCHES):
            law.check_batch(hard_batch(law.format, law.source, max(_BATCH // (rows * columns), 100), random), law.some_scale(random))
        for_all(st.tuples(blocks(law.format, law.source), law.scales()), lambda case: law.check(*case))
    settings.held.append(f"quantizer {law.format} {law.profile} {law.source}")


def _with_one_number(value: float, encode: bool, decode: bool) -> TensorScale:
    """As a caller with one global scale hands it over: g, and its reciprocal in fp32 where a recipe takes both."""
    number = np.float32(value)
    if encode and decode:
        return TensorScale(encode=float(number), decode=float(np.float32(1) / number))
    return TensorScale(encode=float(number)) if encode else TensorScale(decode=float(number))


@dataclass(frozen=True)
class _Law:
    fn: Callable[..., Any]
    format: str
    profile: str
    source: str
    element: str
    scale: str
    fixed: TensorScale | None
    drawn: bool  # the tensor's number is drawn for each call
    given: object  # what fn gets of a fixed one

    @staticmethod
    def of(fn: Callable[..., Any], format: str, profile: str, source: str, tensor_scale: object) -> _Law:
        if not callable(fn):
            raise Error(f"fn is of type {type(fn).__name__}, must be a function", place="fn")
        name, element, scale, _, _ = _core.block_format_facts(word("format", format))
        called, kind = _core.profile_name(word("profile", profile)), source_of(source)
        drawn = isinstance(tensor_scale, str) and tensor_scale == "given"
        fixed = None if drawn else _scale_for(tensor_scale, name, called, kind)
        if drawn and not any(_core.recipe_needs(name, called, kind)):
            raise Error(f"profile {called} quantizes {name} without a tensor's scale: none can be given", place="tensor_scale")
        return _Law(fn, name, called, kind, element, scale, fixed, drawn, tensor_scale)

    def refuse_what_cannot_be(self) -> None:
        """Errors of the caller, before anything of fn's is looked at."""
        quantize(np.zeros(block_shape(self.format), dtype_of(self.source)), self.format, self.profile, tensor_scale=self.number(1.0))

    def number(self, value: float) -> TensorScale | None:
        return _with_one_number(value, *_core.recipe_needs(self.format, self.profile, self.source)) if self.drawn else self.fixed

    def scales(self) -> st.SearchStrategy[float]:
        numbers = st.one_of(st.just(1.0), st.integers(-12, 12).map(lambda power: 2.0**power), st.floats(2.0**-12, 2.0**14, width=32))
        return numbers if self.drawn else st.just(1.0)

    def some_scale(self, random: np.random.Generator) -> float:
        return float(np.float32(np.exp2(random.integers(-12, 13)) * random.choice([1.0, 1 + random.random()])))

    def right(self, x: Array, value: float, profile: str | None = None) -> Quantized:
        return quantize(x, self.format, profile or self.profile, tensor_scale=self.number(value))

    def answer(self, x: Array, value: float) -> tuple[Array, Array]:
        """fn's codes and scales as unsigned integers, in the shapes that they must have."""
        rows, columns = block_shape(self.format)
        own = x.copy()
        try:
            given = self.fn(own) if self.given is None else self.fn(own, np.float32(value) if self.drawn else self.given)
        except Broken as broken:
            raise Broken(f"{broken}\nfor x = {_text(x)}") from broken
        except CannotStart:
            raise
        except Exception as problem:
            raise AssertionError(f"the quantizer raises {type(problem).__name__}: {problem}\nfor x = {_text(x)}") from problem
        if not isinstance(given, tuple) or len(given) != 2:
            raise AssertionError(f"the quantizer returns {type(given).__name__}, must return codes and scales")
        codes = self.of_format("codes", given[0], self.element, x.shape)
        whole = _core.block_format_facts(self.format)[3] == 0
        blocks_of_a_row = 1 if whole else x.shape[1] // columns
        return codes, self.of_format("scales", given[1], self.scale, (x.shape[0] // rows, blocks_of_a_row))

    def of_format(self, name: str, value: object, format: str, shape: tuple[int, ...]) -> Array:
        try:
            values = array(name, value)
            format_of(name, values, format)
        except Error as wrong:
            raise AssertionError(f"the quantizer's {wrong}") from wrong
        if values.shape != shape and not (name == "scales" and values.size == np.prod(shape) and values.ndim < 2):
            raise AssertionError(f"the quantizer's {name} have shape {values.shape}, must have {shape}")
        return bits_of(np.ascontiguousarray(values)).reshape(shape)

    def check(self, x: Array, value: float) -> None:
        """Raises for the first difference."""
        codes, scales = self.answer(x, value)
        right = self.right(x, value)
        compared(right.scales.size)
        wrong_scales, wrong_codes = scales != bits_of(right.scales), codes != bits_of(right.codes)
        if not wrong_scales.any() and not wrong_codes.any():
            return
        lines = [f"the quantizer of {self.format} differs from profile {self.profile}:"]
        if wrong_scales.any():
            lines.append(_first("scales", scales, right.scales, wrong_scales, self.scale))
        if wrong_codes.any():
            lines.append(_first("codes", codes, right.codes, wrong_codes, self.element, x))
        scale = f"\ntensor scale: {value!r}" if self.drawn else ""
        raise AssertionError("\n".join(lines) + f"\nx = {_text(x)}{scale}")

    def check_batch(self, x: Array, value: float) -> None:
        """The same for many blocks at once; the first that is wrong is made as small as it goes."""
        codes, scales = self.answer(x, value)
        right = self.right(x, value)
        compared(right.scales.size)
        rows = block_shape(self.format)[0]
        blocks_wrong = (codes != bits_of(right.codes)).reshape(right.scales.size, -1).any(axis=1) | (scales != bits_of(right.scales)).reshape(-1)
        if not blocks_wrong.any():
            return
        first = int(np.argmax(blocks_wrong)) * rows
        self.check(self.smallest(x[first : first + rows], value), value)
        # A quantizer whose answer for the block depends on what stands beside it.
        self.check(x, value)

    def smallest(self, block: Array, value: float) -> Array:
        """The largest element near 1 if the failure is the same there, and zeros in the place of as many elements as it can do without."""
        numbers = np.asarray(block, np.float32)
        largest = np.abs(numbers[np.isfinite(numbers)]).max(initial=0)
        with np.errstate(all="ignore"):
            near = np.array(np.ldexp(numbers, -np.frexp(largest)[1]), block.dtype)
        best = near if self.is_wrong(near, value) else block.copy()
        for index in np.argwhere(bits_of(best) != 0):
            fewer = best.copy()
            fewer[tuple(index)] = 0
            if self.is_wrong(fewer, value):
                best = fewer
        return best

    def is_wrong(self, x: Array, value: float) -> bool:
        try:
            codes, scales = self.answer(x, value)
        except AssertionError:
            return False
        right = self.right(x, value)
        return bool((codes != bits_of(right.codes)).any() or (scales != bits_of(right.scales)).any())

    def explanation(self) -> str:
        """Which other profile gives what fn gives, over a batch of hard blocks and over one of ordinary ones."""
        rows, columns = block_shape(self.format)
        random = np.random.default_rng(7)
        hard = hard_batch(self.format, self.source, max(64000 // (rows * columns), 16), random)
        for x, kind in ((hard, "hard"), (np.array(random.standard_normal(hard.shape), dtype_of(self.source)), "ordinary")):
            try:
                codes, scales = self.answer(x, 1.0)
            except AssertionError:
                return ""
            same = [profile for profile in profiles() if profile != self.profile and self.agrees(x, codes, scales, profile)]
            if same:
                return f"it is profile {', '.join(same)} on {scales.size} {kind} blocks\n"
        return ""

    def agrees(self, x: Array, codes: Array, scales: Array, profile: str) -> bool:
        try:
            right = self.right(x, 1.0, profile)
        except Error:
            return False
        return bool(np.array_equal(codes, bits_of(right.codes)) and np.array_equal(scales, bits_of(right.scales)))


def _first(name: str, found: Array, right: Array, wrong: Array, format: str, x: Array | None = None) -> str:
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    of = "" if x is None else f" of x = {_number(x[index])}"
    texts = code_text(int(found[index]), format), code_text(int(bits_of(right)[index]), format)
    return f"{name}{place_text(right, index)}{of}: {texts[0]}, must be {texts[1]}; {np.count_nonzero(wrong)} of {wrong.size} differ"


def _number(value: Any) -> str:
    return f"{float(value):.9g} (0x{int(bits_of(np.asarray(value))):0{2 * value.dtype.itemsize}x})"


def _text(x: Array) -> str:
    """Elements that are not +0, with their places: as many as fit a screen."""
    index = np.argwhere(bits_of(x) != 0)
    some = ", ".join(f"[{', '.join(map(str, at))}] {_number(x[tuple(at)])}" for at in index[:16].tolist())
    rest = "" if len(index) <= 16 else f" and {len(index) - 16} more"
    return f"zeros of shape {x.shape}" + (f" but {some}{rest}" if len(index) else "")
