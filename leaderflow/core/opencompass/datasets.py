"""Dataset blocks of OpenCompass as dataset specs, with ``compat: opencompass``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderflow.core import registry
from leaderflow.core.errors import SpecError
from leaderflow.core.names import NAMES
from leaderflow.core.opencompass.models import abbr_of
from leaderflow.core.opencompass.translator import Translator, Where
from leaderflow.core.pyconfig import Block
from leaderflow.core.specs import DatasetSpec, EvalCfg, InferCfg, ReaderCfg
from leaderflow.core.types import Json

_OWN = frozenset({"abbr", "type", "reader_cfg", "infer_cfg", "eval_cfg"})
_FIELDS = frozenset(DatasetSpec.model_fields) - {"arguments", "source", "compat", *_OWN}
_FILES = {"json": "JsonlDataset", "csv": "CsvDataset", "parquet": "ParquetDataset"}
"""Builder names of the datasets library that read files."""


def dataset(translator: Translator, block: Mapping[str, Any], around: Where) -> Block:
    """Return a dataset block as it is written here."""
    place = translator.where(block, around)
    found: dict[str, Json] = {"type": "", "abbr": abbr_of(block), "compat": "opencompass"}
    for key in ("reader_cfg", "infer_cfg", "eval_cfg"):
        found[key] = _section(translator, key, block.get(key), place)
    kind = translator.name("dataset", block.get("type"), place)
    rest = {key: value for key, value in block.items() if key not in _OWN and value is not None}
    rest = {key: translator.value(value, place) for key, value in rest.items() if not translator.ignore("dataset", key, place)}
    if kind == "HFDataset":
        kind, rest = _hub(rest, found["reader_cfg"])
    found["type"] = kind
    _arguments(translator, kind, rest, place)
    return Block({**found, **rest}).written_at(*place)


def _section(translator: Translator, name: str, section: Any, place: Where) -> Json:
    if not isinstance(section, Mapping):
        return translator.value(section, place)
    place = translator.where(section, place)
    model = {"reader_cfg": ReaderCfg, "infer_cfg": InferCfg, "eval_cfg": EvalCfg}[name]
    found: dict[str, Json] = {}
    for key, value in section.items():
        if translator.ignore(name, str(key), place):
            continue
        if not isinstance(key, str) or key not in model.model_fields:
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


def _arguments(translator: Translator, kind: str, rest: Mapping[str, Json], place: Where) -> None:
    """Report what a dataset type does not take."""
    extra = [key for key in rest if key not in _FIELDS]
    if not extra or kind not in NAMES["dataset"]:
        return
    try:
        accepted, others = registry.arguments("dataset", kind)
    except SpecError:
        return
    for key in extra:
        if key not in accepted and not others:
            translator.report.miss(f"{kind}({key}=…)", "argument", place)
