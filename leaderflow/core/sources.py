"""What can be named on a command line or in a list of a spec: models and datasets by recipe, path, served name or folder."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leaderflow.core import recipes
from leaderflow.core.errors import SpecError
from leaderflow.core.paths import home
from leaderflow.core.recipes import Family, Recipe
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, Place, load_yaml, shown

if TYPE_CHECKING:
    from leaderflow.core.opencompass import Translated

log = logging.getLogger("leaderflow.sources")

FromFile = Callable[[Path], DatasetSpec]
"""Makes a dataset of a data file (JSONL, CSV): `readers.custom.dataset_from_file`."""

YAML = (".yaml", ".yml")
PYTHON = (".py",)
DATA = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
HOME = "${LEADERFLOW_HOME}"


@dataclass(frozen=True)
class Sources:
    """Where models and datasets are looked for.

    Args:
        data_dir: the local data directory; members of a family that it lacks are left out.
        from_file: makes a dataset of a data file; None refuses data files.
        base_url: the endpoint of models written as ``openai/NAME``.
        files: False takes recipe names alone (values of a form): no paths, no mappings, no ``type: package.module:Name``.
        file: the file that names them; relative paths are relative to its folder.
    """

    data_dir: Path | None = None
    from_file: FromFile | None = None
    base_url: str | None = None
    files: bool = True
    file: Path | None = None

    @property
    def folder(self) -> Path:
        """What relative paths are relative to."""
        return self.file.parent if self.file else Path()

    def family(self, item: Located) -> Family:
        """Return the datasets that an item names: a recipe, a YAML file, a data file, or a mapping."""
        if not isinstance(item.value, str):
            return recipes.expand(self._mapping("datasets", item), self.data_dir)
        path = self._path(item)
        if path and path.suffix in DATA:
            return Family([self._data_file(item, path)])
        if path and path.suffix in PYTHON:
            return Family(from_python(path).part("datasets"))
        if path:
            return recipes.expand(_file("datasets", path), self.data_dir)
        if not recipes.find("datasets", item.value) and (member := recipes.members().get(item.value)):
            return Family([member])
        return recipes.expand(_named("datasets", item), self.data_dir)

    def models(self, item: Located) -> list[Located]:
        """Return the blocks of the models that an item names: one, or all of a Python file."""
        path = self._path(item) if isinstance(item.value, str) and item.value.endswith(PYTHON) else None
        return from_python(path).part("models") if path else [self.model(item)]

    def model(self, item: Located) -> Located:
        """Return the block of the model that an item names: a recipe, ``openai/NAME``, ``hf/PATH-OR-ID``, a file or a mapping."""
        if not isinstance(item.value, str):
            block = self._mapping("models", item).block
        elif item.value.startswith("openai/"):
            block = _served(item, self.base_url)
        elif item.value.startswith("hf/"):
            block = self._weights(item)
        elif path := self._path(item):
            block = _file("models", path).block.without("source")
        else:
            block = _named("models", item).block.without("source")
        path_now = block.value.get("path")
        return block.updated(path=path_now.replace(HOME, str(home()))) if isinstance(path_now, str) else block

    def _mapping(self, kind: recipes.RecipeKind, item: Located) -> Recipe:
        if not self.files:
            raise item.error("only names of recipes are taken here")
        if not isinstance(item.value, dict):
            raise item.error("must be the name of a recipe, or a mapping")
        recipe = _local_paths(recipes.resolve(kind, item), self.folder)
        if kind == "models" or self.file is None or "source" in recipe.block.value:
            return recipe
        return Recipe(recipe.block.updated(source=str(self.file.resolve())), recipe.name, recipe.size)

    def _path(self, item: Located) -> Path | None:
        """Return the file that an item names, or None where it is the name of a recipe."""
        path = Path(item.value).expanduser()
        known = (*YAML, *DATA, *PYTHON)
        if path.suffix not in known and len(path.parts) == 1:
            return None
        if not self.files:
            raise item.error(f"{item.value!r} is a path; only names of recipes are taken here")
        if path.suffix not in known:
            raise item.error(f"{item.value!r} is neither a recipe nor a file that can be read ({', '.join(known)})")
        path = self.folder / path
        if not path.is_file():
            raise item.error(f"there is no file {shown(path)}")
        return path

    def _data_file(self, item: Located, path: Path) -> Located:
        if self.from_file is None:
            raise item.error(f"{item.value!r} is a data file; only recipes and YAML files are taken here")
        place = Place(shown(path))
        return Located(self.from_file(path.resolve()).model_dump(mode="json"), {(): place})

    def _weights(self, item: Located) -> Located:
        name = item.value.removeprefix("hf/")
        folder = (self.folder / Path(name).expanduser()).resolve()
        if folder.is_dir() and self.files:
            kind = "HuggingFacewithChatTemplate" if has_chat_template(folder) else "HuggingFaceBaseModel"
            return _block(item, type=kind, abbr=_abbr(folder.name), path=str(folder))
        if name.startswith((".", "/", "~")):
            raise item.error(f"there is no folder {name}" if self.files else f"{item.value!r} is a path; only names are taken here")
        cached = _cached(name)
        chat = cached is not None and has_chat_template(cached)
        if cached is None:
            log.warning("%s is not on this machine yet: taken as a base model; write a recipe to use its chat template", name)
        kind = "HuggingFacewithChatTemplate" if chat else "HuggingFaceBaseModel"
        return _block(item, type=kind, abbr=_abbr(name.rsplit("/", 1)[-1]), path=name)


def from_python(path: Path) -> Translated:
    """Return what a Python configuration defines, once what is done otherwise has been said.

    Raises:
        SpecError: the file does not run, or names what leaderflow has no counterpart for.
    """
    from leaderflow.core.opencompass import translate  # the tables of recorded names are read only where they are needed

    found = translate(path)
    found.report.check()
    return found


def has_chat_template(folder: Path) -> bool:
    """Say whether a folder of weights holds a chat template."""
    if (folder / "chat_template.jinja").is_file():
        return True
    try:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and bool(config.get("chat_template"))


def _named(kind: recipes.RecipeKind, item: Located) -> Recipe:
    try:
        return recipes.read(kind, item.value)
    except SpecError as exc:
        raise exc if exc.file else item.error(exc.message) from exc


def _file(kind: recipes.RecipeKind, path: Path) -> Recipe:
    recipe = recipes.resolve(kind, load_yaml(path))
    own = Recipe(recipe.block.updated(source=str(path.resolve())), recipe.name or path.stem, recipe.size)
    return _local_paths(own, path.parent)


def _local_paths(recipe: Recipe, folder: Path) -> Recipe:
    """Make a `path` that names a file or folder beside the file it was written in absolute."""
    path = recipe.block.value.get("path")
    if not isinstance(path, str) or Path(path).is_absolute() or not (folder / path).exists():
        return recipe
    return Recipe(recipe.block.updated(path=str((folder / path).resolve())), recipe.name, recipe.size)


def _served(item: Located, base_url: str | None) -> Located:
    name = item.value.removeprefix("openai/")
    if not name:
        raise item.error("openai/ needs the name that the endpoint serves, as in openai/gpt-4o-mini")
    key = "ENV" if base_url is None or os.environ.get("OPENAI_API_KEY") else None
    return _block(item, type="OpenAISDK", abbr=_abbr(name), path=name, key=key, openai_api_base=base_url)


def _block(item: Located, **values: Json) -> Located:
    return Located(values, item.places)


def _abbr(name: str) -> str:
    return re.sub(r"[\s:/\\]+", "-", name).strip("-")


def _cached(name: str) -> Path | None:
    """Return the newest snapshot of a hub repository in the local hub cache."""
    root = Path(os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME") or "~/.cache/huggingface") / "hub").expanduser()
    snapshots = (root / f"models--{name.replace('/', '--')}" / "snapshots").glob("*")
    return max(snapshots, key=lambda path: path.stat().st_mtime, default=None)
