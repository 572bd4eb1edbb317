"""A converter of somebody else, held to the engine's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mxact import _core
from mxact._arguments import Array, array, optional_word, word
from mxact._error import Error
from mxact._layers import DTYPES, Packed, fields_of, pack_arrays, plainly
from mxact._tables import layouts
from mxact.testing._edges import COLUMNS, EXPERTS, INTERMEDIATE, below, check_smallest
from mxact.testing._layouts import assert_layout, memory_of
from mxact.testing._runs import Broken, CannotStart, compared, for_all, of_case, settings, settled, told

Layer = dict[str, Array]
# E8M0 scales of small numbers, fp32 scales that are powers of two, biases that bf16 and fp16 both have: no conversion refuses or rounds them.
_SMALL_POWERS = np.float32(2) ** np.arange(-12, 0)


def _tensor(name: str, dtype: str, shape: tuple[int, ...], format: str, random: np.random.Generator) -> Array:
    kind = DTYPES[dtype]
    if name.endswith("_bias"):
        return (random.integers(1, 256, shape) / random.choice([-64, 64], shape)).astype(kind)
    if kind != np.uint8:
        return random.choice(_SMALL_POWERS, shape).astype(kind)
    if name.endswith("_scale"):
        return random.integers(8, 120, shape, dtype=np.uint8) if format == "nvfp4" else random.integers(112, 132, shape, dtype=np.uint8)
    if format in ("mxfp4", "nvfp4", "int4"):
        return random.integers(0, 256, shape, dtype=np.uint8)
    return random.integers(1, 127, shape, dtype=np.uint8) | random.choice(np.array([0, 128], np.uint8), shape)


def choices_of(backend: str, engine: str | None, platform: str | None, format: str | None, order: str | None, parameters: Mapping[str, object]) -> dict[str, object]:
    known = plainly(_core.layer_formats, word("backend", backend), optional_word("engine", engine))
    if format is None and len(known) != 1:
        raise Error(f"format is missing: {backend} converts {', '.join(known) or 'nothing in this version'}", place="format")
    return {"engine": engine, "platform": platform, "format": format or known[0], "source_order": order, **parameters}


def layers(
    backend: str,
    engine: str | None = None,
    platform: str | None = None,
    format: str | None = None,
    order: str | None = None,
    bias: bool = True,
    **parameters: object,
) -> st.SearchStrategy[Layer]:
    """Layers that the engine's converter for a backend takes, as tensors by name in a checkpoint's form (mxact.pack), of sizes that nothing rounds.

    All arguments but bias as of mxact.pack. bias: whether there are biases. Shrinks to one expert and the smallest sizes.
    Raises mxact.Error: unknown names, a backend that takes no layer of that kind near small sizes.
    """
    choices = choices_of(backend, engine, platform, format, order, parameters)
    packed_layer(backend, choices, bias, (1, INTERMEDIATE[0], COLUMNS[0]), 0)

    @st.composite
    def draw(chosen: st.DrawFn) -> Layer:
        intermediate, hidden = chosen(st.sampled_from(INTERMEDIATE[:4])), chosen(st.sampled_from((32, 64, 96, 128, 256)))
        return packed_layer(backend, choices, bias, (chosen(st.integers(1, 3)), intermediate, hidden), chosen(st.integers(0, 15)))

    return draw()


def _edges(backend: str, choices: Mapping[str, object], bias: bool) -> Iterator[tuple[int, int, int]]:
    """Sizes of layers with each edge once and small sizes beside it; those that the backend takes, each once."""
    random = np.random.default_rng([settings.seed, 1 << 20])
    seen: set[object] = set()
    for place, edges in enumerate((EXPERTS, INTERMEDIATE, COLUMNS)):
        for edge in edges:
            sizes = [int(random.choice([1, 4, 5])), int(random.choice(INTERMEDIATE[:3])), int(random.choice(COLUMNS[:4]))]
            sizes[place] = edge
            try:
                shapes = tuple(values.shape for values in packed_layer(backend, choices, bias, (sizes[0], sizes[1], sizes[2]), 0).values())
            except Error:
                continue
            if shapes not in seen:
                yield sizes[0], sizes[1], sizes[2]
            seen.add(shapes)


def _smaller(sizes: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    experts, intermediate, hidden = sizes
    yield from ((less, intermediate, hidden) for less in below(experts, 1, EXPERTS))
    yield from ((experts, less, hidden) for less in below(intermediate, INTERMEDIATE[0], INTERMEDIATE, 64))
    yield from ((experts, intermediate, less) for less in below(hidden, COLUMNS[0], COLUMNS, 32))


def packed_layer(backend: str, choices: Mapping[str, object], bias: bool, sizes: tuple[int, int, int], seed: int) -> Layer:
    """A layer that the backend takes: experts, intermediate and hidden size, or the next that it takes."""
    experts, intermediate, hidden = sizes
    fields = fields_of(f"{experts}x{intermediate}x{hidden}", {**choices, "padded": f"{intermediate}x{hidden}"}, of_rank=True)
    _, tensors = plainly(_core.layer_form, backend, [*fields, ("has-bias", "yes" if bias else "no")])
    return _filled(tensors, str(choices["format"]), seed)


def plain_layer(format: str, order: str, bias: bool, sizes: tuple[int, int, int], seed: int) -> Layer:
    """A layer in a checkpoint's form, whoever reads it; sizes as of packed_layer()."""
    tensors = plainly(_core.plain_form, word("format", format), word("order", order), sizes, bias)
    return _filled(tensors, format, seed)


def _filled(tensors: Sequence[tuple[str, str, Sequence[int]]], format: str, seed: int) -> Layer:
    random = np.random.default_rng(seed)
    return {name: _tensor(name, dtype, tuple(shape), format, random) for name, dtype, shape in tensors}


def assert_converter(
    fn: Callable[..., Any],
    backend: str,
    engine: str | None = None,
    platform: str | None = None,
    layer: Any = None,
    format: str | None = None,
    order: str | None = None,
    bias: bool = True,
    **parameters: object,
) -> None:
    """fn packs every layer as the engine's converter for the backend does, byte for byte.

    backend: a name of mxact.backends(), or of mxact.layouts(): a building block's fn takes one tensor, [rows, columns] of unsigned integers of its unit's
    width (of 4 bits two in a byte, the even one low) and returns its memory; layer is then such a tensor, and of all else only the block's own choices
    are taken ("version", "num_warps", ...).
    fn: takes a layer's tensors by name, in a checkpoint's form as mxact.pack takes them, and returns the packed ones by the same names: arrays on the
    host of any dtype and shape. Their memory counts, in ascending addresses; a transposed view stands for the memory that it shows.
    layer: one layer to try; without it small layers, and such with 1 to 129 experts, intermediate sizes of 64 to 2,048 and hidden sizes of 32 to 2,048,
    or the next that the backend takes. All else as of mxact.pack. bias: whether drawn layers have
    biases. Memory that the converter never writes is not compared.
    Raises AssertionError: the first byte of the smallest layer that differs, what must lie there, whether the other order of rows explains the
    answer or the tensor is as it was, and the line that draws the layer again; also for a tensor that is missing, too many or of another size, and for an fn that raises.
    mxact.Error: as pack(). Source: the backend's row; `mxact layout show` prints it.
    """
    if not callable(fn):
        raise Error(f"fn is of type {type(fn).__name__}, must be a function", place="fn")
    if word("backend", backend) in layouts():
        given = {"engine": engine, "platform": platform, "format": format, "order": order}
        for name, value in given.items():
            if value is not None:
                raise Error(f"{name} is a backend's, and {backend} is a building block", place=name)
        assert_layout(fn, backend, layer, parameters)
        return
    choices = choices_of(backend, engine, platform, format, order, parameters)

    def packed_of(tensors: Mapping[Any, Any], **other: object) -> Packed:
        sizes = {} if layer is not None else {"padded": padded_of(tensors, bool(parameters.get("not_gated")))}
        return pack_arrays(tensors, backend, {**sizes, **choices, **{name.replace("order", "source_order"): value for name, value in other.items()}}, None)

    wrong: list[tuple[Layer, str]] = []

    def check(tensors: Layer) -> None:
        compared(1)
        difference = _difference(_answer(fn, tensors), packed_of(tensors))
        if difference:
            wrong.append((tensors, difference[0]))
            raise AssertionError(f"{difference[1]}\n{_layer_text(tensors)}")

    with told(lambda: _explanation(fn, *wrong[-1], packed_of) if wrong else ""):
        if layer is not None:
            settled(check, {name: np.array(array(name, value)) for name, value in layer.items() if value is not None})
        else:
            for_all(layers(backend, engine, platform, format, order, bias, **parameters), check)
            for sizes in _edges(backend, choices, bias):
                check_smallest(sizes, lambda sizes: check(packed_layer(backend, choices, bias, sizes, settings.seed)), _smaller)
    settings.held.append(f"converter {backend} {choices['format']}")


def _layer_text(tensors: Mapping[str, Any]) -> str:
    return "layer: " + ", ".join(f"{one} {tensors[one].shape}" for one in ("w13_weight", "w2_weight") if one in tensors)


def padded_of(tensors: Mapping[str, Any], not_gated: bool = False) -> str:
    rows = tensors["w13_weight"].shape[1]
    return f"{rows if not_gated else rows // 2}x{tensors['w2_weight'].shape[1]}"


def _answer(fn: Callable[[Layer], Mapping[str, Any]], tensors: Layer) -> dict[str, Array]:
    try:
        with of_case(lambda: _layer_text(tensors)):
            given = fn({name: values.copy() for name, values in tensors.items()})
    except (Broken, CannotStart):
        raise
    except (Exception, SystemExit) as problem:
        raise AssertionError(f"the converter raises {type(problem).__name__}: {problem}\n{_layer_text(tensors)}") from problem
    if not isinstance(given, Mapping):
        raise AssertionError(f"the converter returns {type(given).__name__}, must return a mapping of names to arrays")  # noqa: TRY004
    return {str(name): memory_of(str(name), value) for name, value in given.items() if value is not None}


def _difference(found: dict[str, Array], right: Packed) -> tuple[str, str] | None:
    """The tensor, and what is wrong with it."""
    for name, values in right.tensors.items():
        if name not in found:
            return name, f"the converter gives no {name}: it gives {', '.join(found) or 'nothing'}"
        expected, given = memory_of(name, values), found[name]
        if given.size != expected.size:
            return name, f"the converter's {name} has {given.size} bytes, must have {expected.size}"
        wrong = given != expected
        for byte in np.flatnonzero(wrong):
            content = plainly(_core.content_at, right.spec, name, int(byte))
            if "never written" in content:
                continue
            count = int(np.count_nonzero(wrong))
            return name, f"{name} byte {byte}: 0x{given[byte]:02x}, must be 0x{expected[byte]:02x} ({content}); {count} of {wrong.size} bytes differ"
    extra = sorted(set(found) - set(right.tensors))
    return (extra[0], f"the converter gives {', '.join(extra)}, which the backend has not") if extra else None


def _explanation(fn: Callable[[Layer], Mapping[str, Any]], tensors: Layer, name: str, packed_of: Callable[..., Packed]) -> str:
    """Whether fn took the rows in the other order, or left the tensor as it was."""
    found = _answer(fn, tensors).get(name)
    if found is None or name not in tensors:
        return ""
    if np.array_equal(found, memory_of(name, tensors[name])):
        return f"{name} is as the checkpoint has it\n"
    # Rows of w13 alone have an order.
    for order in ("gpt_oss", "standard") if name.startswith("w13") else ():
        try:
            other = packed_of(tensors, order=order)[name]
        except Error:
            continue
        if np.array_equal(found, memory_of(name, other)):
            return f"{name} is that of a layer in {order} order\n"
    return ""
