"""An engine's own choices, recorded from its sources and compared with a version of the tables: `python -m mxact.engine check TREE`.

The engine's Python runs as it is, in a process of its own, with substitutes for torch, for its packages and for the machine. No kernel runs, nothing of the sources is kept.
"""

from mxact.engine._compare import Difference, Report, check

__all__ = ["Difference", "Report", "check"]
