"""Substitutes for what an engine imports and a choice must not need. One that is asked for its truth, equality or members while a choice runs stops it: nothing is guessed."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mxact.engine._tree import Tree


class Guessed(RuntimeError):
    """A choice asked a substitute for something that only the original knows."""


class Watch:
    """Whether a choice is running."""

    running = False

    @classmethod
    def asked(cls, what: str) -> None:
        if cls.running:
            raise Guessed(f"a substitute was asked for its {what}")


class _StubType(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub

    def __or__(cls, other: object) -> Any:
        return cls

    def __ror__(cls, other: object) -> Any:
        return cls

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        Watch.asked("members")
        return iter(())


class Stub(metaclass=_StubType):
    """Any object: a class to inherit from, a decorator, a function, a value."""

    def __init__(self, *_args: object, **_named: object) -> None:
        pass

    def __call__(self, *args: Any, **named: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) and not named else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub()

    def __or__(self, other: object) -> Any:
        return self

    def __ror__(self, other: object) -> Any:
        return self

    def __getitem__(self, key: object) -> Any:
        return self

    def __class_getitem__(cls, key: object) -> Any:
        return cls

    def __iter__(self) -> Iterator[Any]:
        Watch.asked("members")
        return iter(())

    def __eq__(self, other: object) -> bool:
        if self is not other:
            Watch.asked("equality")
        return self is other

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        Watch.asked("truth")
        return True


class StubModule(types.ModuleType):
    """A module in which every name exists: classes where a name begins with a capital."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        below = sys.modules.get(f"{self.__name__}.{name}")
        if below is not None:
            return below
        if not name[:1].isupper():
            return Stub()
        made = _StubType(name, (Stub,), {})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules that a choice runs through from the tree, and a substitute for every other one of the engine and of its packages."""

    def __init__(self, tree: Tree, is_real: Callable[[str], bool], roots: Iterable[str]) -> None:
        self._tree, self._is_real, self._roots = tree, is_real, frozenset(roots)

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] not in self._roots:
            return None
        real = self._is_real(fullname) and self._tree.text(fullname) is not None
        return importlib.util.spec_from_loader(fullname, self, is_package=not real)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.submodule_search_locations is None:
            return types.ModuleType(spec.name)
        return StubModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        if isinstance(module, StubModule):
            return
        exec(compile(self._tree.text(module.__name__) or "", _file_of(self._tree, module.__name__), "exec"), module.__dict__)  # noqa: S102


class Extract:
    """Single functions, methods and assignments of a module that is too entangled to be imported. They are the engine's own, without their caches."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def has_function(self, module: str, name: str) -> bool:
        return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(ast.parse(self._tree.text(module) or "")))

    def into(self, names: dict[str, Any], module: str, wanted: Iterable[str]) -> dict[str, Any]:
        """Those that the module has become members of `names`, which is what they see as their module."""
        chosen = [node for node in ast.parse(self._tree.text(module) or "").body if _name_of(node) in set(wanted)]
        self._run([_uncached(node) for node in chosen], module, names)
        return names

    def class_of(self, module: str, name: str, methods: Iterable[str], bases: Sequence[str], names: dict[str, Any]) -> Any:
        """A class of some of the methods of the module's class."""
        for node in ast.parse(self._tree.text(module) or "").body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                body = [_uncached(one) for one in node.body if _name_of(one) in set(methods)]
                made = ast.ClassDef(name=name, bases=[ast.Name(base, ast.Load()) for base in bases], keywords=[], body=body or [ast.Pass()], decorator_list=[])
                self._run([made], module, names)
                return names[name]
        raise ImportError(f"{module} has no class {name}")

    def _run(self, body: list[ast.stmt], module: str, names: dict[str, Any]) -> None:
        exec(compile(ast.fix_missing_locations(ast.Module(body, [])), _file_of(self._tree, module), "exec"), names)  # noqa: S102


def _file_of(tree: Tree, module: str) -> str:
    return f"{tree.path}/{module.replace('.', '/')}.py"


def _name_of(node: ast.stmt) -> str | None:
    if isinstance(node, ast.FunctionDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
    return target.id if isinstance(target, ast.Name) else None


def _uncached(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = [one for one in node.decorator_list if "cache" not in ast.unparse(one)]
    return node
