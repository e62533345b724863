"""What reaches the server, what comes back, and what an answer is stored by."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from inference.stage import capabilities, check_model
from leaderflow.core.errors import BackendError, SpecError
from tests.fake_openai import FakeOpenAI
from tests.inference.huggingface.ask import generate, loglikelihood, user
from tests.inference.vllm.support import backend, spec


def test_prompts_are_the_ids_that_transformers_reads(folder: Path) -> None:
    model = backend(folder, chat=True)
    prompt = user("What is the capital of France?")
    found = generate(model, [prompt], max_out_len=7)[0]
    scored = loglikelihood(model, [dataclasses.replace(prompt, continuation="Paris")])[0]
    ids, start = model.counter.encode_scored(dataclasses.replace(prompt, continuation="Paris"))
    model.close()
    assert found.prompt_tokens == len(model.counter.encode(prompt))
    assert scored.token_logprobs == tuple(-(token % 7) / 10 for token in ids[start:])
    assert scored.nll == pytest.approx(sum(token % 7 for token in ids[start:]) / 10)


def test_what_does_not_fit_is_rejected_and_the_limit_is_cut_to_the_room(folder: Path) -> None:
    model = backend(folder, max_seq_len=20)
    long, short = generate(model, ["the quick brown fox " * 9, "2 ="], max_out_len=19)
    too_long = loglikelihood(model, ["the quick brown fox " * 9])[0]
    model.close()
    assert (long.status, short.status, too_long.status) == ("rejected", "ok", "rejected")
    assert "no room for an answer" in (long.error or "")
    base = generate(again := backend(folder), [user("?")])[0]
    again.close()
    assert (base.status, base.error) == ("rejected", "a base model takes text; use HuggingFacewithChatTemplate for messages")


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"batch_size": 3}, True),
        ({"timeout": 9.0}, True),
        ({"arguments": {"replicas": 2, "tensor_parallel_size": 2}}, True),
        ({"arguments": {"engine_args": {"max-num-seqs": 4}, "startup_timeout": 5, "restarts": 0}}, True),
        ({"arguments": {"env": {"VLLM_LOGGING_LEVEL": "ERROR"}}}, True),
        ({"arguments": {"dtype": "bfloat16"}}, False),
        ({"arguments": {"quantization": "fp8"}}, False),
        ({"arguments": {"version": "0.2"}}, False),
        ({"arguments": {"engine_args": {"kv_cache_dtype": "fp8"}}}, False),
        ({"arguments": {"extra_body": {"repetition_penalty": 1.1}}}, False),
        ({"arguments": {"reasoning": True}}, False),
        ({"max_seq_len": 100}, False),
    ],
)
def test_identity(folder: Path, changes: dict[str, Any], same: bool) -> None:
    assert (backend(folder, **changes).identity == backend(folder).identity) is same
    assert backend(folder, chat=True).identity != backend(folder).identity


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"arguments": {"dtype": "float23"}}, r"arguments\.dtype: unknown dtype 'float23'; did you mean 'float32'"),
        ({"arguments": {"tensor_parallel_size": 0}}, "tensor_parallel_size: must be a whole number"),
        ({"arguments": {"replicas": 0}}, "replicas: must be a whole number"),
        ({"arguments": {"engine_args": {"--port": 1}}}, "'--port' cannot stand here"),
        ({"arguments": {"engine_args": {"max_model_len": 1}}}, "use max_seq_len"),
        ({"arguments": {"python": "python3"}}, "exclude each other"),
        ({"arguments": {"version": None}}, "needs `version:` beside it"),
    ],
)
def test_wrong_arguments(folder: Path, changes: dict[str, Any], error: str) -> None:
    with pytest.raises(SpecError, match=error):
        backend(folder, **changes)


def test_wrong_places(folder: Path, tmp_path: Path) -> None:
    none = {"command": None, "version": None}
    with pytest.raises(BackendError, match="leaderflow vllm install"):
        backend(folder, arguments=none)
    with pytest.raises(BackendError, match="no Python at"):
        backend(folder, arguments={**none, "python": str(tmp_path / "python")})
    with pytest.raises(BackendError, match="has no vLLM"):
        backend(folder, arguments={**none, "python": "python3"})
    with pytest.raises(BackendError, match="no folder of weights"):
        backend(tmp_path / "nothing")
    with pytest.raises(BackendError, match="no PEFT adapter"):
        backend(folder, arguments={"lora": str(tmp_path)})


def test_a_server_that_already_runs(fake_openai: FakeOpenAI) -> None:
    elsewhere = {"openai_api_base": fake_openai.base_url, "retries": 2}
    base, chat = backend(Path("fake"), **elsewhere), backend(Path("fake"), chat=True, **elsewhere)
    base.connect()
    assert loglikelihood(base, ["one two three"])[0].scored_tokens == 2
    assert generate(chat, [user("hello")])[0].status == "ok"
    assert "loglikelihood" not in chat.capabilities
    base.close()
    chat.close()
    assert [("messages" in body) for body in fake_openai.stats["bodies"]] == [False, True]


def test_it_is_checked_without_looking_at_anything() -> None:
    block = spec(Path("nowhere"))
    check_model(block)
    assert capabilities(block) == {"text", "generate", "loglikelihood"}
    with pytest.raises(SpecError, match="no argument 'dtyp'; did you mean 'dtype'"):
        check_model(spec(Path("nowhere"), arguments={"dtyp": "float32"}))
