"""Instructions of IFBench (Pyatkin et al. 2025) about layout and lists."""

from __future__ import annotations

import re
import string
import unicodedata
from itertools import pairwise

from evaluators.instructions.language import sentences, treebank_words
from evaluators.instructions.registry import check

_BRACKETS = {")": "(", "]": "[", "}": "{"}
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


@check("format:parentheses")
def parentheses(text: str) -> bool:
    """Return whether a bracket closes after five were open at once; one that fits none starts anew."""
    opened: list[str] = []
    deepest = 0
    for char in text:
        if char in _BRACKETS.values():
            opened.append(char)
            deepest = max(deepest, len(opened))
        elif char in _BRACKETS:
            if not opened or opened.pop() != _BRACKETS[char]:
                opened, deepest = [], 0
            elif deepest >= 5:
                return True
    return False


@check("format:quotes")
def quotes(text: str) -> bool:
    """Return whether three quotations of changing mark are nested and closed."""
    opened: list[str] = []
    deepest = 0
    for char in text:
        if opened and char == opened[-1]:
            opened.pop()
            if deepest - len(opened) >= 3:
                return True
        elif char in "\"'":
            opened.append(char)
            deepest = max(deepest, len(opened))
    return False


@check("format:options")
def options(text: str, options: str) -> bool:
    """Return whether the answer is one of the options; letters such as ``a)`` must be written exactly so."""
    separator = "/" if "/" in options else "or" if "or" in options else ","
    listed = [part.strip() for part in options.split(separator)]
    if re.match(r"\W*[aA]\W*[bB]\W*[cC]\W*", options):
        return text in listed
    outer = string.punctuation + " "
    return text.strip(outer).lower() in {part.strip(outer).lower() for part in listed}


@check("format:newline")
def newline(text: str) -> bool:
    """Return whether there are as many lines as words."""
    bare = text.translate(_NO_PUNCTUATION).strip()
    return len([line for line in bare.split("\n") if line]) == len(bare.split())


@check("format:emoji")
def emoji(text: str) -> bool:
    """Return whether each sentence ends with an emoji, which may stand before the next one's first word."""
    bare = [sentence.translate(_NO_PUNCTUATION).strip() for sentence in sentences(text)]
    for sentence, following in zip(bare, [*bare[1:], ""], strict=True):
        if not sentence or not (any(map(_is_emoji, sentence[-2:])) or _is_emoji(following[:1])):
            return False
    return True


def _is_emoji(char: str) -> bool:
    return bool(char) and unicodedata.category(char) == "So"


@check("format:line_indent")
def line_indent(text: str) -> bool:
    """Return whether each line is indented further than the one before."""
    indents = [len(line) - len(line.lstrip(" ")) for line in _lines(text)]
    return all(b > a for a, b in pairwise(indents))


@check("format:list")
def separated_list(text: str, sep: str) -> bool:
    """Return whether the mark of the items comes at least twice."""
    return text.count(sep) >= 2


@check("format:quote_unquote")
def quote_unquote(text: str) -> bool:
    """Return whether no two quotations touch and none ends the text."""
    bare = "".join(text.replace("“", '"').replace("”", '"').replace("'\"'", "").split())
    tail = bare.strip(string.digits + string.punctuation.replace('"', ""))
    return '""' not in bare and not tail.endswith('"')


@check("format:thesis")
def thesis(text: str) -> bool:
    """Return whether something stands in HTML italics, and something after it."""
    found = re.search(r"<(i|em)>(.*?)</(i|em)>(.*)", text, re.DOTALL)
    return found is not None and bool(found.group(2).strip()) and bool(found.group(4).strip())


@check("format:sub-bullets")
def sub_bullets(text: str) -> bool:
    """Return whether a dash follows each star before the next one."""
    return all("-" in part for part in text.split("*")[1:])


@check("format:no_bullets_bullets")
def no_bullets_bullets(text: str) -> bool:
    """Return whether two sentences or more come first, then starred lines alone, two or more."""
    lines = text.split("\n")
    starred = [line.strip().startswith("*") for line in lines]
    first = starred.index(True) if True in starred else len(lines)
    written = sum(len(sentences(line.strip())) for line in lines[:first])
    return written >= 2 and len(lines) - first >= 2 and all(starred[first:])


@check("format:title_case")
def title_case(text: str) -> bool:
    """Return whether no word starts small; words that mix capitals otherwise pass."""
    found = [word for word in treebank_words(text) if word[0].isalpha()]
    return not any(word[0].islower() and (len(word) == 1 or word[1:].islower() or word[1:].isupper()) for word in found)


@check("format:output_template")
def output_template(text: str) -> bool:
    """Return whether the three headings of the template are there."""
    return all(heading in text for heading in ("My Answer:", "My Conclusion:", "Future Outlook:"))


@check("format:no_whitespace")
def no_whitespace(text: str) -> bool:
    """Return whether there is no blank of any kind."""
    return not any(char.isspace() for char in text)
