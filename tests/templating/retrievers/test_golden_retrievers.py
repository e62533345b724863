"""Recorded choices of OpenCompass' retrievers: the same ids, or the same scores where ids tie."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest

from leaderflow.core.artifacts import rows_of
from leaderflow.core.errors import LeaderflowError
from templating.retrieval import needs, retrieve
from templating.retrievers.base import Floats
from templating.retrievers.okapi import Okapi
from tests.golden import folder, golden, run_cases
from tests.templating.retrievers.minilm import minilm
from tests.templating.retrievers.specs import dataset, ids, table

Case = dict[str, Any]

NEAR = 2e-4
"""How far scores may differ: another runtime of the same embedding model moves the fourth digit at most."""


def excepted(case: Case) -> str | None:
    if case["input"]["retriever"]["type"] == "DPPRetriever" and "expected_error" in case:
        return "as shipped it always raises TypeError; ours chooses what the recorded, repaired code does"
    if "pad_token" in case.get("expected_error", {}).get("message", ""):
        return "the recorded failure is of a tokenizer that ours does not use"
    return None


@pytest.mark.golden
@pytest.mark.model
def test_recorded_retrievers() -> None:
    run_cases("retrievers", golden("retrievers.jsonl"), _difference, excepted)


def _difference(case: Case) -> str | None:
    given = case["input"]
    reader = {name: given["reader_cfg"].get(name) for name in ("input_columns", "output_column")}
    spec = dataset(given["retriever"], compat=True, **reader)
    pool = _rows(given["train"], given["reader_cfg"].get("train_range"), "pool")
    samples = _rows(given["test"], given["reader_cfg"].get("test_range"), "test")
    try:
        chosen = ids(retrieve(samples, pool, spec, embed=minilm() if needs(spec) else None))
    except LeaderflowError as exc:
        return None if _refusable(case, len(pool)) else f"raised {exc}"
    if "expected" not in case:
        return f"recorded {case['expected_error']['class']}, ours gave {chosen}"
    positions = [[int(name.removeprefix("pool")) for name in example_ids] for example_ids in chosen]
    scores = _scores(spec, samples, pool) if "scores" in case["expected"] else None
    return _compare(positions, case["expected"], len(pool), scores)


def _refusable(case: Case, size: int) -> bool:
    """Say whether OpenCompass failed too, or chose a row that does not exist."""
    return "expected" not in case or any(not -size <= row < size for rows in case["expected"]["ids"] for row in rows)


def _compare(ours: list[list[int]], expected: Case, size: int, scores: list[Floats] | None) -> str | None:
    recorded = [[row % size for row in rows] for rows in expected["ids"]]
    for index, (got, wanted) in enumerate(zip(ours, recorded, strict=True)):
        if got == wanted:
            continue
        if scores is None or len(got) != len(wanted):
            return f"test row {index}: {got} instead of {wanted}"
        tied = np.abs(scores[index][got] - scores[index][wanted]) <= NEAR
        if not tied.all():
            return f"test row {index}: {got} instead of {wanted}, and the scores differ"
    return _compare_scores(recorded, expected, scores) if scores is not None else None


def _compare_scores(recorded: list[list[int]], expected: Case, scores: list[Floats]) -> str | None:
    for index, (rows, values) in enumerate(zip(recorded, expected["scores"], strict=True)):
        real = [(row, value) for row, value in zip(rows, values, strict=True) if isinstance(value, float) and value > -1e30]
        if not np.allclose([scores[index][row] for row, _ in real], [value for _, value in real], rtol=1e-6, atol=NEAR):
            return f"test row {index}: other scores than recorded"
    return None


def _scores(spec: Any, samples: Any, pool: Any) -> list[Floats]:
    columns = spec.reader_cfg.input_columns
    corpus, queries = ([" ".join(row[name] for name in columns) for _, row in rows_of(rows)] for rows in (pool, samples))
    if needs(spec):
        return list(np.float64(minilm()(queries)) @ np.float64(minilm()(corpus)).T)
    okapi = Okapi(corpus)
    return [okapi.scores(query) for query in queries]


def _rows(which: Case, selection: Any, prefix: str) -> Any:
    rows = json.loads((folder("LEADERFLOW_GOLDEN", "golden") / "retrievers_rows.json").read_text())[which["rows"]][: which["first"]]
    if isinstance(selection, int):
        order = list(range(len(rows)))
        random.Random(selection).shuffle(order)
        rows = [rows[position] for position in order[:selection]]
    for part in re.findall(r"\[([^\]]*)\]", selection) if isinstance(selection, str) else []:
        rows = rows[slice(*[int(bound) if bound else None for bound in part.split(":")])]
    return table(*rows, prefix=prefix)
