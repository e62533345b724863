"""Compares splits and ranges under ``compat: opencompass`` with the recorded behaviour of OpenCompass."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from leaderflow.core.errors import UsageError
from leaderflow.core.specs import DatasetSpec, ReaderCfg
from readers.ranges import select
from readers.splits import Selection, selections
from tests.golden import golden, run_cases
from tests.readers.make import dataset, jsonl, rows

RANGES = ("train_range", "test_range")

EXPRESSION = re.compile(r"[a-zA-Z_]{3,}|[*/%()<>&|~^=]|[\]\d]\s*[+-]")
"""What stands in a text that is more than a slice."""


def excepted(case: dict[str, Any]) -> str | None:
    """Return why a case's recorded result is not matched."""
    if "tuple" in str(case.get("note")):
        return "a tuple and a list are one thing in JSON and YAML"
    ranges = [re.sub("None|True|False", "", text) for name in RANGES if isinstance(text := case["input"].get(name), str)]
    if any(EXPRESSION.search(text) for text in ranges):
        return "expressions are refused: a slice is parsed, never evaluated"
    return None


def cut(sizes: Mapping[str | None, int], part: Selection | None) -> list[Any]:
    """Return the names of the rows that a selection holds."""
    assert part is not None
    names = [str(number) if part.split is None else f"{part.split}{number}" for number in range(sizes[part.split])]
    for _, wanted in part.ranges:
        names = [names[position] for position in select(names, wanted, compat="opencompass")]
    return names if part.split else [int(name) for name in names]


def of_splits(case: Mapping[str, Any]) -> Any:
    given = case["input"]
    sizes: dict[str | None, int] = given.get("splits") or {None: given["single_dataset"]}
    reader = {name: given[name] for name in ("train_split", "test_split", *RANGES) if name in given}
    spec: DatasetSpec = dataset(local="x.jsonl", compat="opencompass").model_copy(
        update={"reader_cfg": ReaderCfg(input_columns=["id"], **reader)}
    )
    samples, pool = selections(spec, list(sizes), pool=True)
    return {"test": cut(sizes, samples), "train": cut(sizes, pool)}


def of_ranges(case: Mapping[str, Any]) -> Any:
    given = case["input"]
    ids = [str(number) for number in range(given["total"])]
    wanted = next(given[name] for name in RANGES if name in given)
    return {"ids": select(ids, wanted, compat="opencompass"), "other_split_untouched": True}


def of_columns(case: Mapping[str, Any], tmp_path: Path) -> Any:
    given = case["input"]
    columns = {name: given[name] for name in ("input_columns", "output_column")}
    spec = dataset(jsonl(tmp_path / "rows.jsonl", given["rows"]), compat="opencompass", **columns)
    found, cfg = rows(spec), spec.reader_cfg
    corpus = [" ".join(str(row[name]) for name in cfg.input_columns) for row in found]
    outputs = [str(row[cfg.output_column]) for row in found] if cfg.output_column else None
    names = {"input_columns": cfg.input_columns, "output_column": cfg.output_column}
    return {**names, "input_corpus": corpus, "output_corpus": outputs}


@pytest.mark.golden
def test_ranges_and_splits(tmp_path: Path) -> None:
    def check(case: dict[str, Any]) -> str | None:
        of = of_ranges if "total" in case["input"] else of_splits
        try:
            found = of_columns(case, tmp_path) if "rows" in case["input"] else of(case)
        except (UsageError, ValidationError) as exc:
            return None if "expected_error" in case else f"refused: {exc}"
        if "expected_error" in case:
            return f"accepted as {found}, recorded: {case['expected_error']}"
        return None if found == case["expected"] else f"{json.dumps(found)} instead of {json.dumps(case['expected'])}"

    run_cases("reader_ranges.jsonl", golden("reader_ranges.jsonl"), check, excepted)
