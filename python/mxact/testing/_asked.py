"""What callers of power() and of what is beside it hand over, checked."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxact._arguments import flag, integer, word
from mxact._error import Error
from mxact._select import select
from mxact.testing import _right
from mxact.testing._power_data import Sizes

DTYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "fp16"}


def results_of(value: object) -> tuple[str, bool]:
    """The format of results, and whether they are torch's."""
    name = value if isinstance(value, str) else str(value)
    is_torch = name.startswith("torch.")
    if not isinstance(value, str) and not is_torch:
        try:
            name = str(np.dtype(value))  # type: ignore[call-overload]
        except TypeError:
            name = type(value).__name__
    name = name.removeprefix("torch.")
    if is_torch and "torch" not in sys.modules:
        raise Error(f"dtype is {value!r}, and torch is not imported", place="dtype")
    if name not in DTYPES:
        raise Error(f"dtype is {name!r}, must be one of {', '.join(DTYPES)}, of NumPy or torch", place="dtype")
    return DTYPES[name], is_torch


def one_of(name: str, value: object, known: Sequence[str]) -> str:
    given = word(name, value)
    if given not in known:
        raise Error(f"{name} is {given!r}, must be one of {', '.join(known)}", place=name)
    return given


def some_of(name: str, value: object, known: Sequence[str]) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise Error(f"{name} is of type {type(value).__name__}, must be a list of names", place=name)
    return [one_of(name, one, known) for one in value]


def sizes_of(sizes: object, tokens: object, top_k: object, bias: object) -> Sizes:
    if not isinstance(sizes, Sequence) or isinstance(sizes, str) or len(sizes) != 3:
        raise Error("sizes must be three numbers: experts, intermediate and hidden size", place="sizes")
    experts, intermediate, hidden = (integer("sizes", one) for one in sizes)
    if experts < 1 or intermediate < 128 or hidden < 128 or intermediate % 128 or hidden % 128:
        raise Error(f"sizes is {experts} x {intermediate} x {hidden}, must be one expert or more, and multiples of 128", place="sizes")
    made = Sizes(experts, intermediate, hidden, integer("tokens", tokens), integer("top_k", top_k), flag("bias", bias))
    if made.tokens < 1 or not 1 <= made.top_k <= experts:
        raise Error(f"tokens is {made.tokens}, top_k {made.top_k} of {experts} experts: must be a token or more, and an expert or more for each", place="tokens" if made.tokens < 1 else "top_k")
    return made


def of_deployment(deployment: object, engine: str | None) -> tuple[dict[str, Any], str, str]:
    """Format, activation, limit, top_k and bias of a deployment, the backend that the engine chooses, and the platform."""
    if not isinstance(deployment, Mapping):
        raise Error(f"deployment is of type {type(deployment).__name__}, must be a dict with the keys of such a file", place="deployment")
    answer = select(deployment, engine=engine)
    if "choice" not in answer:
        raise Error(f"the engine refuses the deployment: {answer.get('refusal')}", "unsupported", "deployment")
    layer = deployment["layer"]
    limit, platform = layer.get("swiglu_limit", False), deployment.get("platform")
    if limit is True:
        raise Error("swiglu_limit is true: its number is needed", "input", "deployment")
    if not isinstance(platform, str):
        raise Error("deployment has no platform: its name is needed", place="deployment")
    asked = {"activation": layer.get("activation", "SILU"), "top_k": layer["top_k"], "bias": layer.get("bias", False), "format": _right.format_of(deployment)}
    asked["constants"] = {"limit": float(limit)} if isinstance(limit, int | float) and limit else None
    return asked, answer["choice"]["backend"], platform
