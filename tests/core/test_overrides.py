from __future__ import annotations

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.load import build_evaluation
from leaderflow.core.specs import EvaluationSpec

from .conftest import DATASET, MODEL, Write


def built(write: Write, *sets: str) -> EvaluationSpec:
    write("recipes/datasets/sums/more.yaml", DATASET.replace("abbr: sums", "abbr: more"))
    write("recipes/models/dotted.yaml", MODEL.replace("abbr: api", "abbr: api-4.1"))
    return build_evaluation(["api", "dotted"], ["sums", "more"], sets)


def test_a_dataset_key_is_set_for_every_dataset(write: Write) -> None:
    spec = built(write, "infer_cfg.inferencer.max_out_len=64", "n=4")
    assert [d.infer_cfg.inferencer["max_out_len"] for d in spec.datasets] == [64, 64]
    assert [d.n for d in spec.datasets] == [4, 4]


def test_one_dataset_one_model_or_all(write: Write) -> None:
    spec = built(
        write,
        "datasets.more.n=2",
        "models.api.batch_size=3",
        "models.api-4.1.batch_size=5",
        "models.*.extra_body={a: [1]}",
        "shard_size=9",
    )
    assert [d.n for d in spec.datasets] == [1, 2]
    assert [m.batch_size for m in spec.models] == [3, 5]
    assert [m.arguments for m in spec.models] == [{"extra_body": {"a": [1]}}] * 2
    assert spec.shard_size == 9


def test_ranges_need_no_quotes(write: Write) -> None:
    spec = built(write, "reader_cfg.test_range=[:5]", "datasets.more.reader_cfg.test_range=[1, 2]")
    assert [d.reader_cfg.test_range for d in spec.datasets] == ["[:5]", [1, 2]]


def test_another_type_replaces_the_arguments(write: Write) -> None:
    spec = built(write, "eval_cfg.pred_postprocessor=null", "infer_cfg.retriever={type: FixKRetriever}")
    assert spec.datasets[0].eval_cfg.pred_postprocessor is None
    assert spec.datasets[0].infer_cfg.retriever == {"type": "FixKRetriever"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n", "'n' is not KEY=VALUE"),
        ("=3", "is not KEY=VALUE"),
        ("a..b=3", "is not KEY=VALUE"),
        ("shard_sise=3", "--set shard_sise: unknown key 'shard_sise'; did you mean 'shard_size'?"),
        ("batch_size=3", "did you mean 'models.*.batch_size'?"),
        ("models.apy.batch_size=3", "there is no model 'apy' in this run; did you mean 'api'?"),
        ("models.api.batchsize=3", "--set models.api.batchsize: batchsize: unknown key 'batchsize'; did you mean 'batch_size'?"),
        ("models.api=3", "write models.ABBR.KEY=VALUE"),
        ("infer_cfg.inferencer.max_out_le=3", "has no argument 'max_out_le'; did you mean 'max_out_len'?"),
        ("infer_cfg.inferencr.max_out_len=3", "unknown key 'inferencr'; did you mean 'inferencer'?"),
        ("n=0", "--set n: must be greater than or equal to 1, not 0"),
        ("n=[1", "is not YAML"),
        ("eval_cfg.evaluator.type=AccEvaluatr", "unknown evaluator type 'AccEvaluatr'"),
    ],
)
def test_bad_settings(write: Write, text: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        built(write, text)
    assert says in str(caught.value)
    assert str(caught.value).startswith("--set")
    assert "\n" not in str(caught.value)


def test_another_type_of_a_whole_block_keeps_the_rest(write: Write) -> None:
    spec = built(write, "type=CsvDataset", "models.*.type=Scripted")
    assert {d.type for d in spec.datasets} == {"CsvDataset"}
    assert [d.abbr for d in spec.datasets] == ["sums", "more"]
    assert {m.type for m in spec.models} == {"Scripted"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n=true", "must be a number, not true"),
        ("k=true", "must be a number, not true"),
        ("k=[1, false]", "must be a number, not false"),
        ("n=99999999999", "10000"),
        ("models.*.batch_size=true", "must be a number, not true"),
        ("models.*.timeout=inf", "finite"),
        ("reader_cfg.test_range=[true]", "must be a number, not true"),
        ("reader_cfg.seed=true", "must be a number, not true"),
    ],
)
def test_a_number_is_a_finite_number(write: Write, text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        built(write, text)
