from __future__ import annotations

import logging

import pytest

from leaderflow.core.types import Prompt
from templating import stage
from tests.templating.build import assistant, legacy, raw, rendered, spec, target, user


class Words:
    """Counts words."""

    identity = "words"

    def count(self, prompt: Prompt) -> int:
        texts = [prompt.text or ""] if prompt.messages is None else [str(message["content"]) for message in prompt.messages]
        return sum(len(text.split()) for text in texts)


CHAT = spec(raw("</E>", user("{question}")), raw(user("{question}"), assistant("{answer}")))
POOL = [{"question": "one two", "answer": "three"}] * 3
ROW = {"question": "a b c", "answer": "d"}


@pytest.mark.parametrize(("max_seq_len", "kept"), [(12, 3), (11, 2), (9, 2), (8, 1), (6, 1), (5, 0), (3, 0)])
def test_examples_are_dropped_from_the_end(max_seq_len: int, kept: int) -> None:
    row = rendered(CHAT, target(max_seq_len=max_seq_len, counter=Words()), [ROW], POOL)[0]
    assert (len(row["messages"]), row["dropped_examples"], row["status"]) == (2 * kept + 1, 3 - kept, "ok")


def test_room_for_the_output_is_kept() -> None:
    row = rendered(CHAT, target(max_seq_len=12, max_out_len=4, counter=Words()), [ROW], POOL)[0]
    assert row["dropped_examples"] == 2
    alone = rendered(CHAT, target(max_seq_len=5, max_out_len=4, counter=Words()), [ROW], POOL)[0]
    assert (alone["dropped_examples"], alone["status"]) == (3, "ok")


def test_a_target_that_does_not_fit_is_rejected_with_the_reason() -> None:
    row = rendered(CHAT, target(max_seq_len=2, counter=Words()), [ROW], POOL)[0]
    assert (row["status"], row["dropped_examples"]) == ("rejected", 3)
    assert row["error"] == "the prompt has 3 tokens without examples, the model takes 2"


def test_all_labels_of_a_sample_lose_the_same_examples() -> None:
    template = legacy({"A": "</E>{question} long long long", "B": "</E>{question}"}, ice_token="</E>")
    dataset = spec(template, legacy({"d": "{question} {answer}"}), inferencer="PPLInferencer")
    pool = [{"question": "one two", "answer": "d"}] * 3
    found = rendered(dataset, target("text", "ppl", max_seq_len=9, counter=Words()), [ROW], pool, labels=["A", "B"])
    assert [row["dropped_examples"] for row in found] == [2, 2]


def test_without_a_tokenizer_nothing_is_dropped_but_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        row = rendered(CHAT, target(max_seq_len=10), [ROW], POOL)[0]
    assert (row["dropped_examples"], row["status"]) == (0, "ok")
    assert "about 1 prompts may exceed max_seq_len 10" in caplog.text
    assert "`tokenizer`" in caplog.text


LONG = {"question": "a b c d e f g h", "answer": "x"}
ASK = spec(legacy("Say: {question} ?"))


@pytest.mark.parametrize("where", ["left", "middle"])
def test_a_target_is_cut_only_where_asked_for(where: str) -> None:
    rejected = rendered(ASK, target("text", max_seq_len=4, counter=Words()), [LONG])[0]
    assert rejected["status"] == "rejected"
    row = rendered(ASK, target("text", max_seq_len=4, counter=Words(), truncate=where), [LONG])[0]
    assert (row["status"], Words().count(Prompt(text=row["text"]))) == ("ok", 4)
    assert row["text"].endswith(" ?")
    assert row["text"].startswith("Say:") == (where == "middle")


def test_the_window_is_in_the_config_only_where_it_is_counted() -> None:
    model = target(max_seq_len=4, counter=Words(), truncate="left")
    assert stage.config(ASK, model, None)["window"] == ["words", 4, None, "left"]
    assert stage.config(ASK, target(max_seq_len=4), None)["window"] is None


def test_the_longest_message_is_cut() -> None:
    dataset = spec(raw(user("Be brief."), user("{question}")))
    row = rendered(dataset, target(max_seq_len=5, counter=Words(), truncate="left"), [LONG])[0]
    assert [message["content"].strip() for message in row["messages"]] == ["Be brief.", "f g h"]


def test_candidates_are_never_cut() -> None:
    dataset = spec(legacy({"A": "{question} A", "B": "{question} B"}), inferencer="PPLInferencer")
    model = target("text", "ppl", max_seq_len=4, counter=Words(), truncate="left")
    assert {row["status"] for row in rendered(dataset, model, [LONG], labels=["A", "B"])} == {"rejected"}
