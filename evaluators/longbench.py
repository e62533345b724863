"""Long-context families: LongBench (Bai et al. 2023), InfiniteBench (Zhang et al. 2024), BABILong (Kuratov et al. 2024), MRCR.

All 0–100, more is better, unless a docstring says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.demands import ENTRIES, TEXTS, keys
from evaluators.exact import Accuracy
from evaluators.ratings import Ratings
from leaderflow.core.types import Row


def share_of_numbers(text: str, wanted: str) -> float:
    """Return which share of the whole numbers in a text are the wanted one."""
    numbers = re.findall(r"\d+", text)
    return numbers.count(wanted) / len(numbers) if numbers else 0.0


class LongBenchCountEvaluator(Evaluator):
    """Share of the answer's numbers that are the right count (LongBench's ``count_score``)."""

    demands = (ENTRIES,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the share for one answer, the best over the references."""
        return max(share_of_numbers(str(prediction), str(gold)) for gold in reference)


class LongBenchRetrievalEvaluator(Evaluator):
    """Share of the answer's numbers that name the right paragraph (LongBench's ``retrieval_score``).

    Args:
        language: ``en`` (references such as ``Paragraph 3``) or ``zh``.
    """

    demands = (TEXTS,)

    def __init__(self, language: str = "en") -> None:
        self.pattern = re.compile(r"Paragraph (\d+)" if language == "en" else r"段落(\d+)")

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the share for one answer, the best over the references."""
        numbers = [number for gold in reference for number in self.pattern.findall(gold)[:1]]
        return max((share_of_numbers(str(prediction), number) for number in numbers), default=0.0)


class LongBenchClassificationEvaluator(Evaluator):
    """1/m where the right class is among the m classes the answer names (LongBench's ``classification_score``).

    References are {all_classes, answers}.
    """

    demands = (keys("all_classes", "answers"),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the share for one answer, the best over the accepted classes."""
        return max((self._share(str(prediction), gold, reference["all_classes"]) for gold in reference["answers"]), default=0.0)

    def _share(self, text: str, gold: str, classes: Sequence[str]) -> float:
        named = [name for name in classes if name in text and not (name in gold and name != gold)]
        return 1 / len(named) if gold in named else 0.0


class LongBenchCodeSimEvaluator(Evaluator):
    """Edit similarity of the first line that is code, in whole per cent (LongBench's ``code_sim_score``)."""

    demands = (TEXTS,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the similarity of one answer, the best over the references."""
        from rapidfuzz.fuzz import ratio

        lines = str(prediction).lstrip("\n").split("\n")
        code = next((line for line in lines if not any(mark in line for mark in ("`", "#", "//"))), "")
        return max((round(ratio(code, gold)) / 100 for gold in reference), default=0.0)


class LongBenchv2Evaluator(Accuracy):
    """The same letter, overall and by the rows' ``difficulty`` and ``length`` (OpenCompass; LongBench v2, Bai et al. 2024)."""

    needs = frozenset({"difficulty", "length"})

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, once for each group the row belongs to."""
        right = prediction == reference
        groups = [g for g in (row["difficulty"], row["length"]) if g in ("easy", "hard", "short", "medium", "long")]
        return Rating(dict.fromkeys(["accuracy", *(f"accuracy_{group}" for group in groups)], float(right)), right)


class InfiniteBenchmathcalcEvaluator(Evaluator):
    """Mean number of intermediate results right before the first wrong one, times 100; from 0 on, more is better (recorded so).

    A sample's score is the share of its reference's results.
    """

    scale = None
    demands = (ENTRIES,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the results right before the first wrong one."""
        found = [int(number) for number in re.findall(r"[0-9]+", str(prediction))]
        hits = next((i for i, gold in enumerate(reference) if i >= len(found) or found[i] != gold), len(reference))
        return Rating({self.metric: hits / len(reference) if reference else 0.0}, data=hits)

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the mean number of right results times 100."""
        return {self.metric: 100 * fmean(Ratings.of(ratings).data)}


class InfiniteBenchretrievekvEvaluator(Evaluator):
    """The value stands in the answer as a word (InfiniteBench's ``kv_retrieval``)."""

    def words(self, text: str) -> list[str]:
        """Return the words of a text, punctuation taken as blanks."""
        return re.sub(r"""[\n:"'.,?!{}]""", " ", text).split()

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the value is a word of the answer."""
        return str(reference) in self.words(str(prediction))


class InfiniteBenchendiaEvaluator(InfiniteBenchretrievekvEvaluator):
    """One of the names stands in the answer as a word, whatever its case (InfiniteBench's ``longdialogue_qa_eng``)."""

    demands = (ENTRIES,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether a name is a word of the answer."""
        words = self.words(str(prediction).upper())
        return any(str(name).upper() in words for name in reference)


class BabiLongEvaluator(Evaluator):
    """The first reference stands in the answer's first sentence, whatever its case (OpenCompass ``BabiLongEvaluator``)."""

    demands = (ENTRIES,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the target was named."""
        return str(reference[0]).lower() in str(prediction).lower().split(".")[0]


class MRCREvaluator(Evaluator):
    """Similarity of the texts behind the required prefix, 0 without it (OpenAI's MRCR scorer; difflib's ratio).

    References are the JSON text of {answer, prefix}.
    """

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the similarity of one answer."""
        gold = json.loads(reference) if isinstance(reference, str) else reference
        if not prediction.startswith(gold["prefix"]):
            return 0.0
        texts = [text.removeprefix(gold["prefix"]) for text in (prediction, gold["answer"])]
        return SequenceMatcher(None, *texts).ratio()
