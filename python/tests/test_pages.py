"""The Python that the pages show runs as pasted, and prints what the comments say."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

from conftest import SOURCE


def blocks_of(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def expected_of(block: str) -> list[str]:
    """What stands behind print(...), or in lines of their own below."""
    behind = [line.split("  # ", 1)[1] for line in block.splitlines() if "print(" in line and "  # " in line]
    below = [line[2:] for line in block.splitlines() if line.startswith("# ")]
    return behind + below


@pytest.mark.parametrize(("page", "blocks", "lines"), [("README.md", 4, 4), ("docs/python.md", 10, 23)])
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
