"""The 25 instructions of IFEval (Zhou et al. 2023), as its official checker decides them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from evaluators.instructions.language import is_language, sentences, treebank_words, word_set, words
from evaluators.instructions.registry import check, compare
from leaderflow.core.errors import DataError

LANGUAGES = word_set("en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi")


@check("keywords:existence")
def keywords_exist(text: str, keywords: Sequence[str]) -> bool:
    """Return whether every keyword is found, whatever its case."""
    return all(re.search(word, text, re.IGNORECASE) for word in keywords)


@check("keywords:frequency")
def keyword_frequency(text: str, keyword: str, frequency: int, relation: str = "at least") -> bool:
    """Return whether a keyword comes often or seldom enough."""
    return compare(len(re.findall(keyword, text, re.IGNORECASE)), frequency, relation)


@check("keywords:forbidden_words")
def forbidden_words(text: str, forbidden_words: Sequence[str]) -> bool:
    """Return whether none of the words is found as a word."""
    return not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in forbidden_words)


@check("keywords:letter_frequency")
def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: str = "at least") -> bool:
    """Return whether a letter comes often or seldom enough; what is no letter is never counted."""
    wanted = letter.strip().lower()
    number = text.lower().count(wanted) if re.fullmatch("[a-z]", wanted) else 0
    return compare(number, let_frequency, let_relation)


@check("language:response_language")
def response_language(text: str, language: str) -> bool:
    """Return whether the text is in a language of IFEval's list."""
    if language not in LANGUAGES:
        raise DataError(f"IFEval knows no language {language!r}; one of {', '.join(sorted(LANGUAGES))}")
    return is_language(text, language)


@check("length_constraints:number_sentences")
def number_sentences(text: str, num_sentences: int, relation: str = "at least") -> bool:
    """Return whether there are enough or few enough sentences."""
    return compare(len(sentences(text)), num_sentences, relation)


@check("length_constraints:number_paragraphs")
def number_paragraphs(text: str, num_paragraphs: int) -> bool:
    """Return whether exactly so many paragraphs stand between ``***``; an empty one inside fails."""
    parts = [part.strip() for part in re.split(r"\s?\*\*\*\s?", text)]
    return all(parts[1:-1]) and sum(map(bool, parts)) == num_paragraphs


@check("length_constraints:number_words")
def number_words(text: str, num_words: int, relation: str = "at least") -> bool:
    """Return whether there are enough or few enough words."""
    return compare(len(words(text)), num_words, relation)


@check("length_constraints:nth_paragraph_first_word")
def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Return whether the number of paragraphs (between empty lines) and the first word of one of them are right."""
    parts = text.split("\n\n")
    filled = sum(bool(part.strip()) for part in parts)
    if nth_paragraph > filled or not parts[nth_paragraph - 1].strip():
        return False
    word = parts[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    return filled == num_paragraphs and re.split("[.,?!'\"]", word)[0].lower() == first_word.lower()


@check("detectable_content:number_placeholders")
def number_placeholders(text: str, num_placeholders: int) -> bool:
    """Return whether enough texts stand in square brackets."""
    return len(re.findall(r"\[.*?\]", text)) >= num_placeholders


@check("detectable_content:postscript")
def postscript(text: str, postscript_marker: str) -> bool:
    """Return whether the postscript's marker is found, whatever its case."""
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return bool(re.search(patterns.get(postscript_marker, postscript_marker.lower()), text.lower()))


@check("detectable_format:number_bullet_lists")
def number_bullet_lists(text: str, num_bullets: int) -> bool:
    """Return whether exactly so many lines start with ``*`` or ``-``."""
    stars, dashes = r"^\s*\*[^\*].*$", r"^\s*-.*$"
    return len(re.findall(stars, text, re.MULTILINE)) + len(re.findall(dashes, text, re.MULTILINE)) == num_bullets


@check("detectable_format:constrained_response")
def constrained_response(text: str) -> bool:
    """Return whether one of the three permitted answers is found."""
    return any(f"My answer is {answer}." in text for answer in ("yes", "no", "maybe"))


@check("detectable_format:number_highlighted_sections")
def number_highlighted_sections(text: str, num_highlights: int) -> bool:
    """Return whether enough texts stand between stars; doubly starred ones count again."""
    single = [part for part in re.findall(r"\*[^\n\*]*\*", text) if part.strip("*").strip()]
    double = [part for part in re.findall(r"\*\*[^\n\*]*\*\*", text) if part[2:-2].strip()]
    return len(single) + len(double) >= num_highlights


@check("detectable_format:multiple_sections")
def multiple_sections(text: str, section_spliter: str, num_sections: int) -> bool:
    """Return whether the section's word with a number comes often enough."""
    return len(re.split(rf"\s?{section_spliter}\s?\d+\s?", text)) - 1 >= num_sections


@check("detectable_format:json_format")
def json_format(text: str) -> bool:
    """Return whether the whole text, a code fence apart, is JSON."""
    bare = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        bare = bare.removeprefix(fence)
    try:
        json.loads(bare.removesuffix("```").strip())
    except ValueError:
        return False
    return True


@check("detectable_format:title")
def title(text: str) -> bool:
    """Return whether some text stands in double angle brackets."""
    return any(part.lstrip("<").rstrip(">").strip() for part in re.findall(r"<<[^\n]+>>", text))


@check("combination:two_responses")
def two_responses(text: str) -> bool:
    """Return whether two different texts stand around six stars."""
    parts = [part.strip() for part in text.split("******")]
    filled = [part for part in parts if part]
    return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]


@check("combination:repeat_prompt")
def repeat_prompt(text: str, prompt_to_repeat: str) -> bool:
    """Return whether the text starts with the prompt, whatever its case."""
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


@check("startend:end_checker")
def end_checker(text: str, end_phrase: str) -> bool:
    """Return whether the text ends with the phrase, closing quotes apart, whatever its case."""
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


@check("startend:quotation")
def quotation(text: str) -> bool:
    """Return whether the whole text stands in double quotes."""
    bare = text.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == '"'


@check("change_case:capital_word_frequency")
def capital_word_frequency(text: str, capital_frequency: int, capital_relation: str = "at least") -> bool:
    """Return whether there are enough or few enough words in capitals."""
    return compare(sum(word.isupper() for word in treebank_words(text)), capital_frequency, capital_relation)


@check("change_case:english_capital")
def english_capital(text: str) -> bool:
    """Return whether the text is English in capitals."""
    return text.isupper() and is_language(text, "en")


@check("change_case:english_lowercase")
def english_lowercase(text: str) -> bool:
    """Return whether the text is English without capitals."""
    return text.islower() and is_language(text, "en")


@check("punctuation:no_comma")
def no_comma(text: str) -> bool:
    """Return whether there is no comma."""
    return "," not in text
