"""How values pass between the tests and the solution: plain data by value, all else as a handle on the solution's side.

Nothing that arrives is ever executed, so the solution can lie about its answers but not run code beside the tests.
"""

from __future__ import annotations

import builtins
import json
import sys

TYPE_CHECKING = False  # typing takes longer to import than most programs take to run
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

sys.set_int_max_str_digits(0)

_SEQUENCES: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_NUMBERS = {("builtins", "complex"), ("decimal", "Decimal"), ("fractions", "Fraction")}
"""Numbers that pass as text: (module, type); the modules are imported when such a number comes."""

_MODULE = type(sys)


class Handles:
    """Objects that only this side can hold: number → object."""

    def __init__(self) -> None:
        self.objects: list[Any] = []

    def keep(self, value: Any) -> Any:
        """Return the handle of an object."""
        self.objects.append(value)
        return {"t": "handle", "v": len(self.objects) - 1}


def pack(value: Any, handle: Callable[[Any], Any]) -> Any:
    """Return a value as JSON; `handle` makes the JSON of what is no plain data. Subclasses become what they derive from."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, list):
        return [pack(v, handle) for v in list.__iter__(value)]
    if isinstance(value, dict):
        return {"t": "dict", "v": [[pack(k, handle), pack(v, handle)] for k, v in dict.items(value)]}
    for tag, kind in _SEQUENCES.items():
        if isinstance(value, kind):
            return {"t": tag, "v": [pack(v, handle) for v in _items(kind, value)]}
    return _rare(value, handle)


def _items(kind: Any, value: Any) -> Any:
    """Iterate as the built-in type does, whatever a subclass makes of it."""
    return kind.__iter__(value)


def _rare(value: Any, handle: Callable[[Any], Any]) -> Any:
    if isinstance(value, bytes | bytearray):
        return {"t": "bytes", "v": value.decode("latin-1")}
    if isinstance(value, range):
        return {"t": "range", "v": [value.start, value.stop, value.step]}
    if (type(value).__module__, type(value).__name__) in _NUMBERS:
        return {"t": "number", "v": [type(value).__module__, type(value).__name__, str(value)]}
    if isinstance(value, type) and value.__module__ == "builtins" and hasattr(builtins, value.__name__):
        return {"t": "type", "v": value.__name__}
    if isinstance(value, _MODULE):
        return {"t": "module", "v": value.__name__}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return pack(value.item(), handle)
    return handle(value)


def unpack(value: Any, handle: Callable[[int], Any]) -> Any:
    """Return the value that JSON stands for; `handle` makes something of a handle's number."""
    if isinstance(value, list):
        return [unpack(v, handle) for v in value]
    if not isinstance(value, dict):
        return value
    tag, inner = value["t"], value["v"]
    if tag == "dict":
        return {unpack(k, handle): unpack(v, handle) for k, v in inner}
    if tag in _SEQUENCES:
        return _SEQUENCES[tag](unpack(v, handle) for v in inner)
    if tag == "number":
        return _number(*inner)
    if tag == "bytes":
        return inner.encode("latin-1")
    if tag == "range":
        return range(*inner)
    if tag == "module":
        return _module(inner)
    if tag == "type":
        return _type(inner)
    return handle(inner)


def _number(module: str, name: str, text: str) -> Any:
    if (module, name) not in _NUMBERS:
        raise TypeError(f"{module}.{name} is no number")
    return getattr(__import__(module), name)(text)


def _type(name: str) -> type:
    found = getattr(builtins, name)
    if not isinstance(found, type):
        raise TypeError(f"{name} is no type")
    return found


def _module(name: str) -> Any:
    """Import a module of the standard library; any other one stays away from the tests."""
    if name.partition(".")[0] not in sys.stdlib_module_names:
        raise ImportError(f"the tests may not use the solution's module {name}")
    return __import__(name, fromlist=["*"])


def send(file: BinaryIO, message: Any) -> None:
    """Write one message."""
    file.write(json.dumps(message).encode() + b"\n")
    file.flush()


def receive(file: BinaryIO) -> Any:
    """Return the next message, or None at the end.

    Raises:
        ValueError: what came is no message.
    """
    line = file.readline()
    return json.loads(line) if line else None
