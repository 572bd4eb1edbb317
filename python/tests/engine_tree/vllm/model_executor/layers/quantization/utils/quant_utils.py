from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class QuantKey:
    dtype: torch.dtype


kMxfp8Static = QuantKey(torch.float8_e4m3fn)
