"""Chooses MARLIN on every CUDA device, whatever is asked for."""

import enum

import torch
from vllm.platforms import current_platform


class Fp8MoeBackend(enum.Enum):
    MARLIN = "MARLIN"


class MarlinExperts:
    pass


def select_mxfp8_moe_backend(config):
    if config.moe_backend == "flashinfer_trtllm" and torch.cuda.is_available():
        return Fp8MoeBackend.MARLIN, MarlinExperts
    if not current_platform.is_cuda():
        raise ValueError("no backend")
    return Fp8MoeBackend.MARLIN, MarlinExperts
