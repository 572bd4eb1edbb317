"""Right kernels: how real backends compute a layer, by the tables of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mxact import _core
from mxact._arguments import Array, flat_bytes
from mxact._error import Error
from mxact._layers import pack
from mxact._moe import moe_layer
from mxact._select import select
from mxact._tables import contract_record
from mxact.testing._converters import Layer, padded_of
from mxact.testing._kernels import BF16
from mxact.testing._power_data import ORDINARY, Sizes, case_of
from mxact.testing._stages import Arithmetic, Case

# The oracle that chooses for a format, and what a checkpoint says of its activations: nothing, or each of these.
_KEYS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "mxfp4": ("mxfp4", {}, ("",)),
    "mxfp8": ("mxfp8", {}, ("",)),
    "nvfp4": ("nvfp4", {"weight_key": "kNvfp4Static"}, ("None", "kNvfp4Dynamic")),
    "fp8_tensor": ("fp8", {"weight_key": "kFp8StaticTensorSym"}, ("kFp8StaticTensorSym", "kFp8DynamicTensorSym")),
    "fp8_channel": ("fp8", {"weight_key": "kFp8StaticChannelSym"}, ("kFp8DynamicTokenSym",)),
    "fp8_block": ("fp8", {"weight_key": "kFp8Static128BlockSym"}, ("kFp8Dynamic128Sym",)),
}
FORMATS = tuple(_KEYS)
# A backend whose outputs are further off than this part of the largest computes something else: findings.md says what, of some that are chosen all the same.
_ELSE = 0.125


def format_of(deployment: Mapping[str, Any]) -> str:
    """The format of a deployment's layer. Raises mxact.Error for one that has no right kernels here."""
    oracle, key = str(deployment.get("oracle", "mxfp4")), deployment.get("weight_key")
    for format, (name, keys, _) in _KEYS.items():
        if name == oracle and keys.get("weight_key") in (None, key):
            return format
    raise Error(f"deployment has oracle {oracle!r} and weight_key {key!r}, must be of {', '.join(_KEYS)}", "unsupported", "deployment")


@dataclass(frozen=True)
class Right:
    """name: who computes, and where. how: quantizers, contract and grounds, as `mxact verify` says them. run: of a layer what the kernel gives. is_else: it
    computes something else than the layer."""

    name: str
    how: str
    run: Callable[[Case], Array]
    is_else: bool = False


def by_contract(how: Arithmetic) -> Right:
    """The model's own layer under the contract that a comparison is made against: of the checkpoint's form where no constant but the limit is given, else of numbers."""
    if how.quantizer != "none":
        raise Error(f"activations is {how.quantizer!r} beside a contract or constants, which take 'none': quantizers are a backend's", place="activations")

    def run(case: Case) -> Array:
        arguments = case.tokens, flat_bytes(case.x), flat_bytes(case.ids), flat_bytes(case.weights)
        if not _own_constants(how):
            form = how.format, "standard", (case.experts, case.w13.shape[1] // 2, case.w13.shape[2])
            tensors = [(name, flat_bytes(values)) for name, values in case.layer.items()]
            asked: Any = (how.contract, *form, tensors, how.activation, how.limit, *arguments)
            made: Any = _core.run_contract(*asked)
            return np.asarray(made.view(np.float32)).reshape(case.x.shape)
        biases = case.bias("w13"), case.bias("w2")
        _, stages = moe_layer(case.x, case.ids, case.weights, case.w13, case.w2, how.contract, how.row, how.constants, *biases, stages=True)
        return case.summed(stages["expert_out"], case.weights)

    return Right(how.contract, f"{how.quantizer} x {how.contract}", run)


def _own_constants(how: Arithmetic) -> bool:
    """Beside the limit, which a model hands on to backends."""
    return bool(how.constants.keys() - {"limit"})


def _by_turns(rows: Array) -> Array:
    return np.ascontiguousarray(np.stack(np.split(rows, 2, axis=1), axis=2).reshape(rows.shape))


def _form(case: Case) -> tuple[Layer, str]:
    """The layer in the order of rows that the activation comes with: gate and up by turns where each row has scales of its own."""
    scales = case.layer["w13_weight_scale"]
    rows = case.layer["w13_weight"].shape[1]
    if case.how.activation != "SWIGLUOAI" or (scales.ndim > 1 and scales.shape[1] != rows):
        return case.layer, "standard"
    turned = {name for name, values in case.layer.items() if name.startswith("w13") and values.ndim > 1}
    return {name: _by_turns(values) if name in turned else values for name, values in case.layer.items()}, "gpt_oss"


def run_backend(case: Case, backend: str, platform: str, key: str, engine: str | None) -> tuple[Array, str]:
    """bf16 of every output as the backend's kernels compute it, and how. Raises mxact.Error where it does not take the layer."""
    layer, order = _form(case)
    made = pack(layer, backend, engine=engine, platform=platform.lower(), format=case.how.format, order=order, padded=padded_of(layer))
    tensors = [(name, flat_bytes(values)) for name, values in made.tensors.items()]
    arguments = case.tokens, flat_bytes(case.x), flat_bytes(case.ids), flat_bytes(case.weights)
    out, how = _core.run_kernel(made.spec, tensors, case.how.activation, case.how.limit, key, *arguments)
    return np.asarray(out).view(BF16).reshape(case.x.shape), how


def _runner(backend: str, platform: str, key: str, engine: str | None) -> Callable[[Case], Array]:
    return lambda case: run_backend(case, backend, platform, key, engine)[0]


def _chosen(how: Arithmetic, sizes: Sizes, engine: str | None) -> list[tuple[str, str, str]]:
    """Backend, platform and activation key: what the engine chooses on each platform, of itself and for every wish."""
    oracle, keys, activations = _KEYS[how.format]
    words = _core.deployment_words(engine)
    shape = {"experts": sizes.experts, "top_k": sizes.top_k, "hidden": sizes.hidden, "intermediate": sizes.intermediate}
    found: dict[tuple[str, str, str], None] = {}
    for key in activations:
        for platform in words["platform"]:
            for wish in words["oracles"][oracle]:
                deployment: dict[str, Any] = {"oracle": oracle, "platform": platform, "backend": wish, **keys}
                deployment |= {"activation_key": key} if key else {}
                deployment["layer"] = shape | {"activation": how.activation, "bias": sizes.bias}
                try:
                    answer = select(deployment, engine=engine)
                except Error:
                    continue
                if "choice" in answer:
                    found[answer["choice"]["backend"], platform, key] = None
    return list(found)


@lru_cache(maxsize=32)
def _of_format(
    format: str, activation: str, limit: float | None, quantizer: str, bias: bool, engine: str | None, backend: str | None, platform: str | None
) -> tuple[Right, ...]:
    """Of one backend on one platform, or of all that the engine chooses."""
    how = Arithmetic(format, activation, constants={} if limit is None else {"limit": limit}, quantizer=quantizer)
    sizes = Sizes(2, 256, 256, 1, 2, bias)
    case = case_of(how, sizes, ORDINARY[0], 0)
    rights: dict[tuple[str, str], Right] = {}
    asked = _chosen(how, sizes, engine) if backend is None or platform is None else [(backend, platform, key) for key in _KEYS[format][2]]
    for name, where, key in asked:
        try:
            out, text = run_backend(case, name, where, key, engine)
        except Error:  # no arithmetic of it is known, or it takes no layer of these sizes
            continue
        quantizers, contract = text.split(",")[0].split(" x ")
        if quantizers == quantizer:
            is_else = bool(np.abs(out.astype(np.float32) - case.right).max() > _ELSE * np.abs(case.right).max())
            rights.setdefault((name, contract_record(contract)), Right(f"{name} on {where}", text, _runner(name, where, key, engine), is_else))
    return tuple(rights.values())


def rights_of(how: Arithmetic, bias: bool, engine: str | None = None, backend: str | None = None, platform: str | None = None) -> list[Right]:
    """Every backend that an engine chooses for such layers on some platform, once for each arithmetic; of one backend on one platform that alone. With constants
    that no model hands on: the layer itself under each of their contracts.

    Raises mxact.Error where none is known."""
    limit = None if _own_constants(how) else how.constants.get("limit")
    rights = list(_of_format(how.format, how.activation, limit, how.quantizer, bias, engine, backend, platform))
    if _own_constants(how):
        contracts = dict.fromkeys(right.how.split(",")[0].split(" x ")[1] for right in rights)
        rights = [by_contract(replace(how, contract=contract)) for contract in contracts]
    if not any(not right.is_else for right in rights):
        whose = f"{backend} on {platform} computes" if backend else "a backend computes"
        raise Error(f"how {whose} {how.format} with activations {how.quantizer!r} and {how.activation} is not known: there is no right kernel to show", "unsupported", "format")
    return rights
