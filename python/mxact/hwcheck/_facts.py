"""Which card, driver and libraries: what a recording must say. Only what is installed is asked, nothing is imported for it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from mxact.hwcheck._driver import driver, driver_version
from mxact.hwcheck._questions import NotHere

_PACKAGES = ("torch", "triton", "jax", "jaxlib", "vllm", "triton_kernels", "deep_gemm", "humming-kernels", "nvidia-cublas", "nvidia-cublas-cu12", "nvidia-cublas-cu13", "mmasim", "numpy", "ml_dtypes", "mxact")


def versions() -> dict[str, str]:
    """Of the packages that are installed."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def facts_of() -> tuple[dict[str, str], Callable[[], int] | None]:
    """Device, compute capability, driver, CUDA and versions; and what tells the card's free memory. Without a card only the versions."""
    try:
        card = driver()
        facts = {"device": card.name(), "unit": card.unit(), "multiprocessors": str(card.multiprocessors()), "driver": driver_version(), "cuda": card.cuda()}
    except NotHere as problem:
        return {"device": f"none ({problem})", **versions()}, None

    def free() -> int:
        card.use()
        return card.free_bytes()

    return {key: value for key, value in facts.items() if value} | versions(), free
