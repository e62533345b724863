"""What is computed once is never computed or asked again; what changes is asked, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows.api import evaluate, plan
from leaderflow.core.load import build_evaluation, load_evaluation
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, expected_accuracy, model, run, spec, write_questions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "sums.jsonl", range(60))


def sent(server: FakeOpenAI) -> int:
    """Requests since the last call."""
    count: int = server.stats["requests"]
    server.reset()
    return count


def digests(tmp_path: Path, run_id: str = "latest") -> dict[str, Any]:
    """The digests of a run's cell-level tables."""
    manifest = Manifest.load(Store(tmp_path / "store"), run_id)
    return {name: [ref.digest for ref in refs] for name, refs in manifest.cells["fake:sums"].tables.items() if len(refs) == 1}


def test_a_run_scores_every_sample_and_a_second_one_asks_nothing(server: FakeOpenAI, file: Path) -> None:
    first = run(model(server), dataset(file))
    assert sent(server) == 60
    assert (first.state, first.exit_code) == ("completed", 0)
    assert first.requests["sent"] == 60
    assert first.cells[0].value == pytest.approx(expected_accuracy(60))
    assert (first.cells[0].n, first.cells[0].n_scored, first.cells[0].n_failed) == (60, 60, 0)
    second = run(model(server), dataset(file))
    assert sent(server) == 0
    assert second.requests == {"sent": 0, "reused": 60, "prompt_tokens": 0, "output_tokens": 0}
    assert second.tasks["computed"] == 0
    assert [cell.model_dump() for cell in second.cells] == [cell.model_dump() for cell in first.cells]


def test_a_manifest_runs_where_recipes_and_home_lie_elsewhere(
    server: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names recipes and the home, not where they are on this machine."""
    for name in ("here", "there"):
        recipe = tmp_path / name / "datasets" / "sums" / "my_sums.json"
        recipe.parent.mkdir(parents=True)
        recipe.write_text(json.dumps(dataset(write_questions(tmp_path / "sums.jsonl", range(9)), abbr="my_sums")))
        recipe.rename(recipe.with_suffix(".yaml"))
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(tmp_path / "here"))
    weights = str(tmp_path / "home" / "models" / "served")
    first = evaluate(build_evaluation([model(server, path=weights)], ["my_sums"]), server=False)
    assert sent(server) == 9
    manifest = Path(first.manifest or "")
    assert not [text for text in (str(tmp_path / "here"), str(tmp_path / "home")) if text in manifest.read_text()]
    monkeypatch.setenv("LEADERFLOW_RECIPES", str(tmp_path / "there"))
    again = evaluate(load_evaluation(manifest), server=False)
    assert (sent(server), again.tasks["computed"], again.state) == (0, 0, "completed")


FREE: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "evaluator": ({}, {"eval_cfg.evaluator": {"type": "Gsm8kEvaluator"}}, {}),
    "postprocessor": ({}, {"eval_cfg.pred_postprocessor": {"type": "gsm8k"}}, {}),
    "shard size": ({}, {}, {"shard_size": 7}),
    "concurrency": ({"batch_size": 3}, {}, {}),
    "time-out and attempts": ({"timeout": 99, "retries": 4}, {}, {}),
    "rate limits": ({"rpm": 100_000, "tpm": 1_000_000_000}, {}, {}),
    "place on a cluster": ({"run_cfg": {"num_gpus": 1, "replicas": 2}}, {}, {"ray_address": "head:6379"}),
    "shared limit": ({"shared_limit": "account"}, {}, {}),
    "abbr of the model": ({"abbr": "other"}, {}, {}),
    "abbr of the dataset": ({}, {"abbr": "other"}, {}),
    "suite": ({}, {}, {"suite": "nightly"}),
    "reference column": ({}, {"reader_cfg.output_column": None, "eval_cfg.evaluator": {"type": "AccEvaluator"}}, {}),
    "group": ({}, {"group": "family"}, {}),
    "extractors beside": ({}, {"eval_cfg.extractors": {"old": {"type": "gsm8k"}}}, {}),
    "model's cleaning": ({"pred_postprocessor": {"type": "general"}}, {}, {}),
}
DEAR: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "temperature": ({"generation_kwargs": {"temperature": 0.7}}, {}, 60),
    "top_p": ({"generation_kwargs": {"top_p": 0.9}}, {}, 60),
    "seed": ({"generation_kwargs": {"seed": 5}}, {}, 60),
    "stop": ({"generation_kwargs": {"stop": ["\n\n"]}}, {}, 60),
    "token limit": ({}, {"infer_cfg.inferencer.max_out_len": 65}, 60),
    "name": ({"path": "fake2"}, {}, 60),
    "revision": ({"revision": "2"}, {}, 60),
    "extra body": ({"arguments": {"extra_body": {"reasoning": "high"}}}, {}, 60),
    "template": ({}, {"infer_cfg.prompt_template.messages": [{"role": "user", "content": "Q: {question}"}]}, 60),
    "system prompt": ({"meta_template": [{"role": "system", "content": "Be brief."}]}, {}, 60),
    "repeats": ({}, {"n": 3}, 120),
}


@pytest.mark.parametrize("change", [name for name in FREE if name != "reference column"])
def test_what_changes_no_answer_costs_no_request(server: FakeOpenAI, file: Path, change: str) -> None:
    run(model(server), dataset(file))
    sent(server)
    models, datasets, scalars = FREE[change]
    result = run(model(server, **models), dataset(file, **datasets), **scalars)
    assert sent(server) == 0
    assert result.cells[0].n_scored == 60


@pytest.mark.parametrize("change", list(DEAR))
def test_what_may_change_an_answer_is_asked_and_going_back_is_free(server: FakeOpenAI, file: Path, change: str) -> None:
    server.script(models=None)
    run(model(server), dataset(file))
    sent(server)
    models, datasets, requests = DEAR[change]
    run(model(server, **models), dataset(file, **datasets))
    assert sent(server) == requests
    run(model(server), dataset(file))
    assert sent(server) == 0


def test_the_port_matters_only_without_a_revision(server: FakeOpenAI, file: Path) -> None:
    other = FakeOpenAI(reply="The answer is {number}.")
    try:
        for revision, requests in (("1", 0), (None, 60)):
            run(model(server, revision=revision), dataset(file))
            run(model(other, revision=revision), dataset(file))
            assert sent(other) == requests
    finally:
        other.stop()


def test_a_longer_range_asks_only_what_it_adds(server: FakeOpenAI, file: Path) -> None:
    run(model(server), dataset(file, **{"reader_cfg.test_range": "[:30]"}))
    assert sent(server) == 30
    run(model(server), dataset(file))
    assert sent(server) == 30


def test_added_and_edited_rows_are_asked_and_no_answer_of_old_wording_is_used(server: FakeOpenAI, tmp_path: Path) -> None:
    run(model(server), dataset(write_questions(tmp_path / "a.jsonl", range(10))))
    sent(server)
    result = run(model(server), dataset(write_questions(tmp_path / "b.jsonl", [3, 0, 1, 99, 100, 9])))
    assert sent(server) == 2
    assert result.cells[0].n == 6


def test_shard_sizes_change_no_digest(server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    found = []
    for size in (7, 25, 500):
        result = run(model(server), dataset(file), shard_size=size)
        manifest = Manifest.load(Store(tmp_path / "store"), "latest")
        cell = manifest.cells["fake:sums"]
        found.append(
            (
                cell.version,
                cell.counts,
                [cell.tables[t][0].digest for t in ("samples", "examples", "scores", "metrics")],
                result.cells,
            )
        )
    assert found[0] == found[1] == found[2]
    assert sent(server) == 60


def test_equal_inputs_are_asked_each_on_its_own_whatever_the_shards(server: FakeOpenAI, tmp_path: Path) -> None:
    path = tmp_path / "same.jsonl"
    rows = [{"question": "How much is 1 plus 1?", "answer": str(i)} for i in range(6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(model(server), dataset(path), shard_size=2)
    assert sent(server) == 6
    run(model(server), dataset(path), shard_size=6)
    assert sent(server) == 0


def test_more_repeats_send_the_missing_quarters(server: FakeOpenAI, file: Path) -> None:
    run(model(server), dataset(file, n=1))
    assert sent(server) == 60
    result = run(model(server), dataset(file, n=4))
    assert sent(server) == 180
    assert result.cells[0].n == 240


def test_fresh_asks_again(server: FakeOpenAI, file: Path) -> None:
    run(model(server), dataset(file))
    sent(server)
    run(model(server), dataset(file), fresh=True)
    assert sent(server) == 60


def test_an_endpoint_that_is_gone_does_not_matter_when_all_is_answered(file: Path) -> None:
    server = FakeOpenAI(reply="The answer is {number}.")
    run(model(server), dataset(file))
    server.stop()
    result = run(model(server), dataset(file, **{"eval_cfg.evaluator": {"type": "Gsm8kEvaluator"}}))
    assert (result.exit_code, result.requests["sent"]) == (0, 0)


def test_a_prompt_that_always_fails_leaves_the_rest_scored_and_is_asked_alone_later(server: FakeOpenAI, file: Path) -> None:
    server.always({"status": 500}, contains="How much is 7 plus")
    first = run(model(server, retries=1), dataset(file), shard_size=20)
    assert (first.state, first.exit_code) == ("incomplete", 3)
    cell = first.cells[0]
    assert (cell.n, cell.n_scored, cell.n_failed, cell.partial) == (60, 59, 1, True)
    assert "1 of 60 in fake:sums" in first.message
    assert [(e.cell, e.rows) for e in first.errors] == [("fake:sums", 1)]
    assert first.tasks["failed"] == 1
    assert sent(server) == 61
    planned = plan(spec([model(server, retries=1)], [dataset(file)], shard_size=20))
    assert (planned.requests, planned.answered, planned.to_ask) == (60, 59, 1)
    server.heal()
    sent(server)
    second = run(model(server, retries=1), dataset(file), shard_size=20)
    assert (second.exit_code, sent(server)) == (0, 1)
    assert second.cells[0].value == pytest.approx(expected_accuracy(60))


def test_a_damaged_artifact_is_recomputed_from_the_stored_answers(server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    first = run(model(server), dataset(file))
    sent(server)
    for path in (tmp_path / "store" / "artifacts").rglob("*.arrow"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    second = run(model(server), dataset(file))
    assert sent(server) == 0
    assert second.tasks["cached"] == 0
    assert second.cells == first.cells


def test_a_dry_run_writes_nothing(server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    planned = plan(spec([model(server)], [dataset(file)], shard_size=25))
    assert (planned.requests, planned.answered, planned.shards) == (60, 0, 3)
    assert not (tmp_path / "store").exists()
    assert server.stats["requests"] == 0
