"""BM25Retriever, native and as recorded."""

from __future__ import annotations

import math

import numpy as np
import pytest

from templating.retrieval import retrieve
from templating.retrievers.bm25 import Index, words
from templating.retrievers.okapi import Okapi, nltk_words
from tests.templating.retrievers.specs import dataset, ids, question, table

POOL = table(
    question("How far is the Moon from the Earth?"),
    question("Who wrote the Iliad?"),
    question("Which river flows through the city of Cairo?"),
    question("中国的首都是哪里？"),
    question("日本最高的山是什么？"),
    prefix="p",
)


def first(text: str, ice_num: int = 1, **options: object) -> list[str]:
    return ids(retrieve(table(question(text)), POOL, dataset({"type": "BM25Retriever", "ice_num": ice_num}, **options)))[0]


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("the MOON", "p0"), ("CAIRO", "p2"), ("美国的首都在哪里", "p3"), ("最高的建筑", "p4"), ("ＭＯＯＮ landing", "p0")],
)
def test_shared_words_count_in_any_case_width_and_script(text: str, nearest: str) -> None:
    assert first(text) == [nearest]


def test_rows_that_share_no_word_follow_by_id() -> None:
    assert first("zebra", 3) == ["p0", "p1", "p2"]
    assert first("Iliad", 3) == ["p1", "p0", "p2"]


def test_the_scores_are_those_of_the_formula() -> None:
    score = Index(["a b", "a c c", "d"]).scores("c c")[1]
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    damped = 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / 2))
    assert score == pytest.approx(2 * idf * damped)


def test_corpora_without_words() -> None:
    assert Index(["", "?!"]).scores("word").tolist() == [0.0, 0.0]
    assert Index([]).scores("word").tolist() == []


def test_words() -> None:
    assert words("It's 3.5 km—straße, 東京タワー!") == ["it", "s", "3", "5", "km", "strasse", *"東京タワー"]


def test_compat_minds_the_case_and_counts_punctuation() -> None:
    assert first("MOON Iliad?", 1, compat=True) == ["p1"]
    assert first("MOON", 2, compat=True) == ["p4", "p3"]  # no word in common: the last rows come first
    assert len(first("Moon", 9, compat=True)) == 5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello there. Who's he?", ["Hello", "there", ".", "Who", "'s", "he", "?"]),
        ("Dr. Smith paid $3.50, didn't he?", ["Dr.", "Smith", "paid", "$", "3.50", ",", "did", "n't", "he", "?"]),
        ("", []),
    ],
)
def test_recorded_words(text: str, tokens: list[str]) -> None:
    assert nltk_words(text) == tokens


def test_recorded_scores_raise_frequent_words_to_a_quarter_of_the_mean() -> None:
    okapi = Okapi(["x y", "x z", "x w"])
    idf_rare, idf_x = math.log(2.5 / 1.5), math.log(0.5 / 3.5)
    floor = 0.25 * (3 * idf_rare + idf_x) / 4
    assert np.allclose(okapi.scores("x"), [floor] * 3)  # every text has two words, so tf damps to 1
    assert np.allclose(okapi.scores("y y unknown"), [2 * idf_rare, 0, 0])
    assert Okapi(["", ""]).scores("x").tolist() == [0.0, 0.0]
