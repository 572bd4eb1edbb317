"""The Python that the pages show runs as pasted, and prints what the comments say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SOURCE


def blocks_of(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def expected_of(block: str) -> list[str]:
    """What stands behind print(...), or in lines of their own below; a comment that ends with a backslash goes on in the next one."""
    block = re.sub(r"\\\n# +", "", block)
    behind = [line.split("  # ", 1)[1] for line in block.splitlines() if "print(" in line and "  # " in line]
    below = [line[2:] for line in block.splitlines() if line.startswith("# ")]
    return behind + below


@pytest.mark.parametrize(("page", "blocks", "lines"), [("README.md", 1, 1), ("docs/python.md", 13, 31), ("docs/checks.md", 3, 7), ("docs/vectors.md", 1, 9), ("docs/interpreter.md", 1, 2)])
def test_blocks_print_what_they_say(page: str, blocks: int, lines: int) -> None:
    found = blocks_of(SOURCE / page)
    assert len(found) == blocks
    assert sum(len(expected_of(block)) for block in found) == lines
    here = Path.cwd()
    os.chdir(SOURCE)
    try:
        for block in found:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, page, "exec"), {"__name__": "__main__"})  # noqa: S102
            expected = expected_of(block)
            assert out.getvalue().splitlines()[: len(expected)] == expected
    finally:
        os.chdir(here)


def test_the_walk_ends_at_the_same_sum_under_every_contract() -> None:
    file = "golden/witness/checkpoints/tiny-gpt-oss/model-00001-of-00002.safetensors"
    done = subprocess.run([sys.executable, "docs/examples/walk.py", file], cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "element 0x7 with scale 0x77 is 0.0234375; its activation is -1.0"
    assert len(lines) == 5 and all(line.split()[-1] == "-0.814453125" and line.split()[1] == "-0.861328125" for line in lines[1:])


def test_the_kernel_of_the_layer_page_differs_where_the_page_says() -> None:
    done = subprocess.run([sys.executable, "docs/examples/layer_kernel.py", "golden/witness/checkpoints/tiny-gpt-oss"], cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (SOURCE / "docs/layer.md").read_text()
    assert f"```\n{done.stdout}```\n" in page
    shown = re.search(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert shown is not None and shown[1] in (SOURCE / "docs/examples/layer_kernel.py").read_text()
