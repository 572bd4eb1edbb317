"""Variables of a small engine of our own: what the recorder's test imports as it imports a real one."""

import os


def __getattr__(name: str) -> bool:
    if not name.startswith("VLLM_"):
        raise AttributeError(name)
    return os.environ.get(name, "0") == "1"
