"""What holds for every native retriever: determinism, no dependence on order or slices, never the sample itself, the number."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from leaderflow.core.artifacts import rows_of, samples_of
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row
from templating.retrieval import retrieve
from tests.templating.retrievers.specs import dataset, ids
from tests.templating.retrievers.spelling import spelling

RETRIEVERS: list[dict[str, Any]] = [
    {"type": "RandomRetriever"},
    {"type": "RandomRetriever", "seed": 7},
    {"type": "BalancedRetriever"},
    {"type": "BM25Retriever"},
    {"type": "TopkRetriever"},
    {"type": "MMRRetriever", "candidate_num": 6, "relevance": 0.5},
    {"type": "DPPRetriever", "candidate_num": 6},
    {"type": "VotekRetriever", "votek_k": 2},
]

each = pytest.mark.parametrize("retriever", RETRIEVERS, ids=lambda retriever: "-".join(map(str, retriever.values())))

texts = st.lists(st.sampled_from(["river", "stone", "Berg", "7", "的", "x y"]), max_size=4).map(" ".join)
rows = st.fixed_dictionaries({"question": texts, "answer": st.sampled_from(["yes", "no", 1, "1"])})
pools = st.lists(rows, min_size=1, max_size=12).map(lambda found: [(f"p{index}", row) for index, row in enumerate(found)])
numbers = st.integers(0, 4)


def chosen(retriever: dict[str, Any], samples: list[tuple[str, Row]], pool: list[tuple[str, Row]], wanted: int) -> list[list[str]]:
    """Return the choice, or leave the case out where the pool is too small."""
    try:
        return ids(retrieve(samples_of(samples), samples_of(pool), dataset(retriever | {"ice_num": wanted}), embed=spelling))
    except DataError:
        free = [sum(row["question"] != own["question"] for _, row in pool) for _, own in samples]
        assert min(free) < wanted, "refused although every sample has enough rows"
        assume(False)
        raise


@each
@given(pool=pools, tests=st.lists(rows, min_size=1, max_size=5), wanted=numbers)
@settings(max_examples=40, deadline=None)
def test_the_number_asked_for_all_distinct_and_none_with_the_same_question(
    retriever: dict[str, Any], pool: list[tuple[str, Row]], tests: list[Row], wanted: int
) -> None:
    samples = [(f"s{index}", row) for index, row in enumerate(tests)]
    asked = dict(pool)
    for (_, row), examples in zip(samples, chosen(retriever, samples, pool, wanted), strict=True):
        assert len(examples) == len(set(examples)) == wanted
        assert all(asked[name]["question"] != row["question"] for name in examples)


@each
@given(pool=pools, wanted=numbers)
@settings(max_examples=30, deadline=None)
def test_a_sample_of_the_pool_is_never_its_own_example(retriever: dict[str, Any], pool: list[tuple[str, Row]], wanted: int) -> None:
    for (name, _), examples in zip(pool, chosen(retriever, pool, pool, wanted), strict=True):
        assert name not in examples


@each
@given(pool=pools, tests=st.lists(rows, min_size=2, max_size=5), wanted=numbers, order=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_neither_the_order_of_the_rows_nor_slices_change_a_choice(
    retriever: dict[str, Any], pool: list[tuple[str, Row]], tests: list[Row], wanted: int, order: random.Random
) -> None:
    samples = [(f"s{index}", row) for index, row in enumerate(tests)]
    whole = dict(zip(dict(samples), chosen(retriever, samples, pool, wanted), strict=True))
    shuffled, reordered = order.sample(samples, len(samples)), order.sample(pool, len(pool))
    assert dict(zip(dict(shuffled), chosen(retriever, shuffled, reordered, wanted), strict=True)) == whole
    for name, row in samples:
        assert chosen(retriever, [(name, row)], reordered, wanted) == [whole[name]]


@each
def test_one_split_with_a_repeated_row(retriever: dict[str, Any]) -> None:
    rows = [("a", {"question": "Q0", "answer": "A0"}), ("b", {"question": "Q1", "answer": "A1"})]
    rows += [("c", {"question": "Q1", "answer": "A1"}), ("d", {"question": "Q2", "answer": "A2"})]
    only = samples_of(rows)
    for seed in range(10):
        seeded = retriever | {"seed": seed} if retriever["type"] in ("RandomRetriever", "BalancedRetriever") else retriever
        examples = dict(zip("abcd", ids(retrieve(only, only, dataset(seeded | {"ice_num": 2}), embed=spelling)), strict=True))
        assert set(examples["b"]) == set(examples["c"]) == {"a", "d"}
        assert "a" not in examples["a"]


@each
def test_too_small_a_pool_is_refused(retriever: dict[str, Any]) -> None:
    pool = samples_of([("p0", {"question": "one", "answer": "1"}), ("p1", {"question": "two", "answer": "2"})])
    lone = samples_of([("s", {"question": "three", "answer": "3"})])
    with pytest.raises(DataError, match="sample 's' needs 3 examples, but only 2 rows of the pool can serve; lower ice_num"):
        retrieve(lone, pool, dataset(retriever | {"ice_num": 3}), embed=spelling)


@each
def test_an_empty_pool_serves_who_wants_nothing(retriever: dict[str, Any]) -> None:
    lone = samples_of([("s", {"question": "three", "answer": "3"})])
    assert ids(retrieve(lone, lone.slice(0, 0), dataset(retriever | {"ice_num": 0}), embed=spelling)) == [[]]


@each
def test_no_samples_no_examples(retriever: dict[str, Any]) -> None:
    pool = samples_of([("p0", {"question": "one", "answer": "1"})])
    assert ids(retrieve(pool.slice(0, 0), pool, dataset(retriever), embed=spelling)) == []


def test_every_sample_has_a_row_in_the_order_of_the_samples() -> None:
    pool: pa.Table = samples_of([(f"p{n}", {"question": f"{n}", "answer": ""}) for n in range(9)])
    samples = samples_of([(name, row) for name, row in reversed(rows_of(pool))])
    examples = retrieve(samples, pool, dataset({"type": "RandomRetriever", "ice_num": 3}))
    assert examples.column("sample_id").to_pylist() == samples.column("sample_id").to_pylist()
