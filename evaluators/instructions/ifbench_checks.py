"""Instructions of IFBench (Pyatkin et al. 2025) about counts, ratios, words and sentences."""

from __future__ import annotations

import re
import string
from itertools import pairwise

from evaluators.instructions.language import STOP_WORDS, sentences, word_set, words
from evaluators.instructions.registry import check
from leaderflow.core.errors import DataError

_CONJUNCTIONS = word_set("and but for nor or so yet")
_PRONOUNS = word_set(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us our ours "
    "ourselves they them their theirs themselves"
)
_AUXILIARIES = word_set("am is are was were be been being have has had having do does did doing can will should")


def bare_words(text: str) -> list[str]:
    """Return the words between blanks in lower case, outer punctuation cut off."""
    return [bare for word in text.lower().split() if (bare := word.strip(string.punctuation + " "))]


@check("count:word_count_range")
def word_count_range(text: str, min_words: int, max_words: int) -> bool:
    """Return whether the number of words lies in a range."""
    return min_words <= len(words(text)) <= max_words


@check("count:unique_word_count")
def unique_word_count(text: str, N: int) -> bool:
    """Return whether there are enough different words."""
    return len(set(bare_words(text))) >= N


@check("count:numbers")
def numbers(text: str, N: int) -> bool:
    """Return whether there are exactly so many whole numbers."""
    return len(re.findall(r"\b\d+\b", text)) == N


@check("count:conjunctions")
def conjunctions(text: str, small_n: int) -> bool:
    """Return whether enough different coordinating conjunctions are used."""
    return len(_CONJUNCTIONS & set(bare_words(text))) >= small_n


@check("count:pronouns")
def pronouns(text: str, N: int) -> bool:
    """Return whether enough pronouns are used."""
    return sum(word in _PRONOUNS for word in bare_words(text)) >= N


@check("count:punctuation")
def punctuation(text: str) -> bool:
    """Return whether every mark is used, the interrobang included and besides."""
    if not any(mark in text for mark in ("?!", "!?", "‽")):
        return False
    rest = text.replace("?!", "", 1) if "?!" in text else text.replace("!?", "", 1)
    return all(mark in rest for mark in ".,!?;:")


@check("count:keywords_multiple")
def keywords_multiple(text: str, keyword1: str, keyword2: str, keyword3: str, keyword4: str, keyword5: str) -> bool:
    """Return whether five keywords come 1, 2, 3, 5 and 7 times."""
    wanted = zip((keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7), strict=True)
    return all(text.lower().count(word.lower()) == n for word, n in wanted)


@check("ratio:stop_words")
def stop_words(text: str, percentage: float) -> bool:
    """Return whether at most so many per cent of the words are function words."""
    found = words(text.lower())
    return bool(found) and 100 * sum(word in STOP_WORDS for word in found) / len(found) <= percentage


@check("ratio:sentence_type")
def sentence_type(text: str) -> bool:
    """Return whether statements and questions stand 2 to 1."""
    ends = [sentence[-1] for sentence in sentences(text)]
    return ends.count("?") > 0 and ends.count(".") == 2 * ends.count("?")


@check("ratio:sentence_balance")
def sentence_balance(text: str) -> bool:
    """Return whether statements, questions and exclamations are equally many."""
    ends = [sentence[-1] for sentence in sentences(text)]
    return ends.count(".") == ends.count("?") == ends.count("!")


@check("ratio:sentence_words")
def sentence_words(text: str) -> bool:
    """Return whether there are three sentences of equal length that share no word."""
    found = sentences(text)
    if len(found) != 3 or len({len(sentence) for sentence in found}) != 1:
        return False
    used = [word for sentence in found for word in set(bare_words(sentence))]
    return len(used) == len(set(used))


@check("ratio:overlap")
def overlap(text: str, reference_text: str, percentage: float) -> bool:
    """Return whether the trigrams of characters shared with a text are so many per cent, give or take 2."""
    grams = [{body[i : i + 3] for i in range(len(body) - 2)} for body in (text, reference_text)]
    return bool(grams[1]) and abs(100 * len(grams[0] & grams[1]) / len(grams[1]) - percentage) <= 2


@check("words:alphabet")
def alphabet(text: str) -> bool:
    """Return whether each word starts with the letter after the last one's, z before a."""
    letters = [word[0] for word in bare_words(text)]
    return len(letters) > 0 and all((ord(b) - ord(a)) % 26 == 1 and a.isalpha() and b.isalpha() for a, b in pairwise(letters))


@check("words:vowel")
def vowel(text: str) -> bool:
    """Return whether at most three different vowels are used."""
    return len(set(text.lower()) & set("aeiou")) <= 3


@check("words:consonants")
def consonants(text: str) -> bool:
    """Return whether each word has two consonants in a row."""
    return all(re.search(r"[b-df-hj-np-tv-z]{2}", word) for word in bare_words(text))


@check("words:palindrome")
def palindrome(text: str) -> bool:
    """Return whether there are ten palindromes of five letters or more."""
    return sum(len(word) >= 5 and word == word[::-1] for word in bare_words(text)) >= 10


@check("words:prime_lengths")
def prime_lengths(text: str) -> bool:
    """Return whether every word has a prime number of characters."""
    lengths = [len(word) for word in bare_words(text)]
    return all(n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in lengths)


@check("words:repeats")
def repeats(text: str, small_n: int) -> bool:
    """Return whether no word comes more often."""
    found = bare_words(text)
    return all(found.count(word) <= small_n for word in set(found))


@check("words:no_consecutive")
def no_consecutive(text: str) -> bool:
    """Return whether no two words in a row start with the same letter."""
    return all(a[0] != b[0] for a, b in pairwise(bare_words(text)))


@check("words:last_first")
def last_first(text: str) -> bool:
    """Return whether each sentence starts with the last one's last word."""
    found = [bare_words(sentence) for sentence in sentences(text)]
    return all(a and b and a[-1] == b[0] for a, b in pairwise(found))


@check("words:paragraph_last_first")
def paragraph_last_first(text: str) -> bool:
    """Return whether each paragraph ends with the word it starts with."""
    return all(found[0] == found[-1] for part in text.split("\n") if (found := bare_words(part)))


@check("words:start_verb")
def start_verb(text: str) -> bool:
    """Return whether the text starts with a verb; function words need no tagger to be told.

    Raises:
        DataError: the tagger's data is not installed.
    """
    first = (words(text) or [""])[0].lower()
    if not first or first in STOP_WORDS - _AUXILIARIES:
        return False
    from nltk import pos_tag

    try:
        return str(pos_tag(words(text))[0][1]).startswith("VB")
    except LookupError:
        raise DataError("words:start_verb needs nltk's tagger: python -m nltk.downloader averaged_perceptron_tagger_eng") from None


@check("sentence:keyword")
def sentence_keyword(text: str, word: str, N: int) -> bool:
    """Return whether the N-th sentence holds a word."""
    found = sentences(text)
    return 1 <= N <= len(found) and word.lower() in found[N - 1].lower()


@check("sentence:increment")
def increment(text: str, small_n: int) -> bool:
    """Return whether each sentence has exactly so many words more than the last one."""
    counts = [len(sentence.split()) for sentence in sentences(text)]
    return all(b - a == small_n for a, b in pairwise(counts))


@check("sentence:alliteration_increment")
def alliteration_increment(text: str) -> bool:
    """Return whether each sentence has more alliterating words than the last one."""
    counts = []
    for sentence in sentences(text):
        letters = [word[0] for word in bare_words(sentence)]
        counts.append(sum(a == b for a, b in pairwise(letters)))
    return all(b > a for a, b in pairwise(counts))


@check("words:keywords_specific_position")
def keywords_specific_position(text: str, keyword: str, n: int, m: int) -> bool:
    """Return whether the m-th word of the n-th sentence is a keyword."""
    found = sentences(text)
    listed = bare_words(found[n - 1]) if 1 <= n <= len(found) else []
    return 1 <= m <= len(listed) and listed[m - 1] == keyword.lower()


@check("words:words_position")
def words_position(text: str, keyword: str) -> bool:
    """Return whether a keyword is the second and the last but one word."""
    found = bare_words(text)
    return len(found) >= 2 and found[1] == found[-2] == keyword.lower()
