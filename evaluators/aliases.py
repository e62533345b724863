"""Answers that may match any of several references. All: 0–100, more is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.demands import TEXTS, Demand
from evaluators.normalise import squad
from evaluators.postprocessors.lines import general
from evaluators.tokens import token_f1
from leaderflow.core.types import Row


class AnyOf(Evaluator):
    """Right where one reference matches. Recorded: a reference that is no list is taken character by character."""

    metric = "score"

    def clean(self, text: str) -> str:
        """Return the form in which a prediction is compared."""
        return general(text)

    def candidates(self, reference: Any) -> Sequence[str]:
        """Return the forms of the references that count as a match."""
        return [general(text).lower() for text in reference]

    def matches(self, answer: str, candidate: str) -> bool:
        """Return whether a cleaned answer matches one candidate."""
        return answer == candidate

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return right or wrong, with the cleaned answer as detail."""
        answer = self.clean(str(prediction))
        right = any(self.matches(answer, candidate) for candidate in self.candidates(reference))
        return Rating({self.metric: float(right)}, right, {"pred": answer})


class EMEvaluator(AnyOf):
    """Equal to a reference as it stands or after ``general`` cleaning; case counts (OpenCompass ``EMEvaluator``)."""

    demands = (TEXTS,)

    def candidates(self, reference: Any) -> Sequence[str]:
        """Return the references raw and cleaned."""
        return [general(text) for text in reference] + list(reference)


class NQEvaluator(AnyOf):
    """A reference anywhere in the first line's answer (OpenCompass ``NQEvaluator``; Kwiatkowski et al. 2019)."""

    demands: Sequence[Demand] = (TEXTS,)

    def clean(self, text: str) -> str:
        """Return the first line after ``answer is``, lower case, cleaned."""
        return general(text.strip().split("\n")[0].lower().split("answer is")[-1])

    def matches(self, answer: str, candidate: str) -> bool:
        """Return whether the candidate is part of the answer; an empty one always is."""
        return candidate in answer


class TriviaQAEvaluator(NQEvaluator):
    """As ``NQEvaluator``, with ``answer:`` as a second marker (OpenCompass ``TriviaQAEvaluator``; Joshi et al. 2017)."""

    def clean(self, text: str) -> str:
        """Return the first line after ``answer is`` or ``answer:``, lower case, cleaned."""
        line = text.strip().split("\n")[0].lower().split("answer is")[-1]
        return general(line.split("answer:")[-1])


class SQuAD20Evaluator(AnyOf):
    """Equal to a reference after cleaning (OpenCompass ``SQuAD20Evaluator``; Rajpurkar et al. 2018)."""

    demands = (TEXTS,)

    def clean(self, text: str) -> str:
        """Return the first line after ``answer is``, lower case, cleaned."""
        return general(text.split("\n", 1)[0].lower().split("answer is")[-1])


class NQEvaluatorCN(AnyOf):
    """Equal to a reference after cleaning, with a Chinese marker (OpenCompass ``NQEvaluatorCN``)."""

    demands = (TEXTS,)

    def clean(self, text: str) -> str:
        """Return the first line after the Chinese "the answer is", lower case, cleaned."""
        return general(text.split("\n", 1)[0].lower().split("答案是：")[-1])


class LEvalEMEvaluator(NQEvaluator):
    """The reference anywhere in the answer, both cleaned (OpenCompass ``LEvalEMEvaluator``; An et al. 2023)."""

    demands: Sequence[Demand] = ()

    def clean(self, text: str) -> str:
        """Return the cleaned answer."""
        return general(text)

    def candidates(self, reference: Any) -> Sequence[str]:
        """Return the one reference."""
        return [general(str(reference))]


class TydiQAEvaluator(Evaluator):
    """Exact match and token F1, the best over the references (OpenCompass ``TydiQAEvaluator``; Clark et al. 2020).

    Recorded: the answer is lower-cased, the references are not.
    """

    metric = "exact_match"
    demands = (TEXTS,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return both numbers."""
        answer, golds = general(str(prediction).split("\n", 1)[0].lower()), [general(text) for text in reference]
        exact = answer in golds
        f1 = max((token_f1(answer.split(), gold.split()) for gold in golds), default=0.0)
        return Rating({"exact_match": float(exact), "f1": f1}, exact, {"pred": answer})


class DropOpenAIEvaluator(AnyOf):
    """One text contains the other after SQuAD cleaning; references split at ``|`` (simple-evals' DROP; Dua et al. 2019)."""

    metric = "accuracy"

    def clean(self, text: str) -> str:
        """Return what stands behind ``Answer:``, else the whole text, cleaned."""
        found = re.search(r"(?i)Answer\s*:\s*([^\n]+)", text)
        return squad(found.group(1) if found else text)

    def candidates(self, reference: Any) -> Sequence[str]:
        """Return the accepted answers."""
        return [squad(text) for text in str(reference).split("|")]

    def matches(self, answer: str, candidate: str) -> bool:
        """Return whether one contains the other; an empty text matches only an empty one."""
        return answer == candidate if not (answer and candidate) else answer in candidate or candidate in answer
