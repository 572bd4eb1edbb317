"""The one exception of the package."""

from __future__ import annotations

# For each code the program's exit status.
STATUSES = {"usage": 2, "input": 3, "unsupported": 4, "resource": 6}


class Error(ValueError):
    """What mxact refuses, as the program says it.

    message: one sentence that names the value and the rule.
    code: "usage" (no such name, or what does not fit together), "input" (a file or a deployment that breaks the rules), "unsupported" (known, but not possible
    here) or "resource" (memory, files).
    place: the argument, file and line, or key that it concerns; may be empty.
    """

    def __init__(self, message: str, code: str = "usage", place: str = "") -> None:
        # One line, also where it quotes another library's.
        message = message.replace("\r", " ").replace("\n", " ")
        super().__init__(message, code, place)
        self.message = message
        self.code = code
        self.place = place

    def __str__(self) -> str:
        return self.message
