"""Sentences, words and languages, without any data that must be downloaded."""

from __future__ import annotations

import re
from functools import cache
from typing import Any


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


# abbreviations whose full stop ends no sentence; the trained Punkt model knows more
_ABBREVIATIONS = word_set(
    "dr mr mrs ms prof sr jr st vs etc e.g i.e u.s u.k inc ltd co corp gen col sgt capt lt rev hon jan feb mar apr aug sept oct "
    "nov dec a.m p.m no"
)

STOP_WORDS = word_set(
    "i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself yourselves he him his himself she "
    "she's her hers herself it it's its itself they them their theirs themselves what which who whom this that that'll these those "
    "am is are was were be been being have has had having do does did doing a an the and but if or because as until while of at by "
    "for with about against between into through during before after above below to from up down in out on off over under again "
    "further then once here there when where why how all any both each few more most other some such no nor not only own same so "
    "than too very s t can will just don don't should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't "
    "doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't needn needn't shan shan't "
    "shouldn shouldn't wasn wasn't weren weren't won won't wouldn wouldn't"
)
"""English function words, the list of the field's toolkits."""


def sentences(text: str) -> list[str]:
    """Return the sentences of an English text (Punkt with a fixed list of abbreviations; Kiss & Strunk 2006)."""
    return list(_punkt().tokenize(text))


@cache
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores."""
    return re.findall(r"\w+", text)


def treebank_words(text: str) -> list[str]:
    """Return the words of a text as the Penn Treebank cuts them."""
    from nltk.tokenize import NLTKWordTokenizer

    return [word for sentence in sentences(text) for word in NLTKWordTokenizer().tokenize(sentence)]


def is_language(text: str, code: str) -> bool:
    """Return whether langdetect (seeded) takes a text for that language; a text it cannot judge passes."""
    from langdetect import DetectorFactory, LangDetectException, detect

    DetectorFactory.seed = 0
    try:
        return bool(detect(text) == code)
    except LangDetectException:
        return True
