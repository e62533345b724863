"""MDLRetriever: the set of examples that makes a model surest of a label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from leaderflow.core.errors import BackendError, SpecError
from leaderflow.core.specs import DatasetSpec
from leaderflow.core.types import Answer, Prompt, Request
from templating.retrieval import retrieve
from templating.retrievers.mdl import after_examples, apart, entropy
from tests.templating.retrievers.specs import dataset, ids, question, table
from tests.templating.retrievers.spelling import spelling

POOL = table(
    *[question(f"is {word} blue", label) for word, label in zip(["sky", "skye", "sea", "sun", "rose"], "YYYNN", strict=True)],
    prefix="p",
)
LABELS = {"Y": "</E>{question}? yes", "N": "</E>{question}? no"}


def spec(template: Any = LABELS, *, compat: bool = False, **retriever: Any) -> DatasetSpec:
    base = dataset({"type": "MDLRetriever", "ice_num": 2, "candidate_num": 5, "select_time": 20} | retriever, compat=compat)
    infer = {
        "ice_template": {"type": "PromptTemplate", "template": {"Y": "{question}: yes", "N": "{question}: no"}},
        "prompt_template": {"type": "PromptTemplate", "template": template, "ice_token": "</E>"},
        "inferencer": {"type": "PPLInferencer"},
    }
    return base.model_copy(update={"infer_cfg": base.infer_cfg.model_copy(update=infer)})


class Model:
    """Sure of a label as soon as an example speaks of a rose; else undecided. Four characters are a token."""

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    def loglikelihood(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for request in reversed(requests):  # answers come in any order
            prompt = request.prompt
            self.asked.append(prompt)
            assert prompt.text is not None
            scored = prompt.continuation or prompt.text
            doubt = 0.01 if "rose" in prompt.text else 1.0
            nll = doubt if scored.endswith("yes") else 1.2
            yield Answer(request.request_key, "ok", nll=nll, scored_tokens=math.ceil(len(scored) / 4))


SAMPLE = table(question("is snow blue"))


def test_the_surest_set_is_chosen() -> None:
    chosen = ids(retrieve(SAMPLE, POOL, spec(), embed=spelling, loglikelihood=Model().loglikelihood))[0]
    assert len(set(chosen)) == 2
    assert "p4" in chosen


def test_equal_sets_leave_the_nearest() -> None:
    nearest = ids(retrieve(SAMPLE, POOL, dataset({"type": "TopkRetriever", "ice_num": 2}), embed=spelling))
    few = spec(candidate_num=2)
    assert ids(retrieve(SAMPLE, POOL, few, embed=spelling, loglikelihood=Model().loglikelihood)) == nearest


def test_only_what_tells_the_labels_apart_is_scored() -> None:
    model = Model()
    retrieve(SAMPLE, POOL, spec(), embed=spelling, loglikelihood=model.loglikelihood)
    assert {prompt.continuation for prompt in model.asked} == {" yes", " no"}
    assert all((prompt.text or "").endswith("is snow blue?") for prompt in model.asked)


def test_neither_order_nor_slices_change_the_choice() -> None:
    samples = table(*[question(f"is {word} blue") for word in ("ice", "fire", "ink")], prefix="s")
    whole = ids(retrieve(samples, POOL, spec(), embed=spelling, loglikelihood=Model().loglikelihood))
    backwards = POOL.take(list(range(4, -1, -1)))
    parts = [
        ids(retrieve(samples.slice(n, 1), backwards, spec(), embed=spelling, loglikelihood=Model().loglikelihood))[0]
        for n in range(3)
    ]
    assert parts == whole


def test_the_sample_is_never_its_own_example() -> None:
    examples = ids(retrieve(POOL, POOL, spec(candidate_num=4), embed=spelling, loglikelihood=Model().loglikelihood))
    assert all(f"p{n}" not in chosen for n, chosen in enumerate(examples))


def test_compat_scores_what_follows_the_examples() -> None:
    model = Model()
    chosen = ids(retrieve(SAMPLE, POOL, spec(compat=True), embed=spelling, loglikelihood=model.loglikelihood))[0]
    assert len(chosen) == 2
    assert {(prompt.continuation or "").lstrip("\n") for prompt in model.asked} == {"is snow blue? yes", "is snow blue? no"}


def test_the_retriever_may_bring_its_own_templates_and_labels() -> None:
    own = {"type": "PromptTemplate", "template": {"A": "</E>{question} = yes", "B": "</E>{question} = no"}, "ice_token": "</E>"}
    model = Model()
    quoted = spec(prompt_template=own, labels=["B", "A"])
    no_answers = table({"question": "is snow blue", "answer": "A"})
    retrieve(no_answers, POOL, quoted, embed=spelling, loglikelihood=model.loglikelihood)
    assert all((prompt.text or "").endswith("is snow blue =") for prompt in model.asked)


def test_labels_that_read_the_same_are_refused() -> None:
    same = spec({"Y": "</E>{question}", "N": "</E>{question}"})
    with pytest.raises(SpecError, match="MDLRetriever compares labels"):
        retrieve(SAMPLE, POOL, same, embed=spelling, loglikelihood=Model().loglikelihood)


def test_a_template_without_labels_is_refused() -> None:
    one = spec("</E>{question}", ice_template={"type": "PromptTemplate", "template": "{question}: {answer}"})
    with pytest.raises(SpecError, match="no labels to choose among"):
        retrieve(SAMPLE, POOL, one, embed=spelling, loglikelihood=Model().loglikelihood)


def test_a_model_that_cannot_score_ends_the_stage() -> None:
    def fails(requests: Sequence[Request]) -> Iterator[Answer]:
        return (Answer(request.request_key, "error", error="out of memory") for request in requests)

    with pytest.raises(BackendError, match="could not score a set of examples: out of memory"):
        retrieve(SAMPLE, POOL, spec(), embed=spelling, loglikelihood=fails)


def test_borders() -> None:
    assert apart({"a": "x: not", "b": "x: no"}) == {
        "a": Prompt(text="x:", continuation=" not"),
        "b": Prompt(text="x:", continuation=" no"),
    }
    assert apart({"a": "是", "b": "否"}) == {"a": Prompt(text="是"), "b": Prompt(text="否")}
    assert after_examples({"a": "e e q a"}, {"a": "q a"}) == {"a": Prompt(text="e e ", continuation="q a")}
    assert after_examples({"a": "Q: q a e e"}, {"a": "Q: q a"}) == {"a": Prompt(text="Q: q a e e")}


def test_entropy() -> None:
    assert entropy([3.0, 3.0]) == pytest.approx(math.log(2))
    assert entropy([0.0, 1000.0]) == 0.0
    assert entropy([5.0]) == 0.0
