from __future__ import annotations

import pytest

from inference.huggingface.tokens import PromptError, load_tokens, token_counter
from inference.stage import make_backend
from leaderflow.core.errors import BackendError
from leaderflow.core.specs import ModelSpec
from leaderflow.core.types import Prompt
from tests.inference.huggingface import tiny
from tests.inference.huggingface.ask import user
from tests.inference.huggingface.conftest import spec


def shown(tokens, prompt: Prompt) -> str:
    return tokens.tokenizer.decode(tokens.encode(prompt))


def test_counts_with_the_chat_template(chat):
    prompt = user("A B", system="C")
    text = "<|im_start|>system\nC<|im_end|>\n<|im_start|>user\nA B<|im_end|>\n<|im_start|>assistant\n"
    assert shown(chat.counter, prompt) == text
    assert chat.counter.count(prompt) == len(chat.counter.tokenizer(text)["input_ids"])


@pytest.mark.parametrize("template", [tiny.WITHOUT_SYSTEM, tiny.DROPS_SYSTEM], ids=["refuses", "drops"])
def test_a_system_message_without_a_role_is_merged_never_dropped(tmp_path, template):
    tokens = load_tokens(tiny.build(tmp_path / "m", template=template), chat=True)
    text = shown(tokens, user("2+2? A. 3 B. 4", system="Answer with one letter."))
    assert text == "<|im_start|>user\nAnswer with one letter.\n\n2+2? A. 3 B. 4<|im_end|>\n<|im_start|>assistant\n"
    alone = Prompt(messages=({"role": "system", "content": "Speak."},))
    assert shown(tokens, alone) == "<|im_start|>user\nSpeak.<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("template", [tiny.ONE_SYSTEM, tiny.WITHOUT_SYSTEM], ids=["drops the second", "refuses"])
def test_a_later_system_message_is_merged_where_it_stands(tmp_path, template):
    tokens = load_tokens(tiny.build(tmp_path / "m", template=template), chat=True)
    turns = [("user", "A?"), ("assistant", "B"), ("system", "Be brief."), ("user", "C?")]
    text = shown(tokens, Prompt(messages=tuple({"role": role, "content": said} for role, said in turns)))
    assert text == (
        "<|im_start|>user\nA?<|im_end|>\n<|im_start|>assistant\nB<|im_end|>\n<|im_start|>user\nBe brief.\n\nC?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    opened = Prompt(messages=({"role": "system", "content": "Speak."}, {"role": "assistant", "content": "Well"}))
    assert "Speak." in shown(tokens, opened)


def test_an_open_assistant_turn_is_continued_and_an_empty_one_is_a_slot(chat):
    asked = user("A?").messages
    opened = Prompt(messages=(*asked, {"role": "assistant", "content": "The answer is"}))
    assert shown(chat.counter, opened).endswith("<|im_start|>assistant\nThe answer is")
    slot = Prompt(messages=(*asked, {"role": "assistant", "content": ""}))
    assert shown(chat.counter, slot) == shown(chat.counter, Prompt(messages=asked))


def test_text_parts_are_joined_and_pictures_refused(chat):
    parts = [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert "user\nAB<" in shown(chat.counter, Prompt(messages=({"role": "user", "content": parts},)))
    with pytest.raises(PromptError, match="image_url"):
        chat.counter.encode(Prompt(messages=({"role": "user", "content": [{"type": "image_url", "image_url": {}}]},)))


def test_what_a_template_refuses_is_said(tmp_path):
    template = "{{ raise_exception('roles must alternate') }}"
    tokens = load_tokens(tiny.build(tmp_path / "m", template=template), chat=True)
    with pytest.raises(PromptError, match="roles must alternate"):
        tokens.encode(user("A"))


def test_a_chat_model_needs_a_template(tmp_path):
    tokens = load_tokens(tiny.build(tmp_path / "m", template=None), chat=True)
    with pytest.raises(BackendError, match="no chat template"):
        tokens.count(user("A"))


def test_the_counter_of_an_api_model_is_its_tokenizer(folder):
    api = ModelSpec(type="OpenAISDK", abbr="m", path="served", tokenizer=str(folder))
    assert token_counter(api).count(user("A")) == token_counter(spec(folder, type="HuggingFacewithChatTemplate")).count(user("A"))
    assert token_counter(ModelSpec(type="OpenAISDK", abbr="m", path="served")) is None


def test_identity_names_the_tokenizer_and_not_the_place(folder, tmp_path):
    same, other = tiny.build(tmp_path / "same", seed=5), tiny.build(tmp_path / "other", template=tiny.DROPS_SYSTEM)
    first = load_tokens(folder, chat=True).identity
    assert load_tokens(same, chat=True).identity == first != load_tokens(other, chat=True).identity


def test_an_api_model_counts_by_the_tokenizer_that_its_block_names(folder):
    block = {"type": "OpenAISDK", "abbr": "m", "path": "served", "openai_api_base": "http://127.0.0.1:9/v1"}
    chat, text = (make_backend(ModelSpec(**block, tokenizer=str(folder), arguments={"route": r})) for r in ("chat", "completions"))
    assert chat.counter.count(user("A")) > text.counter.count(Prompt(text="A")) > 0
    assert make_backend(ModelSpec(**block)).counter is None
