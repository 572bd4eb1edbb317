"""Choices of an engine's own code, one deployment after the other. Run as `python -m mxact.engine._recorder TREE FNUZ`: deployments on standard input, choices on standard output."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import sys
import types
from typing import Any

from mxact.engine._machine import DTYPES, FUSED, QUANT, Machine
from mxact.engine._stubs import Finder, Guessed, Stub, Watch
from mxact.engine._tree import Tree

_REAL = {f"{FUSED}.{name}" for name in ("flashinfer_moe_ep", "config", "activation", "modular_kernel", "b12x", "hpc_moe", "topk_weight_and_reduce")}
_REAL |= {f"{QUANT}.{name}" for name in ("humming.priority", "quant_utils", "ocp_mx_utils")}
_REAL |= {f"vllm.{name}" for name in ("scalar_type", "utils.math_utils", "utils.humming", "envs", "platforms.interface", "model_executor.kernels.linear.zentorch_utils")}
_ROOTS = ["vllm", "torch", "triton", "triton_kernels", "humming", "compressed_tensors", "aiter", "flashinfer", "deep_gemm", "pydantic", "pydantic_core", "regex", "xgrammar", "vllm_xpu_kernels", "amdsmi", "cutlass", "zentorch", "requests", "pandas"]
# The oracle's module, its function, what it is called with behind the layer's configuration.
_ORACLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "mxfp4": ("mxfp4", "select_mxfp4_moe_backend", ("activation_key",)),
    "mxfp4_deepseek_v4": ("mxfp4", "select_deepseek_v4_mxfp4_moe_backend", ()),
    "nvfp4": ("nvfp4", "select_nvfp4_moe_backend", ("weight_key", "activation_key")),
    "fp8": ("fp8", "select_fp8_moe_backend", ("weight_key", "activation_key", "allow_vllm_cutlass")),
    "mxfp8": ("mxfp8", "select_mxfp8_moe_backend", ()),
    "w4a8": ("w4a8", "select_w4a8_moe_backend", ("weight_key", "activation_key")),
    "int_wna16": ("int_wna16", "select_wna16_moe_backend", ("weight_key", "quant_config", "may_have_zp", "may_have_bias", "allow_tile_padding")),
    "unquantized": ("unquantized", "select_unquantized_moe_backend", ()),
    "int8": ("int8", "select_int8_moe_backend", ("weight_key", "activation_key")),
    "w4a8_int8": ("w4a8_int8", "select_w4a8_int8_moe_backend", ("weight_key", "activation_key")),
}
_EXPECTED = (ValueError, NotImplementedError, AssertionError, KeyError, ModuleNotFoundError)


def _is_real(name: str) -> bool:
    return name in _REAL or name.startswith((f"{FUSED}.oracle.", f"{FUSED}.experts."))


class Engine:
    """The oracles of a tree. `missing`: what could not be imported, by oracle."""

    def __init__(self, tree: Tree, fnuz: bool) -> None:
        sys.meta_path.insert(0, Finder(tree, _is_real, _ROOTS))
        logger = _module("vllm.logger")
        logger.init_logger, logger.logger = (lambda *_args: Stub()), Stub()
        _module("vllm").envs = _module("vllm.envs")
        self.machine = Machine(tree)
        self.machine.hardware = {"platform": "rocm", "gcn_arch": "gfx942"} if fnuz else {"platform": "cuda", "capability": 90}
        self.missing: dict[str, str] = {}
        self._asked: dict[str, Any] = {}
        self._substitute_configs()
        self._keys = self._named_keys()
        self._config = _module(f"{FUSED}.config")
        self._activations = _module(f"{FUSED}.activation").MoEActivation
        kernel, package = _module(f"{FUSED}.modular_kernel"), _module(FUSED)
        self._config.get_dp_group = self._config.get_pcp_group = lambda: types.SimpleNamespace(rank_in_group=0)
        self._config.get_tensor_model_parallel_rank = lambda: 0
        package.FusedMoEConfig, package.MoEActivation = self._config.FusedMoEConfig, self._activations
        package.FusedMoEParallelConfig, package.FusedMoEActivationFormat = self._config.FusedMoEParallelConfig, kernel.FusedMoEActivationFormat
        for oracle, (module, function, _arguments) in _ORACLES.items():
            if tree.text(f"{FUSED}.oracle.{module}") is None:
                self.missing[oracle] = f"the tree has no {FUSED}.oracle.{module}"
                continue
            try:
                if not callable(getattr(_module(f"{FUSED}.oracle.{module}"), function, None)):
                    self.missing[oracle] = f"{FUSED}.oracle.{module} has no {function}"
            except Exception as error:  # noqa: BLE001  whatever a file of another date raises
                self.missing[oracle] = f"{FUSED}.oracle.{module}: {type(error).__name__}: {error}"

    def _substitute_configs(self) -> None:
        """What checkpoints and the model say beside the layer."""
        for package in (f"{FUSED}.oracle", f"{FUSED}.experts"):
            _module(package)
        quantization = _module("vllm.config.quantization")
        quantization.QuantizationConfigArgs = type("QuantizationConfigArgs", (), {"__init__": lambda self, moe: setattr(self, "moe", moe)})
        compressed = _module("compressed_tensors.quantization")
        compressed.QuantizationArgs = type("QuantizationArgs", (), {})
        words = ("tensor", "channel", "group", "block", "token", "tensor_group", "attn_head")
        compressed.QuantizationStrategy = importlib.import_module("enum").Enum("QuantizationStrategy", {word.upper(): word for word in words}, type=str)
        for module, name in (("auto_awq", "AutoAWQConfig"), ("auto_gptq", "AutoGPTQConfig"), ("moe_wna16", "MoeWNA16Config")):
            setattr(_module(f"vllm.model_executor.layers.quantization.{module}"), name, type(name, (), {}))

        def current() -> Any:
            model = self._asked.get("model", {})
            hugging = types.SimpleNamespace(model_type=model.get("type"))
            text = types.SimpleNamespace(model_type=model.get("text_type") or model.get("type"))
            named = types.SimpleNamespace(quantization_config=None, hf_config=hugging, hf_text_config=text)
            parallel = types.SimpleNamespace(enable_dbo=bool(model.get("dbo")), enable_eplb=bool(self._asked.get("parallel", {}).get("eplb")))
            return types.SimpleNamespace(model_config=named, weight_transfer_config={} if model.get("weight_transfer") else None, parallel_config=parallel)

        config = _module("vllm.config")
        config.get_current_vllm_config = config.get_current_vllm_config_or_none = current
        kernel = _module("vllm.config.kernel")
        names: dict[str, Any] = {}
        self.machine._extract.into(names, "vllm.config.kernel", ["FLASHINFER_MOE_EP_CUTEDSL", "FLASHINFER_MOE_EP_DEEP_GEMM", "FLASHINFER_MOE_EP_BACKENDS"])
        for name, value in names.items():
            if name.startswith("FLASHINFER_"):
                setattr(kernel, name, value)

    def _named_keys(self) -> dict[str, Any]:
        keys = _module(f"{QUANT}.quant_utils")
        return {name: getattr(keys, name) for name in dir(keys) if re.match("k[A-Z]", name) and isinstance(getattr(keys, name), keys.QuantKey)} | {"None": None}

    def choice(self, asked: dict[str, Any]) -> dict[str, Any]:
        """{"backend", "kernel_class"} with the rounded sizes where the oracle rounds, {"error_type"}, or {"unrecorded"} with the reason."""
        oracle = asked["oracle"]
        if oracle in self.missing:
            return {"unrecorded": self.missing[oracle]}
        self._asked = asked
        self.machine.become(asked["hardware"], frozenset(asked["software"]), asked["env"])
        Watch.running = True
        try:
            return self._decided(oracle, asked)
        except _EXPECTED as error:
            return {"error_type": type(error).__name__, "text": str(error)[:200]}
        except (Guessed, AttributeError, TypeError, NameError, ImportError) as error:
            return {"unrecorded": f"{type(error).__name__}: {error}"[:200]}
        finally:
            Watch.running = False

    def _decided(self, oracle: str, asked: dict[str, Any]) -> dict[str, Any]:
        module, function, arguments = _ORACLES[oracle]
        values = {"weight_key": self._keys.get(asked["weight_key"]), "activation_key": self._keys.get(asked["activation_key"])}
        values["allow_vllm_cutlass"] = asked["allow_vllm_cutlass"]
        if "weight_only" in asked:
            of = asked["weight_only"]
            values |= {"may_have_zp": of["zero_point"], "may_have_bias": of["bias"], "allow_tile_padding": of["tile_padding"], "quant_config": self._checkpoint(of)}
        layer = self._layer(asked)
        source = _module(f"{FUSED}.oracle.{module}")
        backend, kernel_class = getattr(source, function)(layer, *[values[name] for name in arguments])
        answer = {"backend": backend.name, "kernel_class": kernel_class.__name__ if kernel_class else ""}
        rounding = getattr(source, "mxfp4_round_up_hidden_size_and_intermediate_size", None)
        if module == "mxfp4" and rounding is not None:
            sizes = (backend, layer.hidden_dim, layer.intermediate_size_per_partition)
            answer["hidden"], answer["intermediate"] = rounding(*sizes, *([layer.activation] if rounding.__code__.co_argcount > 3 else []))
        return answer

    def _checkpoint(self, of: dict[str, Any]) -> Any:
        """The configuration of a checkpoint of integers. compressed-tensors infers the strategy that is not written from the group size."""
        where = {"auto_awq": ("auto_awq", "AutoAWQConfig"), "auto_gptq": ("auto_gptq", "AutoGPTQConfig"), "moe_wna16": ("moe_wna16", "MoeWNA16Config")}
        compressed = _module("compressed_tensors.quantization")
        if of["kind"] in where:
            module, name = where[of["kind"]]
            made = getattr(_module(f"vllm.model_executor.layers.quantization.{module}"), name)()
        else:
            made = compressed.QuantizationArgs() if of["kind"] == "compressed_tensors" else types.SimpleNamespace()
        made.group_size, made.desc_act, made.actorder = of["group_size"], of["desc_act"], of["actorder"]
        made.strategy = compressed.QuantizationStrategy("group" if of["group_size"] > 0 else "channel")
        return made

    def _layer(self, asked: dict[str, Any]) -> Any:
        given, parallel = asked["layer"], asked["parallel"]
        config = types.SimpleNamespace(enable_expert_parallel=parallel["expert_parallel"], all2all_backend=parallel["all2all"], enable_eplb=parallel["eplb"])
        ranks = self._config.FusedMoEParallelConfig.make(parallel["tp"], parallel["pcp"], parallel["dp"], parallel["sp"], config)
        activation = given["activation"]
        wanted = {
            "num_experts": given["experts"], "experts_per_token": given["top_k"], "hidden_dim": given["hidden"], "intermediate_size": given["intermediate"],
            "intermediate_size_per_partition": given["intermediate"] // ranks.tp_size, "num_local_experts": max(1, given["experts"] // ranks.ep_size),
            "num_logical_experts": given["experts"], "activation": self._activations[activation], "device": "cpu", "in_dtype": DTYPES[given["dtype"]],
            "routing_method": self._config.RoutingMethodType[given["routing"]], "moe_parallel_config": ranks, "router_logits_dtype": DTYPES[given["dtype"]],
            "moe_backend": asked["backend"], "max_num_tokens": 256, "has_bias": given["bias"], "is_lora_enabled": given["lora"],
            "is_act_and_mul": not activation.endswith("_NO_MUL"), "swiglu_limit": given["swiglu_limit"], "swiglu_alpha": given["swiglu_alpha"],
            "swiglu_beta": given["swiglu_beta"], "activation_situ_beta": given["situ_beta"], "activation_situ_linear_beta": given["situ_linear_beta"],
        }  # fmt: skip
        known = {field.name for field in dataclasses.fields(self._config.FusedMoEConfig) if field.init}
        init = set(self._config.FusedMoEConfig.__init__.__code__.co_varnames[: self._config.FusedMoEConfig.__init__.__code__.co_argcount])
        if "intermediate_size" in init and "intermediate_size_per_partition" in known:
            known.discard("intermediate_size_per_partition")
        return self._config.FusedMoEConfig(**{name: value for name, value in wanted.items() if name in known | init})


def _module(name: str) -> Any:
    return importlib.import_module(name)


def main(words: list[str]) -> int:
    engine = Engine(Tree(words[0]), words[1] == "fnuz")
    print(json.dumps({"missing": engine.missing}), flush=True)
    for line in sys.stdin:
        print(json.dumps(engine.choice(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
