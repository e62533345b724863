"""LV-Eval's optimised metrics (Yuan et al. 2024): 0 without the key words, else the overlap with the first reference."""

from __future__ import annotations

from collections import Counter
from typing import Any

from evaluators.demands import ENTRIES
from evaluators.rouge import rouge_l
from evaluators.tokens import LongBenchF1Evaluator, token_f1
from leaderflow.core.errors import DataError
from leaderflow.core.types import Row

# the words that LV-Eval does not accept as evidence of a key word, and the least share of key words in an answer
_EMPTY_WORDS = {
    "en": "and to of in her was with for it from is that his he by she they or at because be on are their what as had were about "
    "being this who but have has when which does",
    "zh": "的 和 是 等 在 年 可以 为 与 ‰ 了 或 一种 月 c 至 日 有 进行 于 不 中 × 根据 小 由 亩 也 要 指 法 会 元 主要 "
    "以及 通过 首先 对 然后 号 以 所 后 丁 包括 无 将 用 能 形 方面 因素 位于 而 从 到 一定 用于 但 使用 让 具有 并 亿元 "
    "万元 上 类 基于 才 来 地 片 其他 个 或者 变得 时 给 你 使 条 受 已经 带 度",
}
_LEAST_RECALL = {"en": 0.2, "zh": 0.4}


class LVEvalOPTF1Evaluator(LongBenchF1Evaluator):
    """Token F1 behind the key-word gate; the reference's last element holds the key words (0–100, more is better)."""

    metric = "LVEval_f1"
    demands = (ENTRIES,)

    def observe(self, prediction: Any, reference: Any, row: Row) -> float:
        """Return the score of one answer, 0 where the key words are missing."""
        answer = self.words(prediction)
        return self.overlap(answer, self.words(reference[0])) if self.admits(answer, reference[-1]) else 0.0

    def admits(self, answer: list[str], keywords: str) -> bool:
        """Return whether enough of the key words stand in the answer; no key words admit every answer."""
        if not keywords:
            return True
        wanted = self.words(keywords)
        if not wanted:
            raise DataError(f"the key words {keywords!r} hold no word")
        empty = _EMPTY_WORDS[self.language].split()
        found = sum(n for word, n in (Counter(answer) & Counter(wanted)).items() if word not in empty)
        return found / len(wanted) >= _LEAST_RECALL[self.language]

    def overlap(self, answer: list[str], gold: list[str]) -> float:
        """Return how much of the reference the answer covers."""
        return token_f1(answer, gold)


class LVEvalOPTRougeEvaluator(LVEvalOPTF1Evaluator):
    """ROUGE-L behind the key-word gate (0–100, more is better)."""

    metric = "LVEval_rouge"

    def admits(self, answer: list[str], keywords: str) -> bool:
        """Return whether the gate opens; key words that hold no word keep it shut."""
        return not keywords or (bool(self.words(keywords)) and super().admits(answer, keywords))

    def overlap(self, answer: list[str], gold: list[str]) -> float:
        """Return ROUGE-L over the words."""
        return rouge_l(" ".join(answer), " ".join(gold))
