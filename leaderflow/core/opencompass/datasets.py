"""Dataset blocks of OpenCompass as dataset specs, with ``compat: opencompass``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderflow.core import registry
from leaderflow.core.errors import SpecError
from leaderflow.core.names import NAMES
from leaderflow.core.opencompass.models import abbr_of
from leaderflow.core.opencompass.subjective import judged
from leaderflow.core.opencompass.translator import Translator, Where
from leaderflow.core.pyconfig import Block
from leaderflow.core.specs import Config, DatasetSpec, EvalCfg, InferCfg, ReaderCfg
from leaderflow.core.types import Json

_OWN = frozenset({"abbr", "type", "reader_cfg", "infer_cfg", "eval_cfg"})
_FIELDS = frozenset(DatasetSpec.model_fields) - {"arguments", "source", "compat", *_OWN}
_SECTIONS: Mapping[str, type[Config]] = {"reader_cfg": ReaderCfg, "infer_cfg": InferCfg, "eval_cfg": EvalCfg}
_FILES = {"json": "JsonlDataset", "csv": "CsvDataset", "parquet": "ParquetDataset"}
"""Builder names of the datasets library that read files."""


def dataset(translator: Translator, block: Mapping[str, Any], around: Where) -> Block:
    """Return a dataset block as it is written here."""
    place = translator.where(block, around)
    block = judged(translator, block, around)
    found: dict[str, Json] = {"type": "", "abbr": abbr_of(block), "compat": "opencompass"}
    found.update((key, _section(translator, key, block[key], place)) for key in _SECTIONS if block.get(key) is not None)
    kind = translator.name("dataset", block.get("type"), place)
    rest = {key: value for key, value in block.items() if key not in _OWN and value is not None}
    rest = {key: translator.value(value, place) for key, value in rest.items()}
    if kind == "HFDataset":
        kind, rest = _hub(rest, found.get("reader_cfg"))
    found["type"] = kind
    return Block({**found, **_taken(translator, kind, rest, place)}).written_at(*place)


def _section(translator: Translator, name: str, section: Any, place: Where) -> Json:
    if not isinstance(section, Mapping):
        return translator.value(section, place)
    place = translator.where(section, place)
    fields = _SECTIONS[name].model_fields
    found: dict[str, Json] = {}
    for key, value in section.items():
        if translator.ignore(name, str(key), place):
            continue
        if not isinstance(key, str) or key not in fields:
            translator.report.miss(f"{name}.{key if isinstance(key, str) else '{…}'}", "key", place)
        elif value is not None or key == "output_column":
            found[key] = translator.part(key, value, place)
    return Block(found).written_at(*place)


def _hub(rest: dict[str, Json], reader: Json) -> tuple[str, dict[str, Json]]:
    """Return (type, keys) of a dataset of the hub or of files; a fixed split serves as samples and as pool, as recorded."""
    rest = {key: value for key, value in rest.items() if key not in ("trust_remote_code", "cache_dir")}
    split, files = rest.pop("split", None), rest.pop("data_files", None)
    if files is None:
        if split and isinstance(reader, dict):
            reader.update({"train_split": split, "test_split": split})
        return "HFDataset", rest
    kind = _FILES.get(str(rest.pop("path", "json")), "JsonlDataset")
    if isinstance(reader, dict) and not isinstance(files, dict):
        for key in ("train_split", "test_split"):
            reader.pop(key, None)
    return kind, rest | ({"local": files} if isinstance(files, dict) else {"path": str(files)})


def _taken(translator: Translator, kind: str, rest: Mapping[str, Json], place: Where) -> dict[str, Json]:
    """Return the keys that a dataset type takes; others are reported, or dropped where there is a word for them."""
    if kind not in NAMES["dataset"]:
        return dict(rest)
    try:
        accepted, others = registry.arguments("dataset", kind)
    except SpecError:
        return dict(rest)
    found = {}
    for key, value in rest.items():
        if key in _FIELDS or key in accepted or others:
            found[key] = value
        elif not translator.ignore("dataset", key, place):
            translator.report.miss(f"{kind}({key}=…)", "argument", place)
    return found
