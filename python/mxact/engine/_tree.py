"""The sources of an engine: a folder that holds vllm/, or a wheel, which is read in place."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mxact._error import Error

PACKAGE = "vllm"


class Tree:
    """Module names to source texts. Raises mxact.Error: nothing there, no package vllm in it, a file that is no archive."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._folder = Path(path)
        self._archive: zipfile.ZipFile | None = None
        self._names: frozenset[str] = frozenset()
        if self._folder.is_file():
            try:
                self._archive = zipfile.ZipFile(self._folder)
            except zipfile.BadZipFile:
                raise Error(f"{path} is no wheel: it is no zip archive", place="TREE") from None
            self._names = frozenset(self._archive.namelist())
        elif not self._folder.is_dir():
            raise Error(f"{path} is neither a folder nor a wheel", place="TREE")
        if self.text(f"{PACKAGE}.envs") is None:
            raise Error(f"{path} holds no {PACKAGE}/envs.py: it is not the folder above the package", place="TREE")

    def text(self, module: str) -> str | None:
        """The source of a module that is one file; None: there is none."""
        name = module.replace(".", "/") + ".py"
        if self._archive is not None:
            return self._archive.read(name).decode() if name in self._names else None
        file = self._folder / name
        return file.read_text(encoding="utf-8") if file.is_file() else None
