"""The machine that a deployment describes, as the engine's probes see it: dtypes of torch, platforms, packages, compiled ops."""

from __future__ import annotations

import importlib
import os
import tempfile
import types
from collections.abc import Callable
from typing import Any

from mxact.engine._stubs import Extract, Stub
from mxact.engine._tree import Tree

FUSED = "vllm.model_executor.layers.fused_moe"
QUANT = "vllm.model_executor.layers.quantization.utils"

_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "uint8": 1, "int8": 1, "int32": 4, "int64": 8, "int16": 2, "float8_e4m3fn": 1, "float8_e4m3fnuz": 1}
_SIZES |= {"float8_e5m2": 1, "float8_e8m0fnu": 1, "bool": 1, "long": 8, "int": 4, "float64": 8, "uint32": 4, "float4_e2m1fn_x2": 1, "half": 2, "float": 4}
_ROCM_CONSTANTS = ["GFX1X", "GFX11", "GFX115X", "GFX1100", "GFX1151", "GFX12X", "MI3XX", "GFX9", "GFX90A", "GFX942", "GFX950", "GFX1250", "CDNA", "RDNA", "RDNA4"]
_ROCM_FUNCTIONS = ["on_gfx1x", "on_gfx11", "on_gfx115x", "get_rdna_version", "on_gfx1100", "on_gfx1151", "on_gfx12x", "on_gfx1250", "on_rdna4", "on_mi3xx", "on_gfx9", "on_gfx90a", "on_gfx942", "on_gfx950", "on_cdna", "on_rdna", "get_cdna_version", "_capability_from_gcn_arch"]
_CPU_NAMES = {"x86": "X86", "arm": "ARM", "power": "POWERPC", "s390x": "S390X", "riscv": "RISCV"}
_FLASHINFER = ["has_flashinfer", "has_flashinfer_trtllm_fused_moe", "has_flashinfer_cutlass_fused_moe", "has_flashinfer_cutedsl_moe_nvfp4", "has_flashinfer_cutedsl_grouped_gemm_nt_masked", "has_flashinfer_b12x_moe"]


class DType:
    """A dtype of torch, told apart by identity."""

    def __init__(self, name: str) -> None:
        self.name, self.itemsize = name, _SIZES[name]

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __or__(self, other: object) -> Any:
        return self

    def __ror__(self, other: object) -> Any:
        return self


DTYPES = {name: DType(name) for name in _SIZES}


class _Ops:
    """Compiled ops: those that the machine has; a missing one raises as torch does."""

    def __init__(self, answers: Callable[[str], Any]) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("__") else self._answers(name)
        if found is None:
            raise AttributeError(name)
        return found


class Machine:
    """One machine at a time, set by `become`. The engine's modules are patched once, by __init__."""

    def __init__(self, tree: Tree) -> None:
        self.hardware: dict[str, Any] = {"platform": "cuda"}
        self.software: frozenset[str] = frozenset()
        self._extract = Extract(tree)
        self._rocm: dict[str, Any] = {"re": importlib.import_module("re"), "logger": Stub(), "_GCN_ARCH": "gfx950", "__name__": "rocm"}
        self._torch()
        self._platforms()
        self._packages()
        self._aiter()

    def has(self, name: str) -> bool:
        return name in self.software

    def become(self, hardware: dict[str, Any], software: frozenset[str], env: dict[str, str]) -> None:
        self.hardware, self.software = dict(hardware), software
        for name in [name for name in os.environ if name.startswith("VLLM_")]:
            del os.environ[name]
        os.environ.update(env)
        if hardware["platform"] == "rocm":
            self._set_arch(hardware["gcn_arch"])
        envs = importlib.import_module("vllm.envs")
        self.aiter_ops._AITER_ENABLED = envs.VLLM_ROCM_USE_AITER
        self.aiter_ops._FMOE_ENABLED = envs.VLLM_ROCM_USE_AITER_MOE
        self.aiter_ops._MOE_SHARED_EXPERTS_ENABLED = envs.VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS
        self._aiter_names["IS_AITER_FOUND"] = self.has("aiter_found")
        extra = [f"{name}=0" for name in ("gate_mode", "quant_dtype_a") if self.has(f"aiter_{name}")]
        _module("aiter.fused_moe").fused_moe = eval(f"lambda {', '.join(['a', *extra])}: 0")
        _module("aiter").__file__ = os.path.join(self._tables if self.has("aiter_mxfp8") else os.devnull, "__init__.py")

    def _torch(self) -> None:
        torch = _module("torch")
        for name, dtype in DTYPES.items():
            setattr(torch, name, dtype)
        torch.dtype, torch.__version__ = DType, "substitute"
        short = {"float8_e4m3fn": "f8e4m3fn", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0fnu", "float4_e2m1fn_x2": "f4e2m1fnx2"}
        short |= {"bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16", "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "bool": "b8"}
        _module("torch.fx.graph").dtype_abbrs = {DTYPES[name]: word for name, word in short.items()}

        def compiled(name: str) -> Any:
            answers: dict[str, Any] = {
                "cutlass_group_gemm_supported": (lambda _capability: True) if self.has("cutlass_group_gemm_op") else None,
                "mxfp4_experts_quant_supported": (lambda _capability: True) if self.has("mxfp4_experts_quant_op") else None,
                "cpu_fused_moe_int8": 1 if self.has("cpu_fused_moe_int8_op") else None,
                "cpu_has_amx_fp8": (lambda: bool(self.hardware.get("amx_fp8"))) if self.has("cpu_has_amx_fp8_op") else None,
            }
            return answers.get(name)

        spaces = {
            "_C": _Ops(compiled),
            "zentorch": _Ops(lambda name: 1 if self.has(f"{name}_op") else None),
            "aten": _Ops(lambda name: None if name.startswith("_dyn_quant") and not self.has("torch_dyn_quant_4bit_ops") else Stub()),
            "_rocm_C": _Ops(lambda name: 1 if name == "moe_gptq_gemm_rdna3" and self.has("moe_gptq_gemm_rdna3_op") else None),
        }
        torch.ops = _Ops(lambda name: spaces.get(name, Stub()))
        torch.cpu = _Ops(lambda name: (lambda: bool(self.hardware.get("amx"))) if name == "_is_amx_tile_supported" else Stub())

    def _set_arch(self, arch: str) -> None:
        self._rocm["_GCN_ARCH"] = arch
        self._extract.into(self._rocm, "vllm.platforms.rocm", [f"_ON_{name}" for name in _ROCM_CONSTANTS] + _ROCM_FUNCTIONS)

    def _on_rocm(self, name: str) -> Callable[..., Any]:
        def answer(*args: Any) -> Any:
            return self.hardware["platform"] == "rocm" and self._rocm[name](*args)

        return answer

    def _platforms(self) -> None:
        """The engine's own platform classes, of those methods that a choice asks."""
        interface, platforms = importlib.import_module("vllm.platforms.interface"), _module("vllm.platforms")
        self._set_arch(self.hardware.get("gcn_arch", "gfx950"))
        for name in _ROCM_FUNCTIONS:
            setattr(_module("vllm.platforms.rocm"), name, self._on_rocm(name))
        machine = self

        class Arch:
            def __contains__(self, part: str) -> bool:
                return part in machine._rocm["_GCN_ARCH"]

        names: dict[str, Any] = {"Platform": interface.Platform, "torch": _module("torch"), "_GCN_ARCH": Arch(), "has_device_capability": None}
        names |= {name: self._on_rocm(name) for name in _ROCM_FUNCTIONS}
        rows = (
            ("cuda", "CUDA", "CudaPlatformBase", ["supports_fp8", "support_deep_gemm"]),
            ("rocm", "ROCM", "RocmPlatform", ["supports_mx", "supports_fp8", "is_fp8_fnuz", "fp8_dtype"]),
            ("xpu", "XPU", "XPUPlatform", ["supports_fp8", "fp8_dtype"]),
        )
        kinds: dict[str, Any] = {}
        for kind, member, source, methods in rows:
            kinds[kind] = self._extract.class_of(f"vllm.platforms.{kind}", source, methods, ["Platform"], names)
            kinds[kind]._enum = getattr(interface.PlatformEnum, member)
        kinds["cpu"] = type("Cpu", (interface.Platform,), {"_enum": interface.PlatformEnum.CPU})

        def capability(_cls: Any, device_id: int = 0) -> Any:
            if machine.hardware["platform"] == "rocm":
                return interface.DeviceCapability(*machine._rocm["_capability_from_gcn_arch"](machine.hardware["gcn_arch"]))
            number = machine.hardware.get("capability")
            return None if number is None else interface.DeviceCapability(number // 10, number % 10)

        for kind, cls in kinds.items():
            cls.device_name, cls.device_type = kind, "cuda" if kind == "rocm" else kind
            cls.get_device_capability = classmethod(capability)
            if hasattr(interface, "CpuArchEnum"):
                cls.get_cpu_architecture = classmethod(lambda _cls: interface.CpuArchEnum[_CPU_NAMES[machine.hardware.get("cpu_arch", "x86")]])
            cls.is_zen_cpu = lambda _self: bool(machine.hardware.get("zen_cpu"))
        made = {kind: cls() for kind, cls in kinds.items()}

        class Current:
            def __getattr__(self, name: str) -> Any:
                return getattr(made[machine.hardware["platform"]], name)

        platforms.current_platform = Current()
        if hasattr(interface, "CpuArchEnum"):
            platforms.CpuArchEnum = interface.CpuArchEnum
        self.platform = platforms.current_platform

    def _packages(self) -> None:
        """Probes of optional packages answer as the deployment says."""
        flashinfer, imports, gemm = _module("vllm.utils.flashinfer"), _module("vllm.utils.import_utils"), _module("vllm.utils.deep_gemm")
        for name in _FLASHINFER:
            setattr(flashinfer, name, lambda name=name: self.has(name))
        envs, platform = importlib.import_module("vllm.envs"), self.platform
        names: dict[str, Any] = {"current_platform": platform, "envs": envs, "has_deep_gemm": lambda: self.has("has_deep_gemm")}
        off = ["should_auto_disable_deep_gemm", "_DEEPGEMM_BLACKWELL_EXCLUDED_MODEL_TYPES"]
        self._extract.into(names, "vllm.utils.deep_gemm", [*off, "is_deep_gemm_supported"])
        for name in (off[0], "is_deep_gemm_supported"):
            if name in names:
                setattr(gemm, name, names[name])
        imports.has_triton_kernels = lambda: self.has("has_triton_kernels")
        imports.get_triton_kernels_version = lambda: "3.6" if self.has("has_triton_kernels") else None
        imports.has_deep_gemm = names["has_deep_gemm"]
        imports.has_humming = lambda: self.has("humming_installed")
        imports.has_quark = lambda: self.has("has_quark")
        for name in ("has_deep_ep", "has_deep_ep_v2", "has_mori", "has_nixl_ep"):
            setattr(imports, name, lambda: False)
        _module("vllm.utils.hpc").has_hpc = lambda: self.has("has_hpc")
        b12x = types.SimpleNamespace(is_supported=lambda: True)
        _module("vllm.utils.b12x").get_b12x_fused_moe = lambda: b12x if self.has("b12x_supported") else None
        gemm_type = importlib.import_module("enum").Enum("GemmType", {name.upper(): name for name in ("dense", "indexed", "grouped_contiguous", "grouped_masked")})
        _module("humming.config").GemmType = gemm_type
        _module("flashinfer.fused_moe.core").ActivationType = _Ops(lambda name: None if name == "Situ" and not self.has("flashinfer_situ") else 1)
        self._functions(f"{QUANT}.flashinfer_utils", ["has_flashinfer_situ_activation"], {})
        ops = _module("vllm._custom_ops")
        self._functions("vllm._custom_ops", ["cutlass_group_gemm_supported", "mxfp4_experts_quant_supported", "cpu_has_amx_fp8"], {"torch": _module("torch")})
        self._functions(f"{QUANT}.w8a8_utils", ["cutlass_group_gemm_supported"], {"current_platform": platform, "ops": ops})
        names = {"envs": envs, "current_platform": platform, "has_flashinfer_trtllm_fused_moe": flashinfer.has_flashinfer_trtllm_fused_moe}
        self._functions(f"{QUANT}.flashinfer_mxint4_moe", ["is_flashinfer_mxint4_moe_available"], names)
        self._functions(f"{QUANT}.marlin_utils", ["check_moe_marlin_supports_config"], {"current_platform": platform, "FusedMoEConfig": object})
        if self._extract.has_function(f"{QUANT}.humming.priority", "prioritize_humming"):
            _module(f"{QUANT}.humming").prioritize_humming = importlib.import_module(f"{QUANT}.humming.priority").prioritize_humming

    def _aiter(self) -> None:
        """The switches of AITER: the engine's own functions over the deployment's facts."""
        names: dict[str, Any] = {"functools": importlib.import_module("functools"), "Callable": object, "current_platform": self.platform}
        names["envs"] = importlib.import_module("vllm.envs")
        self._extract.into(names, "vllm._aiter_ops", ["is_aiter_found_and_supported", "if_aiter_supported"])
        methods = ["is_enabled", "is_fused_moe_enabled", "is_fusion_moe_shared_experts_enabled", "is_rdna_aiter_enabled", "fused_moe_supports_gate_mode"]
        self.aiter_ops = self._extract.class_of("vllm._aiter_ops", "rocm_aiter_ops", [*methods, "fused_moe_supports_quant_dtype_a"], [], names)
        module = _module("vllm._aiter_ops")
        module.rocm_aiter_ops, module.is_aiter_found_and_supported = self.aiter_ops, names["is_aiter_found_and_supported"]
        self._aiter_names = names
        # AITER ships its tuned tables beside its modules; the engine asks whether one of them is there.
        self._scratch = tempfile.TemporaryDirectory()
        self._tables = self._scratch.name
        os.makedirs(os.path.join(self._tables, "configs", "model_configs"))
        with open(os.path.join(self._tables, "configs", "model_configs", "minimax_m3_mxfp8_tuned_fmoe.csv"), "w", encoding="utf-8"):
            pass
        _module("aiter.ops.flydsl.utils").is_flydsl_available = lambda: self.has("aiter_found") and self.has("aiter_mxfp8")

    def _functions(self, module: str, wanted: list[str], names: dict[str, Any]) -> None:
        """Those functions of the module that it has, put back into its substitute."""
        self._extract.into(names, module, wanted)
        for name in wanted:
            if name in names:
                setattr(_module(module), name, names[name])


def _module(name: str) -> Any:
    return importlib.import_module(name)
