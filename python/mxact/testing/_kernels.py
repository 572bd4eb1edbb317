"""A kernel of experts of somebody else, held to the arithmetic of a device or of a backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from mxact import _core
from mxact._arguments import Array, array, contract_word, flag, flat_bytes, optional_word, word
from mxact._conversions import convert
from mxact._error import Error
from mxact._layers import pack
from mxact._libraries import is_tensor
from mxact._tables import contracts
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._converters import Layer, choices_of, packed_layer, padded_of, plain_layer
from mxact.testing._runs import Broken, CannotStart, changing, compared, of_case, settings, told

BF16 = np.dtype(ml_dtypes.bfloat16)
_OUT = {BF16: "bf16", np.dtype(np.float32): "f32"}
_MOST_TOKENS = 4


@dataclass(frozen=True)
class Tokens:
    """What enters a layer. x: [tokens, hidden], bfloat16. ids: [tokens, top_k], int32, different ones in a row. weights: the same shape, float32."""

    x: Array
    ids: Array
    weights: Array

    def arguments(self) -> tuple[int, Array, Array, Array]:
        return len(self.x), flat_bytes(self.x), flat_bytes(self.ids), flat_bytes(self.weights)


@dataclass(frozen=True)
class _Sizes:
    """Of a layer and its tokens; intermediate and hidden size in units of 128. seed: of all its numbers."""

    tokens: int
    top_k: int
    experts: int
    hidden: int
    intermediate: int
    seed: int

    def smaller(self) -> Iterator[_Sizes]:
        """One size less than these, the least first; a few other seeds beside this one, since other numbers come with other sizes."""
        for name in ("tokens", "top_k", "experts", "hidden", "intermediate"):
            size, least = getattr(self, name), self.top_k if name == "experts" else 1
            for less in sorted({least, size - 1} - {size}):
                if least <= less:
                    for seed in sorted({self.seed, 0, 1}, key=lambda one: one != self.seed):
                        yield replace(self, **{name: less, "seed": seed})


def _tokens(sizes: _Sizes, hidden: int, random: np.random.Generator, exact: bool) -> Tokens:
    count = sizes.tokens
    ids = np.stack([random.permutation(sizes.experts)[: sizes.top_k] for _ in range(count)]).astype(np.int32)
    if exact:
        x = random.integers(1, 3, (count, hidden)).astype(np.float32)
        return Tokens(x.astype(BF16), ids, random.choice(np.array([0.25, 0.5], np.float32), ids.shape))
    logits = random.standard_normal(ids.shape)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Tokens((random.standard_normal((count, hidden)) * 2.0 ** random.integers(-3, 3)).astype(BF16), ids, weights.astype(np.float32))


def _sparse(rows: int, columns: int, nonzero: int, values: Array, random: np.random.Generator) -> Array:
    """A few values in every row, the rest 0."""
    matrix = np.zeros((rows, columns), np.float32)
    for row in matrix:
        row[random.permutation(columns)[:nonzero]] = random.choice(values, nonzero)
    return matrix


# How a number becomes a code where a whole row has one scale; the scale's code of 1 and of 32.
_CODES: dict[str, tuple[str, int, int]] = {"mxfp4": ("e2m1", 127, 132), "nvfp4": ("e2m1", 0x38, 0x60), "mxfp8": ("e4m3fn", 127, 132)}
_FP8 = ("fp8_tensor", "fp8_channel", "fp8_block")


def exact_layer(shapes: Mapping[str, tuple[int, ...]], format: str, order: str, random: np.random.Generator) -> Layer:
    """A layer whose sums are exact in any order, on tokens of ones and twos: gates are 32 or more, of which SILU is the identity in fp32 and bf16; ups and
    outputs are few small integers."""
    experts, rows = shapes["w13_weight"][:2]
    hidden, intermediate = shapes["w2_weight"][1], rows // 2
    large, small = np.array([32], np.float32), np.array([-1, 1, 2], np.float32)
    gates = np.stack([_sparse(intermediate, hidden, 1, large, random) for _ in range(experts)])
    ups = np.stack([_sparse(intermediate, hidden, 2, small, random) for _ in range(experts)])
    halves = [gates, ups]
    w13 = np.stack(halves, axis=2).reshape(experts, rows, hidden) if order == "gpt_oss" else np.concatenate(halves, axis=1)
    w2 = np.stack([_sparse(hidden, intermediate, 3, np.array([-1, 1], np.float32), random) for _ in range(experts)])
    layer: Layer = {}
    for name, matrix in (("w13", w13), ("w2", w2)):
        layer |= _encoded(name, matrix, shapes, format)
    return layer


def _encoded(name: str, matrix: Array, shapes: Mapping[str, tuple[int, ...]], format: str) -> Layer:
    scales = f"{name}_weight_scale"
    if format in _FP8:
        codes = convert(matrix, "e4m3fn").view(np.uint8)
        return {f"{name}_weight": codes, scales: np.ones(shapes[scales], np.float32)}
    element, unit, large = _CODES[format]
    is_large = np.abs(matrix).max(axis=-1) == 32
    codes = convert(np.where(is_large[..., None], matrix / 32, matrix), element).view(np.uint8)
    if element == "e2m1":
        codes = codes[..., ::2] | codes[..., 1::2] << 4
    made: Layer = {f"{name}_weight": codes}
    made[scales] = np.broadcast_to(np.where(is_large, large, unit).astype(np.uint8)[..., None], shapes[scales]).copy()
    if format == "nvfp4":
        made[f"{name}_global_scale"] = np.ones(shapes[f"{name}_global_scale"], np.float32)
    return made


@dataclass(frozen=True)
class _Law:
    fn: Callable[..., Any]
    contract: str
    backend: str | None
    choices: dict[str, object]
    activation: str
    key: str
    failed: list[tuple[Layer, Tokens, Array]]

    def packed(self, layer: Layer) -> tuple[Layer, str]:
        """What the kernel reads, and the choices that packed it."""
        if self.backend is None:
            return layer, ""
        named = {name.replace("source_order", "order"): value for name, value in self.choices.items()}
        packed = pack(layer, self.backend, padded=padded_of(layer), **named)  # type: ignore[arg-type]
        return packed.tensors, packed.spec

    def right(self, layer: Layer, spec: str, tensors: Layer, tokens: Tokens, contract: str = "") -> tuple[Array, str]:
        """fp32 or bf16 of every output, and how."""
        shape = tokens.x.shape
        if spec and not contract and not self.contract:
            given = [(name, flat_bytes(values)) for name, values in tensors.items()]
            out, how = _core.run_kernel(spec, given, self.activation, self.key, *tokens.arguments())
            return out.view(BF16).reshape(shape), how  # type: ignore[attr-defined]
        extents = len(layer["w13_weight"]), layer["w13_weight"].shape[1] // 2, layer["w2_weight"].shape[1]
        given = [(name, flat_bytes(values)) for name, values in layer.items()]
        form = self.choices["format"], self.choices["source_order"], extents, given, self.activation
        asked: Any = (contract or self.contract, *form, *tokens.arguments())
        result: Any = _core.run_contract(*asked)
        return result.view(np.float32).reshape(shape), contract or self.contract

    def answer(self, tensors: Layer, tokens: Tokens) -> Array:
        copies = {name: values.copy() for name, values in tensors.items()}
        try:
            with of_case(lambda: f"{len(tokens.x)} tokens, {tokens.ids.shape[1]} slots, layer: {_shapes(tensors)}"):
                given = self.fn(tokens.x.copy(), tokens.ids.copy(), tokens.weights.copy(), copies)
        except (Broken, CannotStart):
            raise
        except (Exception, SystemExit) as problem:
            raise AssertionError(f"the kernel raises {type(problem).__name__}: {problem}") from problem
        if not isinstance(given, np.ndarray) and not is_tensor(given):
            raise AssertionError(f"the kernel returns {type(given).__name__}, must return an array")
        try:
            values = array("out", given)
        except Error as wrong:
            raise AssertionError(f"the kernel's {wrong}") from wrong
        if values.dtype not in _OUT:
            raise AssertionError(f"the kernel's out is {values.dtype}, must be bfloat16 or float32")
        if values.shape != tokens.x.shape:
            raise AssertionError(f"the kernel's out has shape {values.shape}, must have {tokens.x.shape}")
        return values

    def check(self, layer: Layer, tokens: Tokens) -> None:
        tensors, spec = self.packed(layer)
        found = self.answer(tensors, tokens)
        right, how = self.right(layer, spec, tensors, tokens)
        expected = _as(right, found.dtype)
        compared(found.size)
        wrong = bits_of(found) != bits_of(expected)
        if not wrong.any():
            return
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        of = _OUT[found.dtype]
        texts = code_text(int(bits_of(found)[index]), of), code_text(int(bits_of(expected)[index]), of)
        slots = ", ".join(f"expert {expert} weight {weight:.9g}" for expert, weight in zip(tokens.ids[index[0]], tokens.weights[index[0]], strict=True))
        self.failed.append((layer, tokens, found))
        raise AssertionError(
            f"the kernel differs from {self.backend or 'contract'} {how}:\nout{place_text(found, index)}: {texts[0]}, must be {texts[1]}, "
            f"{_distance_text(found, expected, index)}; {np.count_nonzero(wrong)} of {wrong.size} differ\ntoken {index[0]}: {slots}\nlayer: {_shapes(layer)}"
        )

    def explanation(self) -> str:
        """Other contracts that give what the kernel gave."""
        same = []
        if not self.failed:
            return ""
        layer, tokens, found = self.failed[-1]
        for contract in contracts():
            try:
                right, _ = self.right(layer, "", layer, tokens, contract)
            except Error:
                continue
            if np.array_equal(bits_of(_as(right, found.dtype)), bits_of(found)):
                same.append(contract)
        return f"it is contract {', '.join(same)}\n" if same else ""


def _shapes(tensors: Mapping[str, Array]) -> str:
    return ", ".join(f"{one} {tensors[one].shape}" for one in ("w13_weight", "w2_weight"))


def _as(values: Array, dtype: np.dtype[Any]) -> Array:
    """Nearest even."""
    if values.dtype == dtype:
        return values
    converted: Array = convert(values, _OUT[dtype])
    return converted


def _ulps(a: Array, b: Array) -> Array:
    """Steps from one number to the other in their format."""

    def order(values: Array) -> Array:
        bits = bits_of(values).astype(np.int64)
        sign = 1 << 8 * values.itemsize - 1
        return np.where(bits & sign, sign - bits, bits)

    return np.abs(order(a) - order(b))


def _distance_text(found: Array, right: Array, index: tuple[int, ...]) -> str:
    """In ulp; where so many of them say nothing (more than a factor of four), what is otherwise."""
    distance = int(_ulps(found, right)[index])
    if not distance:  # two zeros
        return "another sign"
    if distance <= (1 << 24 if found.itemsize == 4 else 1 << 8):
        return f"{distance} ulp"
    a, b = float(found[index]), float(right[index])
    if not np.isfinite(a) or not np.isfinite(b):
        return "no finite number" if not np.isfinite(a) else "must be no finite number"
    if a == 0 or b == 0:
        return "zero" if a == 0 else "must be zero"
    return "another sign" if (a < 0) != (b < 0) else "another magnitude"


def assert_kernel(
    fn: Callable[..., Any],
    contract: str | os.PathLike[str] | None = None,
    backend: str | None = None,
    order_proof: bool = False,
    *,
    activation: str,
    engine: str | None = None,
    platform: str | None = None,
    format: str | None = None,
    order: str = "standard",
    bias: bool = False,
    activation_key: str | None = None,
    **parameters: object,
) -> int:
    """fn computes a layer of experts bit for bit: under a contract, as a backend's kernels do, or, with order_proof, in any order.

    fn: takes x [tokens, hidden] in ml_dtypes' bfloat16, ids [tokens, top_k] int32, weights [tokens, top_k] float32 and the layer's tensors by name;
    returns out [tokens, hidden] in bfloat16 or float32 (NumPy or torch). Without backend the tensors are in a checkpoint's form (mxact.pack says which),
    with it they are that backend's packed ones.
    contract: a name of mxact.contracts(): both products under it, everything between them in fp32, a token's slots summed in their order; a bf16 answer is
    the nearest one. backend: as its row of executions computes, out in bf16; engine, platform, parameters as of mxact.pack.
    order_proof: for a kernel whose order of sums is no contract: all partial sums are exact, so that every order has the same bits. It takes "SILU", of
    which the gates that are drawn are exact, no biases, and no int4. Quantizing activations by powers of two changes nothing there.
    activation: "SWIGLUOAI" (gpt-oss's constants) or "SILU". format: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel or fp8_block. order: "gpt_oss" or
    "standard", of w13's rows. bias: whether layers have biases. activation_key: the checkpoint's word on activations, where the backend leaves it to that.
    Returns the largest difference in ulp of out on ordinary inputs: 0 but with order_proof, where the exact sums are what it is counted from.
    Raises AssertionError: the first output that differs, of the fewest tokens, slots, experts, hidden and intermediate sizes that were found; what is right, which
    contract fn's answers follow, and the line that repeats it; also for an fn that raises, or answers another shape or dtype. mxact.Error: unknown names, a backend whose arithmetic is not known.
    Source: the contract's row (`mxact formats`), the backend's row of executions (`mxact verify`).
    """
    if not callable(fn):
        raise Error(f"fn is of type {type(fn).__name__}, must be a function", place="fn")
    proof = flag("order_proof", order_proof)
    if proof + (contract is not None) > 1 or (not proof and (contract is None) == (backend is None)):
        raise Error("one of contract, backend and order_proof is asked; backend also beside order_proof, where it packs", place="contract")
    if backend is None:
        if engine is not None or platform is not None or parameters:
            raise Error("engine, platform and choices of a converter are a backend's, which is not given", place="backend")
        choices: dict[str, object] = {"format": word("format", format), "source_order": word("order", order)}
    else:
        choices = choices_of(backend, engine, platform, format, order, parameters)
    kind = str(choices["format"])
    if proof and (activation != "SILU" or bias or kind not in (*_CODES, *_FP8)):
        raise Error("order_proof takes activation='SILU', no bias, and a format of mxfp4, nvfp4, mxfp8 and fp8", place="order_proof")
    called = "exact" if proof else _core.contract_name(contract_word(contract)) if contract is not None else ""
    law = _Law(fn, called, backend, choices, word("activation", activation), optional_word("activation_key", activation_key) or "", [])
    cases = _Cases(law, bias, proof)
    with told(law.explanation):
        for number in range(max(settings.examples // 4, 2)):
            cases.check(cases.sizes(number))
        worst = cases.worst() if proof else 0
    settings.held.append(f"kernel {backend or called} {kind}" + (f" in any order, at most {worst} ulp on ordinary inputs" if proof else ""))
    return worst


def _kind(failure: AssertionError) -> list[str]:
    """The kernel differs from, the kernel raises ValueError, ..."""
    return str(failure).split()[:4]


@dataclass(frozen=True)
class _Cases:
    """Layers and tokens, small ones first: those take the least time."""

    law: _Law
    bias: bool
    proof: bool

    def sizes(self, number: int) -> _Sizes:
        random = np.random.default_rng([settings.seed, number])
        experts, grown = 1 + min(number, 2), min(number // 4, 1)
        intermediate, hidden, tokens = (int(random.integers(1, most)) for most in (2 + grown, 2 + grown, _MOST_TOKENS + 1))
        return _Sizes(tokens, min(2, experts), experts, hidden, intermediate, int(random.integers(0, 1 << 30)))

    def case(self, sizes: _Sizes, exact: bool) -> tuple[Layer, Tokens]:
        tiles, choices, random = (sizes.experts, sizes.intermediate, sizes.hidden), self.law.choices, np.random.default_rng(sizes.seed)
        format, order = str(choices["format"]), str(choices["source_order"])
        if self.law.backend is None:
            layer = plain_layer(format, order, self.bias, tiles, sizes.seed)
        else:
            layer = packed_layer(self.law.backend, choices, self.bias, tiles, sizes.seed)
        if exact:
            layer = exact_layer({name: values.shape for name, values in layer.items()}, format, order, random)
        return layer, _tokens(sizes, layer["w2_weight"].shape[1], random, exact)

    def check(self, sizes: _Sizes) -> None:
        """Raises what is wrong, with the smallest layer and the fewest tokens on which the same is wrong."""
        failure = self._failure(sizes)
        if failure is None:
            return
        kind = _kind(failure)
        while (less := self._smaller(sizes, kind)) is not None:
            sizes = less
        smallest = self._failure(sizes)
        raise smallest or changing(failure)

    def _failure(self, sizes: _Sizes) -> AssertionError | None:
        try:
            self.law.check(*self.case(sizes, self.proof))
        except Broken:
            raise
        except AssertionError as failed:
            return failed
        return None

    def _smaller(self, sizes: _Sizes, kind: list[str]) -> _Sizes | None:
        for less in sizes.smaller():
            try:
                failure = self._failure(less)
            except Error:  # a size that the backend does not take
                continue
            if failure is not None and _kind(failure) == kind:
                return less
        return None

    def worst(self) -> int:
        """The largest difference from the exact sums on ordinary inputs."""
        ulps = 0
        for number in range(4):
            layer, tokens = self.case(self.sizes(number), exact=False)
            tensors, spec = self.law.packed(layer)
            found = self.law.answer(tensors, tokens)
            right, _ = self.law.right(layer, spec, tensors, tokens)
            ulps = max(ulps, int(_ulps(found, _as(right, found.dtype)).max(initial=0)))
        return ulps
