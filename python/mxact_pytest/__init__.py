"""The pytest plugin of mxact.testing: seeds that one line replays, numbers of cases, and what was held as JUnit properties. A package of its own, since
every run of pytest loads it: it brings in nothing until a test uses the laws."""

from __future__ import annotations

import sys
from collections.abc import Generator

import pytest

_EXAMPLES = 100
# How the laws of the test that runs are to be run; mxact.testing begins with it when a test is the first to import it.
asked = {"seed": 0, "examples": _EXAMPLES}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mxact")
    group.addoption("--mxact-seed", type=int, metavar="N", help="seed of mxact.testing's laws (0): the same seed draws the same cases")
    group.addoption("--mxact-examples", type=int, metavar="N", help=f"cases that hypothesis draws for each law ({_EXAMPLES})")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "mxact(seed=..., examples=...): how the laws of mxact.testing are run in this test")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    marker = item.get_closest_marker("mxact")
    given = {} if marker is None else dict(marker.kwargs)
    unknown = [repr(value) for value in marker.args] + sorted(set(given) - set(asked)) if marker is not None else []
    if unknown:
        raise pytest.UsageError(f"marker mxact takes seed=... and examples=..., not {', '.join(unknown)}")
    # What the command line says stands above the marker: it is how a failure is repeated.
    for name, usual in (("seed", 0), ("examples", _EXAMPLES)):
        option = item.config.getoption(f"--mxact-{name}")
        asked[name] = given.get(name, usual) if option is None else option
    if "mxact.testing" in sys.modules:
        sys.modules["mxact.testing"].settings.begin(**asked)
    yield
    laws = sys.modules.get("mxact.testing")
    if laws is not None and laws.settings.cases:
        item.user_properties += [("mxact.seed", laws.settings.seed), ("mxact.cases", laws.settings.cases), ("mxact.held", "; ".join(laws.settings.held))]
