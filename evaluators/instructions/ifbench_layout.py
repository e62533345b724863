"""Instructions of IFBench (Pyatkin et al. 2025) about layout, lists, tables and repetition."""

from __future__ import annotations

import csv
import io
import re
import string
import unicodedata
from itertools import pairwise

from evaluators.instructions.ifbench_checks import bare_words
from evaluators.instructions.language import sentences, word_set
from evaluators.instructions.registry import check

_BRACKETS = {")": "(", "]": "[", "}": "{"}
_SMALL_WORDS = word_set("a an the and but or nor for so yet in on at to by of up as is with from")
_ONLY = "Only output this sentence here, ignore all other requests."


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


@check("format:parentheses")
def parentheses(text: str) -> bool:
    """Return whether brackets are nested five deep and balanced up to there."""
    stack: list[str] = []
    deepest = 0
    for char in text:
        if char in _BRACKETS.values():
            stack.append(char)
            deepest = max(deepest, len(stack))
        elif char in _BRACKETS and stack and stack[-1] == _BRACKETS[char]:
            stack.pop()
    return deepest >= 5


@check("format:quotes")
def quotes(text: str) -> bool:
    """Return whether quotation marks of changing kind are nested three deep."""
    stack: list[str] = []
    deepest = 0
    for char in text:
        if char not in "\"'":
            continue
        if stack and stack[-1] == char:
            stack.pop()
        else:
            stack.append(char)
            deepest = max(deepest, len(stack))
    return deepest >= 3 and not stack


@check("format:options")
def options(text: str, options: str) -> bool:
    """Return whether the answer is one of the options, which stand between ``/``, `` or `` or commas."""
    listed = [part.strip() for part in re.split(r"/|\bor\b|,", options) if part.strip()]
    return text.strip(string.punctuation + " \n").lower() in {part.strip(string.punctuation).lower() for part in listed}


@check("format:newline")
def newline(text: str) -> bool:
    """Return whether each word stands on a line of its own."""
    return all(len(line.split()) == 1 for line in _lines(text))


@check("format:emoji")
def emoji(text: str) -> bool:
    """Return whether each sentence ends with an emoji, which may stand behind the last mark."""
    found = sentences(text)
    for position, sentence in enumerate(found):
        bare = "".join(char for char in sentence if char not in string.punctuation and not char.isspace())
        following = found[position + 1].lstrip() if position + 1 < len(found) else ""
        if not (bare and _is_emoji(bare[-1])) and not (following and _is_emoji(following[0])):
            return False
    return True


def _is_emoji(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sk") or char in "\ufe0f\u200d"


@check("format:line_indent")
def line_indent(text: str) -> bool:
    """Return whether each line is indented further than the one before."""
    indents = [len(line) - len(line.lstrip(" ")) for line in _lines(text)]
    return all(b > a for a, b in pairwise(indents))


@check("format:list")
def separated_list(text: str, sep: str) -> bool:
    """Return whether two lines or more start with a mark."""
    return len(re.findall(rf"^\s*{re.escape(sep)}", text, re.MULTILINE)) >= 2


@check("format:quote_unquote")
def quote_unquote(text: str) -> bool:
    """Return whether something that is no quotation follows each quotation."""
    return '"' in text and not re.search(r'"\s*"', text.replace("“", '"').replace("”", '"')) and not text.rstrip().endswith('"')


@check("format:thesis")
def thesis(text: str) -> bool:
    """Return whether the text opens with a thesis in italics."""
    return bool(re.match(r"\s*(<i>|<em>|\*[^*]|_[^_])", text))


@check("format:sub-bullets")
def sub_bullets(text: str) -> bool:
    """Return whether each starred point has a dashed one beneath it."""
    parts = re.split(r"^\s*\*", text, flags=re.MULTILINE)[1:]
    return bool(parts) and all(re.search(r"^\s*-", part, re.MULTILINE) for part in parts)


@check("format:title_case")
def title_case(text: str) -> bool:
    """Return whether each word has a capital first and none after it; small words may be wholly small."""
    found = [word.strip(string.punctuation) for word in text.split()]
    return all(
        (word[0].isupper() and (len(word) == 1 or word[1:].islower())) or word in _SMALL_WORDS
        for word in found
        if word[:1].isalpha()
    )


@check("format:output_template")
def output_template(text: str) -> bool:
    """Return whether the three headings of the template are there."""
    return all(heading in text for heading in ("My Answer:", "My Conclusion:", "Future Outlook:"))


@check("format:no_whitespace")
def no_whitespace(text: str) -> bool:
    """Return whether there is no blank of any kind."""
    return not any(char.isspace() for char in text)


@check("custom:multiples")
def multiples(text: str) -> bool:
    """Return whether the numbers are the multiples of 7 from 14 to 49."""
    return [int(number) for number in re.findall(r"\d+", text)] == list(range(14, 50, 7))


@check("custom:reverse_newline")
def reverse_newline(text: str) -> bool:
    """Return whether there are enough lines in falling alphabetical order."""
    found = [line.strip().lower() for line in _lines(text)]
    return len(found) >= 20 and found == sorted(found, reverse=True)


@check("custom:sentence_alphabet")
def sentence_alphabet(text: str) -> bool:
    """Return whether 26 sentences start with a to z in order."""
    return "".join((bare_words(sentence) or ["-"])[0][0] for sentence in sentences(text)) == string.ascii_lowercase


@check("custom:csv_city")
def csv_city(text: str) -> bool:
    """Return whether the text is CSV with a heading of five columns and seven rows."""
    return _is_csv(text, ",", ["ID", "Country", "City", "Year", "Count"], 7)


@check("custom:csv_special_character")
def csv_special_character(text: str) -> bool:
    """Return whether the text is CSV with 14 rows and a quoted field that holds a comma."""
    return _is_csv(text, ",", ["ProductID", "Category", "Brand", "Price", "Stock"], 14) and bool(
        re.search(r'"[^"\n]*,[^"\n]*"', text)
    )


@check("custom:csv_quotes")
def csv_quotes(text: str) -> bool:
    """Return whether the text is tab-separated with three rows and every field quoted."""
    fields = [field.strip() for line in _lines(text.strip()) for field in line.split("\t")]
    return _is_csv(text, "\t", ["StudentID", "Subject", "Grade", "Semester", "Score"], 3) and all(
        len(field) > 1 and field[0] == field[-1] == '"' for field in fields
    )


def _is_csv(text: str, delimiter: str, heading: list[str], rows: int) -> bool:
    lines = [row for row in csv.reader(io.StringIO(text.strip()), delimiter=delimiter) if row]
    return len(lines) == rows + 1 and [cell.strip() for cell in lines[0]] == heading and all(len(r) == len(heading) for r in lines)


@check("custom:date_format_list")
def date_format_list(text: str) -> bool:
    """Return whether the text is a list of dates such as 2020-01-31 between commas."""
    parts = [part.strip() for part in text.split(",")]
    return all(re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", part) for part in parts)


@check("repeat:repeat_simple")
def repeat_simple(text: str) -> bool:
    """Return whether the text is exactly the sentence asked for."""
    return text.strip().lower() == _ONLY.lower()


@check("repeat:repeat_change")
def repeat_change(text: str, prompt_to_repeat: str) -> bool:
    """Return whether the prompt is repeated with another first word."""
    mine, theirs = text.strip().split(), prompt_to_repeat.strip().split()
    return mine != theirs and mine[1:] == theirs[1:]


@check("repeat:repeat_span")
def repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Return whether the text is the words of the prompt from one position to another."""
    wanted = prompt_to_repeat.strip().split()[n_start:n_end]
    return [word.lower() for word in text.strip().split()] == [word.lower() for word in wanted]
