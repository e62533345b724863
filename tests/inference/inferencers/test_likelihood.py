from __future__ import annotations

import pytest

from inference.inferencers.clp import CLPInferencer
from inference.inferencers.ll import LLInferencer
from inference.inferencers.ppl import PPLInferencer
from inference.inferencers.ppl_only import PPLOnlyInferencer
from leaderflow.core import registry
from leaderflow.core.artifacts import PROMPTS, table_of
from leaderflow.core.errors import SpecError
from leaderflow.core.identity import input_key
from leaderflow.core.types import Inferencer, Prompt, Settings


def rendered(texts: list[str], statuses: list[str] | None = None):
    rows = [
        {
            "sample_id": f"s{at // 2}",
            "label": "AB"[at % 2],
            "part": 0,
            "occurrence": texts[:at].count(text),
            "input_key": input_key(Prompt(text=text)),
            "text": text,
            "dropped_examples": 0,
            "status": (statuses or ["ok"] * len(texts))[at],
        }
        for at, text in enumerate(texts)
    ]
    return table_of(PROMPTS, rows)


@pytest.mark.parametrize(
    ("name", "choice"), [("PPLInferencer", "token_mean"), ("LLInferencer", "sum"), ("PPLOnlyInferencer", None)]
)
def test_says_how_it_wants_to_be_rendered_and_chosen(name, choice):
    inferencer: Inferencer = registry.build("inferencer", {"type": name}, repeats=4)
    assert (inferencer.mode, inferencer.needs, inferencer.choice, inferencer.repeats) == ("ppl", "loglikelihood", choice, 1)


def test_a_request_for_each_row_in_order_without_the_rejected():
    table = rendered(["a", "b", "c", "d"], ["ok", "rejected", "ok", "ok"])
    found = PPLInferencer().requests(table, "model", Settings())
    assert [r.prompt for r in found] == [Prompt(text="a"), Prompt(text="c"), Prompt(text="d")]


def test_generation_settings_are_no_part_of_a_likelihood():
    table = rendered(["a", "b"])
    plain = PPLInferencer().requests(table, "model", Settings())
    assert PPLInferencer().requests(table, "model", Settings(max_out_len=5, temperature=0.7, seed=1)) == plain
    assert LLInferencer().requests(table, "model", Settings()) == plain
    assert PPLOnlyInferencer().requests(table, "other", Settings()) != plain


def test_equal_texts_are_one_question():
    keys = [r.request_key for r in PPLInferencer().requests(rendered(["a", "b", "a", "b"]), "model", Settings())]
    assert keys[:2] == keys[2:]


def test_messages_and_continuations_come_through():
    prompt = Prompt(messages=({"role": "user", "content": "é?"},), continuation="yes")
    row = {"sample_id": "s", "part": 0, "occurrence": 0, "input_key": input_key(prompt), "status": "ok"}
    table = table_of(PROMPTS, [{**row, "messages": '[{"content":"é?","role":"user"}]', "continuation": "yes"}])
    assert [r.prompt for r in PPLInferencer().requests(table, "model", Settings())] == [prompt]


def test_clp_asks_for_each_choice_after_the_same_prompt():
    table = rendered(["Is it? Answer:", "Is it? Answer:"])
    clp = CLPInferencer(choices=["A", "B"], separator=" ")
    assert (clp.mode, clp.needs, clp.choice, clp.labels) == ("gen", "loglikelihood", "probabilities", ["A", "B"])
    found = clp.requests(table, "model", Settings())
    assert [r.prompt for r in found] == [Prompt(text="Is it? Answer:", continuation=c) for c in (" A", " B")]
    assert found[0].request_key != found[1].request_key
    with pytest.raises(SpecError, match="choices must be distinct"):
        CLPInferencer(choices=["A", "A"])


def test_labels_and_choice_are_checked():
    assert PPLInferencer(labels=["yes", "no"]).labels == ["yes", "no"]
    for labels in ([], ["a", "a"]):
        with pytest.raises(SpecError, match="distinct"):
            PPLInferencer(labels=labels)
    with pytest.raises(SpecError, match="did you mean 'token_mean'"):
        PPLInferencer(choice="tokens_mean")
