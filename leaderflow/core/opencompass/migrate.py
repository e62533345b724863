"""A Python configuration as the YAML that runs the same."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderflow.core.opencompass.evaluation import Translated, translate
from leaderflow.core.opencompass.report import Missing
from leaderflow.core.types import Json
from leaderflow.core.yaml import parse_yaml

WIDTH = 132


@dataclass(frozen=True)
class Migration:
    """The file that was written, what is done otherwise, and what could not be carried over."""

    file: Path
    notes: list[str]
    missing: list[Missing]
    models: int
    datasets: int


def migrate(path: Path, folder: Path) -> Migration:
    """Write the equivalent YAML of a Python configuration to a folder, under the same name.

    A name without a counterpart is written as it is, so that running the file is refused at its line; code of the file itself
    counts as not carried over.

    Raises:
        SpecError: the configuration does not run or has the wrong shape.
        OSError: the file cannot be written.
    """
    found = translate(path)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{path.stem}.yaml"
    notes = [*found.report.lines(), *_lent(found)]
    file.write_text(_head(path, notes) + as_yaml(_document(found, path.parent)), encoding="utf-8")
    return Migration(file, notes, [*found.report.missing, *_code(found)], len(found.models), len(found.datasets))


def as_yaml(value: Json) -> str:
    """Return YAML that reads back as exactly this value; text of several lines stands in blocks."""
    text = _dumped(_blocks(value))
    return text if parse_yaml(text, "").value == value else _dumped(value)


def _document(found: Translated, folder: Path) -> dict[str, Json]:
    """Return what the file holds; data files beside the configuration are named by their whole path."""
    document = dict(found.document().value)
    for kind in {"models", "datasets", "judges"} & set(document):
        document[kind] = [_placed(block, folder) for block in document[kind]]
    return {key: value for key, value in document.items() if value}


def _placed(block: dict[str, Json], folder: Path) -> dict[str, Json]:
    path = block.get("path")
    if not isinstance(path, str) or not path or Path(path).is_absolute() or not (folder / path).exists():
        return block
    return {**block, "path": str((folder / path).resolve())}


def _code(found: Translated) -> list[Missing]:
    """Return the functions and classes of the file itself, which no YAML can hold."""
    own = {name for name in _all_types(found) if "@" in name and ".py:" in name}
    hint = "put it into a module on PYTHONPATH and write type: package.module:name"
    return [Missing(name.rpartition("@")[0], "code", hint=hint) for name in sorted(own)]


def _lent(found: Translated) -> list[str]:
    """Return what is to be said of code that stays in the package."""
    lent = sorted(name for name in _all_types(found) if name.startswith("opencompass."))
    return (
        [f"run it with --opencompass-root: {', '.join(lent)} {'is' if len(lent) == 1 else 'are'} code of OpenCompass"]
        if lent
        else []
    )


def _all_types(found: Translated) -> set[str]:
    return {name for block in (*found.models, *found.datasets) for name in _types(block.value)}


def _types(value: Json) -> Sequence[str]:
    if isinstance(value, list):
        return [name for inner in value for name in _types(inner)]
    if not isinstance(value, dict):
        return []
    return [*([value["type"]] if isinstance(value.get("type"), str) else []), *_types(list(value.values()))]


def _head(path: Path, notes: Sequence[str]) -> str:
    lines = [f"The same evaluation as {path.name}.", *notes]
    return "".join(f"# {line}\n" for line in lines)


def _blocks(value: Json) -> Any:
    from ruamel.yaml.scalarstring import LiteralScalarString

    if isinstance(value, dict):
        return {key: _blocks(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_blocks(inner) for inner in value]
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value.strip("\n") else value


def _dumped(value: Any) -> str:
    from ruamel.yaml import YAML

    yaml, text = YAML(), io.StringIO()
    yaml.width, yaml.allow_unicode, yaml.default_flow_style = WIDTH, True, False
    yaml.representer.ignore_aliases = lambda *_: True  # a value stands where it is used
    yaml.dump(value, text)
    return text.getvalue()
