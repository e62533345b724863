"""What `leaderflow check` says of endpoints that work, and of those that do not."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

from inference.check import Verdict, as_yaml, check
from inference.stage import open_backend
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt, Request, Settings
from tests.fake_openai import FakeOpenAI
from tests.inference.helpers import model
from tests.inference.huggingface import tiny


def said(verdict: Verdict, what: str) -> str:
    return next(finding.said for finding in verdict.findings if finding.what == what)


def failure(verdict: Verdict) -> str:
    (bad,) = [finding for finding in verdict.findings if finding.good is False]
    assert not verdict.good
    return bad.said


def runs(verdict: Verdict) -> bool:
    """Paste the block into a file, load it, and ask it something."""
    from leaderflow.core.load import load_model

    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(as_yaml(verdict.block))
        file.flush()
        backend = open_backend(load_model(file.name))
    message = {"role": "user", "content": "1 + 1?"}
    prompt = Prompt(messages=(message,)) if "messages" in backend.capabilities else Prompt(text="1 + 1 =")  # type: ignore[arg-type]
    (answer,) = backend.generate([Request("k", prompt, Settings(max_out_len=8))])
    backend.close()
    return answer.status in ("ok", "truncated")


def test_a_good_chat_model(fake_openai: FakeOpenAI) -> None:
    verdict = check(model(fake_openai.base_url))
    assert verdict.good
    assert "Answer: " in said(verdict, "generate")
    assert "round trip" in said(verdict, "generate")
    assert "tokens/s" in said(verdict, "generate")
    assert said(verdict, "chat template") == "applied by the server"
    assert "logprobs: prompt_logprobs" in said(verdict, "log-likelihood")
    assert "max_seq_len" in said(verdict, "context")


def test_the_block_can_be_pasted(fake_openai: FakeOpenAI, tmp_path: Path) -> None:
    from leaderflow.core.load import load_model

    verdict = check(model(fake_openai.base_url.removesuffix("/v1"), max_out_len=5))
    (tmp_path / "m.yaml").write_text(as_yaml(verdict.block))
    pasted = load_model(str(tmp_path / "m.yaml"))
    assert (pasted.openai_api_base, pasted.max_out_len, pasted.path) == (fake_openai.base_url, 5, "fake")
    assert runs(verdict)


@pytest.mark.parametrize("written", ["", "/v1", "/v1/", "/v1/chat/completions"])
def test_addresses_with_and_without_v1(written: str, fake_openai: FakeOpenAI) -> None:
    verdict = check(model(fake_openai.base_url.removesuffix("/v1") + written))
    assert verdict.good
    assert verdict.block["openai_api_base"] == fake_openai.base_url
    if not written:
        assert f"{fake_openai.base_url} works" in said(verdict, "address")


def test_a_base_model_on_the_chat_route(fake_openai: FakeOpenAI) -> None:
    no_chat = {"status": 400, "json": {"error": {"message": "this model has no chat template"}}}
    fake_openai.always(no_chat, field="messages")
    verdict = check(model(fake_openai.base_url))
    assert verdict.good
    assert "write `arguments: {route: completions}`" in said(verdict, "route")
    assert verdict.block["arguments"] == {"route": "completions"}
    assert runs(verdict)


def test_a_chat_model_on_the_completions_route(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("no_model", field="prompt")
    verdict = check(model(fake_openai.base_url, arguments={"route": "completions", "logprobs": "echo"}))
    assert verdict.good
    assert "this is a chat model" in said(verdict, "route")


@pytest.mark.parametrize("fault", ["unauthorized", "forbidden"])
def test_a_bad_key(fault: str, fake_openai: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-1")
    fake_openai.always(fault)
    text = failure(check(model(fake_openai.base_url, key_env="MY_KEY")))
    assert text.startswith("the key is refused")
    assert "MY_KEY" in text
    assert "sk-secret-1" not in text


def test_a_bad_name(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(models=["qwen3-8b", "llama-3"])
    fake_openai.always("no_model")
    assert failure(check(model(fake_openai.base_url, path="qwen3-8"))) == (
        "the endpoint serves no 'qwen3-8'; did you mean 'qwen3-8b'? (it serves: qwen3-8b, llama-3)"
    )


def test_another_kind_of_server(fake_openai: FakeOpenAI) -> None:
    assert "neither with nor without /v1" in failure(check(model(fake_openai.base_url.replace("/v1", "/elsewhere"))))


def test_a_web_page(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("html")
    text = failure(check(model(fake_openai.base_url)))
    assert text.startswith("wrong address, or a login before it: malformed reply: a web page, not JSON: please log in")


def test_an_endpoint_without_tls(fake_openai: FakeOpenAI) -> None:
    assert "WRONG_VERSION_NUMBER" in failure(check(model(fake_openai.base_url.replace("http:", "https:"))))


def test_a_model_of_the_responses_api(fake_openai: FakeOpenAI) -> None:
    refused = {"status": 404, "json": {"error": {"message": "This model is only supported in v1/responses."}}}
    fake_openai.script(rules=[{"replies": [refused], "field": name} for name in ("messages", "prompt")])
    verdict = check(model(fake_openai.base_url))
    assert "write `arguments: {route: responses}`" in said(verdict, "route")
    assert runs(verdict)


def test_a_model_that_refuses_a_temperature(fake_openai: FakeOpenAI) -> None:
    fake_openai.always("bad_request", field="temperature")
    assert check(model(fake_openai.base_url)).good
    assert "Unsupported value" in failure(check(model(fake_openai.base_url, generation_kwargs={"temperature": 0.0})))


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert "cannot be reached" in failure(check(model(f"http://127.0.0.1:{port}/v1")))


def test_a_model_that_thinks(fake_openai: FakeOpenAI) -> None:
    fake_openai.script(reply="<think>Paris, surely.</think>Paris")
    verdict = check(model(fake_openai.base_url))
    assert "thinks" in said(verdict, "reasoning")
    assert verdict.block["arguments"] == {"reasoning": True}
    assert runs(verdict)


def test_local_weights(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = tiny.build(tmp_path / "model")
    verdict = check(ModelSpec(type="HuggingFacewithChatTemplate", abbr="tiny", path=str(folder)))
    assert verdict.good
    assert "log p(' Paris'" in said(verdict, "log-likelihood")
    assert said(verdict, "chat template") == "the tokenizer's; it has system role"
    assert verdict.block["max_seq_len"] == 512
    assert runs(verdict)
    assert not check(ModelSpec(type="HuggingFaceBaseModel", abbr="tiny", path=str(tmp_path / "none"))).good


def test_yaml(tmp_path: Path) -> None:
    block: dict[str, Any] = {"type": "OpenAISDK", "path": "a: b", "arguments": {"reasoning": True}, "max_out_len": 5}
    assert as_yaml(block) == 'type: OpenAISDK\npath: "a: b"\narguments: {"reasoning": true}\nmax_out_len: 5'
