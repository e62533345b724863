from __future__ import annotations

import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from inference.api.backend import OpenAISDK, api_key, base_url
from inference.stage import open_backend
from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.types import Answer, Prompt, Request, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model


@contextmanager
def opened(server: FakeOpenAI, **fields: Any) -> Iterator[OpenAISDK]:
    backend = open_backend(model(server.base_url, **fields))
    assert isinstance(backend, OpenAISDK)
    with closing(backend):
        yield backend


def questions(*texts: str, settings: Settings | None = None) -> list[Request]:
    return [Request(f"k-{text}", Prompt(messages=({"role": "user", "content": text},)), settings or Settings()) for text in texts]


def ask(backend: OpenAISDK, *texts: str, settings: Settings | None = None) -> dict[str, Answer]:
    return {a.request_key.removeprefix("k-"): a for a in backend.generate(questions(*texts, settings=settings))}


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


@pytest.mark.parametrize(
    "fault",
    [
        *("rate_limit", "overloaded", "server_error", "gateway_page", "reset", "cut", "malformed", "short", "not_an_object"),
        *("empty_choices", "html", "error_in_200", "error_code_in_200", "rate_limit_seconds", "rate_limit_ms"),
    ],
)
def test_a_fault_that_passes_is_asked_again(fake_openai: FakeOpenAI, fault: str) -> None:
    fake_openai.always(fault, {"content": "Answer: B"})
    with opened(fake_openai) as backend:
        got = ask(backend, "q")["q"]
    assert (got.status, got.output, got.attempts, got.error) == ("ok", "Answer: B", 2, None)


def test_a_hanging_request_meets_its_deadline(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("hang", {}, contains="slow")
    with opened(fake_openai, timeout=0.5) as backend:
        got = ask(backend, "slow", "quick")
    assert (got["slow"].status, got["slow"].attempts, got["quick"].attempts) == ("ok", 2, 1)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [("server_error", "boom"), ("malformed", "malformed"), ("reset", "connection failed"), ("error_in_200", "rate limit exceeded")],
)
def test_a_fault_that_stays_ends_in_an_error_with_the_message(fake_openai: FakeOpenAI, fault: str, shown: str) -> None:
    fake_openai.always(fault, contains="bad")
    with opened(fake_openai, retries=1) as backend:
        got = ask(backend, "bad", "good")
    assert (got["good"].status, got["bad"].status) == ("ok", "error")
    assert (got["bad"].attempts, got["bad"].error_class, got["bad"].output) == (2, "retryable", None)
    assert shown in str(got["bad"].error)


@pytest.mark.parametrize(
    ("fault", "status", "error_class"),
    [("content_filter", "filtered", None), ("context_length", "rejected", None), ("bad_request", "error", "sample")],
)
def test_what_asking_again_cannot_change_is_asked_once(
    fake_openai: FakeOpenAI, fault: str, status: str, error_class: str | None
) -> None:
    fake_openai.always(fault, contains="bad")
    with opened(fake_openai) as backend:
        got = ask(backend, "bad", "good")
    assert (got["good"].status, got["bad"].status, got["bad"].error_class) == ("ok", status, error_class)
    assert fake_openai.stats["attempts"] == {"bad": 1, "good": 1}


@pytest.mark.parametrize(("fault", "least"), [("rate_limit_date", 1.9), ("rate_limit_ms", 0.7), ("rate_limit_seconds", 1.0)])
def test_the_servers_wait_is_kept(fake_openai: FakeOpenAI, fault: str, least: float) -> None:
    fake_openai.always(fault, {})
    with opened(fake_openai) as backend:
        assert ask(backend, "q")["q"].status == "ok"
    first, second = fake_openai.stats["prompt_times"]["q"]
    assert second - first >= least


def test_a_wait_of_hours_is_given_up_at_once(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("rate_limit_hours")
    with opened(fake_openai) as backend:
        got = ask(backend, "q")["q"]
    assert (got.status, got.attempts) == ("error", 1)
    assert "asks to wait 3.0 h" in str(got.error)


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        ("unauthorized", "Incorrect API key provided.; check the key in MY_KEY"),
        ("forbidden", "no access to this model"),
        ("no_model", "does not exist.; check `path` (fake)"),
        ("quota", "exceeded your current quota"),
    ],
)
def test_what_concerns_every_row_ends_the_run(
    fake_openai: FakeOpenAI, fault: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    fake_openai.script(latency=0.05)
    fake_openai.always(fault)
    with opened(fake_openai, batch_size=16, key_env="MY_KEY") as backend:
        with pytest.raises(BackendError) as caught:
            list(backend.generate(questions(*map(str, range(500)))))
        assert shown in str(caught.value)
        sent = fake_openai.stats["requests"]
        assert sent <= 16
        with pytest.raises(BackendError):
            list(backend.generate(questions("another shard")))
        time.sleep(0.3)
        assert fake_openai.stats["requests"] == sent


def test_the_end_of_a_run_reaches_every_thread(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(rules=[{"replies": ["unauthorized"], "contains": "refused"}, {"replies": ["hang"], "contains": "slow"}])
    caught: list[BackendError] = []
    with opened(fake_openai, batch_size=8, timeout=120.0) as backend:

        def other() -> None:
            try:
                list(backend.generate(questions("slow 1", "slow 2")))
            except BackendError as exc:
                caught.append(exc)

        thread = threading.Thread(target=other)
        thread.start()
        while fake_openai.stats["in_flight"] < 2:
            time.sleep(0.01)
        with pytest.raises(BackendError):
            list(backend.generate(questions("refused")))
        thread.join(timeout=20)
        assert not thread.is_alive()
    assert len(caught) == 1


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


def test_threads_share_one_window(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(latency=0.02)
    with opened(fake_openai, batch_size=7) as one, opened(fake_openai, batch_size=12, path="other") as two:
        jobs = [(backend, start) for backend in (one, two) for start in (0, 100)]
        got: list[Answer] = []
        threads = [
            threading.Thread(target=lambda b=b, s=s: got.extend(b.generate(questions(*map(str, range(s, s + 40))))))
            for b, s in jobs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(got) == 160
    stats = fake_openai.stats
    assert stats["peaks"]["fake"] <= 7 < stats["peak"] <= 12


def test_waiting_for_a_place_is_no_time_out(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(latency=2)
    with opened(fake_openai, batch_size=256, timeout=5, retries=0) as backend:
        got = ask(backend, *map(str, range(768)))
    assert {a.status for a in got.values()} == {"ok"}
    assert (fake_openai.stats["requests"], fake_openai.stats["peak"]) == (768, 256)


def test_it_gives_way_to_an_overloaded_server(fake_openai: FakeOpenAI, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    fake_openai.script(latency=0.01, limit=10)
    with opened(fake_openai, batch_size=32, retries=8) as backend:
        got = ask(backend, *map(str, range(300)))
    assert {a.status for a in got.values()} == {"ok"}
    assert fake_openai.stats["statuses"]["429"] < 150
    assert re.search(r"is overloaded: 1\d requests in flight from now on", caplog.text)


def test_a_used_up_rate_is_waited_for(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("rate_limit")
    healer = threading.Timer(4.0, fake_openai.heal)
    healer.start()
    with opened(fake_openai, batch_size=4, retries=1) as backend:
        got = ask(backend, *map(str, range(100)))
    healer.join()
    assert sum(a.status == "ok" for a in got.values()) >= 96
    assert fake_openai.stats["requests"] < 150


def test_leaving_early_cancels_what_is_not_asked_yet(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(latency=0.05)
    with opened(fake_openai, batch_size=2) as backend:
        answers = backend.generate(questions(*map(str, range(100))))
        next(answers)
        answers.close()  # type: ignore[attr-defined]
        time.sleep(0.3)
        assert fake_openai.stats["requests"] <= 6


def test_requests_per_minute(fake_openai: FakeOpenAI) -> None:
    with opened(fake_openai, batch_size=50, rpm=1200) as backend:
        ask(backend, *map(str, range(90)))
    times = fake_openai.stats["times"]
    assert times[-1] - times[0] >= 0.8 * (90 - 60) / 19  # 60 may burst, 19 a second follow


def test_a_server_that_is_away_is_waited_for(fake_openai: FakeOpenAI, caplog: pytest.LogCaptureFixture) -> None:
    fake_openai.always("gateway_page")
    healer = threading.Timer(2.0, fake_openai.heal)
    healer.start()
    with opened(fake_openai, batch_size=16, retries=0) as backend:
        got = ask(backend, *map(str, range(200)))
    healer.join()
    assert sum(a.status == "ok" for a in got.values()) >= 200 - 16  # those in flight before the server was known to be away
    assert "is away (HTTP 502: Bad gateway)" in caplog.text
    assert "is back after" in caplog.text


def test_a_server_that_stays_away_ends_the_run(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("reset")
    with opened(fake_openai, batch_size=16, timeout=1.0) as backend, pytest.raises(BackendError, match="has been away for 1 s"):
        ask(backend, *map(str, range(50)))
    assert fake_openai.stats["requests"] < 50


def test_a_server_that_refuses_connections_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    first, again = FakeOpenAI(port=port, latency=0.05), list[FakeOpenAI]()
    restart = threading.Timer(2.0, lambda: again.append(FakeOpenAI(port=port)))
    with opened(first, batch_size=16, retries=1, timeout=60.0) as backend:
        answers = backend.generate(questions(*map(str, range(300))))
        got = [next(answers) for _ in range(20)]
        first.stop()
        restart.start()
        got += answers
    restart.join()
    again[0].stop()
    assert len(got) == 300
    assert sum(a.status == "ok" for a in got) >= 300 - 16
    assert "is away (connection failed" in caplog.text


def test_too_many_requests_for_ever_pause_and_then_end_the_run(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("rate_limit")
    with (
        opened(fake_openai, batch_size=32, timeout=2.0, retries=20) as backend,
        pytest.raises(BackendError, match="slow down; the server has been away for 2 s"),
    ):
        ask(backend, *map(str, range(1000)))
    assert fake_openai.stats["requests"] < 150


def test_a_model_that_refuses_everything_is_not_asked_ten_thousand_times(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("bad_request")
    refused = r"Unsupported value: 'temperature'; all of the first 20 requests were refused"
    with opened(fake_openai, batch_size=4) as backend, pytest.raises(BackendError, match=refused):
        ask(backend, *map(str, range(1000)))
    assert fake_openai.stats["requests"] <= 20 + 4


def test_bad_rows_among_good_ones_end_nothing(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("bad_request", share=0.9)
    with opened(fake_openai, batch_size=1) as backend:
        got = ask(backend, "1", *map(str, range(100)))
    assert {"ok", "error"} == {a.status for a in got.values()}


def test_rows_that_fail_each_time_do_not_look_like_an_outage(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("reset", share=0.3)
    with opened(fake_openai, batch_size=16, retries=2) as backend:
        got = ask(backend, *map(str, range(100)))
    states = [a.status for a in got.values()]
    assert (states.count("ok") + states.count("error"), states.count("error") > 10) == (100, True)


def test_a_halt_lets_what_is_in_flight_finish(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(latency=0.2)
    with opened(fake_openai, batch_size=4) as backend:
        answers = backend.generate(questions(*map(str, range(20))))
        first = next(answers)
        backend.halt("the budget is used up")
        rest = list(answers)
    stopped = [a for a in rest if a.status == "error"]
    assert first.status == "ok"
    assert {(a.error, a.error_class, a.attempts) for a in stopped} == {("the budget is used up", "retryable", 0)}
    assert len(stopped) == 20 - fake_openai.stats["requests"]
    assert fake_openai.stats["requests"] <= 8


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_server_without_tls(fake_openai: FakeOpenAI) -> None:
    with pytest.raises(BackendError, match=r"cannot be reached.*(?i:ssl)"):
        open_backend(model(fake_openai.base_url.replace("http:", "https:")))


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
