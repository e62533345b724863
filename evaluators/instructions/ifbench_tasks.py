"""Instructions of IFBench (Pyatkin et al. 2025) that are tasks of their own: sorted lists, tables, repetition."""

from __future__ import annotations

import csv
import io
import re
import string
import unicodedata
from itertools import pairwise

from evaluators.instructions.ifbench_checks import joined_words
from evaluators.instructions.language import sentences
from evaluators.instructions.registry import check

_CAPITALS = (
    "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw London Brussels "
    "Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb"
)
_ONLY = "Only output this sentence here, ignore all other requests."


@check("custom:multiples")
def multiples(text: str) -> bool:
    """Return whether the numbers are the multiples of 7 from 14 to 49."""
    return [int(number) for number in re.findall(r"\d+", text)] == list(range(14, 50, 7))


@check("custom:reverse_newline")
def reverse_newline(text: str) -> bool:
    """Return whether 52 lines or more from Zimbabwe on stand in falling alphabetical order, accents apart."""
    outer = string.punctuation + " "
    lines = [bare for line in text.split("\n") if (bare := line.strip(outer))]
    start = next((i for i, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    names = [_ascii(line) for line in lines[start:]]
    return len(names) >= 52 and names == sorted(names, reverse=True)


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


@check("custom:word_reverse")
def word_reverse(text: str) -> bool:
    """Return whether the words, read backwards, are one sentence that names the bald eagle."""
    turned = " ".join(joined_words(text)[::-1])
    return "bald eagle" in turned and sentences(turned) == [turned]


@check("custom:character_reverse")
def character_reverse(text: str) -> bool:
    """Return whether the bald eagle is named letter by letter backwards."""
    return "bald eagle"[::-1] in text.lower()


@check("custom:mcq_count_length")
def mcq_count_length(text: str) -> bool:
    """Return whether four questions with five options each, every one longer than the last, are all there is."""
    parts = [part for part in re.split(r"\n*Question \d+[.|):;]?\s*", text) if part.strip()]
    if not text.startswith("Question") or len(parts) != 4:
        return False
    lengths = []
    for part in parts:
        lines = [line.strip() for line in part.strip().split("\n")]
        marked = [bool(re.match(r"[A-Ea-e][.|)]\s*\w+", line)) for line in lines]
        if sum(marked) != 5:
            return False
        lengths.append(len(" ".join(lines[: marked.index(True)]).strip()))
    return all(a < b for a, b in pairwise(lengths))


@check("custom:european_capitals_sort")
def european_capitals_sort(text: str) -> bool:
    """Return whether the capitals north of 45 degrees are listed from north to south, accents apart."""
    return [part.strip() for part in _ascii(text).split(",") if part.strip()] == _CAPITALS.split()


@check("custom:sentence_alphabet")
def sentence_alphabet(text: str) -> bool:
    """Return whether 26 sentences start with a to z in order."""
    starts = [sentence.lstrip(string.punctuation + string.whitespace)[:1].lower() for sentence in sentences(text)]
    return "".join(starts) == string.ascii_lowercase and len(starts) == 26


@check("custom:csv_city")
def csv_city(text: str) -> bool:
    """Return whether the text is CSV with the heading asked for and seven rows."""
    rows = list(csv.reader(io.StringIO(text)))
    return len(rows) == 8 and rows[0] == ["ID", "Country", "City", "Year", "Count"] and all(len(row) == 5 for row in rows)


@check("custom:csv_special_character")
def csv_special_character(text: str) -> bool:
    """Return whether the text is CSV with 14 rows and a quoted field with a special character."""
    rows = _quoted_rows(text, ",", ["ProductID", "Category", "Brand", "Price", "Stock"], 14)
    return any(re.match(r'".*[^\d\w\s].*"', field) for row in rows[1:] for field in row)


@check("custom:csv_quotes")
def csv_quotes(text: str) -> bool:
    """Return whether the text is tab-separated with three rows and every field quoted."""
    rows = _quoted_rows(text, "\t", ["StudentID", "Subject", "Grade", "Semester", "Score"], 3)
    return bool(rows) and all(re.fullmatch(r'\s*".*"\s*', field) for row in rows for field in row)


def _quoted_rows(text: str, delimiter: str, heading: list[str], rows: int) -> list[list[str]]:
    """The rows with their quotation marks kept, none if heading, width or number are not those asked for."""
    found = list(csv.reader(io.StringIO(text.replace('"', '"""')), delimiter=delimiter))
    fits = len(found) == rows + 1 and all(len(row) == len(heading) for row in found)
    return found if fits and [field.strip().strip('"') for field in found[0]] == heading else []


@check("custom:date_format_list")
def date_format_list(text: str) -> bool:
    """Return whether the text is a list of dates of Napoleon's lifetime, such as 1805-12-02, between commas."""
    return all(_is_his_date(part.strip()) for part in text.strip().split(","))


def _is_his_date(text: str) -> bool:
    found = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    longest = 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    return 1769 <= year <= 1821 and month <= 12 and day <= longest


@check("repeat:repeat_simple")
def repeat_simple(text: str) -> bool:
    """Return whether the text is exactly the sentence asked for."""
    return text.strip().lower() == _ONLY.lower()


@check("repeat:repeat_change")
def repeat_change(text: str, prompt_to_repeat: str) -> bool:
    """Return whether the prompt is repeated with another first word."""
    return text != prompt_to_repeat and text.split()[1:] == prompt_to_repeat.split()[1:]


@check("repeat:repeat_span")
def repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Return whether the text is the words of the prompt from one position to another, both included, counted from 0."""
    wanted = prompt_to_repeat.split()[int(n_start) : int(n_end) + 1]
    return text.strip().lower() == " ".join(wanted).lower()
