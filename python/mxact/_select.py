"""What an engine chooses for a deployment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import flag, integer, optional_word, path_word, word
from mxact._error import Error


def select(
    deployment: object,
    engine: str | None = None,
    oracle: str | None = None,
    strict: bool = False,
    *,
    platform: str | None = None,
    tp: int | None = None,
    dp: int | None = None,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    all2all: str | None = None,
    moe_backend: str | None = None,
) -> dict[str, Any]:
    """Which backend the engine would choose, and why.

    A model: mxact.select("MODEL", platform="B200", tp=8), where MODEL is a directory with a config.json, or that file. platform: a card or a platform.
    tp, dp: sizes. ep: ranks share the experts whole. env: variables that are set. all2all: the exchange. moe_backend: what is asked for. The answer
    then has "kinds", one for each kind of layers: its "layers", "deployment", "info", and what stands below for one deployment.
    These arguments are a model's; an INFO file or a dict says them itself (env is taken for a file, too).

    deployment: a path (text without line ends and braces, or os.PathLike), the text of such a file, or a nested dict with its keys (docs/deployment.md):
    {"platform": "SM100", "layer": {"experts": 128, "top_k": 4, "hidden": 2880, "intermediate": 2880}}.
    engine: a month ("2026-05"), a release ("vllm==0.22.1") or a commit; without it the default that the answer names. oracle: instead of the
    deployment's. strict: never a backend whose kernel's needs are broken; "skipped" then says what was left out.
    Returns what `mxact select --json` prints behind its head: "engine", "oracle", "choice" with "setup" or, where the engine refuses, "refusal"
    (which is an answer, not an error), "failure", "trace". Sizes are elements.
    Raises mxact.Error: "input" for what breaks the rules of deployment files, in a dict as in a file; "usage" or "unsupported" for unknown names.
    """
    given = placement_of(platform, tp, dp, ep, env, all2all, moe_backend)
    return _answer(deployment, given, engine, oracle, "strict" if flag("strict", strict) else "choice")


def infos(
    model: str | os.PathLike[str],
    engine: str | None = None,
    *,
    platform: str,
    tp: int | None = None,
    dp: int | None = None,
    ep: bool = False,
    env: Mapping[str, object] | None = None,
    all2all: str | None = None,
    moe_backend: str | None = None,
) -> dict[str, str]:
    """The INFO texts that a model on a platform stands for: by the numbers of the layers ("3-60") of each kind.

    Arguments as of select(). Each text, given to select(), gives the answer of its kind. Raises mxact.Error: as select().
    """
    if not isinstance(model, str | os.PathLike):
        raise Error(f"model is of type {type(model).__name__}, must be a path", place="model")
    given = placement_of(platform, tp, dp, ep, env, all2all, moe_backend)
    answer = _core.infos(path_word("model", model), given, optional_word("engine", engine))
    return {kind["layers"]: kind["info"] for kind in answer["kinds"]}


def needs(engine: str | None = None, oracle: str | None = None) -> dict[str, Any]:
    """What each backend's kernels need of a layer, a platform and their surroundings.

    engine: a version of mxact.engines(); without it the default. oracle: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8 or w4a8; without it all.
    Returns what `mxact audit --needs --json` prints behind its head: by oracle, backend and kernel class each need with its statement, what happens where
    it is broken, on which grounds, its source. Raises mxact.Error: unknown names, a version without tables of the oracle.
    """
    return _core.needs(optional_word("engine", engine), optional_word("oracle", oracle))


def audit(
    deployment: object = None,
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
) -> dict[str, Any]:
    """Where the engine's choices break a need of the kernel that they take: of a deployment, or of all that the audit tries.

    deployment, and what stands behind it: as of select(), a model among them: mxact.audit("MODEL", platform="B200", tp=8). Without it every place where a
    choice breaks a need, each with its smallest deployment; engine, oracle: as of needs(). That takes seconds for all oracles.
    Returns what `mxact audit --json` prints behind its head: "findings", and in "differences" where they are not those of the ledger; of a deployment
    what select() returns, with "broken". Raises mxact.Error: as select() and needs() do.
    """
    given = placement_of(platform, tp, dp, ep, env, all2all, moe_backend)
    if deployment is not None:
        return _answer(deployment, given, engine, oracle, "broken")
    if given:
        raise Error(f"{next(iter(given))} is for one deployment, which is not given", place=next(iter(given)))
    return _core.audit(optional_word("engine", engine), optional_word("oracle", oracle))


def _answer(deployment: object, given: dict[str, Any], engine: object, oracle: object, question: str) -> dict[str, Any]:
    """What is asked of a path, a text or a dict."""
    asked, name = optional_word("engine", engine), optional_word("oracle", oracle) or ""
    is_text = isinstance(deployment, str) and any(sign in deployment for sign in "\n{")
    if given and (is_text or isinstance(deployment, Mapping)):
        raise Error(f"{next(iter(given))} is for a model's directory or configuration: a deployment says it itself", place=next(iter(given)))
    if isinstance(deployment, Mapping):
        return _core.select_dict(_plain(deployment), asked, name, question)
    if is_text:
        return _core.select_text(word("deployment", deployment), asked, name, question)
    if not isinstance(deployment, str | os.PathLike):
        raise Error(f"deployment is of type {type(deployment).__name__}, must be a path, text or a dict", place="deployment")
    return _core.select_path(path_word("deployment", deployment), given, asked, name, question)


def placement_of(
    platform: object = None, tp: object = None, dp: object = None, ep: object = False, env: object = None, all2all: object = None, moe_backend: object = None
) -> dict[str, Any]:
    """What was given of a model's placement, checked by type."""
    words = {"platform": platform, "all2all": all2all, "moe_backend": moe_backend}
    given: dict[str, Any] = {name: word(name, value) for name, value in words.items() if value is not None}
    given |= {name: integer(name, value) for name, value in {"tp": tp, "dp": dp}.items() if value is not None}
    if flag("ep", ep):
        given["ep"] = True
    if env is not None:
        if not isinstance(env, Mapping):
            raise Error(f"env is of type {type(env).__name__}, must be a dict of variables", place="env")
        given["env"] = _plain(env)
    return given


def _plain(value: Mapping[Any, Any], depth: int = 0) -> dict[Any, Any]:
    """Other mappings as dicts and NumPy's numbers as Python's. What nests deeper than any file may is left to be refused."""
    deepest = 16
    plain: dict[Any, Any] = {}
    for key, member in value.items():
        if isinstance(member, Mapping) and depth < deepest:
            member = _plain(member, depth + 1)
        elif isinstance(member, np.generic):
            member = member.item()
        plain[key] = member
    return plain
