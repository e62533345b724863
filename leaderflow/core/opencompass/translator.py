"""Values of a Python configuration as JSON that knows its places: what every part of the translation shares."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leaderflow.core import registry
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.names import NAMES
from leaderflow.core.opencompass import sources, tables
from leaderflow.core.opencompass.names import registered, split
from leaderflow.core.opencompass.report import Report
from leaderflow.core.pyconfig.loader import Config, is_local
from leaderflow.core.pyconfig.values import UNDEFINED, Block, ReferenceType, is_reference
from leaderflow.core.registry import Kind
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, Place, Steps, shown

Where = tuple[str | None, int | None]


class Translator:
    """Translates the blocks of one configuration; collects places for errors and a report of what has no counterpart."""

    def __init__(self, config: Config, report: Report) -> None:
        self.config, self.report = config, report

    def where(self, value: object, around: Where = (None, None)) -> Where:
        """Return where a mapping was written, or else what is around it."""
        return (value.file, value.line) if isinstance(value, Block) and value.file else around

    def typed(self, kind: Kind, block: Any, around: Where) -> Json:
        """Return a mapping with a `type` as it is written here; what has no counterpart goes to the report."""
        if not isinstance(block, Mapping):
            return self.value(block, around)
        if kind == "model":
            from leaderflow.core.opencompass.models import model  # a judge is a model, and models are translated with this

            return model(self, block, around)
        place = self.where(block, around)
        name = self.name(kind, block.get("type"), place)
        given = {key: value for key, value in block.items() if key != "type"}
        given = self._known(kind, name, given, place)
        return Block(type=name, **{key: self.part(key, value, place) for key, value in given.items()}).written_at(*place)

    def part(self, key: str, value: Any, around: Where) -> Json:
        """Return the value of a key: a typed mapping where the key stands for one."""
        if (kind := tables.KIND_OF_KEY.get(key)) and isinstance(value, Mapping) and "type" in value:
            return self.typed(kind, value, around)
        return self.value(value, around)

    def name(self, kind: Kind, wanted: Any, place: Where) -> str:
        """Return the registered name of a type, or its own where there is none, which the report then holds."""
        if is_local(wanted):
            return self._local(kind, wanted)
        if isinstance(wanted, str) and (wanted in NAMES[kind] or ":" in wanted):
            return wanted
        module, name = _named(wanted)
        if not name:
            self.report.miss(f"type {wanted!r}" if wanted is not None else "no type", kind, place)
            return str(wanted)
        if module == UNDEFINED and not isinstance(wanted, str):
            found, hint = (name if name in NAMES[kind] else None), "the file neither defines nor imports it"
        else:
            found, hint = registered(kind, module, name) or _ours(kind, wanted), ""
            if found is None:
                found, hint = sources.type_name(kind, module, name)
        if found is None or (":" not in found and found not in NAMES[kind]):
            if isinstance(wanted, str) and not hint:  # an imported name is no slip of the pen
                hint = did_you_mean(name, NAMES[kind]).removeprefix("; ")
            self.report.miss(name, kind, place, hint)
        return found or name

    def value(self, value: Any, around: Where) -> Json:
        """Return a value as JSON; mappings keep their places."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Mapping):
            place = self.where(value, around)
            return Block({str(key): self.part(str(key), inner, place) for key, inner in value.items()}).written_at(*place)
        if isinstance(value, list | tuple | set | frozenset | range):
            return [self.value(inner, around) for inner in value]
        if isinstance(value, numbers.Number) and hasattr(value, "item"):
            return value.item()
        if isinstance(value, Path):
            return str(value)
        if is_reference(value):
            return self._referred(value, around)
        self.report.miss(_named(value)[1] or type(value).__name__, "value", around, "it has no form in YAML")
        return None

    def located(self, value: Json) -> Located:
        """Return a translated mapping with the place of every part."""
        places: dict[Steps, Place] = {(): Place(shown(self.config.path))}
        return Located(_plain(value, (), places), places)

    def ignore(self, block: str, key: str, place: Where) -> bool:
        """Say whether a key is not carried over, and note the word that is to be said of it."""
        word = tables.IGNORED.get(block, {}).get(key)
        if word:
            self.report.note(word, place)
        return word is not None

    def _known(self, kind: Kind, name: str, given: dict[str, Any], place: Where) -> dict[str, Any]:
        """Return the arguments that the type takes; others are reported, or dropped where there is a word for them."""
        if name not in NAMES[kind]:
            return given
        try:
            accepted, others = registry.arguments(kind, name)
        except SpecError:
            return given  # a missing extra is reported when the spec is checked
        found = {}
        for key, value in given.items():
            if (key not in accepted or kind == "evaluator") and self.ignore(kind, key, place):
                continue
            found[key] = value
            if key not in accepted and not others and not (kind == "evaluator" and key in tables.KIND_OF_KEY):
                self.report.miss(f"{name}({key}=…)", "argument", place, did_you_mean(key, accepted).removeprefix("; "))
        return found

    def _local(self, kind: Kind, wanted: Any) -> str:
        """Register a function or class of the file itself for this process, under a name that changes with its file."""
        code = getattr(wanted, "__code__", None)
        file = Path(code.co_filename) if code else self.config.path
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        line = f"{code.co_firstlineno}." if code and wanted.__name__ == "<lambda>" else ""
        name = f"{file.name}:{line}{wanted.__qualname__}@{digest}"
        registry.register_local(name, sources.adapted(kind, wanted))
        return name

    def _referred(self, value: ReferenceType, around: Where) -> Json:
        if value.__module__ == UNDEFINED:
            self.report.miss(value.__qualname__, "name", around, "the file neither defines nor imports it")
        return value.__name__


def _named(value: Any) -> tuple[str, str]:
    """Return (module, name) of a class, a function, a reference or a dotted name."""
    if isinstance(value, str):
        return split(value)
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__module__), str(value.__qualname__)
    return "", ""


def _ours(kind: Kind, value: Any) -> str | None:
    """Return ``module:Name`` of a class that really was imported, or that one of our packages holds."""
    module, name = _named(value)
    if isinstance(value, str) or (
        is_reference(value) and module.partition(".")[0] not in {"templating", "inference", "evaluators"}
    ):
        return None
    return f"{module}:{name}"


def _plain(value: Json, steps: Steps, places: dict[Steps, Place]) -> Json:
    if isinstance(value, Block) and value.file:
        places[steps] = Place(value.file, value.line, steps)
    if isinstance(value, dict):
        return {key: _plain(inner, (*steps, key), places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, (*steps, position), places) for position, inner in enumerate(value)]
    return value
