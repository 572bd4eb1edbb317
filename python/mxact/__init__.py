"""The bit-exact authority for microscaled MoE inference: arrays in, answers out.

    import numpy, mxact
    q = mxact.quantize(numpy.float32([[0.3] * 32]), "mxfp4", profile="torchao-rceil")
    mxact.dequantize(q)

Every answer has the bits of the model. What cannot be answered raises mxact.Error: one sentence that names the value and the rule.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from mxact._affine import Affine, dequantize_affine, quantize_affine
from mxact._blocks import Quantized, TensorScale, dequantize, quantize
from mxact._conversions import Flags, convert, convert_flags, converter
from mxact._error import Error
from mxact._inspect import inspect
from mxact._layer import LayerRun, layer, stages
from mxact._layers import KernelForm, Loss, Packed, pack, unpack
from mxact._layouts import Layout, layout
from mxact._made_by import made_by
from mxact._moe import activate, moe_layer, route
from mxact._operations import from_integer, operate, p3109, to_integer
from mxact._products import dot, matmul
from mxact._record import record
from mxact._scoreboard import Scoreboard, ScoreReport, scoreboard
from mxact._select import audit, infos, needs, select
from mxact._tables import activations, backends, block_formats, contract_record, contracts, engines, formats, layouts, profiles, routers, rules, threads, ways
from mxact._verbs import convert_checkpoint, engine_diff, matrix, plan, sim, verify

try:
    __version__: str = _version("mxact")
except _PackageNotFoundError:  # run from a build folder
    __version__ = "unknown"

__all__ = [
    "Affine",
    "Error",
    "Flags",
    "KernelForm",
    "LayerRun",
    "Layout",
    "Loss",
    "Packed",
    "Quantized",
    "ScoreReport",
    "Scoreboard",
    "TensorScale",
    "activate",
    "activations",
    "audit",
    "backends",
    "block_formats",
    "contract_record",
    "contracts",
    "convert",
    "convert_checkpoint",
    "convert_flags",
    "converter",
    "dequantize",
    "dequantize_affine",
    "dot",
    "engine_diff",
    "engines",
    "formats",
    "from_integer",
    "infos",
    "inspect",
    "layer",
    "layout",
    "layouts",
    "made_by",
    "matmul",
    "matrix",
    "moe_layer",
    "needs",
    "operate",
    "p3109",
    "pack",
    "plan",
    "profiles",
    "quantize",
    "quantize_affine",
    "record",
    "route",
    "routers",
    "rules",
    "scoreboard",
    "select",
    "sim",
    "stages",
    "threads",
    "to_integer",
    "unpack",
    "verify",
    "ways",
]
