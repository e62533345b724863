"""Model blocks of OpenCompass as model specs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from leaderflow.core import registry
from leaderflow.core.errors import SpecError
from leaderflow.core.names import NAMES
from leaderflow.core.opencompass import tables
from leaderflow.core.opencompass.translator import Translator, Where
from leaderflow.core.pyconfig import Block
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Json
from leaderflow.core.validate import NO_KEYS

_FIELDS = frozenset(ModelSpec.model_fields) - {"arguments", "run_cfg"}
"""What is called the same; a run_cfg is there for OpenCompass' own runners and has other keys."""


def model(translator: Translator, block: Mapping[str, Any], around: Where) -> Block:
    """Return the block of a model as it is written here."""
    place = translator.where(block, around)
    own = str(getattr(block.get("type"), "__name__", block.get("type"))).rpartition(".")[2]
    kind = translator.name("model", block.get("type"), place)
    if own in tables.SERVED_BY_VLLM:
        translator.report.note(f"{own}: the weights are served by vLLM instead of LMDeploy", place)
    found: dict[str, Json] = {"type": kind, "abbr": abbr_of(block), "path": str(block.get("path", ""))}
    sampling: dict[str, Json] = {}
    for key, value in block.items():
        if key not in found and value is not None:
            _key(translator, kind, key, value, place, found, sampling)
    if sampling:
        found["generation_kwargs"] = sampling
    return Block(found).written_at(*place)


def abbr_of(block: Mapping[str, Any]) -> str:
    """Return the name of a block: its `abbr`, or what OpenCompass makes of its path."""
    named = block.get("abbr")
    if named is None:
        parts = [str(block[key]) for key in ("path", "name") if block.get(key)]
        named = "_".join([getattr(block.get("type"), "__name__", "") if not parts else "", *parts]).strip("_").replace("/", "_")
    return plain_abbr(str(named))


def plain_abbr(name: str) -> str:
    """Return a name that can stand in a cell's name: without blanks, colons and slashes."""
    return re.sub(r"[\s:/\\]+", "-", name.strip()) or "unnamed"


def _key(
    translator: Translator, kind: str, key: str, value: Any, place: Where, found: dict[str, Json], sampling: dict[str, Json]
) -> None:
    """Carry one key of a model block over."""
    if key in ("key", "token", "api_key"):
        found.update(_credential(value, place))
    elif key == "query_per_second":
        found["rpm"] = max(1, round(60 * float(value)))
    elif key in ("generation_kwargs", "gen_config"):
        sampling.update(_sampling(translator.value(value, place)))
    elif key in tables.SAMPLING:
        sampling[tables.SAMPLING[key]] = translator.value(value, place)
    elif key in ("stop_words", "end_str"):
        words = [value] if isinstance(value, str) else list(value)
        sampling["stop"] = list(dict.fromkeys([*sampling.get("stop", []), *words]))
    elif key in ("model_kwargs", "engine_config", "openai_extra_kwargs", "extra_body"):
        _engine(translator, kind, key, translator.value(value, place), place, found)
    elif key == "pred_postprocessor" and "type" not in value:
        translator.report.miss("pred_postprocessor by dataset", "key", place, "put the postprocessor into the dataset's eval_cfg")
    elif key == "openai_api_base":
        found[key] = _base(value)
    elif key == "tokenizer_path":
        _tokenizer(kind, str(value), found)
    elif key in tables.MODEL_FIELDS:
        found.setdefault(tables.MODEL_FIELDS[key], translator.value(value, place))
    elif key in _FIELDS:
        found[key] = translator.part(key, value, place)
    elif not translator.ignore("model", key, place):
        _argument(translator, kind, key, translator.value(value, place), place, found)


def _credential(value: Any, place: Where) -> dict[str, Json]:
    """Return how a key is named; never the key itself.

    Raises:
        SpecError: a key stands in the file.
    """
    text = str(value[0] if isinstance(value, list | tuple) and value else value)
    if text == "ENV":
        return {"key": "ENV"}
    if tables.NO_KEY.fullmatch(text):
        return {}
    if text in os.environ:
        return {"key_env": text}
    if name := next((name for name, held in os.environ.items() if held == text), None):
        return {"key_env": name}
    raise SpecError(NO_KEYS, file=place[0], line=place[1], key="key")


def _base(value: Any) -> Json:
    url = str(value[0] if isinstance(value, list | tuple) else value)
    return url.removesuffix("/").removesuffix("/chat/completions")


def _tokenizer(kind: str, value: str, found: dict[str, Json]) -> None:
    """An API's tokens are counted by it; weights have their own, and a tiktoken name is no folder of files."""
    if kind == "OpenAISDK" and ("/" in value or os.path.isdir(value)):
        found["tokenizer"] = value


def _sampling(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return sampling settings; a configuration that asks for no sampling is greedy."""
    found = {tables.SAMPLING.get(key, key): value for key, value in given.items() if key not in tables.NOT_SAMPLING}
    return found | ({"temperature": 0.0} if given.get("do_sample") is False else {})


def _engine(translator: Translator, kind: str, key: str, given: Mapping[str, Json], place: Where, found: dict[str, Json]) -> None:
    if kind == "OpenAISDK":
        _argument(translator, kind, "extra_body", dict(given), place, found)
        return
    for name, value in given.items():
        target = tables.ENGINE.get(name, name if key == "model_kwargs" else "")
        if name == "max_batch_size":
            continue
        if _takes(kind, target):
            found[target] = value
        elif target and _takes(kind, "engine_args"):
            found.setdefault("engine_args", {})[target] = value
        else:
            translator.report.note(f"{key}.{name} is not carried over: {kind} has no such setting", place)


def _argument(translator: Translator, kind: str, key: str, value: Json, place: Where, found: dict[str, Json]) -> None:
    if _takes(kind, key):
        found[key] = value
    else:
        translator.report.note(f"{key} is not carried over: {kind} has no such setting", place)


def _takes(kind: str, name: str) -> bool:
    if kind not in NAMES["model"]:
        return True
    try:
        accepted, others = registry.arguments("model", kind)
    except SpecError:
        return True
    return name in accepted or others
