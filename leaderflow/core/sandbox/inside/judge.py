"""The tests' process: runs the tests, calls the solution in its own process, and says what the tests said.

Model code never runs here, so there is nothing for it to patch, skip or print that would count as a pass.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import os
import sys

import confine
import wire

TYPE_CHECKING = False  # typing takes longer to import than most programs take to run
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO


class Ended(BaseException):
    """The solution's process is gone."""


class RemoteError(Exception):
    """An exception of the solution that Python itself does not define."""


class Remote:
    """Something of the solution that is no plain data; what is done with it is done over there."""

    __slots__ = ("_ask", "_number")
    _ask: Callable[..., Any]
    _number: int

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        object.__setattr__(self, "_ask", ask)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with plain data or with other things of the solution."""
        return self._ask("call", self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return self._ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("setattr", self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("setitem", self, key, value)

    def __contains__(self, item: Any) -> bool:
        return bool(self._ask("contains", self, item))

    def __iter__(self) -> Any:
        return iter(self._ask("list", self))

    def __len__(self) -> int:
        return int(self._ask("len", self))

    def __bool__(self) -> bool:
        return bool(self._ask("bool", self))

    def __eq__(self, other: object) -> bool:
        """Never equal to plain data: an object that calls itself equal to everything is no answer."""
        return isinstance(other, Remote) and bool(self._ask("eq", self, other))

    def __lt__(self, other: object) -> bool:
        return bool(self._ask("lt", self, other)) if isinstance(other, Remote) else NotImplemented

    def __hash__(self) -> int:
        return int(self._ask("hash", self))

    def __str__(self) -> str:
        return str(self._ask("str", self))

    __repr__ = __str__


class Solution:
    """The other side."""

    def __init__(self, replies: BinaryIO, requests: BinaryIO) -> None:
        self.replies, self.requests = replies, requests

    def ready(self) -> None:
        """Wait until the solution has been loaded."""
        self._receive()

    def lookup(self, name: str) -> tuple[bool, Any]:
        """Return (whether the solution has that name, its value)."""
        reply = self._exchange({"op": "lookup", "args": [name]})
        return "missing" not in reply, self._value(reply.get("value"))

    def ask(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        """Do something over there. Lists, dictionaries and sets that it changes in place change here too."""
        packed = [wire.pack(arg, self._own) for arg in args]
        named = wire.pack(kwargs, self._own)
        reply = self._exchange({"op": operation, "args": packed, "kwargs": named})
        changed = reply.get("changed")
        if changed is not None and changed != packed[1:]:
            for mine, new in zip(args[1:], self._value(changed), strict=True):
                _replace(mine, new)
        return self._value(reply["value"])

    def _own(self, value: Any) -> Any:
        if isinstance(value, Remote):
            return {"t": "handle", "v": object.__getattribute__(value, "_number")}
        raise TypeError(f"the tests hand the solution a {type(value).__name__}, which cannot pass between processes")

    def _value(self, packed: Any) -> Any:
        return wire.unpack(packed, lambda number: Remote(self.ask, number))

    def _exchange(self, message: Any) -> Any:
        try:
            wire.send(self.requests, message)
        except BrokenPipeError:
            raise Ended from None
        return self._receive()

    def _receive(self) -> Any:
        reply = wire.receive(self.replies)
        if reply is None:
            raise Ended
        if isinstance(reply, dict) and "error" in reply:
            kind = getattr(builtins, str(reply["error"]), None)
            if kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
                raise Ended
            raise _error(kind, str(reply.get("text", "")))
        return reply


def _error(kind: Any, text: str) -> Exception:
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            known: Exception = kind(text)
            return known
        except TypeError:  # some need more than a text
            pass
    return RemoteError(text)


def _replace(mine: Any, new: Any) -> None:
    if type(mine) is list and type(new) is list:
        mine[:] = new
    elif type(mine) in (dict, set) and type(mine) is type(new):
        mine.clear()
        mine.update(new)


def _wanted(tree: ast.Module, space: dict[str, Any], names: list[str]) -> set[str]:
    """The names that the tests need of the solution. Python's own are among them only where nothing else is asked for."""
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    free = loaded - bound - set(space)
    own = {name for name in free if hasattr(builtins, name)}
    return set(names) | ((free - own) or own)


def _modules(tree: ast.Module) -> set[str]:
    """Modules that the tests use because the solution imports them: they get the real ones."""
    used = {n.value.id for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    return used & sys.stdlib_module_names


def judge(job: dict[str, Any], solution: Solution) -> dict[str, str]:
    """Return the verdict."""
    space: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
    try:
        if job["context"]:
            exec(compile(job["context"], "<context>", "exec", dont_inherit=True), space)
        tree = ast.parse(job["tests"])
        wanted = _wanted(tree, space, job["names"])
        solution.ready()
        for name in sorted(wanted):
            found, value = solution.lookup(name)
            if found:
                space[name] = __import__(name) if name in _modules(tree) - set(job["names"]) else value
            elif name in job["names"]:
                space.pop(name, None)
        exec(compile(tree, "<tests>", "exec", dont_inherit=True), space)
    except Ended:
        return {"status": "crashed", "message": "the solution's process ended before the tests did"}
    except BaseException as exc:
        return {"status": _status(exc), "message": _message(exc, job["tests"])}
    return {"status": "passed", "message": ""}


def _status(exc: BaseException) -> str:
    if isinstance(exc, AssertionError):
        return "wrong"
    return "memory" if isinstance(exc, MemoryError) else "failed"


def _message(exc: BaseException, tests: str) -> str:
    lines: list[int] = []
    frame = exc.__traceback__
    while frame is not None:
        lines += [frame.tb_lineno] if frame.tb_frame.f_code.co_filename == "<tests>" else []
        frame = frame.tb_next
    source = tests.split("\n")
    place = source[lines[-1] - 1].strip() if lines and lines[-1] <= len(source) else ""
    said = f"{type(exc).__name__}: {str(exc)[:300]}" if str(exc) else type(exc).__name__
    return said + (f" at: {place[:200]}" if place else "")


def main() -> None:
    """Judge, and write the verdict where nothing else writes."""
    job = confine.begin()
    verdict = os.dup(2)
    replies, requests = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()
    sys.setrecursionlimit(3000)
    found = json.dumps(judge(job, Solution(replies, requests))).encode()
    while found:
        found = found[os.write(verdict, found) :]
    os._exit(0)


if __name__ == "__main__":
    main()
