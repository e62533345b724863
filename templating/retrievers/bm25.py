"""Examples that share rare words with the sample: BM25."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from templating.retrievers.base import ExampleRetriever, Floats, Pool, Sample, best, enough

WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W_぀-ヿ㐀-鿿豈-﫿]+")
"""A Chinese or Japanese character, or a run of other letters and digits."""


class BM25Retriever(ExampleRetriever):
    """The rows with the highest BM25 score for the sample's text, best first (Lucene's variant, k1 = 1.5, b = 0.75; package bm25s).

    Words are compared without regard to case and width; Chinese and Japanese count character by character. Arguments: see
    `ExampleRetriever`.
    """

    def native(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose among the rows that are not the sample's twins; equal scores by id."""
        barred = [pool.barred(sample) for sample in samples]
        for sample, own in zip(samples, barred, strict=True):
            enough(pool, sample, own, self.ice_num)
        index = Index(pool.texts())
        texts = [self.context.text(row) for _, row in samples]
        return [best(index.scores(text), self.ice_num, own) for text, own in zip(texts, barred, strict=True)]

    def recorded(self, samples: Sequence[Sample], pool: Pool) -> list[list[int]]:
        """Choose among all rows, at most the whole pool; equal scores as numpy's sort leaves them, reversed."""
        from templating.retrievers.okapi import Okapi  # its tokenizer is not among the required packages

        okapi = Okapi(pool.texts())
        scores = (okapi.scores(self.context.text(row)) for _, row in samples)
        return [np.argsort(score)[::-1][: self.ice_num].tolist() for score in scores]


class Index:
    """The words of a corpus, ready to be searched."""

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s

        corpus = [words(text) for text in texts]
        self._size = len(corpus)
        self._known = {word for document in corpus for word in document}
        self._bm25 = bm25s.BM25(dtype="float64")
        if self._known:
            self._bm25.index(corpus, show_progress=False)

    def scores(self, text: str) -> Floats:
        """Return the score of every document of the corpus; words that occur in none count nothing."""
        query = [word for word in words(text) if word in self._known]
        return np.asarray(self._bm25.get_scores(query)) if query else np.zeros(self._size)


def words(text: str) -> list[str]:
    """Return the words of a text in the form in which they are compared."""
    return WORD.findall(unicodedata.normalize("NFKC", text).casefold())
