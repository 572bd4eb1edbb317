import enum


class MoEActivation(enum.Enum):
    SILU = "silu"
    GELU = "gelu"
    SWIGLUOAI = "swigluoai"
    RELU2_NO_MUL = "relu2_no_mul"
