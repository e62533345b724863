"""Retrievers that search embeddings: nearest, MMR, DPP, vote-k."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderflow.core.errors import BackendError, DataError, SpecError
from templating.retrieval import needs, retrieve
from templating.retrievers.base import best
from templating.retrievers.dpp import greedy_map
from templating.retrievers.embeddings import Space, embedded
from templating.retrievers.votek import elect, rank
from tests.templating.retrievers.minilm import minilm
from tests.templating.retrievers.specs import dataset, ids, question, table
from tests.templating.retrievers.spelling import spelling

POOL = table(*map(question, ["aaaa", "aaab", "aaba", "bbbb", "cccc", "aacc"]), prefix="p")


def first(text: str, *, embed: Any = spelling, compat: bool = False, **retriever: Any) -> list[str]:
    return ids(retrieve(table(question(text)), POOL, dataset(retriever, compat=compat), embed=embed))[0]


def test_nearest_first_and_equal_ones_by_id() -> None:
    assert first("aaa", type="TopkRetriever", ice_num=4) == ["p0", "p1", "p2", "p5"]
    assert first("aaaab", type="TopkRetriever", ice_num=2) == ["p1", "p2"]


def test_the_sample_itself_is_left_out_natively_and_comes_first_as_recorded() -> None:
    assert first("aaaa", type="TopkRetriever", ice_num=1) == ["p1"]
    assert first("aaaa", type="TopkRetriever", ice_num=1, compat=True) == ["p0"]


def test_compat_fills_up_with_the_last_row() -> None:
    assert first("cccc", type="TopkRetriever", ice_num=8, compat=True)[-2:] == ["p5", "p5"]


def test_mmr_takes_a_far_row_instead_of_the_same_again() -> None:
    assert first("aaac", type="MMRRetriever", ice_num=2, relevance=1) == ["p0", "p1"]
    assert first("aaac", type="MMRRetriever", ice_num=2, relevance=0.4) == ["p0", "p4"]


def test_dpp_takes_a_far_row_instead_of_the_same_again() -> None:
    assert first("aaab", type="TopkRetriever", ice_num=2) == ["p2", "p0"]
    assert first("aab", type="DPPRetriever", ice_num=2, candidate_num=6, scale_factor=0.01) == [
        "p1",
        "p0",
    ]  # p2 has the letters of p1
    assert first("aab", type="DPPRetriever", ice_num=2, candidate_num=6, scale_factor=10) == ["p1", "p4"]


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_greedy_map_takes_the_largest_determinant_at_every_step(wanted: int, seed: int) -> None:
    vectors = np.random.RandomState(seed).normal(size=(7, 7))
    kernel = vectors @ vectors.T
    chosen = greedy_map(kernel, wanted)
    for step, pick in enumerate(chosen):
        gains = [np.linalg.det(kernel[np.ix_([*chosen[:step], other], [*chosen[:step], other])]) for other in range(7)]
        assert gains[pick] == pytest.approx(max(gains), rel=1e-6)
    assert len(set(chosen)) == wanted


def test_greedy_map_goes_on_when_the_rank_is_used_up() -> None:
    assert greedy_map(np.ones((4, 4)), 3) == [0, 1, 2]
    assert greedy_map(np.zeros((0, 0)), 0) == []


@pytest.mark.parametrize("kind", ["MMRRetriever", "DPPRetriever", "MDLRetriever"])
def test_fewer_candidates_than_examples_are_refused(kind: str) -> None:
    with pytest.raises(SpecError, match="candidate_num must be a whole number from 3, got 2"):
        retrieve(POOL, POOL, dataset({"type": kind, "ice_num": 3, "candidate_num": 2}), embed=spelling, loglikelihood=iter)


@pytest.mark.parametrize(("argument", "value"), [("relevance", 1.5), ("relevance", "high"), ("relevance", True)])
def test_mmr_arguments(argument: str, value: object) -> None:
    with pytest.raises(SpecError, match="relevance must lie between 0 and 1"):
        first("a", type="MMRRetriever", **{argument: value})


@pytest.mark.parametrize("value", [0, -1, "x", True])
def test_dpp_arguments(value: object) -> None:
    with pytest.raises(SpecError, match="scale_factor must be above 0"):
        first("a", type="DPPRetriever", scale_factor=value)


def test_compat_dpp_needs_enough_rows() -> None:
    with pytest.raises(DataError, match="ice_num is 7, but only 6 rows"):
        first("a", type="DPPRetriever", ice_num=7, candidate_num=9, compat=True)


def test_votek_gives_all_samples_the_same_rows_and_a_chosen_one_the_next() -> None:
    examples = ids(retrieve(POOL, POOL, dataset({"type": "VotekRetriever", "ice_num": 2, "votek_k": 2}), embed=spelling))
    by_sample = dict(zip([f"p{n}" for n in range(6)], examples, strict=True))
    common = ids(
        retrieve(table(question("zz")), POOL, dataset({"type": "VotekRetriever", "ice_num": 3, "votek_k": 2}), embed=spelling)
    )[0]
    for name, chosen in by_sample.items():
        assert chosen == [other for other in common if other != name][:2]


def test_votes_are_discounted() -> None:
    # three rows vote for both 5 and 6: after 5 is chosen they hardly count for 6, nor after 0 those that also vote for 1
    ballots = [[5, 6], [5, 6], [5, 6], [0, 1], [0, 1], [3, 4], [3, 4]]
    assert rank(ballots, 3) == [5, 0, 3]
    assert sorted(rank(ballots, 7)) == list(range(7))
    assert rank([[]], 1) == [0]


def test_recorded_votes_pass_over_a_row_whose_voters_are_all_heard() -> None:
    alike = np.eye(5) * 2
    for row, nearest in enumerate([1, 0, 1, 1, 3]):
        alike[row, nearest] = 1.0
    assert elect(alike, 5, 1) == [1, 0, 3]
    assert elect(alike, 1, 1) == [1]


def test_compat_votek_fills_up_by_a_fixed_draw() -> None:
    chosen = [first("q", type="VotekRetriever", ice_num=6, votek_k=1, compat=True) for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert sorted(chosen[0]) == [f"p{n}" for n in range(6)]


def test_each_text_is_embedded_once_and_sorted() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return spelling(texts)

    vectors = embedded(["b", "a", "b"], embed)
    assert seen == ["a", "b"]
    assert np.array_equal(vectors, spelling(["b", "a", "b"]))


@pytest.mark.parametrize(
    ("gives", "error"),
    [(np.zeros((1, 3)), r"shape \(1, 3\) for 7 texts"), (np.zeros(7), r"shape \(7,\)"), (np.full((7, 2), np.nan), "not finite")],
)
def test_what_an_embedding_model_returns_is_checked(gives: Any, error: str) -> None:
    with pytest.raises(BackendError, match=error):
        first("z", type="TopkRetriever", embed=lambda texts: gives)


def test_who_needs_a_model_says_so() -> None:
    assert needs(dataset({"type": "TopkRetriever"})) == {"embed"}
    assert needs(dataset({"type": "MDLRetriever"})) == {"embed", "loglikelihood"}
    assert needs(dataset({"type": "BM25Retriever"})) == set()
    with pytest.raises(SpecError, match="TopkRetriever needs a model that offers 'embed'"):
        first("a", type="TopkRetriever", embed=None)


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sets(st.integers(0, 29), max_size=6))
@settings(max_examples=60, deadline=None)
def test_search_equals_a_full_sort(seed: int, wanted: int, barred: set[int]) -> None:
    draw = np.random.RandomState(seed)
    pool = draw.normal(size=(30, 8)).astype(np.float32)[draw.randint(0, 30, size=30)]  # repeated rows: ties
    samples = draw.normal(size=(3, 8)).astype(np.float32)
    exact = (pool.astype(np.float64)[None] * samples[:, None]).sum(axis=2)
    order = [sorted(set(range(30)) - barred, key=lambda position: (-scores[position], position))[:wanted] for scores in exact]
    assert Space(pool, samples).search(wanted, [barred] * 3) == order


def test_best_leaves_out_what_is_barred() -> None:
    assert best(np.array([1.0, 3.0, 3.0, 2.0]), 3, {1}) == [2, 3, 0]
    assert best(np.array([1.0, 3.0]), 5, {0, 1}) == []


def test_the_text_is_the_input_columns_or_the_input_template() -> None:
    pool = table({"title": "zz", "question": "a", "answer": ""}, {"title": "b", "question": "b", "answer": ""}, prefix="p")
    sample = table({"title": "z", "question": "b", "answer": ""})
    retriever = {"type": "TopkRetriever"}
    both = dataset(retriever, input_columns=["title", "question"])
    only = dataset(retriever, input_columns=["title", "question"], input_template={"type": "PromptTemplate", "template": "{title}"})
    assert ids(retrieve(sample, pool, both, embed=spelling)) == [["p1"]]
    assert ids(retrieve(sample, pool, only, embed=spelling)) == [["p0"]]
    wrong = dataset(retriever, input_template={"type": "PromptTemplate", "template": {"round": []}})
    with pytest.raises(SpecError, match=r"reader_cfg.input_template: the template must be text"):
        retrieve(sample, pool, wrong, embed=spelling)


def test_without_input_columns_there_is_nothing_to_compare() -> None:
    with pytest.raises(SpecError, match="input_columns or output_column is empty"):
        retrieve(POOL, POOL, dataset({"type": "TopkRetriever"}, input_columns=[]), embed=spelling)


@pytest.mark.model
def test_a_real_model_finds_the_same_question_in_other_words() -> None:
    pool = table(
        *map(question, ["How tall is Mount Everest?", "What is 12 plus 30?", "Who painted the Mona Lisa?", "Name a red fruit."]),
        prefix="p",
    )
    samples = table(*map(question, ["The height of the highest mountain", "Add seven and nine", "Which artist made Guernica?"]))
    assert ids(retrieve(samples, pool, dataset({"type": "TopkRetriever"}), embed=minilm())) == [["p0"], ["p1"], ["p2"]]


def test_all_pairs_of_a_small_kernel() -> None:
    """The greedy pair of a kernel with one clear optimum is that optimum."""
    kernel = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.1], [0.0, 0.1, 0.9]])
    found = max(combinations(range(3), 2), key=lambda pair: np.linalg.det(kernel[np.ix_(pair, pair)]))
    assert tuple(sorted(greedy_map(kernel, 2))) == found
