"""What a configuration file is made of while it runs: blocks that know their line, and references to classes that are not there."""

from __future__ import annotations

import builtins
import copy
import functools
from collections.abc import Iterator
from typing import Any

UNDEFINED = ""
"""The module of a name that the file uses and nobody defines."""


class Block(dict[str, Any]):
    """A mapping that knows where it was written; its keys can be read and set as attributes, too."""

    file: str | None
    line: int | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "file", None)
        object.__setattr__(self, "line", None)

    def written_at(self, file: str | None, line: int | None) -> Block:
        """Note the place and return the block."""
        object.__setattr__(self, "file", file)
        object.__setattr__(self, "line", line)
        return self

    def copy(self) -> Block:
        """Return a shallow copy that stands at the same place."""
        return Block(self).written_at(self.file, self.line)

    def deepcopy(self) -> Block:
        """Return a deep copy."""
        return copy.deepcopy(self)

    def __copy__(self) -> Block:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Block:
        twin = Block().written_at(self.file, self.line)
        memo[id(self)] = twin
        twin.update((key, copy.deepcopy(value, memo)) for key, value in self.items())
        return twin

    def __call__(self, found: Any) -> Any:
        """Return what was decorated: a decorator of a package that is not installed does nothing."""
        if not callable(found):
            raise TypeError("a mapping cannot be called")
        return found

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the mapping has no key {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class ReferenceType(type):
    """The type of references, so that they pass for classes: as bases, in ``isinstance``, by ``__name__``.

    Calling one gives the block ``dict(type=…, **arguments)``; called with a text it is the postprocessor of that name.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a block, what the postprocessor gives, or an instance of the file's own class."""
        if not is_reference(cls):
            return super().__call__(*args, **kwargs)
        _defined(cls)
        if args and all(isinstance(value, str) for value in args):
            from leaderflow.core.opencompass.names import function_of  # the table of names knows references itself

            return function_of(cls)(*args, **kwargs)
        return Block(type=cls, **({"args": list(args)} if args else {}), **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") or not is_reference(cls):
            raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
        _defined(cls)
        return reference(cls.__module__, f"{cls.__qualname__}.{name}".lstrip("."))

    def __iter__(cls) -> Iterator[Any]:
        _defined(cls)
        raise TypeError(f"{dotted(cls)} is a class and cannot be iterated over")

    def __add__(cls, other: object) -> Any:
        _defined(cls)
        return NotImplemented

    __radd__ = __add__

    def __getitem__(cls, key: object) -> Any:
        _defined(cls)
        raise TypeError(f"{dotted(cls)} is a class and has no item {key!r}")

    def __repr__(cls) -> str:
        return dotted(cls)


@functools.cache
def reference(module: str, name: str) -> ReferenceType:
    """Return the stand-in for a class or function of a module that need not be installed; the same one for the same name."""
    last = name.rpartition(".")[2] or module.rpartition(".")[2]
    return ReferenceType(last, (), {"__module__": module, "__qualname__": name, "__reference__": True})


def is_reference(value: object) -> bool:
    """Say whether a value is a reference rather than a class of the file itself."""
    return isinstance(value, ReferenceType) and "__reference__" in vars(value)


def dotted(value: ReferenceType | type) -> str:
    """Return the dotted name of a class or function."""
    return ".".join(part for part in (value.__module__, value.__qualname__) if part)


def _defined(cls: ReferenceType) -> None:
    if is_reference(cls) and cls.__module__ == UNDEFINED:
        raise NameError(f"the name {cls.__qualname__!r} is not defined")


class Names(dict[str, Any]):
    """The globals of a file that runs. A name that nobody defines is a reference too: fragments load, and say what they lack."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stars: list[str] = []
        """Modules of which every name was imported."""

    def __missing__(self, name: str) -> Any:
        if name.startswith("__") or hasattr(builtins, name):
            raise KeyError(name)
        return reference(self.stars[-1] if self.stars else UNDEFINED, name)
