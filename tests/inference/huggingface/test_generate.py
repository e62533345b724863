from __future__ import annotations

import json
import shutil
from collections import Counter

import pytest

from inference.huggingface.backend import HuggingFaceBaseModel
from inference.stage import defaults
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Prompt
from tests.inference.huggingface.ask import generate, user
from tests.inference.huggingface.conftest import spec

PROMPTS = ["A", "The quick brown fox", "What is the capital of France?", "1 + 1 =", "B C D 0 1 2 3 4 5 6 7 8 9", "dog."]


def bare(folder, text: str, tokens: int) -> list[int]:
    """What Transformers itself generates, alone and greedy."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = tokenizer(text, return_tensors="pt")
    out = model.generate(**ids, max_new_tokens=tokens, do_sample=False, eos_token_id=2, pad_token_id=0)
    return tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True)


def next_probabilities(folder, base, text: str):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        return model(torch.tensor([base.counter.encode(Prompt(text=text))])).logits[0, -1].softmax(-1)


def test_batches_say_what_each_prompt_says_alone(base, folder):
    answers = generate(base, PROMPTS, max_out_len=12)
    assert [a.output for a in answers] == [bare(folder, p, 12) for p in PROMPTS]
    assert {a.status for a in answers} == {"truncated"}  # this model never ends by itself
    assert {a.finish_reason for a in answers} == {"length"}
    assert {a.output_tokens for a in answers} == {12}


def test_counts_the_prompt_as_the_model_sees_it(chat):
    prompt = user("What is the capital of France?")
    (answer,) = generate(chat, [prompt], max_out_len=1)
    assert answer.prompt_tokens == chat.counter.count(prompt)
    rendered = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    assert chat.counter.tokenizer.decode(chat.counter.encode(prompt)) == rendered


def test_stop_string_is_cut_off(base):
    (free,) = generate(base, ["The quick brown fox"], max_out_len=12)
    stop = free.output[4:7]
    (stopped,) = generate(base, ["The quick brown fox"], max_out_len=12, stop=(stop,))
    assert stopped.output == free.output[: free.output.find(stop)]
    assert (stopped.status, stopped.finish_reason) == ("ok", "stop")
    assert stopped.output_tokens < 12


def test_min_out_len_lets_no_stop_fire_early(base):
    (free,) = generate(base, ["The quick brown fox"], max_out_len=12)
    (answer,) = generate(base, ["The quick brown fox"], max_out_len=12, min_out_len=10, stop=(free.output[1:3],))
    assert answer.output_tokens >= 10


def test_an_end_token_ends_an_answer_and_does_not_show(tmp_path, base, folder):
    # The token that this model gives to "A" is an end token once the configuration says so.
    first = next_probabilities(folder, base, "A").argmax().item()
    other = shutil.copytree(folder, tmp_path / "model")
    file = other / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "eos_token_id": [2, first], "temperature": 0.3, "do_sample": True}))
    backend = HuggingFaceBaseModel(spec(other))
    (answer,) = generate(backend, ["A"], max_out_len=5)
    backend.close()
    assert (answer.status, answer.output, answer.output_tokens) == ("ok", "", 0)


def test_the_end_token_of_a_meta_template_ends_an_answer(base, folder):
    first = next_probabilities(folder, base, "A").argmax().item()
    backend = HuggingFaceBaseModel(spec(folder, meta_template={"round": [], "eos_token_id": first}))
    (answer,) = generate(backend, ["A"], max_out_len=5)
    backend.close()
    assert (answer.status, answer.output, answer.output_tokens) == ("ok", "", 0)
    assert backend.identity != base.identity


def test_the_end_of_the_generating_role_ends_an_answer(base, folder):
    (free,) = generate(base, ["The quick brown fox"], max_out_len=12)
    end = free.output[4:7].strip()
    block = spec(folder, meta_template={"round": [{"role": "BOT", "generate": True, "end": end}]})
    stops = defaults(block, {"type": "GenInferencer", "max_out_len": 12}).stop
    assert stops == (end,)
    (answer,) = generate(base, ["The quick brown fox"], max_out_len=12, stop=stops)
    assert answer.output == free.output[: free.output.find(end)]


def test_a_drawn_answer_depends_on_its_request_alone(base):
    together = generate(base, PROMPTS, max_out_len=8, temperature=1.0, seed=7)
    alone = [generate(base, PROMPTS[:n], max_out_len=8, temperature=1.0, seed=7)[-1] for n in range(1, 7)]
    assert [a.output for a in together] == [a.output for a in alone]
    others = generate(base, PROMPTS, max_out_len=8, temperature=1.0, seed=8)
    assert [a.output for a in others] != [a.output for a in together]


def test_draws_follow_the_probabilities(base, folder):
    """The first token of 600 draws: the frequencies of the likeliest texts are the softmax's within four standard errors."""
    draws = Counter(a.output for a in generate(base, ["A"] * 600, max_out_len=1, temperature=1.0, seed=1))
    expected: Counter[str] = Counter()
    for token, p in enumerate(next_probabilities(folder, base, "A").tolist()):
        expected[base.counter.decode([token])] += p  # several tokens are half a character, shown alike
    assert len(expected) > 100
    for text, p in expected.most_common(5):
        assert abs(draws[text] / 600 - p) <= 4 * (p * (1 - p) / 600) ** 0.5


def test_top_k_1_is_greedy(base):
    greedy, drawn = (generate(base, PROMPTS, max_out_len=6, **s) for s in ({}, {"temperature": 2.0, "top_k": 1}))
    assert [a.output for a in greedy] == [a.output for a in drawn]


def test_a_prompt_without_room_is_rejected_and_the_others_are_answered(folder):
    backend = HuggingFaceBaseModel(spec(folder, max_seq_len=40))
    long, short = generate(backend, ["A B C " * 40, "A"], max_out_len=100)
    backend.close()
    assert (long.status, long.output, long.error_class) == ("rejected", None, "sample")
    assert "40" in long.error
    assert (short.status, short.output_tokens) == ("truncated", 40 - short.prompt_tokens)


def test_settings_that_do_not_exist_are_refused(base):
    with pytest.raises(SpecError, match="did you mean 'repetition_penalty'"):
        generate(base, ["A"], extra={"repetion_penalty": 1.1})
    with pytest.raises(SpecError, match="stop string must not be empty"):
        generate(base, ["A"], stop=("",))


def test_extra_settings_reach_the_engine(base, folder):
    p = next_probabilities(folder, base, "A")
    (answer,) = generate(base, ["A"], max_out_len=1, extra={"suppress_tokens": p.topk(2).indices[:1].tolist()})
    assert answer.output == base.counter.decode(p.topk(2).indices[1:].tolist())


def test_messages_to_a_base_model_are_rejected(base):
    (answer,) = generate(base, [user("hello")], max_out_len=2)
    assert answer.status == "rejected"
    assert "HuggingFacewithChatTemplate" in answer.error
