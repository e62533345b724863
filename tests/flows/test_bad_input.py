"""What is wrong is said in one line before anything is asked; nothing is half-written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flows.api import plan
from leaderflow.core.errors import BackendError, LeaderflowError, StoreError, UsageError
from leaderflow.core.load import build_evaluation
from tests.fake_openai import FakeOpenAI
from tests.flows.support import dataset, model, run, write_questions
from tests.inference.huggingface import tiny

BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "evaluator": ({}, {"eval_cfg.evaluator": {"type": "AccEvaluater"}}, "did you mean 'AccEvaluator'"),
    "postprocessor": ({}, {"eval_cfg.pred_postprocessor": {"type": "final_numbr"}}, "did you mean 'final_number'"),
    "inferencer argument": ({}, {"infer_cfg.inferencer.max_out_length": 5}, "did you mean 'max_out_len'"),
    "retriever": ({}, {"infer_cfg.retriever": {"type": "ZeroRetreiver"}}, "did you mean 'ZeroRetriever'"),
    "placeholder": ({}, {"infer_cfg.prompt_template.messages": [{"role": "user", "content": "{questoin}"}]}, "questoin"),
    "role": ({}, {"infer_cfg.prompt_template.messages": [{"role": "HUMAN", "content": "{question}"}]}, "HUMAN"),
    "empty range": ({}, {"reader_cfg.test_range": "[100:]"}, "range"),
    "code in a range": ({}, {"reader_cfg.test_range": "[:5]; import os"}, "range"),
    "sum of ranges": ({}, {"reader_cfg.test_range": "[0:2]+[5:7]"}, "range"),
    "missing file": ({}, {"path": "nowhere.jsonl"}, "nowhere.jsonl"),
    "missing column": ({}, {"reader_cfg.output_column": "anwser"}, "anwser"),
    "model type": ({"type": "OpenAISKD"}, {}, "did you mean 'OpenAISDK'"),
    "model argument": ({"arguments": {"extra_bdy": {}}}, {}, "did you mean 'extra_body'"),
    "no room": ({"max_seq_len": 64}, {}, "max_seq_len"),
    "likelihood": (
        {},
        {
            "infer_cfg.inferencer": {"type": "PPLInferencer"},
            "infer_cfg.prompt_template": {"type": "PromptTemplate", "template": {"1": "{question} 1", "2": "{question} 2"}},
        },
        "loglikelihood",
    ),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_questions(tmp_path / "sums.jsonl", range(8))


@pytest.mark.parametrize("case", list(BAD))
def test_a_wrong_spec_is_one_line_and_nothing_is_asked(server: FakeOpenAI, file: Path, tmp_path: Path, case: str) -> None:
    models, datasets, words = BAD[case]
    with pytest.raises(UsageError) as error:
        run(model(server, **models), dataset(file, **datasets))
    message = str(error.value)
    assert words in message
    assert "\n" not in message
    assert error.value.exit_code == 2
    assert server.stats["requests"] == 0
    assert not list((tmp_path / "store").rglob("manifest.json"))


def test_a_likelihood_recipe_on_a_chat_api_names_the_generative_one(server: FakeOpenAI) -> None:
    evaluation = build_evaluation([model(server)], ["arc_c_ppl"])
    with pytest.raises(UsageError, match=r"PPLInferencer needs loglikelihood.*choose the recipe arc_c_gen or a model"):
        plan(evaluation)
    assert server.stats["requests"] == 0


@pytest.mark.parametrize("route", ["responses", "completions"])
def test_an_agent_needs_a_route_that_takes_tools(server: FakeOpenAI, file: Path, route: str) -> None:
    block = dataset(file, **{"infer_cfg.inferencer": {"type": "AgentInferencer"}})
    with pytest.raises(UsageError, match=r"AgentInferencer needs tools, which OpenAISDK cannot do"):
        run(model(server, arguments={"route": route}), block)
    assert server.stats["requests"] == 0


def test_a_token_limit_above_what_the_weights_were_made_for(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = tiny.build(tmp_path / "model")
    block = {"type": "HuggingFacewithChatTemplate", "abbr": "tiny", "path": str(folder)}
    with pytest.raises(UsageError, match=r"max_out_len 512 leaves no room for a prompt in the model's context of 512 tokens"):
        run(block, dataset(file, **{"infer_cfg.inferencer.max_out_len": 512}))


def test_a_line_that_is_not_json_is_named_with_file_and_line(server: FakeOpenAI, file: Path) -> None:
    file.write_text(file.read_text() + "{not json\n")
    with pytest.raises(UsageError, match=r"sums\.jsonl:9"):
        run(model(server), dataset(file))


def test_an_endpoint_that_cannot_be_reached_is_said_before_anything_is_read(file: Path) -> None:
    server = FakeOpenAI()
    server.stop()
    with pytest.raises(BackendError, match=r"127\.0\.0\.1"):
        run(model(server), dataset(file))


def test_a_store_that_cannot_be_written_is_said_first(
    server: FakeOpenAI, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").write_text("")
    monkeypatch.setenv("LEADERFLOW_STORE", str(tmp_path / "plain" / "store"))
    with pytest.raises(StoreError, match="LEADERFLOW_STORE"):
        run(model(server), dataset(file))


def test_an_unpaid_account_is_not_told_to_check_the_path(server: FakeOpenAI, file: Path) -> None:
    server.always({"status": 402, "json": {"error": {"message": "Insufficient balance"}}})
    with pytest.raises(LeaderflowError, match=r"Insufficient balance; the account must be paid up"):
        run(model(server), dataset(file))


def test_a_refused_key_ends_the_run_at_once(server: FakeOpenAI, file: Path, tmp_path: Path) -> None:
    server.always({"status": 401})
    with pytest.raises(LeaderflowError) as error:
        run(model(server, batch_size=2), dataset(file))
    assert error.value.exit_code == 1
    assert server.stats["requests"] <= 4
