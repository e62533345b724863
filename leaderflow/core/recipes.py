"""Recipes: named YAML files of one dataset, model or leaderboard, and families of datasets by one `matrix:`.

They lie in the shipped folder ``recipes`` and in the folders of ``LEADERFLOW_RECIPES``, which come first::

    datasets/FAMILY/NAME.yaml    models/NAME.yaml    leaderboards/NAME.yaml

A file whose name begins with ``_`` is not a recipe of its own, only a base that others name by ``recipe:``.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.paths import data_file
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, load_yaml

log = logging.getLogger("leaderflow.recipes")

RecipeKind = Literal["datasets", "models", "leaderboards"]

_PATTERN = {"datasets": "datasets/*/{}.yaml", "models": "models/{}.yaml", "leaderboards": "leaderboards/{}.yaml"}
_FEW = 4
"""Of several recipes that may have been meant, so many are named."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")


@dataclass(frozen=True)
class Recipe:
    """A recipe with everything it builds on; `size` is the number of members of its whole family (None: not a family)."""

    block: Located
    name: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Family:
    """The datasets of one recipe: one, or those of its matrix whose files are there."""

    members: list[Located]
    group: str | None = None
    size: int | None = None


def folders() -> list[Path]:
    """Return the folders that hold recipes, the user's first."""
    own = [Path(part).expanduser() for part in os.environ.get("LEADERFLOW_RECIPES", "").split(os.pathsep) if part]
    return [*own, data_file("recipes")]


def names(kind: RecipeKind) -> dict[str, Path]:
    """Return the recipes of a kind: name → file, sorted by name."""
    found: dict[str, Path] = {}
    for folder in folders():
        for path in folder.glob(_PATTERN[kind].format("*")):
            if not path.name.startswith("_"):
                found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find(kind: RecipeKind, name: str) -> Path | None:
    """Return the file of a recipe, or None."""
    if not re.fullmatch(r"[\w.+-]+", name):
        return None
    return next((path for folder in folders() for path in folder.glob(_PATTERN[kind].format(name))), None)


def siblings(source: str) -> list[str]:
    """Return the names of the dataset recipes that lie beside one, given as its file; the most alike first."""
    from rapidfuzz import fuzz

    own = Path(source)
    beside = [name for name, path in names("datasets").items() if path.parent == own.parent and path != own]
    return sorted(beside, key=lambda name: -fuzz.ratio(name, own.stem))


def read(kind: RecipeKind, name: str, trail: tuple[str, ...] = ()) -> Recipe:
    """Read a recipe by name, with what it builds on.

    Raises:
        SpecError: there is no such recipe, or recipes build on each other in a circle.
    """
    path = find(kind, name)
    if path is None:
        raise SpecError(f"there is no {kind[:-1]} recipe {name!r}{_hint(kind, name)}")
    if name in trail:
        raise SpecError(f"recipes build on each other: {' → '.join([*trail, name])}", file=str(path))
    recipe = resolve(kind, load_yaml(path), (*trail, name))
    return Recipe(recipe.block.updated(source=str(path)), name, recipe.size)


def _hint(kind: RecipeKind, name: str) -> str:
    """Return what may have been meant: a slip, recipes that continue the name or that it continues, those with its first word."""
    recipes, own = list(names(kind)), name.lower()
    known = [*recipes, *(members() if kind == "datasets" else ())]
    continued = [other for other in recipes if other.startswith(own) or own.startswith(other)]
    akin = [other for other in recipes if _first_word(other) == _first_word(own)]
    if slip := did_you_mean(name, known, likeness=0.85):
        return slip
    if continued or not (like := did_you_mean(name, known)):
        few = " or ".join(map(repr, (continued or akin)[:_FEW]))
        like = f"; did you mean {few}?" if few else ""
    also = "; a model behind an API is openai/NAME, weights are hf/PATH-OR-ID" if kind == "models" else ""
    return like or (f"; `leaderflow list {kind}` shows them{also}" if kind != "leaderboards" else "")


def _first_word(name: str) -> str:
    return re.split(r"[-_.]", name)[0]


def resolve(kind: RecipeKind, block: Located, trail: tuple[str, ...] = ()) -> Recipe:
    """Lay a block on the recipe that its `recipe:` names, if it names one."""
    name = block.value.get("recipe")
    if name is None:
        return Recipe(block, size=_size(block))
    if not isinstance(name, str):
        raise block.error("must be the name of a recipe", "recipe")
    try:
        base = read(kind, name, trail)
    except SpecError as exc:
        raise exc if exc.file else block.error(exc.message, "recipe") from exc
    return Recipe(base.block.merged(block.without("recipe")), base.name, base.size or _size(block))


def expand(recipe: Recipe, data_dir: Path | None = None) -> Family:
    """Return the datasets of a recipe: one for each combination of its `matrix:`, ``${name}`` replaced in every text.

    Members whose `local:` files are all absent below the data directory, while it holds others, are left out with one logged line;
    ``skip_absent: false`` keeps them.
    """
    matrix = recipe.block.value.get("matrix")
    skip = recipe.block.value.get("skip_absent", True)
    if not isinstance(skip, bool):
        raise recipe.block.error("must be true or false", "skip_absent")
    plain = recipe.block.without("matrix", "skip_absent")
    if matrix is None:
        return Family([plain], plain.value.get("group"), recipe.size)
    if recipe.name and "group" not in plain.value:
        plain = plain.updated(group=recipe.name)
    members = [_member(plain, values) for values in _combinations(recipe.block)]
    present = _present(members, data_dir) if skip else members
    return Family(present, plain.value.get("group"), recipe.size)


def members() -> dict[str, Located]:
    """Return the single datasets of all families by their abbreviation, each without its group: one member is no family."""
    found: dict[str, Located] = {}
    for name, path in names("datasets").items():
        if b"matrix:" not in path.read_bytes():
            continue
        with contextlib.suppress(SpecError):  # whoever names that family is told; here another name is looked for
            for member in expand(read("datasets", name)).members:
                found.setdefault(str(member.value.get("abbr")), member.without("group"))
    return found


def _present(members: Sequence[Located], data_dir: Path | None) -> list[Located]:
    there = [data_dir is None or _is_there(member.value.get("local"), data_dir) for member in members]
    here = [member for member, found in zip(members, there, strict=True) if found]
    absent = [str(member.value.get("abbr")) for member, found in zip(members, there, strict=True) if not found]
    if not here or not absent:
        return list(members)
    log.warning(
        "%s: %d of %d members are not below %s and are left out: %s",
        here[0].value.get("group") or "matrix",
        len(absent),
        len(members),
        data_dir,
        ", ".join(absent),
    )
    return here


def _is_there(local: Json, data_dir: Path) -> bool:
    paths = local.values() if isinstance(local, dict) else [local]
    return any(isinstance(path, str) and (data_dir / path).exists() for path in paths)


def _size(block: Located) -> int | None:
    return len(_combinations(block)) if block.value.get("matrix") is not None else None


def _combinations(block: Located) -> list[dict[str, Json]]:
    matrix = block.value["matrix"]
    if not isinstance(matrix, dict) or not matrix:
        raise block.error("must be a mapping of names to lists, such as {subject: [anatomy, law]}", "matrix")
    for name, values in matrix.items():
        if not isinstance(values, list) or not values:
            raise block.error("must be a list that is not empty", "matrix", name)
    return [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]


def _member(block: Located, values: Mapping[str, Json]) -> Located:
    return Located(_filled(block.value, values, block), block.places)


def _filled(value: Json, values: Mapping[str, Json], block: Located) -> Json:
    if isinstance(value, dict):
        return {key: _filled(inner, values, block) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values, block) for inner in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    if whole := _VARIABLE.fullmatch(value):
        return _variable(whole, values, block)
    return _VARIABLE.sub(lambda match: str(_variable(match, values, block)), value)


def _variable(match: re.Match[str], values: Mapping[str, Json], block: Located) -> Any:
    """Return the value of ``${name}`` or ``${name.key}``; any other ``${…}`` is text, unless it looks like a slip."""
    head, *keys = match[1].split(".")
    if head not in values:
        if guess := did_you_mean(head, values):
            raise block.error(f"the matrix has no {match[0]}{guess}", "matrix")
        return match[0]
    value = values[head]
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            raise block.error(f"the matrix's {head} has no {key!r} for {match[0]}", "matrix", head)
        value = value[key]
    return value
