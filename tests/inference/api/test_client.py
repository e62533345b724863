"""Faults, attempts, the window, and what ends a run: many requests to one endpoint, from several threads."""

from __future__ import annotations

import logging
import re
import threading
import time

import pytest

from leaderflow.core.errors import BackendError
from leaderflow.core.types import Answer
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import ask, opened, questions
from tests.ports import free_port


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
