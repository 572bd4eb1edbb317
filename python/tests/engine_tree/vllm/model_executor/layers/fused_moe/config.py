import enum
from dataclasses import dataclass
from typing import Any


class RoutingMethodType(enum.IntEnum):
    Default = 0
    Renormalize = 1
    DeepSeekV3 = 2
    DeepseekV4 = 100


@dataclass
class FusedMoEParallelConfig:
    tp_size: int
    ep_size: int

    @staticmethod
    def make(tp: int, pcp: int, dp: int, sp: int, config: Any) -> "FusedMoEParallelConfig":
        flat = tp * pcp * dp
        return FusedMoEParallelConfig(1, flat) if config.enable_expert_parallel and flat > 1 else FusedMoEParallelConfig(flat, 1)


@dataclass
class FusedMoEConfig:
    moe_backend: str
    activation: Any
    moe_parallel_config: FusedMoEParallelConfig
    hidden_dim: int
    intermediate_size_per_partition: int
    in_dtype: Any
