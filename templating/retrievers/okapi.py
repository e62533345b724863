"""The BM25 that OpenCompass uses: Okapi's, with rank_bm25's floor for frequent words, over nltk's words in their own case."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from leaderflow.core.errors import SpecError
from templating.retrievers.base import KEY, Floats

K1, B, EPSILON = 1.5, 0.75, 0.25

ABBREVIATIONS = re.findall(r"\S+", "a.m co col corp dr e.g gen gov i.e inc jr ltd mr mrs ms p.m prof rep rev sen sr st u.k u.s vs")
"""After these a full stop ends no sentence; the commonest of those that nltk's English model has learnt."""


class Okapi:
    """The words of a corpus, ready to be searched."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(nltk_words(text)) for text in texts]
        lengths = np.array([counter.total() for counter in counts], dtype=np.float64)
        average = lengths.mean() if lengths.any() else 1.0
        self._damping = K1 * (1 - B + B * lengths / average)
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for document, counter in enumerate(counts):
            for word, count in counter.items():
                self._postings[word].append((document, count))
        self._idf = _idf({word: len(found) for word, found in self._postings.items()}, len(counts))

    def scores(self, text: str) -> Floats:
        """Return the score of every document of the corpus."""
        scores = np.zeros(len(self._damping))
        for word in nltk_words(text):
            if word in self._idf:
                documents, counts = np.array(self._postings[word]).T
                scores[documents] += self._idf[word] * (counts * (K1 + 1) / (counts + self._damping[documents]))
        return scores


def _idf(frequencies: dict[str, int], size: int) -> dict[str, float]:
    """Return each word's weight; instead of a negative one a word gets `EPSILON` times the mean."""
    idf = {word: math.log(size - count + 0.5) - math.log(count + 0.5) for word, count in frequencies.items()}
    floor = EPSILON * sum(idf.values()) / max(1, len(idf))
    return {word: weight if weight >= 0 else floor for word, weight in idf.items()}


def nltk_words(text: str) -> list[str]:
    """Return the words of a text as nltk's word_tokenize gives them, without its downloads.

    Raises:
        SpecError: nltk is not installed.
    """
    sentences, tokens = _tokenizer()
    return [word for sentence in sentences(text) for word in tokens(sentence)]


@cache
def _tokenizer() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    try:
        from nltk.tokenize import NLTKWordTokenizer
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    except ImportError as exc:
        raise SpecError("BM25Retriever under `compat: opencompass` needs nltk: pip install 'leaderflow[metrics]'", key=KEY) from exc
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters).tokenize, NLTKWordTokenizer().tokenize
