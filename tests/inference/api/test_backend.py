from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from inference.api.backend import OpenAISDK, api_key, base_url
from inference.stage import open_backend
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.types import Prompt, Request, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import ask, model, opened, questions
from tests.ports import free_port


def test_a_chat_request_and_its_answer(fake_openai: FakeOpenAI) -> None:
    settings = Settings(
        max_out_len=7, min_out_len=2, temperature=0.5, top_p=0.9, top_k=3, seed=1, stop=("\n",), extra={"logit_bias": {}}
    )
    with opened(fake_openai, arguments={"extra_body": {"chat_template_kwargs": {"x": 1}}}) as backend:
        got = ask(backend, "q", settings=settings)["q"]
    assert (got.status, got.attempts) == ("ok", 1)
    assert got.latency_s is not None
    assert fake_openai.stats["bodies"] == [
        {
            "model": "fake",
            "messages": [{"role": "user", "content": "q"}],
            "max_tokens": 7,
            "min_tokens": 2,
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 3,
            "seed": 1,
            "stop": ["\n"],
            "chat_template_kwargs": {"x": 1},
            "logit_bias": {},
        }
    ]


def test_a_completions_request(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(answers={"capital": " Paris"})
    with opened(fake_openai, arguments={"route": "completions", "limit_field": "max_completion_tokens"}) as backend:
        [got] = backend.generate([Request("k", Prompt(text="The capital of France is"), Settings(max_out_len=4))])
    assert got.output == " Paris"
    assert fake_openai.stats["bodies"] == [{"model": "fake", "prompt": "The capital of France is", "max_completion_tokens": 4}]


def test_the_end_token_of_a_meta_template(fake_openai: FakeOpenAI) -> None:
    roles = [{"role": "BOT", "generate": True}]
    with opened(fake_openai, meta_template={"round": roles, "eos_token_id": 7}, arguments={"route": "completions"}) as backend:
        list(backend.generate([Request("k", Prompt(text="q"), Settings())]))
    assert fake_openai.stats["bodies"][0]["stop_token_ids"] == [7]


def test_a_responses_request(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="Paris. Next")
    with opened(fake_openai, arguments={"route": "responses"}) as backend:
        assert backend.capabilities == {"messages", "generate"}
        got = ask(backend, "q", settings=Settings(max_out_len=7, stop=(".",), seed=1))["q"]
    assert (got.status, got.output, got.prompt_tokens) == ("ok", "Paris", 20)
    body = {"model": "fake", "input": [{"role": "user", "content": "q"}], "store": False, "max_output_tokens": 7}
    assert fake_openai.stats["bodies"] == [body]


def test_the_newer_name_of_the_limit(fake_openai: FakeOpenAI) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    fake_openai.always({"status": 400, "json": {"error": {"message": message}}}, field="max_tokens")
    with opened(fake_openai, batch_size=1) as backend:
        got = ask(backend, "one", "two", settings=Settings(max_out_len=7))
    assert {a.status for a in got.values()} == {"ok"}
    assert [sorted(set(body) - {"model", "messages"}) for body in fake_openai.stats["bodies"]] == [
        ["max_tokens"],
        ["max_completion_tokens"],
        ["max_completion_tokens"],
    ]


def test_a_reasoning_models_stops_stay_with_us(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="<think>\nQuestion: how many?\n\n21.\n</think>\n\nThe answer is 21.\n\nQuestion: more?")
    with opened(fake_openai, arguments={"reasoning": True}) as backend:
        got = ask(backend, "q", settings=Settings(stop=("\n\n", "Question:")))["q"]
    assert (got.status, got.output) == ("ok", "The answer is 21.")
    assert "stop" not in fake_openai.stats["bodies"][0]


def test_the_key_is_sent_and_never_shown(
    fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    caplog.set_level(logging.DEBUG)
    fake_openai.always({"status": 400, "json": {"error": {"message": "no sk-secret here"}}})
    with opened(fake_openai, key_env="MY_KEY") as backend:
        got = ask(backend, "q")["q"]
        assert "sk-secret" not in backend.identity
    assert got.error == "HTTP 400: no *** here"
    assert "sk-secret" not in caplog.text


def test_a_header_of_its_own_for_the_key(fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    arguments = {"key_header": "api-key", "extra_headers": {"X-Team": "a"}}
    with opened(fake_openai, key_env="MY_KEY", arguments=arguments) as backend:
        ask(backend, "q")
    headers = fake_openai.stats["headers"]
    assert (headers["api-key"], headers["X-Team"], headers.get("Authorization")) == ("sk-secret", "a", None)


def test_a_key_in_the_headers_of_a_spec_is_refused() -> None:
    with pytest.raises(SpecError, match=r"arguments\.extra_headers\.Api-Key: a key must not stand in a spec"):
        OpenAISDK(model(), extra_headers={"Api-Key": "sk-secret"})


def test_an_endpoint_that_has_moved(fake_openai: FakeOpenAI) -> None:
    fake_openai.always({"status": 308, "headers": {"Location": "https://elsewhere/v1"}, "raw": ""})
    with (
        opened(fake_openai) as backend,
        pytest.raises(BackendError, match="HTTP 308: the endpoint has moved to https://elsewhere/v1"),
    ):
        ask(backend, "q")


def test_a_server_without_tls(fake_openai: FakeOpenAI) -> None:
    with pytest.raises(BackendError, match=r"cannot be reached.*(?i:ssl)"):
        open_backend(model(fake_openai.base_url.replace("http:", "https:")))


def test_a_rate_that_cannot_be_kept_lets_nothing_leave(
    fake_openai: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rates").write_text("no folder")
    monkeypatch.setenv("LEADERFLOW_HOME", str(tmp_path))
    with (
        opened(fake_openai, rpm=100) as backend,
        pytest.raises(BackendError, match=r"cannot keep to the rate: .*rates: .*; set LEADERFLOW_HOME to a writable folder"),
    ):
        ask(backend, "q")
    assert fake_openai.stats["requests"] == 0


def test_nobody_listens() -> None:
    with pytest.raises(BackendError, match=r"cannot be reached.*check openai_api_base"):
        open_backend(model(f"http://127.0.0.1:{free_port()}/v1"))


def test_a_host_that_does_not_exist() -> None:
    with pytest.raises(BackendError, match=r"cannot be reached|did not answer"):
        open_backend(model("http://no-such-host.invalid/v1"))


def test_a_server_without_the_models_route_will_do(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(models=None)
    with opened(fake_openai) as backend:
        assert ask(backend, "q")["q"].status == "ok"
        assert backend.described is None


def test_what_the_endpoint_says_of_the_model_is_kept(fake_openai: FakeOpenAI) -> None:
    with opened(fake_openai) as backend:
        assert backend.described == {"id": "fake", "object": "model"}


def test_identity(fake_openai: FakeOpenAI) -> None:
    def identity(**fields: Any) -> str:
        with opened(fake_openai, **fields) as backend:
            return backend.identity

    plain = identity()
    assert fake_openai.base_url.split("/")[2] in plain
    assert plain == identity(batch_size=3, timeout=5.0, retries=1, rpm=10, abbr="other", arguments={"extra_headers": {"X": "y"}})
    others = [
        identity(revision="2030-01-01"),
        identity(path="other"),
        identity(arguments={"route": "completions"}),
        identity(arguments={"extra_body": {"top_k": 5}}),
        identity(arguments={"reasoning": True}),
        identity(arguments={"reasoning_tags": ["plan"]}),
    ]
    assert len({plain, *others}) == 7
    assert "127.0.0.1" not in others[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://x:1/v1/", "http://x:1/v1"),
        ("http://x:1/v1/chat/completions", "http://x:1/v1"),
        ("http://x:1/v1/completions", "http://x:1/v1"),
    ],
)
def test_base_url(given: str, expected: str) -> None:
    assert base_url(model(given)) == expected


@pytest.mark.parametrize("bad", ["localhost:8000", "ftp://x", "http://", "http://[::1", "http://x:99999/v1", "http://x:port/v1"])
def test_what_is_no_address_is_refused(bad: str) -> None:
    with pytest.raises(SpecError, match=r"models\.m\.openai_api_base"):
        base_url(model(bad))


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key(model()) == (None, None)
    with pytest.raises(SpecError, match="OPENAI_API_KEY is not set"):
        api_key(model(key="ENV"))
    monkeypatch.setenv("OPENAI_API_KEY", " a \n")
    monkeypatch.setenv("MINE", "b")
    assert api_key(model(key="ENV")) == ("OPENAI_API_KEY", "a")
    assert api_key(model(key="ENV", key_env="MINE")) == ("MINE", "b")


def test_a_closed_backend_may_be_closed_again(fake_openai: FakeOpenAI) -> None:
    with opened(fake_openai) as backend:
        backend.close()
        backend.close()
        with pytest.raises(BackendError, match="closed"):
            ask(backend, "q")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"route": "chats"}, "unknown route 'chats'"),
        ({"logprobs": "chat"}, "unknown form 'chat'"),
        ({"logprobs": "echo"}, "add `route: completions`"),
    ],
)
def test_wrong_routes(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        OpenAISDK(model(), **arguments)


def test_no_loglikelihoods_unless_the_block_says_how(fake_openai: FakeOpenAI) -> None:
    with opened(fake_openai) as backend, pytest.raises(BackendError, match="no log-likelihoods"):
        backend.loglikelihood(questions("q"))


@pytest.mark.parametrize("form", ["echo", "prompt_logprobs"])
def test_loglikelihood(fake_openai: FakeOpenAI, form: str) -> None:
    prompts = [Prompt(text="The capital is", continuation=" Paris now"), Prompt(text="The capital is Paris")]
    with opened(fake_openai, arguments={"route": "completions", "logprobs": form}) as backend:
        assert "loglikelihood" in backend.capabilities
        got = {a.request_key: a for a in backend.loglikelihood([Request(str(i), p, Settings()) for i, p in enumerate(prompts)])}
    assert got["0"].token_logprobs == pytest.approx([-0.6, -0.4])
    assert (got["0"].nll, got["0"].scored_tokens) == (pytest.approx(1.0), 2)
    assert got["1"].token_logprobs == pytest.approx([-0.8, -0.3, -0.6])
