"""What reaches the server, what comes back, and what an answer is stored by."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inference.stage import capabilities, check_model, defaults
from inference.vllm.backend import VLLM
from leaderflow.core.errors import BackendError, SpecError
from tests.fake_openai import FakeOpenAI
from tests.inference.huggingface.ask import generate, loglikelihood, user
from tests.inference.vllm import support
from tests.inference.vllm.support import spec

Make = Callable[..., VLLM]

pytestmark = pytest.mark.xdist_group("vllm")  # one environment for the stand-in


def test_prompts_are_the_ids_that_transformers_reads(backend: Make, folder: Path) -> None:
    model = backend(folder, chat=True)
    prompt = user("What is the capital of France?")
    found = generate(model, [prompt], max_out_len=7)[0]
    scored = loglikelihood(model, [dataclasses.replace(prompt, continuation="Paris")])[0]
    ids, start = model.counter.encode_scored(dataclasses.replace(prompt, continuation="Paris"))
    model.close()
    assert found.prompt_tokens == len(model.counter.encode(prompt))
    assert scored.token_logprobs == tuple(-(token % 7) / 10 for token in ids[start:])
    assert scored.nll == pytest.approx(sum(token % 7 for token in ids[start:]) / 10)


def test_what_does_not_fit_is_rejected_and_the_limit_is_cut_to_the_room(backend: Make, folder: Path) -> None:
    model = backend(folder, max_seq_len=20)
    long, short = generate(model, ["the quick brown fox " * 9, "2 ="], max_out_len=19)
    too_long = loglikelihood(model, ["the quick brown fox " * 9])[0]
    model.close()
    assert (long.status, short.status, too_long.status) == ("rejected", "ok", "rejected")
    assert "no room for an answer" in (long.error or "")
    base = generate(again := backend(folder), [user("?")])[0]
    again.close()
    assert (base.status, base.error) == ("rejected", "a base model takes text; use HuggingFacewithChatTemplate for messages")


def test_everything_that_ends_a_turn_is_sent(backend: Make, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM_BODIES", str(tmp_path / "bodies"))
    turns = {"round": [{"role": "HUMAN"}, {"role": "BOT", "generate": True, "end": "<|im_start|>\n"}], "eos_token_id": [7, 9]}
    block = spec(folder, meta_template=turns)
    stop = defaults(block, {"type": "GenInferencer", "stopping_criteria": ["a", "b", "c", "d", "e"]}).stop
    model = backend(folder, meta_template=turns)
    generate(model, ["2 + 2 ="], stop=stop)
    generate(model, ["2 + 2 ="])
    model.close()
    first, second = map(json.loads, (tmp_path / "bodies").read_text().splitlines())
    assert set(first["stop"]) == {"<|im_start|>", *"abcde"}  # more than the four that OpenAI allows
    assert first["stop_token_ids"] == [7, 9, 1]  # the stop is a special token, which never shows in text
    assert (second.get("stop"), second["stop_token_ids"]) == (None, [7, 9])
    assert model.identity != backend(folder).identity


def test_what_the_offline_engine_refuses_is_one_rows_error(folder: Path, fake_python: Path) -> None:
    model = support.backend(folder, python=fake_python, max_seq_len=20)
    odd, fine = (generate(model, ["2 ="], **settings)[0] for settings in ({"extra": {"tempratur": 1}}, {}))
    assert (odd.status, odd.error) == ("error", "vLLM refuses the request: Unexpected keyword argument 'tempratur'")
    assert fine.status == "ok"
    model.close()


def test_the_two_engines_share_their_answers(folder: Path, fake_python: Path) -> None:
    python = {"version": None, "command": None, "python": str(fake_python)}
    assert support.backend(folder, python=fake_python).identity == support.backend(folder, arguments=python).identity


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
    plain = support.backend(folder).identity
    assert (support.backend(folder, **changes).identity == plain) is same
    assert support.backend(folder, chat=True).identity != plain


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"arguments": {"dtype": "float23"}}, r"arguments\.dtype: unknown dtype 'float23'; did you mean 'float32'"),
        ({"arguments": {"tensor_parallel_size": 0}}, "tensor_parallel_size: must be a whole number"),
        ({"arguments": {"replicas": 0}}, "replicas: must be a whole number"),
        ({"arguments": {"engine_args": {"--port": 1}}}, "'--port' cannot stand here"),
        ({"arguments": {"engine_args": {"max_model_len": 1}}}, "use max_seq_len"),
        ({"arguments": {"engine_args": {"gpu-memory-utilization": "most"}}}, "up to 1, got 'most'"),
        ({"arguments": {"python": "python3"}}, "exclude each other"),
        ({"arguments": {"version": None}}, "needs `version:` beside it"),
        ({"openai_api_base": "http://localhost:1/v1", "arguments": {"engine": "offline"}}, "no `openai_api_base`; leave one"),
        ({"max_out_len": 512}, "max_out_len 512 leaves no room in the context of the weights, which is 512"),
        ({"max_seq_len": 20, "max_out_len": 20}, "max_out_len 20 leaves no room in max_seq_len 20"),
        ({"arguments": {"engine": "ofline"}}, "unknown engine 'ofline'; did you mean 'offline'"),
        (
            {"arguments": {"engine": "offline"}},
            r"arguments\.engine: `engine: offline` has no server and so no `command`; use `python`",
        ),
        ({"arguments": {"engine": "offline", "command": None, "data_parallel_size": 2}}, "no `data_parallel_size`; use `replicas`"),
    ],
)
def test_wrong_arguments(folder: Path, changes: dict[str, Any], error: str) -> None:
    with pytest.raises(SpecError, match=error):
        support.backend(folder, **changes)


def test_wrong_places(folder: Path, tmp_path: Path) -> None:
    none = {"command": None, "version": None}
    with pytest.raises(BackendError, match="leaderflow vllm install"):
        support.backend(folder, arguments=none)
    with pytest.raises(BackendError, match="no Python at"):
        support.backend(folder, arguments={**none, "python": str(tmp_path / "python")})
    with pytest.raises(BackendError, match="has no vLLM"):
        support.backend(folder, arguments={**none, "python": "python3"})
    with pytest.raises(BackendError, match="no folder of weights"):
        support.backend(tmp_path / "nothing")
    with pytest.raises(BackendError, match="no PEFT adapter"):
        support.backend(folder, arguments={"lora": str(tmp_path)})


def test_a_server_that_already_runs(fake_openai: FakeOpenAI) -> None:
    elsewhere = {"openai_api_base": fake_openai.base_url, "retries": 2}
    base, chat = support.backend(Path("fake"), **elsewhere), support.backend(Path("fake"), chat=True, **elsewhere)
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
