"""Instructions of IFBench (Pyatkin et al. 2025) about ratios."""

from __future__ import annotations

from evaluators.instructions.ifbench_checks import joined_words
from evaluators.instructions.language import STOP_WORDS, sentences, treebank_words, words
from evaluators.instructions.registry import check


@check("ratio:stop_words")
def stop_words(text: str, percentage: float) -> bool:
    """Return whether at most so many per cent of the words are function words."""
    found = words(text.lower())
    return bool(found) and 100 * sum(word in STOP_WORDS for word in found) / len(found) <= percentage


@check("ratio:sentence_type")
def sentence_type(text: str) -> bool:
    """Return whether sentences that end with a full stop and with a question mark stand 2 to 1."""
    ends = [sentence[-1] for sentence in sentences(text)]
    return ends.count(".") == 2 * ends.count("?")


@check("ratio:sentence_balance")
def sentence_balance(text: str) -> bool:
    """Return whether statements, questions and exclamations are equally many."""
    ends = [sentence[-1] for sentence in sentences(text)]
    return ends.count(".") == ends.count("?") == ends.count("!")


@check("ratio:sentence_words")
def sentence_words(text: str) -> bool:
    """Return whether there are three sentences of equal length in which no word comes twice."""
    found = [sentence.strip() for sentence in sentences(text)]
    used = joined_words(" ".join(found))
    return len(found) == 3 and len({len(sentence) for sentence in found}) == 1 and len(used) == len(set(used))


@check("ratio:overlap")
def overlap(text: str, reference_text: str, percentage: float) -> bool:
    """Return whether so many per cent of the different word trigrams stand in a text, give or take 2."""
    mine, theirs = (set(zip(w, w[1:], w[2:], strict=False)) for w in map(treebank_words, (text, reference_text)))
    return bool(mine) and abs(100 * len(mine & theirs) / len(mine) - percentage) <= 2
