"""Share of answers equal to the reference, by several notions of equal. All: 0–100, more is better, right or wrong."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from evaluators.base import Evaluator
from evaluators.demands import SINGLE_VALUE, WHOLE_NUMBER, keys
from evaluators.postprocessors.numbers import tabmwp
from evaluators.postprocessors.phrases import bbeh_freeform, bbh_freeform
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row


class Accuracy(Evaluator):
    """Base of evaluators with one yes-or-no verdict a sample, reported as ``accuracy``."""

    metric = "accuracy"


class Equality(Accuracy):
    """Right where the two are equal after `clean`."""

    def clean(self, value: Any) -> Any:
        """Return the form in which a prediction and a reference are compared."""
        return value

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the cleaned prediction equals the cleaned reference."""
        return bool(self.clean(prediction) == self.clean(reference))


class AccEvaluator(Accuracy):
    """Equality of the text forms: 1 equals "1", but not 1.0 (OpenCompass ``AccEvaluator``; the ``accuracy`` metric of evaluate)."""

    demands = (SINGLE_VALUE,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether str(prediction) equals str(reference)."""
        if isinstance(prediction, list | dict) or isinstance(reference, list | dict):
            raise DataError(
                f"AccEvaluator compares single values, got {prediction!r} and {reference!r}; use an evaluator for lists"
            )
        return str(prediction) == str(reference)


class AccwithDetailsEvaluator(Equality):
    """Equality without any conversion: 1 is not "1" (OpenCompass ``AccwithDetailsEvaluator``)."""


class GPQAEvaluator(Equality):
    """The same letter (OpenCompass ``GPQAEvaluator``; Rein et al. 2023)."""


class MGSM_Evaluator(Equality):
    """The same text (OpenCompass ``MGSM_Evaluator``; Shi et al. 2022, after the simple-evals scorer)."""


class BBHEvaluator_mcq(Equality):
    """The same option (OpenCompass ``BBHEvaluator_mcq``; Suzgun et al. 2022)."""

    metric = "score"


class AGIEvalEvaluator_mcq(Equality):
    """The same letter (OpenCompass ``AGIEvalEvaluator_mcq``; Zhong et al. 2023)."""

    metric = "score"


class CharmReasonEvaluator(Equality):
    """The same text (OpenCompass ``CharmReasonEvaluator``; Sun et al. 2024)."""

    metric = "score"


class BBEHEvaluator_mcq(Equality):
    """The same option, whatever the case and outer blanks (OpenCompass ``BBEHEvaluator_mcq``; Kazemi et al. 2025)."""

    metric = "score"

    def clean(self, value: Any) -> Any:
        """Return the text in lower case without outer blanks."""
        return str(value).lower().strip()


class AccScoreStr_Evaluator(BBEHEvaluator_mcq):
    """The same text, whatever the case and outer blanks (OpenCompass ``AccScoreStr_Evaluator``, SeedBench)."""

    metric = "ACCStrScore"


class BBHEvaluator(Equality):
    """The same free-form answer after ``bbh-freeform`` cleaning, whatever the case (OpenCompass ``BBHEvaluator``)."""

    metric = "score"

    def clean(self, value: Any) -> Any:
        """Return the final answer in lower case, commas taken as blanks."""
        return " ".join(bbh_freeform(str(value).replace(",", " ")).lower().split())


class Gsm8kEvaluator(Accuracy):
    """The same text, or a number within 1e-6 of the whole-number reference (OpenCompass ``Gsm8kEvaluator``; Cobbe et al. 2021)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the two are the same text or number."""
        if prediction == reference:
            return True
        try:
            return abs(float(prediction) - int(reference)) < 1e-6
        except (TypeError, ValueError, OverflowError):
            return False


class Math401Evaluator(Accuracy):
    """Numbers less than 1e-6 apart (OpenCompass ``Math401Evaluator``; Yuan et al. 2023)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the two are the same number."""
        try:
            return abs(float(prediction) - float(reference)) < 1e-6
        except (TypeError, ValueError):
            return False


class MMLUProBaseEvaluator(Accuracy):
    """The option's letter (A–P) or its text, for references such as ``A. cat`` (OpenCompass ``MMLUProBaseEvaluator``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the first line is the reference's letter or text."""
        answer, parts = str(prediction).split("\n")[0].strip(), str(reference).split(". ")
        if len(parts) != 2:
            return False
        return (re.fullmatch("[A-P]", answer) is not None and answer == parts[0]) or answer == parts[1].strip()


class LambadaEvaluator(Accuracy):
    """The first word, up to the first character that is no letter, digit or underscore (OpenCompass ``LambadaEvaluator``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer's first word is the reference."""
        return re.split(r"\W", str(prediction).strip(), maxsplit=1)[0] == str(reference).strip()


class MusrEvaluator(Accuracy):
    """The number after ``ANSWER:`` (OpenCompass ``MusrEvaluator``; Sprague et al. 2023).

    Args:
        answer_index_modifier: added to the reference's number before it is compared.
        self_consistency_n: how many answers vote; only 1 is scored here, repeats vote by majority@n.
    """

    demands = (WHOLE_NUMBER,)

    def __init__(self, answer_index_modifier: int = 1, self_consistency_n: int = 1) -> None:
        self.shift, self.votes = answer_index_modifier, self_consistency_n

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the first stated number is the reference's."""
        found = re.search(r"ANSWER:[^\n\d]*(\d+)", str(prediction))
        return found is not None and int(found.group(1)) == int(reference)


class BBEHEvaluator(Equality):
    """The same free-form answer after ``bbeh_freeform`` cleaning, whatever the case (OpenCompass ``BBEHEvaluator``)."""

    metric = "score"

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the cleaned answer is the reference in lower case."""
        return bbeh_freeform(str(prediction)) == str(reference).strip().lower()


class TabMWPEvaluator(Accuracy):
    """The option or number that the answer states, as normalised text (the official TabMWP scorer; Lu et al. 2023).

    References are {answer, choices, unit}.
    """

    demands = (keys("answer", "choices", "unit"),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer is the reference."""
        options, unit = reference["choices"], reference["unit"]
        answer = tabmwp(str(prediction), options)
        return _table_number(answer, unit) == _table_number(reference["answer"], unit)


def _table_number(text: str, unit: str | None) -> str:
    """Numbers and fractions in three decimals without currency and unit; any other text in lower case."""
    bare = re.sub(r"^[$¥£]", "", str(text).strip()).replace(",", "")
    bare = bare.removesuffix(unit).strip() if unit else bare
    try:
        return str(round(float(Fraction(bare)), 3))
    except (ValueError, ZeroDivisionError):
        return str(text).strip().lower()
