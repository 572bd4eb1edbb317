"""What the program's verbs work out of a model's directory or a deployment, as dicts: matrix, engine diff, sim, verify, convert, plan."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mxact import _core
from mxact._arguments import flag, integer, launch_text, optional_word, path_word, word
from mxact._error import Error
from mxact._layers import plainly, text_of
from mxact._select import placement_of


def _words(name: str, value: object) -> list[str]:
    """One word, or several."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence):
        raise Error(f"{name} is of type {type(value).__name__}, must be a text or a list of them", place=name)
    return [word(name, one) for one in value]


def _sizes(name: str, value: object) -> list[int]:
    given = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [_count(name, one, 1) for one in given]


def _count(name: str, value: object, least: int) -> int:
    number = integer(name, value)
    if number < least:
        raise Error(f"{name} is {number}, must be {least} or more", place=name)
    return number


def _lists(**words: object) -> dict[str, list[str]]:
    """What was given of lists of words."""
    return {name: _words(name, value) for name, value in words.items() if value is not None}


def _counts(least: int, **counts: object) -> dict[str, Any]:
    """What was given of numbers."""
    return {name: _count(name, value, least) for name, value in counts.items() if value is not None}


def matrix(
    model: str | os.PathLike[str] | None = None,
    engine: str | None = None,
    *,
    models: str | Sequence[str] | None = None,
    schemes: str | Sequence[str] | None = None,
    oracles: str | Sequence[str] | None = None,
    platform: str | Sequence[str] | None = None,
    parallel: str | Sequence[str] | None = None,
    tp: int | None = None,
    dp: int | None = None,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    explain: bool = False,
) -> dict[str, Any]:
    """Backend by platform by parallelism: chosen, possible, or refused and why.

    model: a model's directory or configuration, each kind of its layers; without it the published checkpoints of the table, or of those of `models`,
    `schemes` and `oracles` alone. platform: cards or platforms; without it every one. parallel: "tp8", "dp8-ep-deepep-ll", "tp2-dp4-ep", ...; without
    it every row, or what tp, dp and ep say as of select().
    env: variables that are set. explain: with what was asked and what the class takes, for every refusal. engine: a version of mxact.engines().
    Returns what `mxact matrix --json` prints behind its head. Raises mxact.Error: unknown names, a model that cannot be read, both a model and `models`.
    Source: the oracles' tables; docs/deployment.md.
    """
    beside = {"models": models, "schemes": schemes, "oracles": oracles}
    if model is not None and (both := [name for name, value in beside.items() if value is not None]):
        raise Error(f"{both[0]} is for the table's models, and model names one of its own", place=both[0])
    sizes = _counts(1, tp=tp, dp=dp)
    if parallel is not None and (sizes or flag("ep", ep)):
        raise Error("parallel says the sizes already", place=next(iter(sizes), "ep"))
    if sizes or flag("ep", ep):
        parallel = f"tp{sizes.get('tp', 1)}-dp{sizes.get('dp', 1)}" + ("-ep" if ep else "")
    lists = _lists(**beside, platforms=platform, parallel=parallel)
    given = placement_of(env=env) | {"explain": flag("explain", explain)}
    if model is not None:
        given["model"] = path_word("model", model)
    return plainly(_core.matrix, given, lists, optional_word("engine", engine))


def engine_diff(
    before: str,
    after: str,
    deployment: str | os.PathLike[str] | None = None,
    *,
    platform: str | None = None,
    tp: int | None = None,
    dp: int | None = None,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    all2all: str | None = None,
    moe_backend: str | None = None,
    layer: int | None = None,
) -> dict[str, Any]:
    """What another version of the engine answers otherwise: backend, class, sizes, the weights' memory, by cause.

    before, after: versions of mxact.engines(). deployment: an INFO file, or a model's directory or configuration with `platform` and what else select()
    takes of it; layer: the kind of its layers that this one belongs to, without it the first. Without a deployment every published checkpoint on every
    platform, in every parallelism: that takes seconds.
    Returns what `mxact engine diff --json` prints behind its head. Raises mxact.Error: as select(), and for a version without choices.
    """
    given = placement_of(platform, tp, dp, ep, env, all2all, moe_backend) | _counts(0, layer=layer)
    if deployment is None and given:
        raise Error(f"{next(iter(given))} is for one deployment, which is not given", place=next(iter(given)))
    path = None if deployment is None else path_word("deployment", deployment)
    return plainly(_core.engine_diff, word("before", before), word("after", after), path, given)


def sim(
    deployment: str | os.PathLike[str],
    engine: str | None = None,
    oracle: str | None = None,
    *,
    platform: str | None = None,
    tp: int | None = None,
    dp: int | None = None,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    all2all: str | None = None,
    moe_backend: str | None = None,
    layer: int | None = None,
    backend: str | None = None,
    tokens: int = 4,
    seed: int = 1,
    experts: int | None = None,
    sample: int | None = None,
    compare: bool = False,
    launch: str | Mapping[str, int | str | os.PathLike[str]] | None = None,
) -> dict[str, Any]:
    """A layer of generated numbers, executed rank by rank as a deployment says it, and held link by link against one rank.

    deployment: an INFO file, or a model's directory or configuration with `platform` and what else select() takes of it; layer: the kind of its layers
    that this one belongs to, without it the first. oracle: in the place of an INFO file's. backend: in the place of the engine's choice. tokens, seed: of
    what is generated. experts: so many stand for the model's. sample: so many rows and columns are computed where no fast twin has the contract.
    compare: every backend of the oracle, on one rank, two ranks and two data parallel ones. launch: numbers of the kernels' launch, as `--launch` has
    them: {"block_m": 16, "w2.step_k": 64, "tuned": "H100.json"}.
    Returns what `mxact sim --json` prints behind its head: "verdict" and "exit_code" among it; a refusal of the engine is an answer.
    Raises mxact.Error: as select(), an unknown backend, a layer that is too large to be generated (the sentence says what makes it smaller).
    """
    given = placement_of(platform, tp, dp, ep, env, all2all, moe_backend)
    given |= _counts(0, layer=layer, seed=seed) | _counts(1, tokens=tokens, experts=experts, sample=sample)
    if backend is not None:
        given["backend"] = word("backend", backend)
    given |= {"compare": flag("compare", compare), "launch": launch_text(launch)}
    return plainly(_core.sim, path_word("deployment", deployment), given, optional_word("engine", engine), optional_word("oracle", oracle) or "")


def verify(
    checkpoint: str | os.PathLike[str],
    engine: str | None = None,
    *,
    platform: str | Sequence[str] | None = None,
    backend: str | Sequence[str] | None = None,
    tp: int | Sequence[int] | None = None,
    dp: int = 1,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    contracts: str | Sequence[str] | None = None,
    layers: int | None = None,
    experts: int | None = None,
    layer_group: int | None = None,
    tokens: int = 4,
    seed: int = 1,
    execute: bool = True,
    launch: str | Mapping[str, int | str | os.PathLike[str]] | None = None,
) -> dict[str, Any]:
    """A checkpoint through every backend on every platform: chosen, rounded, converted, restored and executed, bits compared.

    checkpoint: a model's directory with its weights, or a .safetensors file. platform, backend: these alone. tp: tensor parallel sizes, without them 1
    and 2. dp, ep: as of select(). env: variables that are set. contracts: of the products, in the place of each backend's own. layers, experts: the first
    so many. layer_group: this one of the checkpoint's, from 1. tokens, seed: of tokens that are generated where the checkpoint has none. execute=False:
    bytes alone are compared. launch: as of sim(), of every backend's kernels.
    Returns what `mxact verify --json` prints behind its head: "verdict" and "exit_code" among it. Raises mxact.Error: a checkpoint that cannot be read,
    unknown names. Source: docs/convert.md.
    """
    lists = _lists(platforms=platform, backends=backend, contracts=contracts)
    given = placement_of(env=env) | _counts(0, seed=seed) | _counts(1, layers=layers, experts=experts, layer_group=layer_group, tokens=tokens)
    given |= {"ranks": _count("dp", dp, 1), "expert_parallel": flag("ep", ep), "no_execute": not flag("execute", execute), "launch": launch_text(launch)}
    sizes = [] if tp is None else _sizes("tp", tp)
    return plainly(_core.verify, path_word("checkpoint", checkpoint), given, lists, sizes, optional_word("engine", engine))


def convert_checkpoint(
    checkpoint: str | os.PathLike[str],
    output: str | os.PathLike[str],
    backend: str | None = None,
    engine: str | None = None,
    *,
    platform: str,
    rank: int | None = None,
    layer_group: int | None = None,
    force: bool = False,
    any_platform: bool = False,
    **parameters: object,
) -> dict[str, Any]:
    """A safetensors checkpoint into a backend's layouts, with what the way back needs: what `mxact convert` writes, for `mxact restore`.

    checkpoint: a model's directory with its weights, or a .safetensors file. output: a directory, new or empty. backend: a name of mxact.backends(), for
    every layer group that it converts; without it what the engine chooses for the model's configuration. platform: the device. rank: of tp=, whose part is
    converted. layer_group: this one alone, from 1. force: files of the same names are replaced. any_platform: also where the engine has no kernel of the
    backend. parameters: the other choices of `mxact convert`, with _ for -: tp=2, dp=2, ep=True, params_dtype=, ...
    Returns what `mxact convert --json` prints behind its head. Raises mxact.Error: as mxact.pack, and an output that is there already.
    """
    path, target = path_word("checkpoint", checkpoint), path_word("output", output)
    asked = _conversion(path, backend, rank, layer_group, {"engine": engine, "platform": word("platform", platform), **parameters})
    return plainly(_core.convert_checkpoint, path, target, *asked, _program(), flag("force", force), flag("any_platform", any_platform))


def plan(
    checkpoint: str | os.PathLike[str],
    output: str | os.PathLike[str],
    converted: str | os.PathLike[str],
    backend: str | None = None,
    engine: str | None = None,
    *,
    platform: str,
    rank: int | None = None,
    layer_group: int | None = None,
    force: bool = False,
    any_platform: bool = False,
    relative: bool = False,
    **parameters: object,
) -> dict[str, Any]:
    """The conversion that convert_checkpoint() does, in jobs that many processes share: for `mxact run` and `mxact merge`.

    output: the file that the plan is written to. converted: the directory that merge will write, new or empty. relative: paths as seen from the plan's
    directory. force: the plan is replaced. The other arguments are those of convert_checkpoint().
    Returns what `mxact plan --json` prints behind its head: each job's layer, file and bytes. Raises mxact.Error: as convert_checkpoint(), and a plan that
    is there already.
    """
    path, target, made = path_word("checkpoint", checkpoint), path_word("output", output), path_word("converted", converted)
    asked = _conversion(path, backend, rank, layer_group, {"engine": engine, "platform": word("platform", platform), **parameters})
    flags = flag("force", force), flag("any_platform", any_platform), flag("relative", relative)
    return plainly(_core.plan, path, target, made, *asked, _program(), *flags)


def _conversion(
    path: str, backend: str | None, rank: int | None, layer_group: int | None, choices: Mapping[str, object]
) -> tuple[int, int | None, str, list[tuple[str, str]]]:
    """Rank, layer group, backend and fields of a conversion; without a backend the engine's."""
    ranks = 1 if choices.get("ep") else _count("tp", choices.get("tp") or 1, 1) * _count("dp", choices.get("dp") or 1, 1)
    if ranks > 1 and rank is None:
        raise Error(f"rank is missing: which of the {ranks} ranks is converted", place="rank")
    if choices.get("ep") and rank is not None:
        raise Error("no rank has a part of an expert with ep: all experts are converted, those of each rank beside each other", place="rank")
    fields = [(name.replace("_", "-"), text_of(name, value)) for name, value in choices.items() if value is not None]
    chosen = plainly(_core.chosen_backend, path, None, fields) if backend is None else word("backend", backend)
    group = None if layer_group is None else _count("layer_group", layer_group, 1)
    return _count("rank", rank or 0, 0), group, chosen, fields


def _program() -> str:
    try:
        return f"mxact {version('mxact')} (Python)"
    except PackageNotFoundError:  # run from a build folder
        return "mxact (Python)"
