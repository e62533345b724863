r"""Mathematical answers compared as normalised LaTeX text: fast, no algebra. All 0–100, more is better.

The first form is that of the MATH paper's scorer (Hendrycks et al. 2021), the second adds what later harnesses strip (units, text
commands, quotes, trailing zeros; Gou et al. 2023).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from evaluators.exact import Accuracy
from evaluators.postprocessors.latex import normalize_final_answer
from leaderflow.core.errors import SpecError
from leaderflow.core.types import Row

Form = Callable[[str], str]


def hendrycks(text: str) -> str:
    """Return an answer in the form of the MATH paper's scorer."""
    text = _common(text.replace("\n", "").replace("\\!", ""))
    text = text.replace("\\$", "")
    text = text.split("\\text{ ")[0] if text.count("\\text{ ") == 1 else text
    text = _dotted(text.replace("\\%", ""))
    text = fractions(_roots(_right_side(text)).replace(" ", ""))
    return simple_fraction("\\frac{1}{2}" if text == "0.5" else text)


def extended(text: str) -> str:
    """Return an answer in the second form."""
    text = _common(text.strip().replace("\n", "").rstrip(".").replace("\\!", "").replace("\\ ", ""))
    text = re.sub(r"\\text{.*?}$", "", text).strip() or text
    for gone in ("\\$", "$", "\\text", "x\\in", "\\%", "%"):
        text = text.replace(gone, "")
    text = text.replace(" .", " 0.").replace("{.", "{0.").replace("\\cdot", "").replace("infinity", "\\infty")
    text = text if "\\infty" in text else text.replace("inf", "\\infty")
    text = re.sub(r"\\mbox{.*?}", "", text.replace("and", "").replace("\\mathbf", ""))
    text = text.replace("'", "").replace('"', "")
    text = text.replace("j", "i") if "j" in text and "i" not in text else text
    text = re.sub(r"(\d+)\.0+(?!\d)", r"\1", text)
    return simple_fraction(fractions(_roots(_right_side(_leading_zero(text))).replace(" ", "")))


def _common(text: str) -> str:
    text = text.replace("\\\\", "\\").replace("tfrac", "frac").replace("dfrac", "frac")
    for gone in ("\\left", "\\right", "^{\\circ}", "^\\circ"):
        text = text.replace(gone, "")
    return text


def _dotted(text: str) -> str:
    return _leading_zero(text.replace(" .", " 0.").replace("{.", "{0."))


def _leading_zero(text: str) -> str:
    return f"0{text}" if text.startswith(".") else text


def _right_side(text: str) -> str:
    left, *right = text.split("=")
    return right[0] if len(right) == 1 and len(left) <= 2 else text


def _roots(text: str) -> str:
    return re.sub(r"\\sqrt([^{])", r"\\sqrt{\1}", text)


_CUT_FRACTION = re.compile(r"\\frac[^{]?(?=\\frac|\Z)", re.DOTALL)
_BARE_FRACTION = re.compile(r"\\frac([^{])(?:(?=\{)|(.))", re.DOTALL)


def fractions(text: str) -> str:
    r"""Return a text in which ``\frac12`` and ``\frac1{72}`` have their braces; unchanged if a fraction has no two parts."""
    if _CUT_FRACTION.search(text):
        return text
    return _BARE_FRACTION.sub(lambda m: f"\\frac{{{m[1]}}}" + (f"{{{m[2]}}}" if m[2] else ""), text)


def simple_fraction(text: str) -> str:
    r"""Return ``\frac{a}{b}`` for ``a/b`` of two whole numbers, any other text unchanged."""
    match = re.fullmatch(r"(-?\d+)/(-?\d+)", text)
    return f"\\frac{{{int(match[1])}}}{{{int(match[2])}}}" if match and text == f"{int(match[1])}/{int(match[2])}" else text


def equivalent(left: Any, right: Any, form: Form) -> bool:
    """Return whether two answers have one text in a form."""
    return form(str(left)) == form(str(right))


class MATHEvaluator(Accuracy):
    """One text in the form of a version, as it is or normalised further as by Minerva (OpenCompass ``MATHEvaluator``).

    Args:
        version: ``v1`` or ``v2``.
    """

    forms = {"v1": hendrycks, "v2": extended}  # noqa: RUF012

    def __init__(self, version: str = "v1") -> None:
        if version not in self.forms:
            raise SpecError(f"version must be v1 or v2, got {version!r}")
        self.form: Form = self.forms[version]

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the two answers are the same."""
        left, right = str(prediction), str(reference)
        shaped = self.form(left), self.form(right)
        minerva = normalize_final_answer
        return (
            shaped[0] == shaped[1] or minerva(shaped[0]) == minerva(shaped[1]) or minerva(left) == minerva(right) or left == right
        )


class MATHInternEvaluator(Accuracy):
    """One text in the first form, thousands separators removed (OpenCompass ``MATHInternEvaluator``)."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the two answers are the same."""
        return equivalent(prediction, reference, lambda text: hendrycks(re.sub(r"(?<=\d),(?=\d{3})", "", text)))


class AGIEvalEvaluator(Accuracy):
    """One text in the first form, after the answer was cut out of the solution (AGIEval's scorer; Zhong et al. 2023).

    The answer is the last box, else the last formula between dollar signs, else what follows the last ``=``, else the last number.
    """

    metric = "score"

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the answer found is the reference."""
        answer = cut_out(str(prediction))
        return answer is not None and equivalent(answer, reference, hendrycks)


def cut_out(text: str) -> str | None:
    """Return the final answer of a solution as AGIEval finds it, or None."""
    from evaluators.postprocessors.latex import last_boxed

    if "\\boxed" in text:
        return _after_equals(last_boxed(text))
    if dollars := re.findall(r"\$(.*)\$", text):
        return _after_equals(dollars[-1])
    if "=" in text:
        return (_after_equals(text) or "").rstrip(".").split("\\n")[0]
    numbers = re.findall(r"\$?\d+(?:\.\d+)?(?![\w\d])", text)
    return numbers[-1] if numbers else None


def _after_equals(text: str | None) -> str | None:
    return None if text is None else text.split("=")[-1].lstrip(" ")
