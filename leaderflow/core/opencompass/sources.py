"""Classes and functions run from their own source: those of an OpenCompass package at hand, and those of users in its style.

The package is neither installed nor imported. A class's file is found by its name and run with the same replaced imports as a
configuration; what it imports of OpenCompass in turn is found the same way. So a dataset class gives exactly its own rows.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leaderflow.core.errors import SpecError
from leaderflow.core.opencompass.data import get_data_path
from leaderflow.core.opencompass.package import root
from leaderflow.core.opencompass.reach import unfit
from leaderflow.core.pyconfig import Loader, Names, is_reference, reference
from leaderflow.core.registry import Kind

_PACKAGES = ("datasets", "evaluator", "openicl", "utils", "metrics")
_NOT_RUN = ("opencompass.models", "opencompass.tasks", "opencompass.runners", "opencompass.openicl.icl_inferencer")
_DEFINED = re.compile(r"^(?:class|def) (\w+)", re.M)
_ADAPTERS: Mapping[Kind, str] = {"dataset": "readers.foreign:adapted", "evaluator": "evaluators.foreign:adapted"}
_USED: frozenset[Kind] = frozenset({"dataset", "evaluator", "postprocessor"})
"""Kinds that can be run from source."""


def type_name(kind: Kind, module: str, name: str) -> tuple[str | None, str]:
    """Return ``opencompass.module:Name`` of a class or function whose source is at hand, and if not, why it cannot be used.

    Code that scores must be able to: it needs its packages, and must neither run what a model wrote nor ask another model.
    """
    folder = root()
    file = _find(folder, module, name.rpartition(".")[2]) if folder and kind in _USED else None
    if folder is None or file is None or (kind == "dataset" and "datasets" not in file.relative_to(folder).parts):
        return None, ""
    if kind != "dataset" and (reason := unfit(file, name.partition(".")[0], _imported_file)):
        return None, reason
    return f"{_dotted(folder, file)}:{name}", ""


def load(target: str, kind: Kind) -> Callable[..., Any]:
    """Return the class or function behind ``opencompass.module:Name``, in the form in which ours are called.

    Raises:
        SpecError: there is no OpenCompass at hand, no such name in it, or its file does not run.
    """
    module, _, name = target.partition(":")
    folder = root()
    if folder is None:
        raise SpecError(f"{target} is code of OpenCompass; name its checkout or package with --opencompass-root DIR")
    found: Any = _loader(folder).imported(module, name)
    if is_reference(found):
        raise SpecError(f"{target} is not in {folder}")
    return adapted(kind, found)


def adapted(kind: Kind, found: Callable[..., Any]) -> Callable[..., Any]:
    """Return a class or function in the style of OpenCompass in the form in which ours are called; anything else as it is."""
    if kind == "postprocessor" and inspect.isfunction(found):
        return _by_text(found)
    target = _ADAPTERS.get(kind)
    if target is None or not isinstance(found, type):
        return found
    module, _, name = target.partition(":")
    adapter: Callable[[type], Callable[..., Any]] = getattr(importlib.import_module(module), name)
    return adapter(found)


def _by_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a postprocessor whose first parameter is called `text`, whatever its author called it."""
    signature = inspect.signature(function)
    first, *others = signature.parameters.values()
    if first.name == "text":
        return function

    @functools.wraps(function)
    def renamed(text: Any, **arguments: Any) -> Any:
        return function(text, **arguments)

    renamed.__signature__ = signature.replace(parameters=[first.replace(name="text"), *others])  # type: ignore[attr-defined]
    return renamed


class _SourceLoader(Loader):
    """Runs files of the package, each once in this process."""

    foreign = frozenset({"opencompass", "mmengine"})
    blocks = False

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._ran: dict[Path, Names] = {}

    def imported(self, module: str, name: str) -> Any:
        if (found := _STAND_INS.get(name)) and module.startswith(("opencompass", "mmengine")):
            return found
        if module == "opencompass.registry":
            return _Registry
        if not module.startswith("opencompass") or module.startswith(_NOT_RUN) or not name:
            return reference(module, name)
        file = _find(self._root(), module, name)
        return self.names(file).get(name, reference(module, name)) if file else reference(module, name)

    def base(self, path: Path, level: int, module: str, line: int, name: str, trail: tuple[Path, ...]) -> Any:
        return self.imported(_absolute(self._root(), path, level, module), name)

    def globals(self, path: Path, trail: tuple[Path, ...]) -> Names:
        names = super().globals(path, trail)
        names["__name__"] = _dotted(self._root(), path)
        self._ran[path] = names  # files that import each other see each other as far as they have come
        return names

    def names(self, file: Path) -> Names:
        """Return the globals of a file."""
        if file not in self._ran:
            try:
                self.run(file, self.compiled(file)[0], ())
            except BaseException:
                self._ran.pop(file, None)
                raise
        return self._ran[file]

    def _root(self) -> Path:
        assert self.root is not None
        return self.root


class _Registry:
    """Stands for the registries of OpenCompass, whose decorators only note names."""

    @staticmethod
    def register_module(*args: Any, **kwargs: Any) -> Any:
        """Return what was decorated."""
        return args[0] if args and callable(args[0]) else lambda found: found


_STAND_INS: Mapping[str, Any] = {"get_data_path": get_data_path, "get_logger": lambda *_, **__: logging.getLogger("opencompass")}


@functools.cache
def _loader(folder: Path) -> _SourceLoader:
    return _SourceLoader(folder)


@functools.cache
def _index(folder: Path) -> Mapping[str, tuple[Path, ...]]:
    """Return the files in which each class and function is defined."""
    found: dict[str, tuple[Path, ...]] = {}
    for package in _PACKAGES:
        for file in sorted((folder / package).rglob("*.py")):
            for name in _DEFINED.findall(file.read_text(encoding="utf-8", errors="replace")):
                found[name] = (*found.get(name, ()), file)
    return found


def _find(folder: Path, module: str, name: str) -> Path | None:
    """Return the file that defines a name: the module itself, else the nearest below it, else the only one anywhere."""
    own = folder.joinpath(*module.split(".")[1:])
    if own.with_suffix(".py").is_file():
        return own.with_suffix(".py")
    files = _index(folder).get(name, ())
    below = [file for file in files if module.startswith("opencompass") and own in file.parents]
    return min(below, key=lambda file: len(file.parts)) if below else files[0] if len(files) == 1 else None


def _imported_file(file: Path, level: int, module: str, name: str) -> Path | None:
    """Return the file that defines what a file of the package imports."""
    folder = root()
    return _find(folder, _absolute(folder, file, level, module), name) if folder else None


def _absolute(folder: Path, file: Path, level: int, module: str) -> str:
    """Return the dotted module that an import names, relative ones from the file's own place."""
    if not level:
        return module
    package = _dotted(folder, file).split(".")[: None if file.name == "__init__.py" else -1]
    return ".".join([*package[: len(package) - level + 1], *filter(None, module.split("."))])


def _dotted(folder: Path, file: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(["opencompass", *(part for part in parts if part != "__init__")])
