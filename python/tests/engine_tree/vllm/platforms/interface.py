import enum
from typing import NamedTuple


class PlatformEnum(enum.Enum):
    CUDA = enum.auto()
    ROCM = enum.auto()
    XPU = enum.auto()
    CPU = enum.auto()


class CpuArchEnum(enum.Enum):
    X86 = enum.auto()
    ARM = enum.auto()


class DeviceCapability(NamedTuple):
    major: int
    minor: int


class Platform:
    _enum: PlatformEnum

    def is_cuda(self) -> bool:
        return self._enum is PlatformEnum.CUDA

    def supports_fp8(self) -> bool:
        return False
