"""The tests' process: runs the tests, calls the solution in its own process, and says what the tests said.

Model code never runs here, so there is nothing for it to patch, skip or print that would count as a pass.
"""

import ast
import builtins
import io
import json
import os
import sys

import confine
import wire


class Ended(BaseException):
    """The solution's process is gone."""


class RemoteError(Exception):
    """An exception of the solution that Python itself does not define."""


class Remote:
    """Something of the solution that is no plain data; what is done with it is done over there."""

    __slots__ = ("_ask", "_number")

    def __init__(self, ask, number):
        object.__setattr__(self, "_ask", ask)
        object.__setattr__(self, "_number", number)

    def __call__(self, *args, **kwargs):
        return self._ask("call", self, *args, **kwargs)

    def __getattr__(self, name):
        return self._ask("getattr", self, name)

    def __setattr__(self, name, value):
        self._ask("setattr", self, name, value)

    def __getitem__(self, key):
        return self._ask("getitem", self, key)

    def __setitem__(self, key, value):
        self._ask("setitem", self, key, value)

    def __contains__(self, item):
        return bool(self._ask("contains", self, item))

    def __iter__(self):
        return iter(self._ask("list", self))

    def __len__(self):
        return self._ask("len", self)

    def __bool__(self):
        return bool(self._ask("bool", self))

    def __eq__(self, other):
        """Never equal to plain data: an object that calls itself equal to everything is no answer."""
        return isinstance(other, Remote) and bool(self._ask("eq", self, other))

    def __lt__(self, other):
        return bool(self._ask("lt", self, other))

    def __hash__(self):
        return self._ask("hash", self)

    def __str__(self):
        return str(self._ask("str", self))

    __repr__ = __str__


class Solution:
    """The other side."""

    def __init__(self, replies, requests):
        self.replies, self.requests = replies, requests

    def ready(self):
        """Wait until the solution has been loaded."""
        self._receive()

    def lookup(self, name):
        """Return (whether the solution has that name, its value)."""
        reply = self._exchange({"op": "lookup", "args": [name]})
        return "missing" not in reply, self._value(reply.get("value"))

    def ask(self, operation, *args, **kwargs):
        """Do something over there. Lists, dictionaries and sets that it changes in place change here too."""
        packed = [wire.pack(arg, self._own) for arg in args]
        named = wire.pack(kwargs, self._own)
        reply = self._exchange({"op": operation, "args": packed, "kwargs": named})
        changed = reply.get("changed")
        if changed is not None and changed != packed[1:]:
            for mine, new in zip(args[1:], self._value(changed), strict=True):
                _replace(mine, new)
        return self._value(reply["value"])

    def _own(self, value):
        if isinstance(value, Remote):
            return {"t": "handle", "v": object.__getattribute__(value, "_number")}
        raise TypeError(f"the tests hand the solution a {type(value).__name__}, which cannot pass between processes")

    def _value(self, packed):
        return wire.unpack(packed, lambda number: Remote(self.ask, number))

    def _exchange(self, message):
        try:
            wire.send(self.requests, message)
        except BrokenPipeError:
            raise Ended from None
        return self._receive()

    def _receive(self):
        reply = wire.receive(self.replies)
        if reply is None:
            raise Ended
        if isinstance(reply, dict) and "error" in reply:
            kind = getattr(builtins, str(reply["error"]), None)
            if kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
                raise Ended
            raise _error(kind, str(reply.get("text", "")))
        return reply


def _error(kind, text):
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:  # some need more than a text
            pass
    return RemoteError(text)


def _replace(mine, new):
    if type(mine) is list and type(new) is list:
        mine[:] = new
    elif type(mine) in (dict, set) and type(mine) is type(new):
        mine.clear()
        mine.update(new)


def _wanted(tree, space, names):
    """The names that the tests need of the solution. Python's own are among them only where nothing else is asked for."""
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    free = loaded - bound - set(space)
    own = {name for name in free if hasattr(builtins, name)}
    return set(names) | ((free - own) or own)


def judge(job, solution):
    """Return the verdict."""
    space = {"__name__": "tests", "__builtins__": builtins}
    try:
        if job["context"]:
            exec(compile(job["context"], "<context>", "exec"), space)
        tree = ast.parse(job["tests"])
        wanted = _wanted(tree, space, job["names"])
        solution.ready()
        for name in sorted(wanted):
            found, value = solution.lookup(name)
            if found:
                space[name] = value
            elif name in job["names"]:
                space.pop(name, None)
        exec(compile(tree, "<tests>", "exec"), space)
    except Ended:
        return {"status": "crashed", "message": "the solution's process ended before the tests did"}
    except BaseException as exc:
        return {"status": _status(exc), "message": _message(exc, job["tests"])}
    return {"status": "passed", "message": ""}


def _status(exc):
    if isinstance(exc, AssertionError):
        return "wrong"
    return "memory" if isinstance(exc, MemoryError) else "failed"


def _message(exc, tests):
    lines, frame = [], exc.__traceback__
    while frame is not None:
        lines += [frame.tb_lineno] if frame.tb_frame.f_code.co_filename == "<tests>" else []
        frame = frame.tb_next
    source = tests.split("\n")
    place = source[lines[-1] - 1].strip() if lines and lines[-1] <= len(source) else ""
    return f"{type(exc).__name__}: {str(exc)[:300]}" + (f" at: {place[:200]}" if place else "")


def main():
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
