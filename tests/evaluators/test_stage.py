from __future__ import annotations

import json

import pytest

from evaluators import stage
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.statistics import clustered_stderr
from leaderflow.core.types import Extraction
from tests.evaluators.cells import answers, rows, scored, spec

HERE = __name__


def upper(text: str) -> str:
    return text.upper()


def starred(text: str) -> str:
    return f"*{text}*"


def digit(text: str) -> Extraction:
    at = next((i for i, char in enumerate(text) if char.isdigit()), None)
    return Extraction(None) if at is None else Extraction(text[at], at, at + 1)


def after_colon(text: str) -> str:
    return text.split(":", 1)[-1]


def fails(text: str) -> str:
    raise ValueError(text)


def named(name: str) -> dict[str, str]:
    return {"type": f"{HERE}:{name}"}


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, HERE, sys.modules[__name__])


def test_error_rows_are_never_scored() -> None:
    outputs = answers("A", {"status": "error", "error": "HTTP 500"}, "B", "B")
    extracted, scores, metrics = scored(outputs, rows("A", "A", "A", "B"), spec())
    assert [s["score"] for s in scores] == [1.0, None, 0.0, 1.0]
    assert [s["correct"] for s in scores] == [True, None, False, True]
    assert metrics["accuracy"]["value"] == pytest.approx(200 / 3)
    assert stage.counts(extracted, outputs) | {"n": 4, "n_scored": 3, "n_failed": 1} == stage.counts(extracted, outputs)


def test_refused_rows_are_wrong() -> None:
    outputs = answers({"status": "filtered"}, {"status": "rejected"}, "")
    extracted, scores, metrics = scored(outputs, rows("", "", ""), spec())
    assert [s["score"] for s in scores] == [0.0, 0.0, 1.0]
    assert metrics["accuracy"]["value"] == pytest.approx(100 / 3)
    found = stage.counts(extracted, outputs)
    assert (found["n_scored"], found["n_filtered"], found["n_rejected"], found["n_unparsed"]) == (3, 1, 1, 3)


def test_truncated_and_unparsed_are_both_counted() -> None:
    cfg = {"pred_postprocessor": named("digit")}
    outputs = answers({"output": "I think 4", "status": "truncated"}, {"output": "I think", "status": "truncated"}, "4", "none")
    extracted, scores, _ = scored(outputs, rows("4", "4", "4", "4"), spec(eval_cfg=cfg))
    assert extracted.column("status").to_pylist() == ["truncated", "unparsed", "ok", "unparsed"]
    assert [s["correct"] for s in scores] == [True, False, True, False]
    found = stage.counts(extracted, outputs)
    assert (found["n"], found["n_truncated"], found["n_unparsed"]) == (4, 2, 2)


def test_what_counts_as_unparsed() -> None:
    cfg = {"pred_postprocessor": named("fails")}
    extracted, scores, _ = scored(answers("one"), rows("1"), spec(eval_cfg=cfg))
    assert extracted.to_pylist()[0]["status"] == "unparsed"
    assert extracted.to_pylist()[0]["extractor"].endswith("fails: ValueError: one")
    assert scores[0]["correct"] is False


def test_postprocessors_run_in_order() -> None:
    cfg = {"pred_postprocessor": named("starred"), "evaluator": {"type": "AccEvaluator", "pred_postprocessor": named("upper")}}
    extracted, _, _ = scored(
        answers("<bot>final: yes</bot> no"),
        rows("* YES*"),
        spec(eval_cfg=cfg),
        model_postprocessor=named("after_colon"),
        role_markers=("<bot>", "</bot>"),
    )
    assert json.loads(extracted.to_pylist()[0]["extracted"]) == "* YES*"


def test_turns_are_cleaned_one_by_one() -> None:
    cfg = {"pred_postprocessor": named("upper")}
    outputs = answers({"output": "b", "turns": '["a", "b"]'})
    extracted = stage.postprocess(outputs, rows("A"), spec(eval_cfg=cfg))
    assert json.loads(extracted.to_pylist()[0]["extracted"]) == ["A", "B"]


def test_spans_point_into_the_output() -> None:
    cfg = {"pred_postprocessor": named("digit")}
    outputs = answers("think: so 7", "7: 7")
    plain = stage.postprocess(outputs, rows("7", "7"), spec(eval_cfg=cfg)).column("span").to_pylist()
    moved = stage.postprocess(outputs, rows("7", "7"), spec(eval_cfg=cfg), model_postprocessor=named("after_colon"))
    assert plain == [[10, 11], [0, 1]]
    assert moved.column("span").to_pylist() == [[10, 11], [3, 4]]


def test_references_go_through_the_dataset_postprocessor() -> None:
    cfg = {"dataset_postprocessor": named("after_colon")}
    _, scores, _ = scored(answers("7"), rows("answer:7"), spec(eval_cfg=cfg))
    assert scores[0]["correct"] is True


def test_foreign_ids_are_refused() -> None:
    outputs = answers("A", "B")
    with pytest.raises(DataError, match="'s1' belongs to no sample of toy"):
        stage.postprocess(outputs, rows("A"), spec())
    extracted = stage.postprocess(outputs, rows("A", "B"), spec())
    with pytest.raises(DataError, match="'s1' belongs to no sample"):
        stage.score(extracted, rows("A"), outputs, spec())


def test_missing_columns_are_refused() -> None:
    with pytest.raises(DataError, match="no output column 'anser' in sample 's0'"):
        stage.postprocess(answers("A"), rows("A"), spec(reader_cfg={"output_column": "anser"}))
    with pytest.raises(DataError, match="needs the column 'subject'"):
        stage.check(spec(reader_cfg={"cluster_column": "subject"}), rows("A"))
    with pytest.raises(DataError, match="no sample to score"):
        stage.check(spec(), rows())
    stage.check(spec(), rows("A"))


def test_unknown_evaluators_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(
        SpecError, match=r"toy.eval_cfg.evaluator: unknown evaluator type 'AccEvaluatr'; did you mean 'AccEvaluator'"
    ):
        stage.check(spec("AccEvaluatr"), rows("A"))


def test_one_sample_has_no_spread() -> None:
    _, _, metrics = scored(answers("A"), rows("A"), spec())
    assert metrics["accuracy"]["stderr"] is None
    assert metrics["accuracy"]["value"] == 100.0
    assert metrics["accuracy"]["ci_low"] == pytest.approx(20.6543, abs=1e-3)
    assert metrics["accuracy"]["ci_high"] == 100.0


def test_all_failed_gives_no_value() -> None:
    outputs = answers({"status": "error"})
    extracted, scores, metrics = scored(outputs, rows("A"), spec())
    assert (scores[0]["score"], metrics["accuracy"]["value"], metrics["accuracy"]["scale"]) == (None, None, 100.0)
    assert stage.counts(extracted, outputs)["n_scored"] == 0


def test_rows_without_a_cluster_are_independent() -> None:
    samples = rows("x", "x", "x", "x", doc=["p", "p", None, None])
    _, scores, metrics = scored(answers("x", "y", "x", "y"), samples, spec(reader_cfg={"cluster_column": "doc"}))
    assert len({s["cluster"] for s in scores}) == 3
    assert metrics["accuracy"]["stderr"] == pytest.approx(100 * clustered_stderr([1, 0, 1, 0], ["p", "p", "q", "r"]))


def test_a_refused_row_is_at_its_worst_also_where_less_is_better() -> None:
    evaluator = {"evaluator": {"type": "LawBenchEvaluator_1_2"}}
    samples = rows("[正确答案]A<eoa>", "[正确答案]A<eoa>")
    _, _, metrics = scored(answers({"status": "filtered"}, "A"), samples, spec(eval_cfg=evaluator))
    assert metrics["abstention_rate"]["value"] == 50.0


def test_error_is_grouped_by_the_cluster_column() -> None:
    outputs, samples = answers("A", "A", "B", "B"), rows("A", "A", "A", "A", doc=[1, 1, 2, 2])
    _, scores, metrics = scored(outputs, samples, spec(reader_cfg={"cluster_column": "doc"}))
    assert [s["cluster"] for s in scores] == ["1", "1", "2", "2"]
    assert metrics["accuracy"]["stderr"] == pytest.approx(50.0)


def test_numbers_keep_their_type() -> None:
    _, scores, _ = scored(answers("5", "5.0", "5"), rows(5, 5, 5.0), spec())
    assert [s["correct"] for s in scores] == [True, False, False]
