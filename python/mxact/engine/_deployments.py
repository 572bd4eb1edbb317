"""Deployments that are put to both: machines x layers x spreads x wishes of every oracle, in the form of deployment files (docs/deployment.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_CUDA = ["has_flashinfer", "has_flashinfer_trtllm_fused_moe", "has_flashinfer_cutlass_fused_moe", "has_flashinfer_cutedsl_moe_nvfp4", "has_flashinfer_cutedsl_grouped_gemm_nt_masked", "has_flashinfer_b12x_moe", "has_triton_kernels", "has_deep_gemm", "cutlass_group_gemm_op", "humming_installed", "flashinfer_situ", "has_quark"]
_ROCM = ["has_triton_kernels", "aiter_found", "aiter_mxfp8", "has_quark"]
_AITER = {"VLLM_ROCM_USE_AITER": "1"}

# Hardware, what is installed, variables.
_MACHINES: list[tuple[dict[str, Any], str, dict[str, str]]] = [
    *(({"platform": "cuda", "capability": capability}, "cuda", {}) for capability in (80, 89, 90, 100, 103, 120)),
    *(({"platform": "rocm", "gcn_arch": arch}, "rocm", {}) for arch in ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")),
    *(({"platform": "rocm", "gcn_arch": arch}, "rocm", _AITER) for arch in ("gfx942", "gfx950", "gfx1250")),
    ({"platform": "cuda", "capability": 90}, "none", {}),
    ({"platform": "cuda", "capability": 100}, "none", {}),
    ({"platform": "cuda", "capability": 90}, "cuda", {"VLLM_BATCH_INVARIANT": "1"}),
    ({"platform": "cuda", "capability": 100}, "cuda", {"VLLM_USE_DEEP_GEMM": "0"}),
    ({"platform": "xpu"}, "none", {}),
    ({"platform": "cpu", "amx": True}, "none", {}),
]
# Activation, routing, biases, changes.
_LAYERS: list[dict[str, Any]] = [
    {"activation": "SILU", "routing": "Renormalize", "bias": False},
    {"activation": "SWIGLUOAI", "routing": "Renormalize", "bias": True},
    {"activation": "SILU", "routing": "DeepSeekV3", "bias": False, "swiglu_limit": 10.0},
    {"activation": "SILU", "routing": "DeepseekV4", "bias": False, "lora": True},
    {"activation": "GELU", "routing": "Default", "bias": False, "dtype": "float16"},
    {"activation": "RELU2_NO_MUL", "routing": "Renormalize", "bias": False},
]
_SPREADS: list[dict[str, Any]] = [
    {},
    {"tp": 4},
    {"dp": 4, "expert_parallel": True},
    {"dp": 4, "expert_parallel": True, "all2all": "deepep_low_latency"},
    {"dp": 2, "tp": 2, "expert_parallel": True, "all2all": "flashinfer_nvlink_one_sided", "eplb": True},
]
# Keys of weights and activations that callers pass, names of backends.
_ORACLES: dict[str, tuple[list[tuple[str, str]], list[str]]] = {
    "mxfp4": ([("kMxfp4Static", "None"), ("kMxfp4Static", "kMxfp8Dynamic")], ["auto", "marlin", "triton", "flashinfer_trtllm", "aiter", "emulation"]),
    "mxfp4_deepseek_v4": ([("kMxfp4Static", "None")], ["auto", "deep_gemm", "marlin"]),
    "nvfp4": ([("kNvfp4Static", "kNvfp4Dynamic"), ("kNvfp4Static", "None")], ["auto", "cutlass", "flashinfer_trtllm", "flashinfer_cutedsl", "marlin"]),
    "fp8": (
        [("kFp8Static128BlockSym", "kFp8Dynamic128Sym"), ("kFp8StaticTensorSym", "kFp8StaticTensorSym"), ("kFp8StaticChannelSym", "kFp8DynamicTokenSym")],
        ["auto", "triton", "deep_gemm", "flashinfer_cutlass", "marlin", "aiter"],
    ),
    "mxfp8": ([("kMxfp8Static", "kMxfp8Dynamic")], ["auto", "flashinfer_trtllm", "marlin"]),
    "w4a8": ([("kInt4Static", "kFp8DynamicTokenSym")], ["auto", "humming"]),
    "int_wna16": ([("kInt4Static", "None")], ["auto", "marlin", "triton"]),
    "unquantized": ([("None", "None")], ["auto", "triton", "flashinfer_trtllm", "aiter"]),
    "int8": ([("kInt8StaticChannelSym", "kInt8DynamicTokenSym")], ["auto", "triton", "humming"]),
    "w4a8_int8": ([("kInt4W4A8StaticGroup128Sym", "None")], ["auto", "cpu"]),
}
_WEIGHT_ONLY: list[dict[str, Any]] = [
    {"kind": "auto_awq", "zero_point": True, "bias": True, "tile_padding": True},
    {"kind": "auto_gptq", "bias": True, "tile_padding": True},
    {"kind": "moe_wna16"},
    {"kind": "compressed_tensors"},
    {"kind": "compressed_tensors", "actorder": "group"},
]
_WEIGHT_ONLY_USUAL: dict[str, Any] = {"group_size": 128, "desc_act": False, "actorder": None, "zero_point": False, "bias": False, "tile_padding": False}
_PARALLEL = {"tp": 1, "pcp": 1, "dp": 1, "sp": 1, "expert_parallel": False, "all2all": "allgather_reducescatter", "eplb": False}
_LAYER = {"experts": 64, "top_k": 4, "hidden": 2880, "intermediate": 2880, "dtype": "bfloat16", "lora": False, "swiglu_limit": None, "swiglu_alpha": None}
_LAYER |= {"swiglu_beta": None, "situ_beta": None, "situ_linear_beta": None}


def oracles() -> list[str]:
    return list(_ORACLES)


def deployments(oracle: str) -> Iterator[dict[str, Any]]:
    """Every deployment of an oracle."""
    for one in _plain(oracle):
        yield from _of_integers(one) if oracle == "int_wna16" else [one]


def sampled(oracle: str, most: int) -> list[dict[str, Any]]:
    """So many of them, of every kind alike; 0: all."""
    every, stride = list(deployments(oracle)), 7919
    if most == 0 or most >= len(every):
        return every
    return [every[i] for i in sorted(i * stride % len(every) for i in range(most))]


def _plain(oracle: str) -> Iterator[dict[str, Any]]:
    installed: dict[str, list[str]] = {"none": [], "cuda": _CUDA, "rocm": _ROCM}
    keys, wishes = _ORACLES[oracle]
    for hardware, packages, env in _MACHINES:
        for layer in _LAYERS:
            for spread in _SPREADS:
                for weight_key, activation_key in keys:
                    for wish in wishes:
                        yield {
                            "oracle": oracle, "hardware": hardware, "software": installed[packages], "env": env, "parallel": _PARALLEL | spread, "backend": wish,
                            "layer": _LAYER | layer, "weight_key": weight_key, "activation_key": activation_key, "allow_vllm_cutlass": False,
                        }  # fmt: skip


def _of_integers(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind in _WEIGHT_ONLY:
        yield one | {"weight_only": _WEIGHT_ONLY_USUAL | kind}


def as_file(asked: dict[str, Any], probes: list[str], reads: frozenset[str]) -> dict[str, Any]:
    """The deployment as mxact.select takes it. `probes`: every answer of a package probe; `reads`: which of the two keys the oracle reads."""
    layer = {name: value for name, value in asked["layer"].items() if value is not None}
    limits = {name: layer.get(name, "none") for name in ("swiglu_limit", "swiglu_alpha", "swiglu_beta", "situ_beta", "situ_linear_beta")}
    file = {
        "oracle": asked["oracle"], "hardware": asked["hardware"], "software": {name: name in asked["software"] for name in probes}, "env": asked["env"],
        "parallel": asked["parallel"], "backend": asked["backend"], "layer": layer | limits | {"act_and_mul": not layer["activation"].endswith("_NO_MUL")},
    }  # fmt: skip
    file |= {name: asked[name] for name in reads}
    if "weight_only" in asked:
        file["weight_only"] = {name: value for name, value in asked["weight_only"].items() if value is not None}
    return file
