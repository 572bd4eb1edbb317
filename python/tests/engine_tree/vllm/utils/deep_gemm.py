import functools


@functools.cache
def is_deep_gemm_supported() -> bool:
    return has_deep_gemm()  # noqa: F821
