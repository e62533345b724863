"""Our own evaluators: what our recipes use. All 0–100, more is better.

References may be one value or a list of accepted ones; any of them counts, and none is ever joined to another.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.exact import Accuracy
from evaluators.mathverify import AT_ONCE, rated
from evaluators.normalise import cut, number
from evaluators.ratings import Ratings
from evaluators.tokens import token_f1
from leaderflow.core.types import Row

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_OF_NUMBERS = re.compile(r"(?<=\d)[./:-](?=\d)|(?<=\d),(?=\d)(?!\d{3}(?!\d))|(?<!\w)-(?=\.?\d)")
"""Punctuation inside numbers; the comma of thousands is none of it."""
_ASSIGNED = re.compile(r"(?:\s*\\?[A-Za-z]\w*(?:_\{\w+\})?(?:\([^()=]*\))?\s*|[^A-Za-z=]+)=")
"""A named or computed value (``x = 3``, ``f(x) = 2x``, ``1+1 = 2``): all that an equation and a plain value can have in common."""
_HAN = re.compile(r"[\u3400-\u9fff]")


def accepted(reference: Any) -> list[Any]:
    """Return the accepted values of a reference; a missing one accepts nothing."""
    return [gold for gold in (reference if isinstance(reference, list) else [reference]) if gold is not None]


def plain(text: Any) -> str:
    """Return a text for comparison: NFKC, casefolded, punctuation of any script removed, no English articles, single blanks.

    What makes a number another one is kept: its sign, and a point, slash, colon or hyphen between digits (-5, 1.5, 3/4, 10:30).
    A text of nothing else than punctuation and articles stays as it is.
    """
    folded = unicodedata.normalize("NFKC", str(text)).casefold()
    folded = "".join("-" if unicodedata.category(char) == "Pd" or char == "−" else char for char in folded)
    marks = {match.start() for match in _OF_NUMBERS.finditer(folded)}
    kept = "".join(c for at, c in enumerate(folded) if at in marks or not unicodedata.category(c).startswith("P"))
    return " ".join(_ARTICLES.sub(" ", kept).split()) or folded.strip()


class ExactMatch(Accuracy):
    """The whole answer equals a reference, as `plain` sees both; a part never counts (after SQuAD; Rajpurkar et al. 2016)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer is one of the accepted ones; a reference that is a JSON number is compared by value."""
        text, value = plain(prediction), number(prediction)
        return any(text == plain(gold) or (_is_number(gold) and _equal(value, number(gold))) for gold in accepted(reference))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class TokenF1(Evaluator):
    """Overlap of words, the best over the references (Rajpurkar et al. 2016); Chinese text is cut by jieba."""

    metric = "f1"

    def observe(self, prediction: Any, reference: Any, row: Row) -> dict[str, float]:
        """Return F1 and exact match of one answer."""
        answer, golds = plain(prediction), [plain(gold) for gold in accepted(reference)]
        f1 = max(token_f1(_words(answer), _words(gold)) for gold in golds)
        return {"f1": f1, "exact_match": float(answer in golds)}


def _words(text: str) -> list[str]:
    return [word for word in cut(text) if word.strip()] if _HAN.search(text) else text.split()


class NumberMatch(Accuracy):
    """The same number: two whole numbers exactly, others within a relative 1e-6. Never compared by text."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer is one of the accepted numbers."""
        value = number(prediction)
        return any(_equal(value, number(gold)) for gold in accepted(reference))


def _equal(left: Fraction | None, right: Fraction | None) -> bool:
    if left is None or right is None:
        return False
    if left.denominator == right.denominator == 1:
        return left == right
    return abs(left - right) <= Fraction(1, 10**6) * max(abs(left), abs(right))


class MathMatch(Accuracy):
    r"""The same mathematical object, by text, number or algebra (math-verify); equations are compared as equations.

    A wrapper such as ``\text{}``, ``\boxed{}`` or missing braces does not matter. Ten seconds a sample, then it is wrong.
    """

    block = AT_ONCE

    def observe_all(self, predictions: Sequence[Any], references: Sequence[Any], rows: Sequence[Row]) -> list[Rating]:
        """Return right or wrong for all answers; only pairs that text and numbers cannot settle go to the workers."""
        pairs = [(p, g) for p, r in zip(predictions, references, strict=True) for g in accepted(r)]
        open_pairs = [pair for pair in dict.fromkeys((str(p), str(g)) for p, g in pairs) if settled(*pair) is None]
        judged = rated(same_object, [p for p, _ in open_pairs], [g for _, g in open_pairs])
        verdicts = {pair: bool(rating.correct) for pair, rating in zip(open_pairs, judged, strict=True)}

        def right(answer: Any, gold: Any) -> bool:
            known = settled(str(answer), str(gold))
            return verdicts[str(answer), str(gold)] if known is None else known

        found = [any(right(p, g) for g in accepted(r)) for p, r in zip(predictions, references, strict=True)]
        return [Rating({self.metric: float(verdict)}, verdict) for verdict in found]


def settled(answer: str, gold: str) -> bool | None:
    """Return right or wrong where text or numbers decide, None where only algebra can."""
    from evaluators.mathtext import extended

    left, right = _unwrapped(answer), _unwrapped(gold)
    if not left:
        return False
    if extended(left) == extended(right):
        return True
    numbers = number(left), number(right)
    return None if None in numbers else _equal(*numbers)


def _unwrapped(text: str) -> str:
    text = text.strip().strip("$").strip()
    while match := re.fullmatch(r"\\(?:boxed|text|mathrm|mathbf|fbox)\{(.*)\}", text, re.DOTALL):
        text = match.group(1).strip()
    for sign, command in (("<=", r"\le "), (">=", r"\ge "), ("!=", r"\ne ")):  # only an equation has an equals sign
        text = text.replace(sign, command)
    return re.sub(r"\\sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)


def same_object(answer: str, gold: str) -> bool:
    """Return whether algebra finds two expressions, or two equations, to be the same."""
    from evaluators.mathtext import fractions
    from evaluators.mathverify import library

    parse, verify = library()
    sides = [fractions(_unwrapped(text)) for text in (gold, answer)]
    counts = [side.count("=") for side in sides]
    if counts == [1, 1]:
        return _same_equation(*sides)
    if sorted(counts) == [0, 1] and not _ASSIGNED.match(sides[counts.index(1)]):
        return False
    parsed = [parse(f"${side}$", parsing_timeout=None) for side in sides]
    return all(parsed) and bool(verify(parsed[0], parsed[1], timeout_seconds=None))


def _same_equation(left: str, right: str) -> bool:
    """Two equations with one solution set: their differences of sides are a constant multiple of each other."""
    from evaluators.mathverify import library

    parse, _ = library()
    differences = []
    for equation in (left, right):
        parsed = [parse(f"${side.strip()}$", parsing_timeout=None) for side in equation.split("=")]
        if not all(parsed) or any(isinstance(side[0], str) for side in parsed):
            return left.replace(" ", "") == right.replace(" ", "")
        differences.append((parsed[0][0] - parsed[1][0]).simplify())
    if differences[0] == 0 or differences[1] == 0:
        return bool(differences[0] == differences[1])
    return bool((differences[0] / differences[1]).simplify().is_constant())


class SetMatch(Accuracy):
    """The same set of options, in any order: ``A, B and C``, ``ACB`` and a list are one answer. A part is wrong."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether both name the same options."""
        return bool(options(reference)) and options(prediction) == options(reference)


def options(value: Any) -> frozenset[str]:
    """Return the letters that a list or a text names; words of other lengths than one are no options."""
    if isinstance(value, list):
        return frozenset(str(item).strip().upper() for item in value)
    text = str(value).upper().strip()
    if re.fullmatch(r"[A-Z]{1,26}", text):
        return frozenset(text)
    return frozenset(re.findall(r"(?<![A-Z])[A-Z](?![A-Z])", text))


class AllCorrect(Evaluator):
    """Share of groups of rows of which every one is right, as MultiRC's exact match (Khashabi et al. 2018), and accuracy.

    The error of ``exact_match`` counts groups, not rows. The first row of a group carries the group's verdict.

    Args:
        group: the columns whose values name a group, such as paragraph and question.
    """

    metric = "exact_match"

    def __init__(self, group: list[str]) -> None:
        self.group, self.needs = list(group), frozenset(group)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong with the row's group."""
        right = str(prediction) == str(reference)
        return Rating({"accuracy": float(right)}, right, data=(json.dumps([row[column] for column in self.group]), right))

    def couple(self, data: Sequence[tuple[str, bool]]) -> dict[int, float]:
        """Return each group's verdict at its first row."""
        verdicts: dict[str, tuple[int, bool]] = {}
        for place, (group, right) in enumerate(data):
            first, all_right = verdicts.get(group, (place, True))
            verdicts[group] = first, all_right and right
        return {first: float(all_right) for first, all_right in verdicts.values()}


class ChrF(Evaluator):
    """Corpus chrF2: up to 6 characters in a row, blanks left out, recall counting twice (Popović 2015; as sacrebleu)."""

    metric = "chrf"

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return n-gram counts (answer, reference, common) for each length, of the reference that fits best."""
        counts = [_ngram_counts(str(prediction), str(gold)) for gold in accepted(reference)]
        best = max(counts, key=_chrf)
        return Rating({self.metric: _chrf(best)}, data=tuple(best))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return chrF of the summed counts."""
        return {self.metric: 100 * _chrf(Ratings.of(ratings).totals())}


def _ngram_counts(answer: str, gold: str) -> list[tuple[int, ...]]:
    texts = ["".join(text.split()) for text in (answer, gold)]
    counts: list[tuple[int, ...]] = []
    for n in range(1, 7):
        grams = [Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in texts]
        counts.append((grams[0].total(), grams[1].total(), (grams[0] & grams[1]).total()))
    return counts


def _chrf(counts: Sequence[tuple[int, ...]]) -> float:
    orders = [(common / mine, common / theirs) for mine, theirs, common in counts if mine and theirs]
    if not orders:
        return 0.0
    precision, recall = (sum(side) / len(orders) for side in zip(*orders, strict=True))
    return 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0
