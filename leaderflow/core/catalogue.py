"""The catalogue of datasets (``dataset_index.yml``), model recipes and registered names, for `leaderflow list`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from leaderflow.core import recipes
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.names import NAMES
from leaderflow.core.paths import data_file
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, load_yaml

CLOSE = 80
"""A word of the query fits a word of an entry from this similarity (0–100) on."""

_KEYS = ("name", "category", "paper", "recipes")


@dataclass(frozen=True)
class Entry:
    """A dataset of the catalogue, a model recipe, or a registered name; what the last one does is its category."""

    name: str
    category: str | None = None
    paper: str | None = None
    recipes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Json]:
        """Return the entry as JSON."""
        return asdict(self)


def datasets() -> list[Entry]:
    """Return the catalogue, then the recipes that it does not name, by family.

    Raises:
        SpecError: the catalogue is malformed.
    """
    index = data_file("dataset_index.yml")
    rows = load_yaml(index) if index.is_file() else Located({"datasets": []})
    entries = [_entry(rows, position) for position in range(len(rows.value.get("datasets") or []))]
    named = {recipe for entry in entries for recipe in entry.recipes}
    families: dict[str, list[str]] = {}
    for name, path in recipes.names("datasets").items():
        if name not in named:
            families.setdefault(path.parent.name, []).append(name)
    return entries + [Entry(family, recipes=found) for family, found in families.items()]


def models() -> list[Entry]:
    """Return the model recipes; their category is the model type."""
    return [Entry(name, category=_model_type(path), recipes=[name]) for name, path in recipes.names("models").items()]


def registered(kind: str) -> list[Entry]:
    """Return the names of a kind that a configuration can write as `type`, with what they do; nothing is imported."""
    return [Entry(name, category=_about(*target.split(":"))) for name, target in NAMES[kind].items()]


def search(entries: Sequence[Entry], words: Sequence[str]) -> list[Entry]:
    """Return the entries that fit every word, by name, family or category, best first; all of them without words."""
    from rapidfuzz import fuzz

    def score(entry: Entry) -> float:
        have = [part.lower() for text in _texts(entry) for part in (text, *_parts(text))]
        return min(max(_likeness(word.lower(), part, fuzz.ratio(word.lower(), part)) for part in have) for word in words)

    if not words:
        return list(entries)
    scored = [(score(entry), entry) for entry in entries]
    return [entry for points, entry in sorted(scored, key=lambda pair: -pair[0]) if points >= CLOSE]


def _likeness(word: str, part: str, similarity: float) -> float:
    """Return how well a word fits: equal 100, the beginning 95, inside 90, else how similar."""
    if word == part:
        return 100.0
    if part.startswith(word):
        return 95.0
    return 90.0 if len(word) > 2 and word in part else min(similarity, 89.0)


def _texts(entry: Entry) -> Iterator[str]:
    yield entry.name
    yield from entry.recipes
    if entry.category:
        yield entry.category


def _parts(text: str) -> list[str]:
    return [part for part in text.replace("/", " ").replace("_", " ").replace("-", " ").split() if part]


def _entry(rows: Located, position: int) -> Entry:
    item = rows.value["datasets"][position]
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise rows.error("an entry needs a name", "datasets", position)
    if foreign := [key for key in item if key not in _KEYS]:
        raise rows.error(f"unknown key {foreign[0]!r}{did_you_mean(foreign[0], _KEYS)}", "datasets", position, foreign[0])
    return Entry(item["name"], item.get("category"), item.get("paper"), list(item.get("recipes") or []))


def _about(module: str, name: str) -> str | None:
    """Return the first line of a function's or class's docstring, read from its source."""
    found = _documented(module).get(name)
    return found.splitlines()[0].replace("``", "") if found else None


@functools.cache
def _documented(module: str) -> dict[str, str | None]:
    path = data_file("leaderflow").parent.joinpath(*module.split(".")).with_suffix(".py")
    path = path if path.is_file() else path.with_suffix("") / "__init__.py"
    if not path.is_file():
        return {}
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: ast.get_docstring(node) for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _model_type(path: Path) -> str | None:
    try:
        return str(load_yaml(path).value.get("type"))
    except SpecError:
        return None  # said when the recipe is used
