"""RandomRetriever and BalancedRetriever."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from leaderflow.core.errors import DataError, SpecError
from templating.retrieval import needs, retrieve
from tests.templating.retrievers.specs import dataset, ids, question, table

POOL = table(*[question(f"train {n}", "rare" if n % 10 == 0 else "frequent") for n in range(40)], prefix="p")
SAMPLES = table(*[question(f"test {n}") for n in range(60)], prefix="s")


def test_another_seed_draws_other_examples_and_every_sample_its_own() -> None:
    first, second = (ids(retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever", "ice_num": 4, "seed": n}))) for n in (1, 2))
    assert first != second
    assert len({tuple(examples) for examples in first}) > 50


def test_every_row_is_drawn_about_equally_often() -> None:
    drawn = Counter(
        name for examples in ids(retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever", "ice_num": 20}))) for name in examples
    )
    assert len(drawn) == 40
    assert 15 < min(drawn.values()) <= max(drawn.values()) < 45  # 30 expected, standard deviation about 4


def test_labels_are_in_balance_whatever_the_pool_holds() -> None:
    answers = {f"p{n}": "rare" if n % 10 == 0 else "frequent" for n in range(40)}
    for examples in ids(retrieve(SAMPLES, POOL, dataset({"type": "BalancedRetriever", "ice_num": 6}))):
        assert Counter(answers[name] for name in examples) == {"rare": 3, "frequent": 3}


def test_the_odd_example_and_the_order_fall_to_different_labels() -> None:
    answers = {f"p{n}": "rare" if n % 10 == 0 else "frequent" for n in range(40)}
    shown = [
        tuple(answers[name] for name in examples)
        for examples in ids(retrieve(SAMPLES, POOL, dataset({"type": "BalancedRetriever", "ice_num": 3})))
    ]
    assert {labels.count("rare") for labels in shown} == {1, 2}
    assert len(set(shown)) == 6  # all orders of both compositions occur


def test_a_label_that_is_used_up_is_passed_over() -> None:
    examples = ids(retrieve(SAMPLES, POOL, dataset({"type": "BalancedRetriever", "ice_num": 12})))
    assert all(sum(name in ("p0", "p10", "p20", "p30") for name in chosen) == 4 for chosen in examples)


def test_labels_of_different_types_are_different() -> None:
    pool = table(question("a", "1"), {"question": "b", "answer": 1}, question("c", "1"), question("d", "1"), prefix="p")
    assert all("p1" in chosen for chosen in ids(retrieve(SAMPLES, pool, dataset({"type": "BalancedRetriever", "ice_num": 2}))))


def test_balance_needs_an_answer_column() -> None:
    with pytest.raises(SpecError, match="output_column is empty"):
        retrieve(SAMPLES, POOL, dataset({"type": "BalancedRetriever"}, output_column=None))


def test_a_row_without_the_column_is_named_by_its_columns() -> None:
    with pytest.raises(DataError, match="no column 'quest'"):
        retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever"}, input_columns=["quest"]))


def test_compat_is_one_stream_over_the_samples() -> None:
    examples = ids(retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever", "ice_num": 3, "seed": 5}, compat=True)))
    stream = np.random.RandomState(5)
    assert examples == [[f"p{position}" for position in stream.permutation(40)[:3]] for _ in range(60)]


def test_compat_refuses_more_than_the_pool() -> None:
    with pytest.raises(DataError, match="ice_num is 41, but the pool has only 40 rows"):
        retrieve(SAMPLES, POOL, dataset({"type": "RandomRetriever", "ice_num": 41}, compat=True))


def test_compat_keeps_our_own_retriever_as_it_is() -> None:
    retriever = {"type": "BalancedRetriever", "ice_num": 4}
    assert retrieve(SAMPLES, POOL, dataset(retriever, compat=True)).equals(retrieve(SAMPLES, POOL, dataset(retriever)))


@pytest.mark.parametrize("seed", [-1, 2**32, "1", 0.5, None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(SpecError, match=r"infer_cfg\.retriever: seed must be"):
        needs(dataset({"type": "RandomRetriever", "seed": seed}))


@pytest.mark.parametrize("copy", ["How  many are there?", " how many are there?\n", "How many\tare there?", "HOW MANY ARE THERE?"])
def test_a_copy_that_is_spelt_otherwise_is_no_example_of_the_question(copy: str) -> None:
    pool = table(question(copy), question("Who?"), question("When?"), prefix="p")
    asked = table(*[question("How many are there?")] * 10, prefix="s")
    drawn = ids(retrieve(asked, pool, dataset({"type": "RandomRetriever", "ice_num": 2})))
    assert {name for chosen in drawn for name in chosen} == {"p1", "p2"}
