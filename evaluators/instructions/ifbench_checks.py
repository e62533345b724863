"""Instructions of IFBench (Pyatkin et al. 2025) about counts, words and sentences."""

from __future__ import annotations

import re
import string
from collections import Counter
from itertools import groupby, pairwise

from evaluators.instructions.language import STOP_WORDS, sentences, treebank_words, word_set, words
from evaluators.instructions.registry import check
from leaderflow.core.errors import DataError

_NAMES = word_set(  # the list that the instruction itself gives
    "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin Harper Leo Zoe "
    "Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria Elijah Layla Nicholas Audrey "
    "David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan Stella Jonathan"
)
_CONJUNCTIONS = word_set("and but for nor or so yet")
_PRONOUNS = word_set(
    "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself ourselves yourself "
    "yourselves himself herself itself themselves this that these those who whom whose which what whoever whomever whatever "
    "whichever anybody anyone anything everybody everyone everything nobody nothing somebody someone something each either neither "
    "both all some any none"
)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_AUXILIARIES = word_set("am is are was were be been being have has had having do does did doing can will should")


def bare_words(text: str) -> list[str]:
    """Return the words between blanks in lower case, outer punctuation cut off, empty ones left out."""
    return [bare for word in text.lower().split() if (bare := word.strip(string.punctuation))]


def joined_words(text: str) -> list[str]:
    """Return the words between blanks in lower case after all punctuation was removed."""
    return text.lower().translate(_NO_PUNCTUATION).split()


def spoken_words(text: str) -> list[str]:
    """Return the words as the Penn Treebank cuts them, marks left out."""
    return [word for word in treebank_words(text) if any(char.isalnum() for char in word)]


@check("count:word_count_range")
def word_count_range(text: str, min_words: int, max_words: int) -> bool:
    """Return whether the number of words lies in a range."""
    return min_words <= len(words(text)) <= max_words


@check("count:unique_word_count")
def unique_word_count(text: str, N: int) -> bool:
    """Return whether there are enough different words."""
    return len({word.strip(string.punctuation) for word in text.lower().split()}) >= N


@check("count:numbers")
def numbers(text: str, N: int) -> bool:
    """Return whether there are exactly so many numbers; marks inside of a number do not divide it."""
    return len(re.findall(r"\d+", text.translate(_NO_PUNCTUATION))) == N


@check("count:person_names")
def person_names(text: str, N: int) -> bool:
    """Return whether enough names of the instruction's list come as words."""
    return sum(bool(re.search(rf"\b{name}\b", text)) for name in _NAMES) >= N


@check("count:conjunctions")
def conjunctions(text: str, small_n: int) -> bool:
    """Return whether enough different coordinating conjunctions are used; each way of writing one counts."""
    return len({word for word in text.split() if word.strip(string.punctuation).lower() in _CONJUNCTIONS}) >= small_n


@check("count:pronouns")
def pronouns(text: str, N: int) -> bool:
    """Return whether enough pronouns are used, those between slashes one by one."""
    return sum(word in _PRONOUNS for word in treebank_words(text.lower().replace("/", " "))) >= N


@check("count:words_japanese")
def words_japanese(text: str, N: int) -> bool:
    """Return whether every N-th word holds Japanese characters; numbers and marks alone pass."""
    nth = [word.strip(string.punctuation) for word in text.split()[int(N) - 1 :: int(N)]]
    return all(re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", word) for word in nth if word and not word.isdigit())


@check("count:punctuation")
def punctuation(text: str) -> bool:
    """Return whether every mark is used, the interrobang included and besides."""
    if not any(mark in text for mark in ("?!", "!?", "‽")):
        return False
    rest = text.replace("?!", "", 1) if "?!" in text else text.replace("!?", "", 1)
    return all(mark in rest for mark in ".,!?;:")


@check("count:keywords_multiple")
def keywords_multiple(text: str, keyword1: str, keyword2: str, keyword3: str, keyword4: str, keyword5: str) -> bool:
    """Return whether five keywords come as words 1, 2, 3, 5 and 7 times."""
    wanted = zip((keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7), strict=True)
    return all(len(_word(word).findall(text)) == n for word, n in wanted)


def _word(keyword: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(keyword.strip())}\b", re.IGNORECASE)


@check("words:alphabet")
def alphabet(text: str) -> bool:
    """Return whether each word starts with the letter after the last one's, a after z."""
    letters = [word[0] for word in joined_words(text)]
    if not letters or not "a" <= letters[0] <= "z":
        return False
    return all(ord(b) == ord("a") + (ord(a) - ord("a") + 1) % 26 for a, b in pairwise(letters))


@check("words:vowel")
def vowel(text: str) -> bool:
    """Return whether one paragraph uses at most three different vowels."""
    return "\n" not in text.strip() and len(set(text.lower()) & set("aeiou")) <= 3


@check("words:consonants")
def consonants(text: str) -> bool:
    """Return whether each word has two consonants in a row."""
    return all(re.search(r"[b-df-hj-np-tv-z]{2}", word) for word in text.lower().split())


@check("words:palindrome")
def palindrome(text: str) -> bool:
    """Return whether there are ten palindromes of five letters or more."""
    return sum(len(word) >= 5 and word == word[::-1] for word in joined_words(text)) >= 10


@check("words:prime_lengths")
def prime_lengths(text: str) -> bool:
    """Return whether every word has a prime number of characters."""
    lengths = [len(word) for word in joined_words(text)]
    return all(n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in lengths)


@check("words:repeats")
def repeats(text: str, small_n: int) -> bool:
    """Return whether no word comes more often."""
    return all(n <= small_n for n in Counter(joined_words(text)).values())


@check("words:no_consecutive")
def no_consecutive(text: str) -> bool:
    """Return whether no two words in a row start with the same letter."""
    return all(a[0] != b[0] for a, b in pairwise(joined_words(text)))


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
    found = treebank_words(text)
    if not found or found[0].lower() in STOP_WORDS - _AUXILIARIES:
        return False
    from nltk import pos_tag

    try:
        return "VB" in pos_tag(found)[0][1]
    except LookupError:
        raise DataError("words:start_verb needs nltk's tagger: python -m nltk.downloader averaged_perceptron_tagger_eng") from None


@check("sentence:keyword")
def sentence_keyword(text: str, word: str, N: int) -> bool:
    """Return whether the N-th sentence holds a word."""
    found = sentences(text)
    return 1 <= N <= len(found) and bool(_word(word).search(found[N - 1]))


@check("sentence:increment")
def increment(text: str, small_n: int) -> bool:
    """Return whether each sentence has exactly so many words more than the last one."""
    counts = [len(joined_words(sentence)) for sentence in sentences(text)]
    return all(b - a == small_n for a, b in pairwise(counts))


@check("sentence:alliteration_increment")
def alliteration_increment(text: str) -> bool:
    """Return whether each sentence has more words in alliterating runs than the last one."""
    counts = []
    for sentence in sentences(text):
        letters = [bare[0] for word in sentence.lower().split() if (bare := word.lstrip(string.punctuation))]
        runs = [len(list(run)) for _, run in groupby(letters)]
        counts.append(sum(n for n in runs if n > 1))
    return all(b > a for a, b in pairwise(counts))


@check("words:keywords_specific_position")
def keywords_specific_position(text: str, keyword: str, n: int, m: int) -> bool:
    """Return whether the m-th word of the n-th sentence is a keyword."""
    found = sentences(text)
    listed = spoken_words(found[int(n) - 1]) if 1 <= n <= len(found) else []
    return 1 <= m <= len(listed) and listed[int(m) - 1].lower() == keyword.strip().lower()


@check("words:words_position")
def words_position(text: str, keyword: str) -> bool:
    """Return whether a keyword is the second and the last but one word."""
    found = [word.lower() for word in spoken_words(text)]
    return len(found) >= 2 and found[1] == found[-2] == keyword.strip().lower()
