"""``--set KEY=VALUE``: change a spec from the command line.

A key of a dataset (``infer_cfg.inferencer.max_out_len=64``) changes every dataset, ``datasets.ABBR.…`` and ``models.ABBR.…``
change one (``*`` stands for any), ``models.*.batch_size=4`` every model, and ``shard_size=100`` the evaluation itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from leaderflow.core.errors import SpecError, UsageError, did_you_mean
from leaderflow.core.specs import DatasetSpec, EvaluationSpec, ModelSpec
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, Place, Steps, parse_yaml

_DATASET = frozenset(DatasetSpec.model_fields) - {"source"}
_MODEL = frozenset(ModelSpec.model_fields)
_TOP = frozenset(EvaluationSpec.model_fields) - {"models", "datasets", "data_dir"}

_PLACES = frozenset({"path", "local", "tokenizer", "openai_api_base", "key", "key_env"})
"""Where data and models lie, and which variable's key goes where."""


@dataclass(frozen=True)
class Blocks:
    """An evaluation before it is checked."""

    models: Sequence[Located]
    datasets: Sequence[Located]
    top: Located


def shorthand(
    range_: str | None = None, limit: int | None = None, repeats: int | None = None, concurrency: int | None = None
) -> list[str]:
    """Return the settings that the short options of a command line or a form stand for.

    Raises:
        UsageError: both a range and a limit.
    """
    if range_ is not None and limit is not None:
        raise UsageError(f"range and limit exclude each other; give the range '[:{limit}]' or the limit {limit}")
    wanted = {
        "reader_cfg.test_range": range_ if limit is None else f"[:{limit}]",
        "n": repeats,
        "models.*.batch_size": concurrency,
    }
    return [f"{key}={value}" for key, value in wanted.items() if value is not None]


def apply(blocks: Blocks, overrides: Iterable[str], *, files: bool = True) -> Blocks:
    """Apply ``KEY=VALUE`` settings in order; the values are YAML. `files=False` is for the settings of a form.

    Raises:
        SpecError: a setting is not KEY=VALUE, or its key names nothing. What the value may be is checked with the specs.
    """
    for text in overrides:
        key, equals, value = text.partition("=")
        steps = tuple(key.strip().split("."))
        if not equals or not all(steps):
            raise SpecError(f"{key!r} is not KEY=VALUE", file="--set")
        blocks = _apply(blocks, steps, _value(key.strip(), value), files)
    return blocks


def _apply(blocks: Blocks, steps: tuple[str, ...], value: Located, files: bool) -> Blocks:
    head = steps[0]
    if head == "datasets":
        return Blocks(blocks.models, _set_some(blocks.datasets, steps, value, files), blocks.top)
    if head == "models":
        return Blocks(_set_some(blocks.models, steps, value, files), blocks.datasets, blocks.top)
    if head in _DATASET:
        return Blocks(blocks.models, [_set(block, steps, value, files) for block in blocks.datasets], blocks.top)
    if head in _TOP:
        return Blocks(blocks.models, blocks.datasets, _set(blocks.top, steps, value, files))
    known = [*_DATASET, *_TOP, *(f"models.*.{name}" for name in _MODEL)]
    hint = f"; did you mean 'models.*.{head}'?" if head in _MODEL else did_you_mean(head, known)
    raise value.error(f"unknown key {head!r}{hint}")


def _set_some(blocks: Sequence[Located], steps: tuple[str, ...], value: Located, files: bool) -> list[Located]:
    chosen, rest = _chosen([str(block.value.get("abbr")) for block in blocks], steps, value)
    return [_set(block, rest, value, files) if str(block.value.get("abbr")) in chosen else block for block in blocks]


def _chosen(abbrs: Sequence[str], steps: tuple[str, ...], value: Located) -> tuple[set[str], tuple[str, ...]]:
    """Return the abbrs that a key names and the key inside the block. An abbr may hold dots: the longest exact name wins."""
    cuts = [(".".join(steps[1:end]), steps[end:]) for end in range(2, len(steps))]
    for name, rest in reversed(cuts):
        if name in abbrs:
            return {name}, rest
    for pattern, rest in cuts:
        if found := {abbr for abbr in abbrs if fnmatchcase(abbr, pattern)}:
            return found, rest
    kind = steps[0]
    if not cuts:
        raise value.error(f"names no key; write {kind}.ABBR.KEY=VALUE, or {kind}.*.KEY=VALUE for all of them")
    raise value.error(f"there is no {kind[:-1]} {steps[1]!r} in this run{did_you_mean(steps[1], abbrs)}")


def _set(block: Located, steps: tuple[str, ...], value: Located, files: bool) -> Located:
    new = value.value
    for step in reversed(steps):
        new = {step: new}
    if refused := _refused(new, files):
        raise value.error(f"{refused!r} is honoured only in files that you name")
    file = value.places[()].file
    around = [steps[:end] for end in range(1, len(steps)) if steps[:end] not in block.places]
    written: list[Steps] = [*around, *((*steps, *path) for path in value.places)]
    return block.merged(Located(new, {path: Place(file, None, path) for path in written}))


def _refused(value: Json, files: bool) -> str | None:
    """Return what a setting must not say: code anywhere, and in a form also where to look and whom to give a key.

    Keys are named without their values, which may be secrets.
    """
    if isinstance(value, list):
        return next((found for inner in value if (found := _refused(inner, files))), None)
    if not isinstance(value, dict):
        return None
    for key, inner in value.items():
        if key == "prepare" or (key in _PLACES and not files):
            return str(key)
        if key == "type" and isinstance(inner, str) and ":" in inner:
            return inner
    return _refused(list(value.values()), files)


def _value(key: str, text: str) -> Located:
    """Parse a value; slices of ranges are taken as they stand, because YAML reads ``[:5]`` as a list."""
    file = f"--set {key}"
    if key.endswith("_range") and text.lstrip().startswith("[") and ":" in text:
        return Located(text.strip(), {(): Place(file)})
    parsed = parse_yaml(text, file)
    return Located(parsed.value, {path: Place(file) for path in parsed.places} or {(): Place(file)})
