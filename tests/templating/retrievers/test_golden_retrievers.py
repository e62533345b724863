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
from templating.retrievers.votek import elect
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
    if case["input"]["retriever"]["type"] == "VotekRetriever" and _elected(case) < case["input"]["retriever"].get("ice_num", 1):
        return "too few rows are elected, and OpenCompass draws the rest without a seed"
    return None


def _elected(case: Case) -> int:
    pool = rows_of(_rows(case["input"]["train"], case["input"]["reader_cfg"].get("train_range"), "pool"))
    columns = case["input"]["reader_cfg"]["input_columns"]
    vectors = minilm()([" ".join(row[name] for name in columns) for _, row in pool])
    return len(elect(np.float64(vectors @ vectors.T), len(pool), case["input"]["retriever"].get("votek_k", 3)))


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
    ranked = given["retriever"]["type"] in ("BM25Retriever", "TopkRetriever")
    return _compare(positions, case["expected"], len(pool), _scores(spec, samples, pool) if ranked else None)


def _refusable(case: Case, size: int) -> bool:
    """Say whether OpenCompass failed too, had fewer candidates than examples, or chose a row that does not exist."""
    retriever = case["input"]["retriever"]
    if "expected" not in case or (retriever.get("candidate_num", 1) < retriever.get("ice_num", 1) and "DPP" in retriever["type"]):
        return True
    return any(not -size <= row < size for rows in case["expected"]["ids"] for row in rows)


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
    return _compare_scores(recorded, expected, scores) if scores is not None and "scores" in expected else None


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


@pytest.mark.golden
@pytest.mark.parametrize("file", ["templates.jsonl", "real_configs.jsonl", "real_configs_2.jsonl", "real_configs_3.jsonl"])
def test_recorded_examples_of_configurations(file: str) -> None:
    run_cases(f"{file}: retrieved_ids", filter(_read_as_given, golden(file)), _other_examples, lambda case: None)


def _read_as_given(case: Case) -> bool:
    """Say whether the test rows are the tested ones: splits and ranges that change that are the readers' business."""
    recorded = case.get("expected", {}).get("retrieved_ids")
    return recorded is not None and len(recorded) == len(case["input"]["test_rows"])


def _other_examples(case: Case) -> str | None:
    given = case["input"]
    retriever = (given.get("infer_cfg") or case["dataset_config"]["infer_cfg"])["retriever"]
    reader = given.get("reader_cfg") or given["reader_cfg_used"]
    reader = {name: reader.get(name) for name in ("input_columns", "output_column")}
    spec = dataset(retriever | {"type": retriever["type"].rpartition(".")[2]}, compat=True, **reader)
    pool, samples = table(*given["train_rows"], prefix="pool"), table(*given["test_rows"])
    ours = [[int(name.removeprefix("pool")) for name in example_ids] for example_ids in ids(retrieve(samples, pool, spec))]
    recorded = case["expected"]["retrieved_ids"]
    return None if ours == [[row % pool.num_rows for row in rows] for rows in recorded] else f"{ours} instead of {recorded}"
