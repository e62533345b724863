"""From located YAML blocks to specs: one clean line for whatever is wrong, and no credential gets in."""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from leaderflow.core import registry
from leaderflow.core.errors import SpecError, did_you_mean
from leaderflow.core.names import NAMES
from leaderflow.core.registry import Kind
from leaderflow.core.specs import DatasetSpec, ModelSpec
from leaderflow.core.types import Json
from leaderflow.core.yaml import Located, Steps, kind_of

SpecT = TypeVar("SpecT", bound=BaseModel)

NO_KEYS = "a key must not stand in a spec; write `key: ENV` (reads OPENAI_API_KEY) or `key_env: NAME`"

_SECRET_NAME = re.compile(
    r"^(.*[-_])?(api|access|auth|secret)[-_]?(key|token)$|^(authorization|password|secret|token|bearer)$", re.I
)
_SECRET_VALUE = re.compile(r"\bsk-[\w-]{16,}|\bhf_\w{20,}|\bBearer\s+\S{8,}|://[^/@\s]+:[^/@\s]+@|[?&](api[-_]?key|token)=", re.I)

EVALUATOR_OWN = ("pred_postprocessor", "dataset_postprocessor")
"""Postprocessors that may stand in any evaluator's block: they are no arguments of its type."""

_TYPED: dict[str, list[tuple[Steps, Kind]]] = {
    "dataset": [
        (("reader_cfg", "input_template"), "template"),
        (("infer_cfg", "prompt_template"), "template"),
        (("infer_cfg", "ice_template"), "template"),
        (("infer_cfg", "retriever"), "retriever"),
        (("infer_cfg", "inferencer"), "inferencer"),
        (("eval_cfg", "evaluator"), "evaluator"),
        (("eval_cfg", "pred_postprocessor"), "postprocessor"),
        (("eval_cfg", "dataset_postprocessor"), "postprocessor"),
        *((("eval_cfg", "evaluator", name), "postprocessor") for name in EVALUATOR_OWN),
    ],
    "model": [(("pred_postprocessor",), "postprocessor")],
}

_HANDED = {"dataset": ("dataset", "source"), "model": ("spec",)}
"""Parameters that leaderflow passes itself: no key of a spec."""

_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "list": "a list",
    "dict": "a mapping",
    "model": "a mapping",
    "bool": "true or false",
    "none": "null",
}


def dataset_spec(block: Located, *, trusted: bool = True) -> DatasetSpec:
    """Return the dataset that a block describes; `trusted` honours ``type: package.module:Name``."""
    _refuse_secrets(block.without("reader_cfg", "infer_cfg"))  # prompts may speak of keys
    return _spec(DatasetSpec, "dataset", block, trusted)


def model_spec(block: Located, *, trusted: bool = True) -> ModelSpec:
    """Return the model that a block describes; `trusted` honours ``type: package.module:Name``."""
    _refuse_secrets(block)
    return _spec(ModelSpec, "model", block, trusted)


def validate(model: type[SpecT], block: Located, *, strict: bool = False) -> SpecT:
    """Return the spec of a block; `strict` takes no text for a number.

    Raises:
        SpecError: the first thing that is wrong, and how many more there are.
    """
    try:
        return model.model_validate(block.value, strict=strict or None)
    except ValidationError as exc:
        raise _translated(exc, model, block) from None  # the original shows the values, keys among them


def _spec(model: type[SpecT], kind: Kind, block: Located, trusted: bool) -> SpecT:
    _check_type(block, (), kind, trusted)
    spec = validate(model, _gather_arguments(block, model, kind))
    typed = [(steps, inner) for steps, inner in [*_TYPED[kind], *_extractors(block)] if _get(block.value, steps) is not None]
    for steps, inner in typed:
        _check_type(block, steps, inner, trusted)
    for steps, inner in typed:
        _check_arguments(block, steps, inner)
    return spec


def _extractors(block: Located) -> list[tuple[Steps, Kind]]:
    found = _get(block.value, ("eval_cfg", "extractors"))
    return [(("eval_cfg", "extractors", name), "postprocessor") for name in found] if isinstance(found, dict) else []


def _check_type(block: Located, steps: Steps, kind: Kind, trusted: bool) -> None:
    name = _get(block.value, (*steps, "type"))
    if not isinstance(name, str):
        known = ", ".join(registry.known(kind)[:6])
        raise block.error(f"a {kind} needs a 'type' (such as {known})" if name is None else "must be a name", *steps, "type")
    if ":" in name and not trusted:
        raise block.error(f"{name!r} is honoured only in files that you name", *steps, "type")
    if ":" not in name and name not in NAMES[kind]:
        raise block.error(f"unknown {kind} type {name!r}{did_you_mean(name, NAMES[kind])}", *steps, "type")


def _check_arguments(block: Located, steps: Steps, kind: Kind) -> None:
    config = _get(block.value, steps)
    given = [name for name in config if name != "type" and (kind != "evaluator" or name not in EVALUATOR_OWN)]
    if not given:
        return
    accepted, others = _accepted(block, steps, kind)
    unknown = next((name for name in given if name not in accepted), None)
    if unknown and not others:
        raise block.error(f"{config['type']} has no argument {unknown!r}{did_you_mean(unknown, accepted)}", *steps, unknown)


def _accepted(block: Located, steps: Steps, kind: Kind) -> tuple[list[str], bool]:
    try:
        return registry.arguments(kind, _get(block.value, (*steps, "type")))
    except SpecError as exc:
        raise block.error(exc.message, *steps, "type") from exc


def _gather_arguments(block: Located, model: type[BaseModel], kind: Kind) -> Located:
    """Move the flat keys that the type takes into `arguments`, as the documents write them flat."""
    extra = [key for key in block.value if key not in model.model_fields]
    if not extra:
        return block
    accepted, others = _accepted(block, (), kind)
    accepted = [name for name in accepted if name not in _HANDED[kind]]
    if not others and (unknown := [key for key in extra if key not in accepted]):
        raise block.error(_unknown(unknown[0], [*model.model_fields, *accepted], len(unknown) - 1), unknown[0])
    return block.moved(extra, "arguments")


def _translated(exc: ValidationError, model: type[BaseModel], block: Located) -> SpecError:
    problems: dict[Steps, list[Any]] = {}
    for problem in exc.errors(include_url=False):
        problems.setdefault(_written(problem["loc"], problem["type"], block.value), []).append(problem)
    steps, first = min(problems.items(), key=lambda item: item[1][0]["type"] != "extra_forbidden")
    more = len(problems) - 1
    if first[0]["type"] == "extra_forbidden":
        return block.error(_unknown(str(steps[-1]), _fields(model, steps[:-1]), more), *steps)
    value = _get(block.value, steps)
    message = f"missing key {steps[-1]!r}" if first[0]["type"] == "missing" else _message(first, value, steps)
    return block.error(message + _more(more), *steps)


def _unknown(name: str, known: Iterable[str], more: int) -> str:
    if _SECRET_NAME.search(name):
        return NO_KEYS
    return f"unknown key {name!r}{did_you_mean(name, known)}{_more(more)}"


def _more(count: int) -> str:
    return f" (and {count} more)" if count else ""


def _message(problems: list[Any], value: Json, steps: Steps) -> str:
    problem = problems[0]
    if problem["type"] == "value_error":
        return str(problem["ctx"]["error"])
    if isinstance(steps[-1] if steps else None, str) and str(steps[-1]).startswith("key"):
        return NO_KEYS
    if problem["type"] == "string_pattern_mismatch":
        return f"must be one word without ':', '/' or '\\', not {_short(value)}"
    wanted = [_WANTED.get(str(p["type"]).split("_")[0]) for p in problems]
    if len(problems) > 1 or (wanted[0] and str(problem["type"]).endswith(("_type", "_parsing", "_required", "_from_float"))):
        names = list(dict.fromkeys(name for name in wanted if name))
        return f"must be {' or '.join(names)}, not {_short(value)}{_hint(value, steps)}"
    return f"{str(problem['msg']).replace('Input should', 'must')}, not {_short(value)}"


def _hint(value: Json, steps: Steps) -> str:
    if str(steps[-1] if steps else "").endswith("_range") and isinstance(value, list):
        return "; a slice stands in quotes, as '[:100]'"
    return ""


def _short(value: Json) -> str:
    if isinstance(value, dict | list) or value is None:
        return kind_of(value)
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _written(loc: tuple[int | str, ...], kind: str, value: Json) -> Steps:
    """Return pydantic's location without the names of union members, which nobody wrote."""
    for end, step in enumerate(loc):
        inside = step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int)
        if not inside:
            return loc[: end + 1] if kind == "missing" else loc[:end]
        value = _get(value, (step,))
    return loc


def _fields(model: Any, steps: Steps) -> list[str]:
    """Return the keys known at `steps` of a spec."""
    for step in steps:
        if isinstance(step, str) and isinstance(model, type) and issubclass(model, BaseModel):
            model = model.model_fields[step].annotation
        model = next((m for m in _members(model) if isinstance(m, type) and issubclass(m, BaseModel)), model)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _members(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in typing.get_args(annotation):
        yield from _members(inner)


def _get(value: Json, steps: Steps) -> Json:
    for step in steps:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _refuse_secrets(block: Located) -> None:
    for inner, value in _texts(block.value, ()):
        named = isinstance(inner[-1], str) and _SECRET_NAME.search(inner[-1])
        if named or _SECRET_VALUE.search(value):
            raise block.error(NO_KEYS, *inner)


def _texts(value: Json, steps: Steps) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, str):
        yield steps, value
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*steps, step))
