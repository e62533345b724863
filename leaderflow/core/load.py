"""Load what to run, from a file or from names of models and datasets, and write it down so that it can be run again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from leaderflow.core import overrides as sets
from leaderflow.core import recipes
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.overrides import Blocks
from leaderflow.core.paths import home, store_uri
from leaderflow.core.recipes import Family
from leaderflow.core.sources import HOME, PYTHON, YAML, FromFile, Sources, from_python
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec, Summarizer, SummaryGroup
from leaderflow.core.store import Store
from leaderflow.core.types import Json
from leaderflow.core.validate import dataset_spec, model_spec, validate
from leaderflow.core.yaml import Located, Place, load_yaml, shown

Item = str | Mapping[str, Json]
"""A name, a path, or a mapping."""


def load_evaluation(
    path: str | Path,
    *,
    models: Sequence[Item] = (),
    datasets: Sequence[Item] = (),
    overrides: Iterable[str] = (),
    base_url: str | None = None,
    from_file: FromFile | None = None,
    files: bool = True,
    **scalars: Json,
) -> EvaluationSpec:
    """Load an evaluation from a YAML or Python file, a leaderboard recipe's name, or the manifest of a run.

    Args:
        path: the file, or the name of a leaderboard recipe.
        models: used instead of the file's.
        datasets: used instead of the file's.
        overrides: ``KEY=VALUE`` settings (`leaderflow.core.overrides`).
        base_url: endpoint of models written as ``openai/NAME``.
        from_file: makes a dataset of a data file.
        files: False takes recipe names alone for `path`, `models` and `datasets`: what a form may say.
        scalars: fields of `EvaluationSpec` such as `data_dir` or `judges` (named as models are); None leaves the file's value.

    Raises:
        SpecError: names file, line, key, and what is wrong there.
    """
    file = _stored(path) if files and "://" in str(path) else Path(path)
    if not files or (not file.is_file() and file.suffix not in (*YAML, *PYTHON, ".json")):
        file = _leaderboard(str(path))
    top = _document(file)
    if isinstance(own := top.value.get("data_dir"), str):
        top = top.updated(data_dir=str(file.parent / Path(own).expanduser()))
    there = Sources(from_file=from_file, base_url=base_url, file=file)
    here = Sources(from_file=from_file, base_url=base_url, files=files)
    chosen_models = _Named(_given(models, "-m"), here) if models else _Named(_items(top, "models"), there)
    chosen_datasets = _Named(_given(datasets, "-d"), here) if datasets else _Named(_items(top, "datasets"), there)
    judged = here if scalars.get("judges") else there
    return _evaluation(chosen_models, chosen_datasets, judged, top.without("models", "datasets"), overrides, scalars, files)


def build_evaluation(
    models: Sequence[Item],
    datasets: Sequence[Item],
    overrides: Iterable[str] = (),
    *,
    spec: Mapping[str, Json] | None = None,
    base_url: str | None = None,
    from_file: FromFile | None = None,
    files: bool = True,
    **scalars: Json,
) -> EvaluationSpec:
    """Build an evaluation from names, paths and mappings; arguments as in `load_evaluation`.

    `spec` holds the keys of an evaluation's file; its models and datasets come after the named ones. `files=False` takes recipe
    names alone: what a form may say.
    """
    sources = Sources(from_file=from_file, base_url=base_url, files=files)
    top = Located(dict(spec or {}), {(): Place("spec")})
    chosen_models = _Named([*_given(models, "-m"), *_items(top, "models")], sources)
    chosen_datasets = _Named([*_given(datasets, "-d"), *_items(top, "datasets")], sources)
    return _evaluation(chosen_models, chosen_datasets, sources, top.without("models", "datasets"), overrides, scalars, files)


def load_dataset(
    name: str | Path, *, data_dir: str | Path | None = None, overrides: Iterable[str] = (), from_file: FromFile | None = None
) -> list[DatasetSpec]:
    """Return the datasets of a recipe name, a YAML file or a data file: one, or a family's members."""
    sources = Sources(data_dir=_data_dir(data_dir, None), from_file=from_file)
    family = sources.family(_given([str(name)], "-d")[0])
    blocks = sets.apply(Blocks([], family.members, Located({})), overrides)
    return [dataset_spec(block) for block in blocks.datasets]


def load_model(name: str, *, base_url: str | None = None, overrides: Iterable[str] = ()) -> ModelSpec:
    """Return the model of a recipe name, a YAML file, ``openai/NAME`` or ``hf/PATH-OR-ID``."""
    blocks = Sources(base_url=base_url).models(_given([name], "-m")[0])
    return model_spec(sets.apply(Blocks(blocks, [], Located({})), overrides).models[0])


def dump_evaluation(spec: EvaluationSpec) -> dict[str, Json]:
    """Return the effective spec as JSON: `load_evaluation` of it gives the same, also where the home lies elsewhere."""
    found = spec.model_dump(mode="json")
    for dataset in found["datasets"]:
        dataset["source"] = _portable(dataset["source"])
    for model in found["models"]:
        if Path(model["path"]).is_relative_to(home()):
            model["path"] = f"{HOME}/{Path(model['path']).relative_to(home()).as_posix()}"
    return found


class _Named(NamedTuple):
    """Items of a list or of the command line, and where what they name is looked for."""

    items: list[Located]
    sources: Sources


def _evaluation(
    models: _Named,
    datasets: _Named,
    judges: Sources,
    top: Located,
    overrides: Iterable[str],
    scalars: Mapping[str, Json],
    files: bool,
) -> EvaluationSpec:
    top = top.updated(**{key: value for key, value in scalars.items() if value is not None})
    for kind, named in (("model", models), ("dataset", datasets)):
        if not named.items:
            raise top.error(f"no {kind} is named; `leaderflow list {kind}s` shows the recipes", f"{kind}s")
    data_dir = _data_dir(top.value.get("data_dir"), top)
    looking = replace(datasets.sources, data_dir=data_dir)
    families = [looking.family(item) for item in datasets.items]
    members = [member for family in families for member in family.members]
    blocks = sets.apply(
        Blocks([m for item in models.items for m in models.sources.models(item)], members, top),
        overrides,
        files=files,
    )
    _refuse_twins("models", blocks.models)
    _refuse_twins("datasets", blocks.datasets)
    specs = [dataset_spec(_at_home(block), trusted=datasets.sources.files) for block in blocks.datasets]
    parts = {
        "models": [model_spec(block, trusted=models.sources.files) for block in blocks.models],
        "datasets": specs,
        "judges": [model_spec(judges.model(item), trusted=judges.files) for item in _items(blocks.top, "judges")],
        "data_dir": str(data_dir) if data_dir else None,
        "summarizer": _with_groups(blocks.top, families, specs),
    }
    return validate(EvaluationSpec, blocks.top.updated(**parts))


def _with_groups(top: Located, families: Iterable[Family], members: Sequence[DatasetSpec]) -> Summarizer:
    """Add a summary group for every family of datasets that the summarizer does not define itself."""
    written = top.at("summarizer") if top.value.get("summarizer") else Located({})
    summarizer = validate(Summarizer, written)
    defined = {group.name for group in summarizer.summary_groups}
    sizes = {family.group: family.size for family in families if family.group and family.size}
    subsets: dict[str, list[str | list[str]]] = {}
    for member in members:
        if member.group and member.group not in defined:
            subsets.setdefault(member.group, []).append(member.abbr)
    own = [SummaryGroup(name=name, subsets=abbrs, expected=sizes.get(name)) for name, abbrs in subsets.items()]
    wanted = [group for group in own if group.expected or len(group.subsets) > 1]
    return summarizer.model_copy(update={"summary_groups": [*summarizer.summary_groups, *wanted]})


def _refuse_twins(kind: str, blocks: Sequence[Located]) -> None:
    seen: set[str] = set()
    for block in blocks:
        abbr = block.value.get("abbr")
        if not isinstance(abbr, str):
            continue  # refused with the rest of the block
        if abbr in seen:
            raise block.error(f"two {kind} have the abbr {abbr!r}; give one of them another", "abbr")
        seen.add(abbr)


def _data_dir(given: Json, top: Located | None) -> Path | None:
    """Return the data directory: what is given, else ``LEADERFLOW_DATA``."""
    named = given or os.environ.get("LEADERFLOW_DATA")
    if not named:
        return None
    path = Path(str(named)).expanduser().resolve()
    if not path.is_dir():
        message = f"there is no data directory {path}"
        raise (
            top.error(message, "data_dir") if top and given else SpecError(message, key="data_dir" if given else "LEADERFLOW_DATA")
        )
    return path


def _stored(uri: str | Path) -> Path:
    """Return a copy of a file of the store, of a run's manifest."""
    files = Store(store_uri()).files
    name = str(uri).removeprefix(f"{files.place}/")
    try:
        if name != uri:
            return files.local(name)
    except FileNotFoundError:
        pass
    raise SpecError(f"there is no such file in the store {files.place}", file=str(uri))


def _document(file: Path) -> Located:
    if file.suffix in PYTHON:
        return from_python(file).document()
    if file.suffix != ".json":
        return load_yaml(file)
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError("there is no such file", file=shown(file)) from None
    except (OSError, ValueError) as exc:
        raise SpecError(f"cannot be read as JSON: {exc}", file=shown(file)) from exc
    if not isinstance(value, dict):
        raise SpecError("must hold an object", file=shown(file))
    inner = value["spec"] if isinstance(value.get("spec"), dict) else value
    return Located(inner, {(): Place(shown(file), None, ("spec",) if inner is not value else ())})


def _leaderboard(name: str) -> Path:
    path = recipes.find("leaderboards", name)
    if path is None:
        known = recipes.names("leaderboards")
        raise SpecError(f"there is neither a file nor a leaderboard recipe {name!r}{did_you_mean(name, known)}")
    return path


def _items(top: Located, kind: str) -> list[Located]:
    items = top.value.get(kind) or []
    if not isinstance(items, list):
        raise top.error("must be a list of names and mappings", kind)
    return [top.at(kind, position) for position in range(len(items))]


def _given(items: Iterable[Item], option: str) -> list[Located]:
    return [Located(dict(item) if isinstance(item, Mapping) else item, {(): Place(option)}) for item in items]


def _portable(source: str | None) -> str | None:
    """Return the name of the recipe behind a source, or the source itself."""
    path = Path(source) if source else None
    return path.stem if path and recipes.find("datasets", path.stem) == path else source


def _at_home(block: Located) -> Located:
    """Find the recipe again that a dumped spec names as its source."""
    source = block.value.get("source")
    path = recipes.find("datasets", source) if isinstance(source, str) else None
    return block.updated(source=str(path)) if path else block
