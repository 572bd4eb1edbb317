"""Laws for code that is not mxact's: quantizers, converters and oracles, held against the model bit for bit.

    from mxact.testing import assert_quantizer
    def test_my_quantizer():
        assert_quantizer(my_quantizer, "mxfp4", profile="torchao-rceil")

What breaks a law raises AssertionError with the smallest case that was found, what is right, which profile would explain the answer, and a line that
repeats it. Needs hypothesis: `pip install mxact[testing]`.
"""

try:
    import hypothesis as _hypothesis  # noqa: F401
except ModuleNotFoundError as _missing:
    raise ModuleNotFoundError("mxact.testing needs hypothesis: pip install 'mxact[testing]'") from _missing

from mxact.testing._batch import assert_batch_invariant
from mxact.testing._bits import assert_bits_equal
from mxact.testing._checkpoints import Checkpoint, checkpoints
from mxact.testing._converters import assert_converter, layers
from mxact.testing._equal import assert_equal_kernels
from mxact.testing._kernels import assert_kernel
from mxact.testing._oracles import assert_oracle
from mxact.testing._power import Power, assert_power, power
from mxact.testing._quantizers import assert_quantizer
from mxact.testing._runs import Settings, settings
from mxact.testing._strategies import blocks, deployments, formats

__all__ = [
    "Checkpoint",
    "Power",
    "Settings",
    "assert_batch_invariant",
    "assert_bits_equal",
    "assert_converter",
    "assert_equal_kernels",
    "assert_kernel",
    "assert_oracle",
    "assert_power",
    "assert_quantizer",
    "blocks",
    "checkpoints",
    "deployments",
    "formats",
    "layers",
    "power",
    "settings",
]
