"""A model that has learned to think aloud: what it thinks is no answer, and ends nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.huggingface.backend import HuggingFaceBaseModel
from tests.inference.huggingface import tiny
from tests.inference.huggingface.ask import generate
from tests.inference.huggingface.conftest import spec

PROMPT = "A B C"
SAID = "<think>The dog. Or B?</think>\n\nA dog. Paris."


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny.build(tmp_path_factory.mktemp("thinker"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer(PROMPT)["input_ids"]
    ids = torch.tensor([[*prompt, *tokenizer(SAID)["input_ids"], 2]])
    labels = ids.clone()
    labels[0, : len(prompt)] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(200):
        loss = model(ids, labels=labels).loss
        if loss < 0.02:
            break
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return folder


def ask(folder: Path, stop: tuple[str, ...] = (), tokens: int = 80, **arguments: object):
    backend = HuggingFaceBaseModel(spec(folder), **arguments)
    try:
        (answer,) = generate(backend, [PROMPT], max_out_len=tokens, stop=stop)
    finally:
        backend.close()
    return answer


def test_thinking_has_its_own_column(thinker):
    answer = ask(thinker)
    assert (answer.status, answer.reasoning, answer.output) == ("ok", "The dog. Or B?", "A dog. Paris.")
    assert answer.reasoning_counted == "share"
    assert 0 < answer.reasoning_tokens < answer.output_tokens


def test_a_stop_string_inside_the_thinking_ends_nothing(thinker):
    answer = ask(thinker, stop=(" dog.",))
    assert (answer.status, answer.finish_reason) == ("ok", "stop")
    assert (answer.reasoning, answer.output) == ("The dog. Or B?", "A")


def test_cut_off_thinking_states_no_answer(thinker):
    answer = ask(thinker, tokens=14)
    assert (answer.status, answer.output) == ("truncated", None)
    assert "The dog. Or B?".startswith(answer.reasoning)


def test_other_tags_and_a_block_that_the_template_opens(thinker):
    answer = ask(thinker, reasoning_tags=("thought",))
    assert (answer.reasoning, answer.output) == (None, SAID)
    answer = ask(thinker, stop=("think",), tokens=4, reasoning=True, reasoning_tags=("thought",))
    assert (answer.status, answer.output) == ("truncated", None)
    assert SAID.startswith(answer.reasoning)


def test_how_a_model_thinks_is_part_of_what_it_is(thinker):
    plain, thinking = (HuggingFaceBaseModel(spec(thinker), reasoning=thinks) for thinks in (False, True))
    assert plain.identity != thinking.identity
