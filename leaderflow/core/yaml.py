"""YAML that knows where it was written: every value keeps its file, line and dotted key for error messages.

Plain YAML 1.2: ``yes`` and ``no`` are text, keys are text as written, numbers are finite, a key stands once in a mapping.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaderflow.core.errors import SpecError
from leaderflow.core.types import Json

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node

MOST_VALUES = 200_000
"""Values of one file, aliases written out: far above any spec, far below what a few nested aliases can grow to."""

Steps = tuple[str | int, ...]
"""The way to a value: mapping keys and list positions."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was written: the file (or option), its 1-based line, and its key there."""

    file: str
    line: int | None = None
    key: Steps = ()


@dataclass(frozen=True)
class Located:
    """A JSON value and where its parts were written."""

    value: Json
    places: Mapping[Steps, Place] = field(default_factory=dict)

    def error(self, message: str, *steps: str | int) -> SpecError:
        """Return the error that names file, line and key of the value at `steps`, or of the nearest one around it."""
        for end in range(len(steps), -1, -1):
            if place := self.places.get(steps[:end]):
                return SpecError(message, file=place.file, line=place.line, key=dotted(place.key + steps[end:]) or None)
        return SpecError(message, key=dotted(steps) or None)

    def at(self, *steps: str | int) -> Located:
        """Return the part at `steps`, which must be there."""
        value = self.value
        for step in steps:
            value = value[step]
        size = len(steps)
        return Located(value, {path[size:]: place for path, place in self.places.items() if path[:size] == steps})

    def updated(self, **values: Json) -> Located:
        """Return the mapping with some keys set."""
        return Located({**self.value, **values}, self.places)

    def without(self, *keys: str) -> Located:
        """Return the mapping without some keys."""
        return Located({k: v for k, v in self.value.items() if k not in keys}, self.places)

    def moved(self, keys: list[str], into: str) -> Located:
        """Return the mapping with some of its keys moved into the mapping under `into`."""
        inner = {**(self.value.get(into) or {}), **{key: self.value[key] for key in keys}}
        rest = {key: value for key, value in self.value.items() if key not in keys}
        places = {((into, *path) if path and path[0] in keys else path): place for path, place in self.places.items()}
        return Located({**rest, into: inner}, places)

    def merged(self, over: Located) -> Located:
        """Return this mapping with `over` laid on it: mappings merge, everything else replaces.

        Inside, so does a mapping with another `type`, whose arguments are its own; the block itself keeps what it does not name.
        """
        return Located(_laid(self.value, over.value), {**self.places, **over.places})


def _merge(base: Json, over: Json) -> Json:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "type" in over and over["type"] != base.get("type"):
        return over
    return _laid(base, over)


def _laid(base: dict[str, Json], over: dict[str, Json]) -> dict[str, Json]:
    return {**base, **{key: _merge(base.get(key), value) for key, value in over.items()}}


def dotted(steps: Steps) -> str:
    """Return a key as people write it, such as ``datasets[0].infer_cfg``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def load_yaml(path: Path) -> Located:
    """Read a YAML file that holds a mapping.

    Raises:
        SpecError: the file cannot be read, is not YAML, or holds something else.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SpecError("there is no such file", file=shown(path)) from None
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise SpecError(f"cannot be read: {reason}", file=shown(path)) from exc
    located = parse_yaml(text, shown(path))
    if not isinstance(located.value, dict):
        raise SpecError(f"must hold a mapping of keys to values, not {kind_of(located.value)}", file=shown(path), line=1)
    return located


def parse_yaml(text: str, file: str) -> Located:
    """Parse YAML text; `file` names it in messages."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise SpecError(f"is not YAML: {exc.problem or exc.context}", file=file, line=mark.line + 1 if mark else None) from None
    except YAMLError as exc:
        raise SpecError(f"is not YAML: {' '.join(str(exc).split())}", file=file) from None
    except RecursionError:
        raise SpecError("is nested too deeply", file=file) from None
    builder = _Builder(file)
    try:
        value = builder.build(node, ()) if node is not None else None
    except RecursionError:
        raise SpecError("a value holds itself", file=file) from None
    return Located(value, builder.places)


def shown(path: Path) -> str:
    """Return a path as a message shows it: below the working directory it is relative."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def kind_of(value: Json) -> str:
    """Return what a value is, in the words of a message."""
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}
    return names.get(type(value), "nothing")


class _Builder:
    """Turns YAML nodes into JSON values and notes where each stands."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[Steps, Place] = {}

    def build(self, node: Node, steps: Steps, line: int | None = None) -> Json:
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        self.places[steps] = Place(self.file, line or node.start_mark.line + 1, steps)
        if len(self.places) > MOST_VALUES:
            raise SpecError(f"holds more than {MOST_VALUES:,} values; aliases inside aliases multiply", file=self.file)
        if isinstance(node, MappingNode):
            return self._mapping(node, steps)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*steps, position)) for position, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, steps: Steps) -> dict[str, Json]:
        found: dict[str, Json] = {}
        inherited: dict[str, Json] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.id != "scalar":
                raise SpecError("a key must be plain text", file=self.file, line=line, key=dotted(steps))
            if key.tag == "tag:yaml.org,2002:merge":
                for part in value.value if value.id == "sequence" else [value]:
                    inherited = {**self._mapping(part, steps), **inherited}
                continue
            if key.value in found:
                raise SpecError("the key stands twice", file=self.file, line=line, key=dotted((*steps, key.value)))
            found[key.value] = self.build(value, (*steps, key.value), line)
        return {**inherited, **found}

    def _scalar(self, node: Node) -> Json:
        kind, text = str(node.tag).removeprefix("tag:yaml.org,2002:"), str(node.value)
        if kind in ("str", "timestamp"):
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind in ("int", "float"):
            return self._number(text, kind, node.start_mark.line + 1)
        raise SpecError(f"the tag {node.tag} means nothing here", file=self.file, line=node.start_mark.line + 1)

    def _number(self, text: str, kind: str, line: int) -> int | float:
        plain = text.replace("_", "")
        try:
            value: Any = float(plain) if kind == "float" else int(plain, 10 if plain.lstrip("+-").isdigit() else 0)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise SpecError(f"{text[:40]} is not a finite number; put it in quotes if it is text", file=self.file, line=line)
        return value  # type: ignore[no-any-return]
