import enum


class FusedMoEActivationFormat(enum.Enum):
    Standard = "standard"
    BatchedExperts = "batched_experts"
