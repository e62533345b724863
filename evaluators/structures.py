"""Answers that are structures: grids, tables, equations, lists of key words. More is better everywhere."""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.demands import keys
from evaluators.exact import Accuracy
from evaluators.postprocessors.options import zebralogic_choice
from evaluators.postprocessors.structures import grid
from evaluators.syntax import literal, parsed_expression
from leaderflow.core.types import Row

_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class ARCPrizeEvaluator(Accuracy):
    """The same grid, 0–1 (OpenCompass ``ARCPrizeEvaluator``; Chollet 2019). The first grid counts; without one, ``[[0]]``."""

    scale = 1.0

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the grids are equal."""
        return bool(grid(str(prediction)) == reference)


class ZebraLogicGridEvaluator(Evaluator):
    """Cells of the solution found in a line that names the house, and puzzles wholly right; 0–100 (Lin et al. 2025).

    References are {header, rows}, the first column being the house.
    """

    demands = (keys("rows"),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return the share of cells and whether all are right."""
        lines, found = str(prediction).lower().split("\n"), []
        for house, *values in reference["rows"]:
            near = [line for line in lines if re.search(rf"(?<!\w){re.escape(str(house).lower())}(?!\w)", line)]
            found += [bool(near), *(any(str(value).lower() in line for line in near) for value in values)]
        share = sum(found) / len(found) if found else 0.0
        return Rating({"score": share, "cell_accuracy": share, "perfect_accuracy": float(share == 1)}, share == 1)


class ZebraLogicMCEvaluator(Evaluator):
    """The letter the answer settles on (OpenCompass ``ZebraLogicMCEvaluator``); 0–100."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the letter is the reference."""
        return zebralogic_choice(str(prediction)) == str(reference).strip().upper()


class Game24Evaluator(Evaluator):
    """The equation uses each given number once and gives 24; 0–1 (Yao et al. 2023). References are the numbers with blanks."""

    metric = "acc score"
    scale = 1.0

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the expression is a solution."""
        expression = str(prediction).strip()
        if Counter(re.findall(r"\d+", expression)) != Counter(re.findall(r"\d+", str(reference))):
            return False
        try:
            return arithmetic(expression) == 24
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            return False


def arithmetic(expression: str) -> Fraction:
    """Return the exact value of an expression of numbers, + − * / and brackets; nothing else is ever evaluated.

    Raises:
        ValueError: anything else stands in the expression.
    """

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return Fraction(str(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return -value(node.operand) if isinstance(node.op, ast.USub) else value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(expression)

    return value(parsed_expression(expression))


class OpenFinDataKWEvaluator(Accuracy):
    """All key words of the reference, which stand between ``、``, are in the answer (OpenCompass); 0–100."""

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether every key word was found."""
        return all(word in str(prediction) for word in str(reference).split("、"))


class korbenchEvaluator(Accuracy):
    """The first ``[[…]]`` of the answer is the reference as it stands, 0–100 (OpenCompass; KOR-Bench, Ma et al. 2024)."""

    needs = frozenset({"prompt_mode"})
    modes = frozenset({"0_shot", "3_shot", "mixed", "self-correction", "subquestions", "trick", "Multi-Q", "Multi-R", "Multi-RQ"})

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the bracketed text is the reference; an unknown mode is never right."""
        found = re.search(r"\[\[\s*(.*?)\s*\]\]", str(prediction), re.DOTALL)
        return row["prompt_mode"] in self.modes and found is not None and f"[[{found.group(1)}]]" == reference


class EDAccEvaluator(Accuracy):
    """The candidate nearest by edit distance, the first in ties, is the right one; 0–100 (OpenCompass; Levenshtein 1966).

    References are {candidates, label}; a candidate may be a list of texts, of which the nearest counts.
    """

    demands = (keys("candidates", "label"),)

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the nearest candidate has the reference's number."""
        from rapidfuzz.distance import Levenshtein

        def distance(candidate: str | Sequence[str]) -> int:
            texts = [candidate] if isinstance(candidate, str) else candidate
            return min(Levenshtein.distance(str(prediction), text) for text in texts)

        distances = [distance(candidate) for candidate in reference["candidates"]]
        return bool(distances.index(min(distances)) == reference["label"])


class CRUXEvalOEvaluator(Evaluator):
    """The predicted output is the right value, 0–100 (CRUXEval-O; Gu et al. 2024).

    Both are read as literals, so nothing is executed: an answer that calls anything is wrong, 1.0 is 1.
    """

    metric = "CRUXEval-O"

    def observe(self, prediction: Any, reference: Any, row: Row) -> bool:
        """Return whether the literals are equal."""
        try:
            return bool(literal(str(prediction).strip()) == literal(str(reference)))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return False
