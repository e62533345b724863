"""Answers of two models of one run against each other: the judge is asked in both orders, through the steps of any cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluators.judges.base import fenced
from flows.api import evaluate, plan
from flows.result import RunResult
from leaderflow.core.errors import SpecError
from leaderflow.core.load import load_evaluation
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, spec

N = 6


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "places.jsonl"
    path.write_text("".join(json.dumps({"question": f"Where is place {i:02d}?", "answer": "x"}) + "\n" for i in range(N)))
    return path


def block(file: Path, **evaluator: Any) -> dict[str, Any]:
    found = dataset(file, abbr="places")
    found["eval_cfg"] = {"evaluator": {"type": "PairwiseJudge", **evaluator}}
    return found


def named(server: FakeOpenAI, *names: str) -> list[dict[str, Any]]:
    return [model(server, abbr=name, path=name, retries=0) for name in names]


def run(server: FakeOpenAI, models: str, evaluated: dict[str, Any], **more: Any) -> RunResult:
    return evaluate(spec(named(server, *models.split()), [evaluated], judges=named(server, "judge"), **more), server=False)


def metrics(result: RunResult, of: str) -> dict[str, float | None]:
    return {cell.metric: cell.value for cell in result.cells if cell.model == of}


WORDS = {"ann": "gold", "bob": "lead", "cy": "tin"}


def honest(server: FakeOpenAI, *more: dict[str, Any]) -> None:
    """Ann says gold, Bob lead, Cy tin; the judge prefers gold to lead and lead to tin, wherever they stand."""
    says = [{"model": name, "replies": [{"content": word}]} for name, word in WORDS.items()]
    order = list(WORDS.values())
    rules = [
        {
            "model": "judge",
            "contains": f"{fenced(first)}\n\nAnswer B:\n{fenced(second)}",
            "replies": [{"content": f"VERDICT: {'A' if order.index(first) < order.index(second) else 'B'}"}],
        }
        for first in order
        for second in order
        if first != second
    ]
    server.script(rules=[*more, *says, *rules])


def test_a_better_model_wins_in_both_orders(server: FakeOpenAI, file: Path) -> None:
    honest(server)
    result = run(server, "ann bob", block(file, against="bob"))
    assert metrics(result, "ann") == {"win_rate": 100.0, "unreadable": 0.0, "consistent": 100.0, "first_place": 50.0}
    assert metrics(result, "bob") == {"win_rate": None}, "a model is not compared with itself"
    assert (result.state, result.requests["sent"]) == ("completed", 2 * N + 2 * N)
    assert len({cell.version for cell in result.cells}) == 1
    again = run(server, "ann bob", block(file, against="bob"))
    assert (again.requests["sent"], again.tasks["computed"]) == (0, 0)


def test_every_model_against_every_other(server: FakeOpenAI, file: Path) -> None:
    honest(server)
    result = run(server, "ann bob cy", block(file, against="*"))
    assert [metrics(result, name)["win_rate"] for name in WORDS] == [100.0, 50.0, 0.0]
    assert metrics(result, "bob") | {"win_rate_vs_ann": 0.0, "win_rate_vs_cy": 100.0} == metrics(result, "bob")
    assert result.requests["sent"] == 3 * N + 3 * 2 * N, "a pair that two cells ask about is paid once"
    assert len({cell.version for cell in result.cells}) == 1


def test_a_judge_that_always_says_a_shows_as_bias_between_models(server: FakeOpenAI, file: Path) -> None:
    honest(server, {"model": "judge", "replies": [{"content": "VERDICT: A"}]})
    result = run(server, "ann bob", block(file, against="bob"))
    assert metrics(result, "ann") == {"win_rate": 50.0, "unreadable": 0.0, "consistent": 0.0, "first_place": 100.0}


def test_pairs_without_an_answer_on_one_side(server: FakeOpenAI, file: Path) -> None:
    """Nothing against something wins unasked; an answer that is still to come makes the pair's row partial."""
    honest(
        server,
        {"model": "bob", "contains": "place 00", "replies": ["content_filter"]},
        {"model": "bob", "contains": "place 01", "replies": ["server_error"]},
        {"model": "ann", "contains": "place 02", "replies": ["empty"]},
    )
    result = run(server, "ann bob", block(file, against="bob"))
    assert (result.state, result.exit_code) == ("incomplete", 3)
    ann = next(cell for cell in result.cells if cell.model == "ann")
    assert (ann.n, ann.n_scored, ann.n_failed, ann.partial) == (N, N - 1, 1, True)
    assert ann.value == pytest.approx(100 * 4 / 5)
    honest(server)
    server.reset()
    repaired = run(server, "ann bob", block(file, against="bob"))
    assert (repaired.exit_code, repaired.requests["sent"]) == (0, 1 + 2)


def test_the_dry_run_knows_the_pairs_once_all_models_have_answered(server: FakeOpenAI, file: Path) -> None:
    honest(server)
    wanted = spec(named(server, "ann", "bob"), [block(file, against="bob")], judges=named(server, "judge"))
    before = plan(wanted)
    assert (before.to_ask, before.judges_open) == (2 * N, 2 * N)
    assert before.cells[0].judge_prompt_tokens > before.cells[0].prompt_tokens > 0
    assert "requests to judges on top, at most" in before.estimate()
    run(server, "ann bob", block(file, against="bob"))
    after = plan(wanted)
    assert (after.requests, after.to_ask, after.judges_open) == (2 * N + 2 * N, 0, 0)
    assert after.cells[0].judge_prompt_tokens == 0


def test_nobody_to_compare_with_is_refused(server: FakeOpenAI, file: Path) -> None:
    for models, against, message in [
        ("ann bob", "bop", "'bop', which is no model of this run .*; did you mean 'bob'"),
        ("ann", "*", "name another one"),
        ("ann", "ann", "name another one"),
    ]:
        with pytest.raises(SpecError, match=message):
            run(server, models, block(file, against=against))
    assert server.stats["requests"] == 0


CONFIG = """
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_evaluator import LMEvaluator
from opencompass.models import OpenAISDK
from opencompass.datasets import JsonlDataset
from opencompass.partitioners.sub_naive import SubjectiveNaivePartitioner

def served(name):
    return dict(type=OpenAISDK, abbr=name, path=name, openai_api_base='URL', key='EMPTY', retry=0)

models = [served('ann'), served('bob')]
judge_models = [served('judge')]
show = '{question} [1] {prediction} [2] {prediction2}: choose'
datasets = [dict(
    type=JsonlDataset, abbr='places', path='FILE', mode='m2n', infer_order='ORDER', base_models=[dict(abbr='bob')],
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type=PromptTemplate, template='{question}'), retriever=dict(type=ZeroRetriever),
                   inferencer=dict(type=GenInferencer, max_out_len=64)),
    eval_cfg=dict(evaluator=dict(type=LMEvaluator, prompt_template=dict(type=PromptTemplate, template=show)), pred_role='BOT'),
)]
eval = dict(partitioner=dict(type=SubjectiveNaivePartitioner, models=models, judge_models=judge_models))
"""


@pytest.mark.parametrize(("order", "asked"), [("double", 2 * N), ("random", N)])
def test_a_pairwise_configuration_of_opencompass_runs(
    server: FakeOpenAI, file: Path, tmp_path: Path, order: str, asked: int
) -> None:
    rules = [{"model": name, "replies": [{"content": word}]} for name, word in WORDS.items()]
    said = {"[1] gold [2] lead": "选择：A\n原因：gold", "[1] lead [2] gold": "选择：B\n原因：gold"}
    rules += [{"model": "judge", "contains": pair, "replies": [{"content": reply}]} for pair, reply in said.items()]
    server.script(rules=rules)
    config = tmp_path / "pairs.py"
    text = CONFIG.replace("URL", server.base_url).replace("FILE", str(file)).replace("ORDER", order)
    config.write_text(text)
    result = evaluate(load_evaluation(config), server=False)
    assert metrics(result, "ann")["win_rate"] == 100.0
    assert metrics(result, "ann")["unreadable"] == 0.0
    prompts = [body["messages"][-1]["content"] for body in server.stats["bodies"] if body["model"] == "judge"]
    assert len(prompts) == asked
    assert {"[1] gold" in prompt for prompt in prompts} == {True, False}, "both places are taken"


def test_several_judges_of_a_recorded_template_decide_together(server: FakeOpenAI, file: Path) -> None:
    """One finds the first answer better, one the second: no side wins, and they never agree."""
    said = {"judge": "[[A]]", "second": "[[B]]"}
    server.script(rules=[{"model": name, "replies": [{"content": reply}]} for name, reply in said.items()])
    template = {"type": "RawPromptTemplate", "messages": [{"role": "user", "content": "{question} {prediction} {prediction2}"}]}
    recorded = {"type": "LMEvaluator", "prompt_template": template, "mode": "allpair", "infer_order": "double"}
    pair = {**block(file), "eval_cfg": {"evaluator": recorded}}
    wanted = spec(named(server, "ann", "bob"), [pair], judges=named(server, "judge", "second"))
    found = metrics(evaluate(wanted, server=False), "ann")
    assert (found["win_rate"], found["first_place"], found["unreadable"]) == (50.0, 50.0, 0.0)
    assert found["kappa"] is not None
    assert found["kappa"] <= 0
