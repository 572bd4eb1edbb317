"""A kernel of experts of somebody else, held to the arithmetic of a device or of a backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from mxact import _core
from mxact._arguments import Array, array, contract_word, f32_bits, flag, flat_bytes, optional_word, word
from mxact._conversions import convert
from mxact._error import Error
from mxact._layers import pack
from mxact._libraries import is_tensor
from mxact._tables import contracts
from mxact.testing._bits import bits_of, code_text, place_text
from mxact.testing._converters import Layer, choices_of, packed_layer, padded_of, plain_layer
from mxact.testing._edges import COLUMNS, EXPERTS, INTERMEDIATE, ROWS, below, check_smallest
from mxact.testing._exact import FORMATS, Exact, ExactLayer, exact_layer, keeps_more, tokens_of_ones
from mxact.testing._runs import Broken, CannotStart, compared, of_case, settings, told

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
    """Of a layer and its tokens. together: one expert has all tokens. seed: of all its numbers."""

    tokens: int
    top_k: int
    experts: int
    hidden: int
    intermediate: int
    together: bool
    seed: int

    def smaller(self) -> Iterator[_Sizes]:
        """One size less than these, the least first; a few other seeds beside this one, since other numbers come with other sizes."""
        ladders = {
            "tokens": below(self.tokens, 1, ROWS),
            "top_k": below(self.top_k, 1, ()),
            "experts": below(self.experts, self.top_k, EXPERTS),
            "hidden": below(self.hidden, COLUMNS[0], COLUMNS, 32),
            "intermediate": below(self.intermediate, INTERMEDIATE[0], INTERMEDIATE, 64),
        }
        for name, ladder in ladders.items():
            for less in ladder:
                for seed in sorted({self.seed, 0, 1}, key=lambda one: one != self.seed):
                    yield replace(self, **{name: less}, seed=seed)  # type: ignore[arg-type]


def _tokens(sizes: _Sizes, hidden: int, random: np.random.Generator, exact: bool) -> Tokens:
    """The first token goes to the last expert, too."""
    count, last = sizes.tokens, sizes.experts - 1
    ids = np.stack([random.permutation(sizes.experts)[: sizes.top_k] for _ in range(count)]).astype(np.int32)
    for row in ids if sizes.together else ids[:1]:
        if last not in row:
            row[random.integers(0, sizes.top_k)] = last
    if exact:
        return Tokens(tokens_of_ones(count, hidden, random), ids, random.choice(np.array([0.25, 0.5], np.float32), ids.shape))
    logits = random.standard_normal(ids.shape)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Tokens((random.standard_normal((count, hidden)) * 2.0 ** random.integers(-3, 3)).astype(BF16), ids, weights.astype(np.float32))


@dataclass(frozen=True)
class _Law:
    fn: Callable[..., Any]
    contract: str
    backend: str | None
    choices: dict[str, object]
    activation: str
    key: str
    failed: list[tuple[Layer, Tokens, Array]]
    limit: int | None = None  # fp32 bits

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
            out, how = _core.run_kernel(spec, given, self.activation, self.limit, self.key, *tokens.arguments())
            return out.view(BF16).reshape(shape), how  # type: ignore[attr-defined]
        extents = len(layer["w13_weight"]), layer["w13_weight"].shape[1] // 2, layer["w2_weight"].shape[1]
        given = [(name, flat_bytes(values)) for name, values in layer.items()]
        form = self.choices["format"], self.choices["source_order"], extents, given, self.activation, self.limit
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

    def check(self, layer: Layer, tokens: Tokens, proof: ExactLayer | None) -> None:
        tensors, spec = self.packed(layer)
        found = self.answer(tensors, tokens)
        if proof is None:
            right, how = self.right(layer, spec, tensors, tokens)
        else:
            exact, slack = proof.out(tokens.x, tokens.ids, tokens.weights)
            right, how = exact.astype(np.float32), self.contract
        expected = _as(right, found.dtype)
        compared(found.size)
        wrong = bits_of(found) != bits_of(expected)
        if not wrong.any():
            return
        if proof is not None and keeps_more(found, exact, slack):
            raise Error(
                f"the kernel keeps activations in more than bf16, of which order_proof says nothing with {self.activation}: {proof.rule.arithmetic}; contract= holds such a kernel",
                "unsupported",
                "order_proof",
            )
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
    limit: float | None = None,
    **parameters: object,
) -> int:
    """fn computes a layer of experts bit for bit: under a contract, as a backend's kernels do, or, with order_proof, in any order.

    fn: takes x [tokens, hidden] in ml_dtypes' bfloat16, ids [tokens, top_k] int32, weights [tokens, top_k] float32 and the layer's tensors by name;
    returns out [tokens, hidden] in bfloat16 or float32 (NumPy or torch). Without backend the tensors are in a checkpoint's form (mxact.pack says which),
    with it they are that backend's packed ones.
    contract: a name of mxact.contracts(): both products under it, everything between them in fp32, a token's slots summed in their order; a bf16 answer is
    the nearest one. backend: as its row of executions computes, out in bf16; engine, platform, parameters as of mxact.pack.
    order_proof: for a kernel whose order of sums is no contract: all partial sums are exact, so that every order has the same bits. Gates are 0 or so
    large that their activation is exact in fp64, fp32 and bf16; where a limit below 64 cuts them, as OAI's 7 does, none is in fp32, and it is proved for
    kernels that round activations to bf16 or less; one that keeps more gets an Error, no verdict. Quantizing activations by powers of two changes
    nothing. What is held says which of the two it is. No int4.
    activation: "SWIGLUOAI" (gpt-oss's constants) or "SILU". limit: of gate and up, in the place of the activation's own (7, none). format: mxfp4, nvfp4, mxfp8, fp8_tensor, fp8_channel or fp8_block. order: "gpt_oss" or
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
    if proof and kind not in FORMATS:
        raise Error(f"order_proof takes a format of {', '.join(FORMATS)}, not {kind}", place="order_proof")
    given = word("activation", activation)
    cut = None if limit is None else f32_bits("limit", limit)
    most = None if cut is None else float(np.uint32(cut).view(np.float32))
    if most is not None and not 0 < most < np.inf:
        raise Error(f"limit is {most:g}, must be above 0 and finite", place="limit")
    called = "exact" if proof else _core.contract_name(contract_word(contract)) if contract is not None else ""
    if given not in ("SWIGLUOAI", "SILU"):
        raise Error(f"activation is {given!r}, must be SWIGLUOAI or SILU", place="activation")
    law = _Law(fn, called, backend, choices, given, optional_word("activation_key", activation_key) or "", [], cut)
    cases = _Cases(law, bias, Exact.of(given, most) if proof else None)
    with told(law.explanation):
        for number in range(max(settings.examples // 4, 2)):
            cases.check(cases.sizes(number))
        for sizes in cases.edges():
            cases.check(sizes)
        worst = cases.worst() if proof else 0
    shown = f" in any order ({cases.proof.arithmetic}), at most {worst} ulp on ordinary inputs" if cases.proof else ""
    settings.held.append(f"kernel {backend or called} {kind}{shown}")
    return worst


def _some(random: np.random.Generator, **sizes: Any) -> _Sizes:
    """Small sizes in the place of those that are not given."""
    experts = sizes["experts"]
    small = {
        "tokens": int(random.integers(1, _MOST_TOKENS + 1)),
        "top_k": int(random.integers(1, min(2, experts) + 1)),
        "hidden": int(random.choice(COLUMNS[:5])),
        "intermediate": int(random.choice(INTERMEDIATE[:3])),
    }
    return _Sizes(**{**small, **sizes, "seed": int(random.integers(0, 1 << 30))})


@dataclass(frozen=True)
class _Cases:
    """Layers and tokens, small ones first: those take the least time."""

    law: _Law
    bias: bool
    proof: Exact | None

    def sizes(self, number: int) -> _Sizes:
        """Small ones; the first have one expert."""
        random = np.random.default_rng([settings.seed, number])
        experts = 1 + min(number, int(random.integers(0, 5)))
        return _some(random, experts=experts, together=number % 3 == 2)

    def edges(self) -> Iterator[_Sizes]:
        """Each edge once, with the least sizes beside it, whatever the seed; those that the backend takes."""
        random = np.random.default_rng([settings.seed, 1 << 20])
        seen: set[object] = set()
        each: dict[str, tuple[int, ...]] = {"experts": EXPERTS, "hidden": COLUMNS, "intermediate": INTERMEDIATE, "tokens": ROWS}
        for name, edges in each.items():
            for edge in edges:
                beside = {"tokens": int(random.integers(1, 3)), "hidden": int(random.choice(COLUMNS[:2])), "intermediate": INTERMEDIATE[0], "experts": int(random.choice([1, 4, 5]))}
                sizes = _some(random, **{**beside, "together": name == "tokens", name: edge})
                try:
                    shapes = tuple(values.shape for values in self.layer(sizes).values())
                except Error:
                    continue
                if (shapes, sizes.tokens) not in seen:
                    yield sizes
                seen.add((shapes, sizes.tokens))

    def layer(self, sizes: _Sizes) -> Layer:
        extents, choices = (sizes.experts, sizes.intermediate, sizes.hidden), self.law.choices
        if self.law.backend is None:
            return plain_layer(str(choices["format"]), str(choices["source_order"]), self.bias, extents, sizes.seed)
        return packed_layer(self.law.backend, choices, self.bias, extents, sizes.seed)

    def case(self, sizes: _Sizes) -> tuple[Layer, Tokens, ExactLayer | None]:
        layer, choices, random = self.layer(sizes), self.law.choices, np.random.default_rng(sizes.seed)
        format, order = str(choices["format"]), str(choices["source_order"])
        exact = exact_layer(layer, format, order, self.proof, random) if self.proof else None
        return exact.tensors if exact else layer, _tokens(sizes, layer["w2_weight"].shape[1], random, exact is not None), exact

    def check(self, sizes: _Sizes) -> None:
        """Raises what is wrong, with the smallest layer and the fewest tokens on which the same is wrong."""
        check_smallest(sizes, lambda tried: self.law.check(*self.case(tried)), _Sizes.smaller)

    def worst(self) -> int:
        """The largest difference from the exact sums on ordinary inputs."""
        ulps = 0
        for number in range(4):
            layer, tokens, _ = replace(self, proof=None).case(self.sizes(number))
            tensors, spec = self.law.packed(layer)
            found = self.law.answer(tensors, tokens)
            right, _ = self.law.right(layer, spec, tensors, tokens)
            ulps = max(ulps, int(_ulps(found, _as(right, found.dtype)).max(initial=0)))
        return ulps
