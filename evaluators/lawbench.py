"""LawBench (Fei et al. 2023), task by task: 0–100, more is better.

``abstention_rate`` is the share of answers that name nothing, less is better.

Tasks: 1-1, 2-7, 3-2, 3-8 (ROUGE-L over jieba's words), 1-2, 2-8 (letters), 2-4 (topics), 3-1 and 3-3 (F1 of articles and
charges), 3-4 and 3-5 (logarithmic distance of prison terms), 3-7 (amounts), and those of `evaluators.lawbench_labels`. Not 2-1,
whose F0.5 counts the edits that ChERRANT's linguistic alignment finds, nor 3-6, whose references have a form not known here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar

from evaluators.base import Evaluator
from evaluators.lawbench_labels import SCORES, focus_of, reading, set_f1
from evaluators.rouge import chinese_rouge_l
from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.types import Json, Row

_TOPICS = (
    "婚姻家庭 劳动纠纷 交通事故 债权债务 刑事辩护 合同纠纷 房产纠纷 侵权 公司法 医疗纠纷 拆迁安置 "
    "行政诉讼 建设工程 知识产权 综合咨询 人身损害 涉外法律 海事海商 消费权益 抵押担保"
)
_LONGEST_TERM = 216
"""Months that the logarithmic distance is measured against."""

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}

Judge = Callable[[str, str, Collection[str]], float | None]
"""Answer, reference, all charges of the set → 0–1, or None for an answer that names nothing."""


def chinese_number(text: str) -> int:
    """Return the value of a whole number in digits or Chinese numerals below ten thousand."""
    if text.isdecimal():
        return int(text)
    total, current = 0, 0
    for char in text:
        if char in _UNITS:
            total, current = total + (current or 1) * _UNITS[char], 0
        else:
            current = _DIGITS[char]
    return total + current


def _letter_of(reference: str) -> str:
    if found := re.search(r"正确答案[：\]]([A-E])", reference):
        return found[1]
    raise DataError(f"a LawBench reference must name its letter, got {reference!r}")


def _letter(answer: str, reference: str, known: Collection[str]) -> float | None:
    wanted = _letter_of(reference)
    named = set(re.findall("[A-E]", answer))
    return None if not named else float(named == {wanted})


def _topic(answer: str, reference: str, known: Collection[str]) -> float | None:
    named = [topic for topic in _TOPICS.split() if topic in answer]
    if named and reference not in _TOPICS.split():
        raise DataError(f"LawBench 2-4 knows no topic {reference!r}")
    return None if not named else float(named == [reference])


def _articles(answer: str, reference: str, known: Collection[str]) -> float | None:
    sides = [
        {chinese_number(n) for n in re.findall(r"第(\d+|[零〇一二两三四五六七八九十百千]+)条", text)}
        for text in (answer, reference)
    ]
    return None if not sides[0] else set_f1(*sides)


def _charges(answer: str, reference: str, known: Collection[str]) -> float | None:
    named = {charge for charge in known if charge in answer}
    return None if not named else set_f1(named, _listed(reference))


def _listed(reference: str) -> list[str]:
    return [part for part in reference.removeprefix("罪名:").split(";") if part]


def _term(answer: str, reference: str, known: Collection[str]) -> float | None:
    months = _months(answer)
    wanted = _months(reference)
    if months is None or wanted is None:
        return None
    return 1 - min(1.0, abs(math.log(months + 1) - math.log(wanted + 1)) / math.log(_LONGEST_TERM))


def _months(text: str) -> int | None:
    numeral = r"(\d+|[零〇一二两三四五六七八九十百]+)"
    years, months = re.search(rf"{numeral}年", text), re.search(rf"{numeral}个?月", text)
    if not years and not months:
        return None
    return 12 * (chinese_number(years.group(1)) if years else 0) + (chinese_number(months.group(1)) if months else 0)


def _amount(answer: str, reference: str, known: Collection[str]) -> float | None:
    given, wanted = ([float(n) for n in re.findall(r"\d+\.?\d*", text)] for text in (answer, reference))
    return None if not given else float(bool(wanted) and wanted[0] in given)


def _rouge(answer: str, reference: str, known: Collection[str]) -> float:
    return chinese_rouge_l(answer, reference)


def _recital(answer: str, reference: str, known: Collection[str]) -> float:
    return chinese_rouge_l(answer, reference.removeprefix("答案:"))


class LawBenchEvaluator(Evaluator):
    """One task of LawBench (OpenCompass' ``LawBenchEvaluator_1_1`` and so on).

    Args:
        index: the task, such as ``1-2``.
    """

    judges: ClassVar[Mapping[str, Judge]] = {
        "1-1": _recital,
        "1-2": _letter,
        "2-4": _topic,
        "2-7": _rouge,
        "2-8": _letter,
        "3-1": _articles,
        "3-2": _rouge,
        "3-3": _charges,
        "3-4": _term,
        "3-5": _term,
        "3-7": _amount,
        "3-8": _rouge,
        **SCORES,
    }
    units: ClassVar[Mapping[str, tuple[float | None, bool]]] = {"abstention_rate": (100.0, False)}

    def __init__(self, index: str) -> None:
        if index not in self.judges:
            raise SpecError(f"LawBench task {index!r} is not scored here; tasks: {', '.join(self.judges)}")
        self.judge = self.judges[index]
        self.known: Collection[str] = ()
        self.abstains = self.judge not in (_rouge, _recital, reading)

    def check_row(self, reference: Json, row: Row) -> None:
        """See that a letter or a topic is one."""
        if self.judge is _letter:
            _letter_of(str(reference))
        if self.judge is SCORES["2-2"]:
            focus_of(str(reference))
        if self.judge is _topic and reference not in _TOPICS.split():
            raise DataError(f"LawBench 2-4 knows no topic {reference!r}")

    def survey(self, references: Iterable[Any]) -> None:
        """Note the charges that any reference lists."""
        if self.judge is _charges:
            self.known = {charge for reference in references for charge in _listed(str(reference))}

    def observe(self, prediction: Any, reference: Any, row: Row) -> dict[str, float]:
        """Return score and abstention of an answer."""
        score = self.judge(str(prediction), str(reference), self.known)
        return {"score": score or 0.0} | ({"abstention_rate": float(score is None)} if self.abstains else {})


def __getattr__(name: str) -> Callable[[], LawBenchEvaluator]:
    """Return the evaluator of one task, which configurations call ``LawBenchEvaluator_1_1`` and so on."""
    index = name.removeprefix("LawBenchEvaluator_").replace("_", "-")
    if index not in LawBenchEvaluator.judges:
        raise AttributeError(name)
    return lambda: LawBenchEvaluator(index)
