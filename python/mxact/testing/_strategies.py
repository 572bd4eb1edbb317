"""What hypothesis draws: numbers that rounding and scale rules are hard on, formats, deployments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mxact import _core
from mxact._arguments import Array, dtype_of, word
from mxact._conversions import convert
from mxact._error import Error
from mxact._select import select
from mxact._tables import block_formats
from mxact._tables import formats as format_names

# Sources of quantize(): bits of an element, smallest and largest power of two that their tables are multiplied with.
_SOURCES = {"f32": (32, -150, 128), "bf16": (16, -134, 128), "fp16": (16, -25, 16)}


def formats(block: bool = False) -> st.SearchStrategy[str]:
    """Names of mxact.formats(), or of mxact.block_formats() with `block`."""
    return st.sampled_from(block_formats() if block else format_names())


@dataclass(frozen=True, eq=False)
class Table:
    """Hard elements, simple ones first: a multiple of the block's power of two and a distance in units of the last place, or bits as they are."""

    multiples: Array  # float64
    ulps: Array  # int64
    bits: Array  # int64, -1 where the multiple counts
    source: str

    def elements(self, choices: Array, exponents: Array) -> Array:
        """The chosen elements under 2^exponents, in the source's dtype."""
        dtype = dtype_of(self.source)
        unsigned = np.uint32 if dtype.itemsize == 4 else np.uint16
        with np.errstate(over="ignore", under="ignore"):
            numbers = np.ldexp(self.multiples[choices], exponents).astype(np.float32).astype(dtype)
        bits = numbers.view(unsigned).astype(np.int64)
        sign = bits & 1 << 8 * dtype.itemsize - 1
        moved = np.maximum((bits ^ sign) + self.ulps[choices], 0) | sign
        return np.where(self.bits[choices] < 0, moved, self.bits[choices]).astype(unsigned).view(dtype)


@cache
def table_of(format: str, source: str) -> Table:
    """Around every number and every border of the element format and of the scale: themselves and the nearest numbers on both sides."""
    _, element, scale, _, _ = _core.block_format_facts(format)
    width = _SOURCES[source][0]
    values = _magnitudes(element)
    largest = float(values[-1])
    values = values / 2.0 ** np.floor(np.log2(largest))
    grid = np.concatenate([values, values[values >= 1] * 2, values[values >= 1] * 4])
    steps = _magnitudes("e4m3fn")
    steps = steps[(steps >= 1) & (steps <= 2)] if scale == "e4m3fn" else np.array([1.0, 2.0])
    borders = np.unique(np.concatenate([grid, (grid[1:] + grid[:-1]) / 2, largest * steps, largest * (steps[1:] + steps[:-1]) / 2]))
    random = np.random.default_rng(1)
    mantissas = 1 + random.random(128)
    simple = np.array([0.0, 1.0])
    multiples = [simple, -simple]
    ulps = [np.zeros(4, np.int64)]
    for distance in (0, 1, -1, 2, -2):
        for sign in (1, -1):
            multiples.append(sign * borders[borders > 0])
            ulps.append(np.full(int((borders > 0).sum()), distance))
    multiples.append(mantissas * np.exp2(random.integers(-9, 2, 128)) * random.choice([1, -1], 128))
    ulps.append(np.zeros(128, np.int64))
    own = _own_bits(width, random)
    multiple, ulp = np.concatenate(multiples), np.concatenate(ulps)
    return Table(
        np.concatenate([multiple, np.zeros(own.size)]),
        np.concatenate([ulp, np.zeros(own.size, np.int64)]),
        np.concatenate([np.full(multiple.size, -1), own]),
        source,
    )


def _magnitudes(format: str) -> Array:
    """Every finite magnitude, ascending, as float64."""
    width = {"e2m1": 4, "e2m3": 6, "e3m2": 6}.get(format, 8)
    numbers = np.abs(convert(np.arange(1 << width, dtype=np.uint8), "f32", source=format).astype(np.float64))
    return np.unique(numbers[np.isfinite(numbers)])


def _own_bits(width: int, random: np.random.Generator) -> Array:
    """Zeros, the least numbers, the largest, infinities and NaNs of both signs, and any patterns."""
    edges: list[int] = []
    for exponent, mantissa in [(8, 23)] if width == 32 else [(8, 7), (5, 10)]:
        infinity = ((1 << exponent) - 1) << mantissa
        edges += [0, 1, 2, (1 << mantissa) - 1, 1 << mantissa, infinity - 1, infinity, infinity + 1, infinity | 1 << mantissa - 1, infinity + (1 << mantissa) - 1]
    both = np.array(sorted(set(edges)), np.int64)
    return np.concatenate([both, both | 1 << width - 1, random.integers(0, 1 << width, 128)]).astype(np.int64)


def block_shape(format: str) -> tuple[int, int]:
    """Rows and columns of a block; a block that is a row has 32."""
    _, _, _, columns, rows = _core.block_format_facts(format)
    return rows, columns or 32


def hard_batch(format: str, source: str, count: int, random: np.random.Generator) -> Array:
    """So many blocks, side by side in rows of one block: all powers of two, a few hard elements or many in each."""
    table = table_of(format, source)
    rows, columns = block_shape(format)
    _, low, high = _SOURCES[source]
    kind = random.integers(0, 4, (count, 1, 1))
    exponents = np.where(kind == 0, random.integers(-4, 5, (count, 1, 1)), random.integers(low, high + 1, (count, 1, 1)))
    ends = np.where(random.integers(0, 2, (count, 1, 1)) == 0, low, high) + random.integers(-12, 13, (count, 1, 1))
    exponents = np.where(kind == 1, ends, exponents)
    plain = np.flatnonzero(table.bits < 0)
    shape = (count, rows, columns)
    choices = random.choice(plain, shape)
    # One element or all from around the largest, the others below; now and then a NaN, an infinity or any pattern.
    few = random.random(shape) < np.choose(random.integers(0, 3, (count, 1, 1)), [1.5 / (rows * columns), 0.2, 1.0])
    choices = np.where(few, choices, 0)
    special = (random.random(shape) < 1.0 / (rows * columns)) & (random.integers(0, 6, (count, 1, 1)) == 0)
    choices = np.where(special, random.integers(plain.size, table.bits.size, shape), choices)
    lower = np.where(random.integers(0, 3, shape) == 0, random.integers(-24, 1, shape), 0)
    return table.elements(choices, exponents + lower).reshape(count * rows, columns)


def blocks(format: str, source: str = "f32", rows: int = 2) -> st.SearchStrategy[Array]:
    """Tensors [rows, K] of up to `rows` rows of blocks of a format, K a multiple of its block length: elements around every border of rounding and of
    scale rules, at all powers of two, subnormals, zeros of both signs, infinities and NaNs.

    format: a name of mxact.block_formats(). source: "f32", "bf16" or "fp16": the dtype that is drawn. Shrinks toward zeros and small blocks.
    Raises mxact.Error: unknown names.
    """
    name = _core.block_format_facts(word("format", format))[0]
    kind = source_of(source)
    table = table_of(name, kind)
    block_rows, columns = block_shape(name)
    _, low, high = _SOURCES[kind]
    exponents = st.one_of(st.integers(-2, 2), st.integers(low, high), st.sampled_from([low - 2, low, low + 1, high - 1, high]))

    @st.composite
    def draw(chosen: st.DrawFn) -> Array:
        grid = chosen(st.integers(1, rows)), chosen(st.integers(1, 2))
        choices = chosen(hnp.arrays(np.int64, (grid[0] * block_rows, grid[1] * columns), elements=st.integers(0, table.bits.size - 1), fill=st.just(0)))
        powers = chosen(hnp.arrays(np.int64, grid, elements=exponents, fill=st.nothing()))
        return table.elements(choices, np.repeat(np.repeat(powers, block_rows, axis=0), columns, axis=1))

    return draw()


def source_of(source: object) -> str:
    kind = word("source", source)
    if kind not in _SOURCES:
        raise Error(f"source is {kind!r}, must be f32, bf16 or fp16", place="source")
    return kind


_SIZES = [2880, 1440, 720, 360, 2048, 3072, 4096, 7168, 129, 130]
_ENV_TEXTS = {
    "VLLM_FLASHINFER_MOE_BACKEND": ["throughput", "latency", "masked_gemm"],
    "VLLM_HUMMING_MOE_GEMM_TYPE": ["indexed", "grouped", "grouped_contiguous", "grouped_masked"],
}
# Keys that callers of an oracle hand over, the usual ones first. An oracle that is not here takes none.
_KEYS: dict[str, dict[str, list[str]]] = {
    "mxfp4": {"activation_key": ["None", "kMxfp8Dynamic", "kFp8StaticTensorSym", "kMxfp4Dynamic"]},
    "nvfp4": {"weight_key": ["kNvfp4Static"], "activation_key": ["kNvfp4Dynamic", "None"]},
    "fp8": {
        "weight_key": ["kFp8Static128BlockSym", "kFp8StaticTensorSym", "kFp8StaticChannelSym"],
        "activation_key": ["kFp8Dynamic128Sym", "kFp8StaticTensorSym", "kFp8DynamicTensorSym", "kFp8DynamicTokenSym"],
    },
    "w4a8": {"weight_key": ["kInt4Static"], "activation_key": ["kFp8DynamicTokenSym"]},
}
Choose = Callable[[Sequence[Any]], Any]


def oracle_words(oracle: str, engine: str | None) -> dict[str, Any]:
    """The names that deployments for the oracle are made of, its own for `backend` under "wish"."""
    words = _core.deployment_words(engine)
    wishes = words["oracles"].get(oracle)
    if wishes is None:
        raise Error(f"oracle is {oracle!r}, must be one of {', '.join(words['oracles'])}", place="oracle")
    return {**words, "wish": wishes}


def draw_deployment(one: Choose, oracle: str, words: dict[str, Any]) -> dict[str, Any]:
    """A deployment by choices from lists, whose simplest members stand first. A few break a rule of the reader."""

    def seldom(usual: Sequence[Any], others: Sequence[Any]) -> Any:
        return one(others if one([False, False, False, True]) else usual)

    def rarely() -> bool:
        return bool(one([False] * 15 + [True]))

    deployment: dict[str, Any] = {"oracle": oracle}
    machine = one(["usual", "usual", "preset", "cuda", "rocm"])
    if machine in ("usual", "preset"):
        deployment["platform"] = one(["SM90", "SM100", "gfx950", "XPU", "CPU"] if machine == "usual" else words["platform"])
    elif machine == "cuda":
        deployment["hardware"] = {"platform": "cuda", "capability": one(range(70, 131))}
    else:
        deployment["hardware"] = {"platform": "rocm", "gcn_arch": one(["gfx906", "gfx1030", "gfx1151"])}
    tp, dp = seldom([1], [1, 2, 4, 8, 3]), seldom([1], [1, 2, 8])
    deployment["parallel"] = {"tp": tp, "dp": dp, "expert_parallel": tp * dp > 1 and one([False, True]), "eplb": rarely(), "all2all": one(words["all2all"])}
    batched = one([False] * 7 + [True])
    if batched:
        deployment["parallel"].update(dp=2, expert_parallel=True, all2all=one(["deepep_low_latency", "nixl_ep"]))
    deployment["layer"] = {
        "experts": one([128, 32, 256, 8]),
        "top_k": one([4, 1, 8]),
        "hidden": seldom(_SIZES, range(1, 9001)),
        "intermediate": tp * seldom(_SIZES, range(1, 9001)),
        "activation": seldom(["SWIGLUOAI", "SILU"] if oracle == "mxfp4" else ["SILU", "SILU", "SWIGLUOAI"], words["activation"]),
        "routing": seldom(["Renormalize", "DeepseekV4"] if oracle == "mxfp4_deepseek_v4" else ["Renormalize"], words["routing"]),
        "dtype": seldom(["bfloat16"], words["dtype"]),
        "bias": one([False, True]),
        "act_and_mul": not rarely(),
        "lora": rarely(),
    }
    # Another backend stands for a wish where tokens come in batches.
    deployment["backend"] = one(words["wish"]) if batched else seldom(["auto"], words["wish"])
    for key, usual in _KEYS.get(oracle, {}).items():
        deployment[key] = seldom(usual, words["key"]) if len(usual) > 1 else usual[0]
    if oracle == "mxfp4":
        deployment["quantization_override"] = seldom(["unset"], words["quantization_override"])
    if oracle == "fp8":
        deployment["allow_vllm_cutlass"] = one([False, True])
    for _ in range(one([0, 1, 2])):
        variable = one(words["env"])
        deployment.setdefault("env", {})[variable] = one(_ENV_TEXTS.get(variable, ["1", "1", "0", "true"]))
    if rarely():
        deployment["software"] = {one(words["software"]): one([False, True])}
    return deployment


def is_read(deployment: dict[str, Any], engine: str | None, oracle: str) -> bool:
    """Whether a reader of deployment files takes it, and this version of the engine has all that it names."""
    try:
        _core.deployment_line(deployment, engine, oracle)
        select(deployment, engine=engine, oracle=oracle)
    except Error:
        return False
    return True


def deployments(oracle: str = "mxfp4", engine: str | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Deployments that a reader of deployment files takes, as nested dicts with its keys (docs/deployment.md): machines at the edges of the engine's
    rules, parallelisms, odd layers, wishes, variables.

    oracle: whose. engine: a version that has tables of it; without it the default. Raises mxact.Error for others.
    """
    name = word("oracle", oracle)
    words = oracle_words(name, engine)

    @st.composite
    def draw(chosen: st.DrawFn) -> dict[str, Any]:
        return draw_deployment(lambda options: chosen(st.sampled_from(options)), name, words)

    return draw().filter(lambda deployment: is_read(deployment, engine, name))
