"""Runs a Python configuration file. A configuration is code: it can do whatever Python can, as it could in OpenCompass.

Imports of OpenCompass, of our own stage packages and of anything that is not installed become references
(`leaderflow.core.pyconfig.values`); everything else is imported as it is. Base files (``with read_base():``, relative imports,
``opencompass.configs.…``) run afresh for each import, each in a namespace of its own: nothing enters ``sys.modules``.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.pyconfig import transform
from leaderflow.core.pyconfig.values import Block, Names, is_reference, reference
from leaderflow.core.yaml import shown

_STAND_INS: dict[tuple[str, str], Any] = {
    ("mmengine.config", "ConfigDict"): Block,
    ("mmengine", "ConfigDict"): Block,
}


@dataclass(frozen=True)
class Config:
    """What a file defines: its variables, and the line at which each was last bound."""

    path: Path
    values: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict)

    def error(self, message: str, name: str | None = None, key: str | None = None) -> SpecError:
        """Return the error that names the file, the line of a variable, and the key in it."""
        return SpecError(message, file=shown(self.path), line=self.lines.get(name or ""), key=key or name)


def load_config(path: str | Path, root: Path | None = None) -> Config:
    """Run a configuration file and return what it defines.

    Args:
        path: the file.
        root: the folder of the ``opencompass`` package, where base configurations are looked for.

    Raises:
        SpecError: the file, or a base file, is absent, is no Python, builds on itself, or fails; names file and line.
    """
    return Loader(root).load(Path(path), ())


class Loader:
    """Runs files whose imports are replaced. Subclasses say what an import gives (`imported`, `base`)."""

    foreign = transform.FOREIGN
    """Packages whose names become references."""
    blocks = True
    """Whether mappings note where they were written."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._code: dict[Path, tuple[Any, dict[str, int]]] = {}

    def load(self, path: Path, trail: tuple[Path, ...]) -> Config:
        """Run a file; `trail` holds the files that led to it."""
        path = path.expanduser().resolve()
        if path in trail:
            names = " → ".join(shown(file) for file in (*trail, path))
            raise SpecError(f"base files build on each other: {names}", file=shown(trail[-1]))
        code, lines = self.compiled(path)
        found = self.run(path, code, (*trail, path))
        return Config(path, {name: value for name, value in found.items() if not name.startswith("__")}, lines)

    def run(self, path: Path, code: Any, trail: tuple[Path, ...]) -> Names:
        """Run compiled code and return its globals."""
        names = self.globals(path, trail)
        with _known_module(str(names["__name__"])):
            try:
                exec(code, names)
            except (Exception, SystemExit) as exc:
                if isinstance(exc, SpecError) and exc.file:
                    raise
                raise _failure(exc, path) from exc
        return names

    def imported(self, module: str, name: str) -> Any:
        """Return what ``from module import name`` gives where the package is not really imported."""
        return _STAND_INS.get((module, name)) or reference(module, name)

    def base(self, path: Path, level: int, module: str, line: int, name: str, trail: tuple[Path, ...]) -> Any:
        """Return what an import of a base file gives."""
        file = self.module_file(path, level, module)
        inner = self.module_file(path, level, f"{module}.{name}".lstrip("."))
        if file is not None:
            values = self.load(file, trail).values
            if name in values:
                return values[name]
            if inner is None:
                message = f"{shown(file)} defines no {name!r}{did_you_mean(name, values)}"
                raise SpecError(message, file=shown(path), line=line)
        if inner is None:
            raise self._absent(path, level, module, line)
        return SimpleNamespace(**self.load(inner, trail).values)

    def module_file(self, path: Path, level: int, module: str) -> Path | None:
        """Return the file of a base configuration: beside the file that names it, else among OpenCompass' own."""
        parts = [part for part in module.split(".") if part]
        for folder, inner in self._places(path, level, parts):
            place = folder.joinpath(*inner)
            for file in (place.with_name(f"{place.name}.py") if inner else None, place / "__init__.py"):
                if file is not None and file.is_file():
                    return file
        return None

    def _places(self, path: Path, level: int, parts: list[str]) -> Iterator[tuple[Path, list[str]]]:
        if level:
            yield path.parents[min(level, len(path.parents)) - 1], parts
        elif parts[:2] == ["opencompass", "configs"]:
            parts = parts[2:]
        if self.root is not None:
            yield self.root / "configs", parts

    def compiled(self, path: Path) -> tuple[Any, dict[str, int]]:
        """Return a file's code and the line at which each name was last bound."""
        if path not in self._code:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # prompts are full of backslashes that mean nothing
                    tree = ast.parse(path.read_text(encoding="utf-8-sig"), str(path))
                    lines = transform.assigned(tree)
                    self._code[path] = self._rewritten(tree, path), lines
            except FileNotFoundError:
                raise SpecError("there is no such file", file=shown(path)) from None
            except SyntaxError as exc:
                raise SpecError(f"is not Python: {exc.msg}", file=shown(path), line=exc.lineno) from None
            except (OSError, UnicodeDecodeError, ValueError) as exc:
                raise SpecError(f"cannot be read: {exc}", file=shown(path)) from None
        return self._code[path]

    def _rewritten(self, tree: ast.Module, path: Path) -> Any:
        return compile(transform.rewritten(tree, self.foreign, blocks=self.blocks), str(path), "exec")

    def globals(self, path: Path, trail: tuple[Path, ...]) -> Names:
        """Return the globals that a file begins with."""
        names = Names(__name__=f"<{path.stem}>", __file__=str(path))

        def block(value: dict[str, Any], line: int) -> Block:
            return Block(value).written_at(shown(path), line)

        def base(level: int, module: str, line: int, name: str) -> Any:
            return self.base(path, level, module, line, name, trail)

        def base_star(level: int, module: str, line: int) -> None:
            file = self.module_file(path, level, module)
            if file is None:
                raise self._absent(path, level, module, line)
            names.update((name, value) for name, value in self.load(file, trail).values.items() if not name.startswith("_"))

        names[transform.BLOCK], names[transform.REFERENCE] = block, self.imported
        names[transform.STAR] = names.stars.append
        names[transform.BASE], names[transform.BASE_STAR] = base, base_star
        return names

    def _absent(self, path: Path, level: int, module: str, line: int) -> SpecError:
        name = "." * level + module
        hint = "" if self.root else "; name OpenCompass' checkout or package with --opencompass-root DIR"
        return SpecError(f"there is no base file for {name!r}{hint}", file=shown(path), line=line)


@contextlib.contextmanager
def _known_module(name: str) -> Iterator[None]:
    """Keep a module of that name while its file runs: dataclasses look theirs up."""
    before = sys.modules.get(name)
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before


def is_local(value: object) -> bool:
    """Say whether a value is a function or class that a configuration defines itself."""
    if isinstance(value, FunctionType):
        return isinstance(value.__globals__, Names)
    return isinstance(value, type) and not is_reference(value) and str(value.__module__).startswith("<")


def _failure(exc: BaseException, path: Path) -> SpecError:
    """Return what went wrong at the innermost line of a configuration file."""
    file, line = str(path), None
    frame = exc.__traceback__
    while frame is not None:
        if isinstance(frame.tb_frame.f_globals, Names):
            file, line = frame.tb_frame.f_code.co_filename, frame.tb_lineno
        frame = frame.tb_next
    said = exc.message if isinstance(exc, SpecError) else " ".join(traceback.format_exception_only(exc)[-1].split())
    return SpecError(said, file=shown(Path(file)), line=line)
