from __future__ import annotations

import pytest

from inference.huggingface.backend import HuggingFaceBaseModel
from leaderflow.core.types import Prompt
from tests.inference.huggingface.ask import loglikelihood, user
from tests.inference.huggingface.conftest import spec

QUESTIONS = [f"Question: What is the capital of country number {n}, and how large is it?\nAnswer:" for n in range(5)]
OPTIONS = [" Paris", " Berlin on the river Spree", " A", " A"]


def by_hand(folder, ids: list[int]) -> list[float]:
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        scores = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    return [scores[at - 1, ids[at]].item() for at in range(1, len(ids))]


@pytest.mark.parametrize("share", [True, False])
def test_sums_are_those_of_one_plain_pass(folder, share):
    backend = HuggingFaceBaseModel(spec(folder), share_prefix=share)
    texts = [q + o for q in QUESTIONS for o in OPTIONS] + ["The quick brown fox", "A B"]
    answers = loglikelihood(backend, texts)
    for text, answer in zip(texts, answers, strict=True):
        expected = by_hand(folder, backend.counter.encode(Prompt(text=text)))
        assert answer.status == "ok"
        assert answer.token_logprobs == pytest.approx(expected, abs=1e-4)
        assert (answer.nll, answer.scored_tokens) == (pytest.approx(-sum(expected), abs=1e-3), len(expected))
    backend.close()


@pytest.mark.parametrize("share", [True, False])
def test_a_continuation_alone_counts(folder, share):
    backend = HuggingFaceBaseModel(spec(folder), share_prefix=share)
    answers = loglikelihood(backend, [Prompt(text=q, continuation=o) for q in QUESTIONS for o in OPTIONS])
    pairs = [(q, o) for q in QUESTIONS for o in OPTIONS]
    for (question, option), answer in zip(pairs, answers, strict=True):
        context = len(backend.counter.encode(Prompt(text=question)))
        expected = by_hand(folder, backend.counter.encode(Prompt(text=question + option)))[context - 1 :]
        assert answer.token_logprobs == pytest.approx(expected, abs=1e-4)
        assert answer.scored_tokens == len(expected) >= 1
    backend.close()


def test_rows_of_different_kinds_share_a_batch(base, folder):
    """Whole texts and continuations over the same words, and a text that is the beginning of another."""
    question = QUESTIONS[0]
    prompts = [Prompt(text=question), Prompt(text=f"{question} Paris"), Prompt(text=question, continuation=" Paris")]
    whole, longer, end = loglikelihood(base, prompts)
    assert longer.nll == pytest.approx(whole.nll + end.nll, abs=1e-3)
    assert longer.scored_tokens == whole.scored_tokens + end.scored_tokens


def test_the_border_lies_where_the_encodings_part(base):
    """A token over the border belongs to the continuation: after "capi" comes the one token " capital" of the whole."""
    tokens = base.counter
    whole, start = tokens.encode_scored(Prompt(text="What is the capi", continuation="tal of"))
    assert tokens.decode(whole[start:]) == " capital of"
    (answer,) = loglikelihood(base, [Prompt(text="What is the capi", continuation="tal of")])
    assert answer.scored_tokens == len(whole) - start
    whole, start = tokens.encode_scored(Prompt(text="What is the capital", continuation=" of"))
    assert tokens.decode(whole[start:]) == " of"


def test_an_empty_context_is_the_end_token(base, folder):
    (answer,) = loglikelihood(base, [Prompt(text="", continuation="The fox")])
    ids = [2, *base.counter.encode(Prompt(text="The fox"))]
    assert answer.token_logprobs == pytest.approx(by_hand(folder, ids), abs=1e-4)


def test_messages_are_scored_through_the_template(chat):
    asked = user("What is the capital of France?")
    spoken = Prompt(messages=(*asked.messages, {"role": "assistant", "content": "Paris."}))
    whole, end = loglikelihood(chat, [spoken, Prompt(messages=asked.messages, continuation="Paris.")])
    text = chat.counter.tokenizer.decode(chat.counter.encode_scored(spoken)[0])
    assert text.endswith("<|im_start|>assistant\nParis.<|im_end|>\n")
    assert end.scored_tokens == len(chat.counter.encode(Prompt(text="Paris.")))
    assert end.token_logprobs == pytest.approx(whole.token_logprobs[-end.scored_tokens - 2 : -2], abs=1e-4)


def test_what_cannot_be_scored_is_rejected(base, folder):
    nothing, fine = loglikelihood(base, ["A", "A B"])
    assert (nothing.status, fine.status) == ("rejected", "ok")
    assert "no token" in nothing.error
    backend = HuggingFaceBaseModel(spec(folder, max_seq_len=8))
    (long,) = loglikelihood(backend, ["A B C D 0 1 2 3 4 5 6 7 8 9"])
    backend.close()
    assert (long.status, long.nll) == ("rejected", None)
