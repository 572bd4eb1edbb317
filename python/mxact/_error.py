"""The one exception of the package."""

from __future__ import annotations


class Error(ValueError):
    """What mxact refuses, as the program says it.

    message: one sentence that names the value and the rule.
    code: "usage" (no such name, or what does not fit together), "input" (a deployment that breaks the rules), "unsupported" (known, but not possible
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
