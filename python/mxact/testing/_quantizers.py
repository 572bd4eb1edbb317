"""A quantizer of somebody else, held to a profile's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mxact import _core
from mxact._arguments import Array, array, dtype_of, flag, format_of, word
from mxact._blocks import Quantized, TensorScale, _scale_for, quantize
from mxact._error import Error
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._causes import causes, distinct, same_profile, wrong_blocks
from mxact.testing._edges import COLUMNS, ROWS, below
from mxact.testing._runs import Broken, CannotStart, changing, compared, for_all, of_case, settings, settled, told
from mxact.testing._strategies import block_shape, blocks, hard_batch, source_of

# Elements of a batch that is asked in one call, beside what hypothesis draws and tensors of all sizes.
_BATCH = 200_000
_BATCHES = 3
_HEAD = "the quantizer of {} differs from profile {}:"
# Rows of square blocks.
_SQUARES = (1, 2, 3, 5)
# Numbers of blocks, down or across, that a failure is tried with.
_COUNTS = (*ROWS, 2, 3, 8, 16, 32, 256, 1024)


def assert_quantizer(
    fn: Callable[..., Any],
    format: str,
    profile: str = "ocp",
    source: str = "f32",
    tensor_scale: object = None,
    all_failures: bool = False,
    finite: bool = False,
) -> None:
    """fn quantizes every block as the profile's implementation does, codes and scales bit for bit.

    fn: takes an array [rows, K] of the source's dtype (float32, ml_dtypes' bfloat16, float16; C-contiguous, its own copy), K a multiple of the block
    length, rows too for square blocks; with a tensor_scale that as its second argument. Returns (codes, scales) as arrays on the host or what NumPy
    makes one of: codes [rows, K], one a byte also of 4 bits, in ml_dtypes' dtype or uint8; scales, one for each block, row after row, in the dtype of
    the scale format or unsigned integers of its width.
    format: a name of mxact.block_formats(). profile: a name of mxact.profiles(). source: "f32", "bf16" or "fp16".
    tensor_scale: None; a number or mxact.TensorScale that every call gets; or "given": a number is drawn for each call.
    Tried are some thousands of blocks, those of mxact.testing.blocks() among them: all powers of two, numbers at and beside every border of rounding
    and of the scale rule, subnormals, NaNs, infinities; in tensors of 1 to 129 rows (of blocks, where these are square) and 32 to 2,048 columns, most
    of them small, and some of thousands of rows.
    finite: no NaNs and no infinities among them. all_failures: does not end at the first failure; of each kind of failure (what a block is about, and
    whether its scale or its codes are wrong) the smallest case that was found and how many there were.
    Raises AssertionError: the smallest case that was found, what is right, the rule that gives these answers (as `mxact ver` finds it, and what explains
    those that it leaves over), the profile whose answers they are, where what is wrong tells it from all others, and the line that repeats it;
    also for an fn that raises, or answers another shape or dtype. mxact.Error: unknown names, a profile without this recipe, a tensor scale that the
    recipe does not take or lacks. Source: the profile's row; `mxact formats --profile NAME` shows it.
    """
    law = _Law.of(fn, format, profile, source, tensor_scale, flag("finite", finite))
    every = flag("all_failures", all_failures)
    law.refuse_what_cannot_be()
    random = np.random.default_rng(settings.seed)
    failures: dict[str, _Kind] = {}
    with told(law.explanation):
        for blocks_of in law.tensors(random):
            law.check_batch(blocks_of, law.some_scale(random), failures if every else None)
        drawn = st.tuples(blocks(law.format, law.source).map(law.allowed), law.scales())
        for_all(drawn, lambda case: law.check(*case) if not every else law.collect(case[0], case[1], failures))
        if failures:
            raise AssertionError(_all_text(law, failures))
    settings.held.append(f"quantizer {law.format} {law.profile} {law.source}")


@dataclass
class _Kind:
    """Failures of one kind: how many, and the text of the smallest that was found."""

    count: int
    text: str


def _all_text(law: _Law, failures: dict[str, _Kind]) -> str:
    lines = [f"the quantizer of {law.format} differs from profile {law.profile} in {len(failures)} kind{'s' if len(failures) > 1 else ''} of failure:"]
    head = _HEAD.format(law.format, law.profile)
    for kind, found in failures.items():
        lines += [f"* {kind}, {found.count} block{'s' if found.count > 1 else ''}", *(f"  {line}" for line in found.text.splitlines() if line not in (head, kind))]
    return "\n".join(lines)


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
    finite: bool = False

    @staticmethod
    def of(fn: Callable[..., Any], format: str, profile: str, source: str, tensor_scale: object, finite: bool = False) -> _Law:
        if not callable(fn):
            raise Error(f"fn is of type {type(fn).__name__}, must be a function", place="fn")
        name, element, scale, _, _ = _core.block_format_facts(word("format", format))
        called, kind = _core.profile_name(word("profile", profile)), source_of(source)
        drawn = isinstance(tensor_scale, str) and tensor_scale == "given"
        fixed = None if drawn else _scale_for(tensor_scale, name, called, kind)
        if drawn and not any(_core.recipe_needs(name, called, kind)):
            raise Error(f"profile {called} quantizes {name} without a tensor's scale: none can be given", place="tensor_scale")
        return _Law(fn, name, called, kind, element, scale, fixed, drawn, tensor_scale, finite)

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

    def allowed(self, x: Array) -> Array:
        """Zeros in the place of what is not finite, where that is asked."""
        if self.finite:
            x[~np.isfinite(x.astype(np.float32))] = 0
        return x

    def hard(self, elements: int, random: np.random.Generator) -> Array:
        rows, columns = block_shape(self.format)
        return self.allowed(hard_batch(self.format, self.source, max(elements // (rows * columns), 100), random))

    def tensors(self, random: np.random.Generator) -> Iterator[Array]:
        """Hard blocks in tensors of each edge of rows and of columns, with few of the other and with several; then a large one, and tall ones."""
        rows, columns = block_shape(self.format)
        down = ROWS if rows == 1 else _SQUARES
        across = sorted({max(1, edge // columns) for edge in COLUMNS})
        shapes = [(count, 1) for count in down] + [(count, int(random.choice([2, 3, 5, 9]))) for count in down]
        shapes += [(1, count) for count in across] + [(int(random.choice(down[1:3])), count) for count in across]
        for count, beside in [*sorted(shapes, key=lambda one: one[0] * one[1]), (down[-1], across[-1])]:
            x = self.allowed(hard_batch(self.format, self.source, count * beside, random))
            tiled = x.reshape(count, beside, rows, columns).transpose(0, 2, 1, 3)
            yield np.ascontiguousarray(tiled).reshape(count * rows, beside * columns)
        for _ in range(1, _BATCHES):
            yield self.hard(_BATCH, random)

    def right(self, x: Array, value: float, profile: str | None = None) -> Quantized:
        return quantize(x, self.format, profile or self.profile, tensor_scale=self.number(value))

    def answer(self, x: Array, value: float) -> tuple[Array, Array]:
        """fn's codes and scales as unsigned integers, in the shapes that they must have."""
        rows, columns = block_shape(self.format)
        own = x.copy()
        try:
            with of_case(lambda: f"for x = {_text(x)}"):
                given = self.fn(own) if self.given is None else self.fn(own, np.float32(value) if self.drawn else self.given)
        except (Broken, CannotStart):
            raise
        except (Exception, SystemExit) as problem:
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
        difference = self.difference(x, value, *self.answer(x, value))
        compared(self.right(x, value).scales.size)
        if difference:
            raise AssertionError(difference)

    def difference(self, x: Array, value: float, codes: Array, scales: Array, block: int | None = None) -> str:
        """Nothing where they are right. Of one block alone, where it is named."""
        right = self.right(x, value)
        wrong_scales, wrong_codes = scales != bits_of(right.scales), codes != bits_of(right.codes)
        if block is not None:
            wrong_scales &= np.arange(scales.size).reshape(scales.shape) == block
            top, left, rows, columns = self.place(x, scales.shape, block)
            elsewhere = np.ones(wrong_codes.shape, bool)
            elsewhere[top : top + rows, left : left + columns] = False
            wrong_codes &= ~elsewhere
        if not wrong_scales.any() and not wrong_codes.any():
            return ""
        lines = [_HEAD.format(self.format, self.profile)]
        if wrong_scales.any():
            lines.append(_first("scales", scales, right.scales, wrong_scales, self.scale))
        if wrong_codes.any():
            lines.append(_first("codes", codes, right.codes, wrong_codes, self.element, x))
        scale = f"\ntensor scale: {value!r}" if self.drawn else ""
        own = "" if block is None or scales.size == 1 else f"\nits block {block} = {_text(self.block(x, scales.shape, block))}"
        return "\n".join(lines) + f"\nx = {_text(x)}{own}{scale}"

    def check_batch(self, x: Array, value: float, failures: dict[str, _Kind] | None) -> None:
        """The same for many blocks at once; the first that is wrong is made as small as it goes. With `failures` all are noted, and none is raised."""
        if failures is not None:
            self.collect(x, value, failures)
            return
        try:
            answers = self.answer(x, value)
        except Broken:
            raise
        except AssertionError as failed:
            self.answer(x, value)
            raise changing(failed) from failed
        right = self.right(x, value)
        compared(right.scales.size)
        wrong = wrong_blocks(answers, right)
        if not wrong.any():
            return
        first = self.block(x, right.scales.shape, int(np.argmax(wrong)))
        settled(self.check, self.smallest(first, value, lambda x: self.is_wrong(x, value)), value)
        # A quantizer whose answer for the block depends on what stands beside it, or on how much.
        settled(self.check, self.fewest(x, value, lambda x: self.is_wrong(x, value)), value)
        raise changing(self.difference(x, value, *answers))

    @staticmethod
    def place(x: Array, scales: tuple[int, ...], number: int) -> tuple[int, int, int, int]:
        """Where a block begins, and its rows and columns."""
        rows, columns = x.shape[0] // scales[0], x.shape[1] // scales[1]
        return number // scales[1] * rows, number % scales[1] * columns, rows, columns

    def block(self, x: Array, scales: tuple[int, ...], number: int) -> Array:
        """One of a tensor that has so many blocks down and across."""
        top, left, rows, columns = self.place(x, scales, number)
        return np.ascontiguousarray(x[top : top + rows, left : left + columns])

    def fewest(self, x: Array, value: float, is_wrong: Callable[[Array], bool]) -> Array:
        """The least rows and columns from the first on, of those that are wrong, too."""
        rows, columns = block_shape(self.format)
        for axis, block in ((0, rows), (1, columns)):
            less = True
            while less:
                for count in below(x.shape[axis] // block, 1, _COUNTS):
                    fewer = np.ascontiguousarray(x[: count * block] if axis == 0 else x[:, : count * block])
                    if is_wrong(fewer):
                        x = fewer
                        break
                else:
                    less = False
        return x

    def collect(self, x: Array, value: float, failures: dict[str, _Kind]) -> None:
        """Notes what is wrong, by kind."""
        try:
            answers = self.answer(x, value)
        except Broken:
            raise
        except AssertionError as failed:
            failures.setdefault(str(failed).splitlines()[0], _Kind(0, str(failed))).count += 1
            return
        right = self.right(x, value)
        compared(right.scales.size)
        for kind, wrong in distinct(x, answers, right).items():
            if kind not in failures:
                failures[kind] = _Kind(0, self.said_of_kind(x, value, kind, wrong[0], answers))
            failures[kind].count += len(wrong)

    def said_of_kind(self, x: Array, value: float, kind: str, block: int, answers: tuple[Array, Array]) -> str:
        """Of the smallest case that has a block of that kind, that block."""

        def is_wrong(tried: Array) -> bool:
            return self.is_of_kind(tried, value, kind)

        alone = self.smallest(self.block(x, answers[1].shape, block), value, is_wrong)
        for tried in (alone, self.fewest(x, value, is_wrong)):
            if not is_wrong(tried):
                continue
            codes, scales = self.answer(tried, value)
            blocks = distinct(tried, (codes, scales), self.right(tried, value)).get(kind)
            if blocks and all(is_wrong(tried) for _ in range(2)):
                return self.difference(tried, value, codes, scales, blocks[0])
            break
        return str(changing(self.difference(x, value, *answers, block)))

    def is_of_kind(self, x: Array, value: float, kind: str) -> bool:
        try:
            return kind in distinct(x, self.answer(x, value), self.right(x, value))
        except Broken:
            raise
        except AssertionError:
            return False

    def smallest(self, block: Array, value: float, is_wrong: Callable[[Array], bool]) -> Array:
        """The largest element near 1 if the failure is the same there, and zeros in the place of as many elements as it can do without."""
        numbers = np.asarray(block, np.float32)
        largest = np.abs(numbers[np.isfinite(numbers)]).max(initial=0)
        with np.errstate(all="ignore"):
            near = np.array(np.ldexp(numbers, -np.frexp(largest)[1]), block.dtype)
        best = near if is_wrong(near) else block.copy()
        for index in np.argwhere(bits_of(best) != 0):
            fewer = best.copy()
            fewer[tuple(index)] = 0
            if is_wrong(fewer):
                best = fewer
        return best

    def is_wrong(self, x: Array, value: float) -> bool:
        try:
            codes, scales = self.answer(x, value)
        except Broken:
            raise
        except AssertionError:
            return False
        right = self.right(x, value)
        return bool((codes != bits_of(right.codes)).any() or (scales != bits_of(right.scales)).any())

    def explanation(self) -> str:
        """The rule that gives what fn gives, over a batch of hard blocks or its finite ones, and the profile, over them or ordinary ones."""
        random = np.random.default_rng(7)
        hard = self.hard(64000, random)
        numbers = np.array(random.standard_normal(hard.shape), dtype_of(self.source))
        finite = replace(self, finite=True).allowed(hard.copy())
        lines: list[str] = []
        for x, of in ((hard, ""), (finite, "of finite blocks: ")):
            if not lines:
                lines = [of + line for line in causes(x, self.format, self.profile, self.source, self.answer(x, 1.0), self.number(1.0))]
        for x, kind in ((hard, "hard"), (numbers, "ordinary")):
            same = same_profile(hard, x, self.profile, self.answer(x, 1.0), lambda x, profile: self.right(x, 1.0, profile))
            if same:
                lines.append(f"it is profile {', '.join(same)} on {self.right(x, 1.0).scales.size} {kind} blocks")
                break
        return "".join(f"{line}\n" for line in lines)


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
