"""A cell is scored block by block: the size of a block, the order of rows and how tables are cut change no number."""

from __future__ import annotations

import random
import sys
import tracemalloc
from typing import Any

import pyarrow as pa
import pytest

from evaluators import stage
from evaluators.base import Evaluator
from evaluators.code.base import CodeEvaluator
from evaluators.native import AllCorrect
from leaderflow.core import streams
from leaderflow.core.errors import DataError
from leaderflow.core.streams import TableRows
from tests.evaluators.cells import answers, rows, spec

HERE = __name__
SIZE = 90
WORDS = ["A", "B", "a b", "3", "", {"status": "filtered"}, {"status": "error"}, {"output": "A", "status": "truncated"}]


class Verdicts(Evaluator):
    """Says right or wrong of some answers, nothing of others, and cannot read B."""

    metric = "accuracy"

    def observe(self, prediction: Any, reference: Any, row: Any) -> Any:
        if prediction == "B":
            raise ValueError(prediction)
        return prediction == reference if row["n"] > 50 else float(prediction == reference)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])


def cell(repeats: int) -> tuple[pa.Table, pa.Table]:
    draw = random.Random(repeats)
    columns = {"n": list(range(SIZE)), "doc": [draw.choice((None, 1, 2, 3)) for _ in range(SIZE)]}
    columns |= {"is_clean": [draw.choice(("clean", "input contamination", "?")) for _ in range(SIZE)]}
    samples = rows(*[draw.choice(("A", "B", "a b", "3")) for _ in range(SIZE)], **columns)
    return answers(*[draw.choice(WORDS) for _ in range(SIZE * repeats)], repeats=repeats), samples


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize(
    "evaluator",
    [
        {"type": "AccEvaluator"},
        {"type": "TokenF1"},
        {"type": "MccEvaluator"},
        {"type": "BleuEvaluator"},
        {"type": "ChrF"},
        {"type": "AllCorrect", "group": ["doc", "is_clean"]},
        {"type": "AccContaminationEvaluator"},
        {"type": f"{HERE}:Verdicts"},
    ],
)
def test_blocks_change_nothing(evaluator: dict[str, Any], repeats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs, samples = cell(repeats)
    dataset = spec(eval_cfg={"evaluator": evaluator}, n=repeats, k=[1, repeats], reader_cfg={"cluster_column": "doc"})

    def scored(outputs: pa.Table) -> list[Any]:
        extracted = stage.postprocess(outputs, samples, dataset)
        scores, metrics = stage.score(extracted, samples, outputs, dataset)
        return [extracted.to_pylist(), scores.to_pylist(), metrics.to_pylist(), stage.counts(extracted, outputs)]

    whole = scored(outputs)
    for size in (1, 7):
        for module in ("leaderflow.core.streams", "evaluators.extractions"):
            monkeypatch.setattr(f"{module}.PIECE", size)
        monkeypatch.setattr(Evaluator, "block", size)
        cut = pa.concat_tables([outputs.slice(start, 11) for start in range(0, outputs.num_rows, 11)])
        assert scored(cut) == whole
    assert streams.PIECE == 7


def test_repeats_one_after_the_other_give_the_same_metrics() -> None:
    outputs, samples = cell(3)
    by_repeat = pa.concat_tables([outputs.filter(pa.compute.equal(outputs["repeat"], repeat)) for repeat in range(3)])
    dataset, found = spec(n=3, k=[1, 3]), []
    for table in (outputs, by_repeat):
        extracted = stage.postprocess(table, samples, dataset)
        found.append([stage.score(extracted, samples, table, dataset)[1].to_pylist(), stage.counts(extracted, table)])
    assert found[0] == found[1]


def test_silence_is_wrong_in_all_blocks_once_one_answer_was_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Evaluator, "block", 2)
    samples, outputs = rows(*"AAAA", n=[1, 2, 98, 99]), answers("A", "B", "A", "3")
    dataset = spec(f"{HERE}:Verdicts")
    scores, _ = stage.score(stage.postprocess(outputs, samples, dataset), samples, outputs, dataset)
    assert scores["correct"].to_pylist() == [False, False, True, False]
    assert scores["score"].to_pylist() == [1.0, 0.0, 1.0, 0.0]
    unread = answers("B", "B", "B", "B")
    with pytest.raises(DataError, match="Verdicts cannot score these answers: ValueError: B"):
        stage.score(stage.postprocess(unread, samples, dataset), samples, unread, dataset)


class Forgetful(Evaluator):
    def score(self, cell: Any, answers: Any = None) -> Any:
        rated, metrics = super().score(cell, answers)
        return iter([next(rated).slice(0, 1)]), metrics


def test_scores_that_are_missing_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Forgetful, "observe", lambda self, prediction, reference, row: True, raising=False)
    outputs, samples, dataset = answers("A", "B"), rows("A", "B"), spec(f"{HERE}:Forgetful")
    with pytest.raises(DataError, match="did not score all rows"):
        stage.score(stage.postprocess(outputs, samples, dataset), samples, outputs, dataset)


def test_blocks_of_programs_are_large_and_groups_need_no_block_of_all() -> None:
    assert (CodeEvaluator.block or 0) > streams.PIECE
    assert AllCorrect(["doc"]).block == streams.PIECE


def test_a_sample_more_is_some_bytes_more() -> None:
    """What grows are numbers in columns; the objects of one row would be above 1,000 bytes."""
    dataset = spec(eval_cfg={"evaluator": {"type": "NumberMatch"}})

    def peak(n: int) -> int:
        samples, outputs = rows(*["7"] * n, pad=["x" * 500] * n), answers(*["7"] * n)
        extracted = stage.postprocess(outputs, samples, dataset)
        tracemalloc.start()
        batches, metrics = stage.scores(TableRows(extracted), TableRows(samples), dataset)
        assert sum(batch.num_rows for batch in batches) == stage.counts(extracted, outputs)["n_scored"] == n
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert metrics["value"].to_pylist() == [100.0]
        return found

    peak(1000)
    assert (peak(9000) - peak(1000)) / 8000 < 100
