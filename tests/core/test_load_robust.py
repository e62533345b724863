"""Whatever is changed in a good spec, loading gives a spec that can be written down and loaded again, or one clean line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderflow.core.errors import SpecError
from leaderflow.core.load import dump_evaluation, load_evaluation
from leaderflow.core.specs import EvaluationSpec
from leaderflow.core.yaml import parse_yaml

from .conftest import DATASET, MODEL

GOOD: dict[str, Any] = {
    "models": [parse_yaml(MODEL, "m").value],
    "datasets": [parse_yaml(DATASET, "d").value | {"abbr": "x_${p}", "matrix": {"p": ["a", "b"]}}],
    "summarizer": {"summary_groups": [{"name": "a", "subsets": ["x_a"]}]},
    "suite": "s",
    "shard_size": 3,
}
ODD = [None, True, 0, -1, 1.5, "", "x", "a b", [], [1], ["x"], {}, {"a": 1}, {"type": "x"}, {"type": 5}, [[]], [{}]]
ODD += ["${p}", "${q}", "../x", "openai/", "hf/", "openai/x", {"recipe": "x"}, {"recipe": 5}, "x:y", "\x1b[2J", "日本"]


def ways(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if way:
        yield way
    for step in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from ways(value[step], (*way, step))


def changed(way: tuple[Any, ...], how: str, odd: Any) -> dict[str, Any]:
    spec = deepcopy(GOOD)
    inner: Any = spec
    for step in way[:-1]:
        inner = inner[step]
    if how == "replace":
        inner[way[-1]] = deepcopy(odd)
    else:
        value = inner.pop(way[-1])
        if how == "rename" and isinstance(inner, dict):
            inner[f"{way[-1]}z"] = value
    return spec


def loaded_or_refused(path: str) -> EvaluationSpec | SpecError:
    try:
        return load_evaluation(path)
    except SpecError as error:
        return error


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(st.sampled_from(list(ways(GOOD))), st.sampled_from(["replace", "replace", "drop", "rename"]), st.sampled_from(ODD))
def test_a_changed_spec_loads_or_is_one_clean_line(folder: Path, way: tuple[Any, ...], how: str, odd: Any) -> None:
    (folder / "f.yaml").write_text(json.dumps(changed(way, how, odd), indent=1))
    loaded = loaded_or_refused("f.yaml")
    if isinstance(loaded, SpecError):
        assert "\n" not in str(loaded)
        assert loaded.file == "f.yaml"
        assert loaded.line
    else:
        (folder / "g.json").write_text(json.dumps({"spec": dump_evaluation(loaded)}))
        assert load_evaluation("g.json") == loaded
