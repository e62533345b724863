"""Which of two versions of a program a reply means."""

from __future__ import annotations

import pytest

from evaluators.extractors.code import code_block

FIRST = "def f(x):\n    return x"
SECOND = "def f(x):\n    y = x\n    return y"
VERSIONS = [
    ("Variante 1 (empfohlen):", "Variante 2:", "", FIRST),
    ("Variante 1:", "Variante 2 (nur zum Vergleich):", "", FIRST),
    ("Version 1 :", "Version 2 (recommandée) :", "", SECOND),
    ("Opción A (recomendada):", "Opción B:", "", FIRST),
    ("方法一（推荐）：", "方法二：", "", FIRST),
    ("方法一：", "方法二（不推荐）：", "", FIRST),
    ("Вариант 1 (рекомендуется):", "Вариант 2:", "", FIRST),
    ("Opzione 1 (consigliata):", "Opzione 2:", "", FIRST),
    ("Opção 1:", "Opção 2:", "Recomendo a opção 1.", FIRST),
    ("Variante A:", "Variante B:", "Ich würde Variante A nehmen.", FIRST),
    ("Version A:", "Version B:", "Je préfère la première.", FIRST),
    ("One:", "Two:", "The second is only there for comparison; use the first.", FIRST),
    ("写法一：", "写法二：", "推荐使用第一种写法。", FIRST),
    ("写法一：", "写法二：", "两种都可以，看你喜欢。", None),
    ("Approach 1", "Approach 2", "I'd submit approach 1 rather than approach 2.", FIRST),
    ("Here are two ways:", "oder", "Welche gemeint ist, weiß ich nicht.", None),
    ("Voici:", "ou bien", "", None),
    ("Version 1:", "Version 2:", "Both work; it's your call.", None),
    ("Version 1:", "Version 2:", "Use version 1 if n is small, version 2 otherwise.", SECOND),
    ("A quick version:", "A more robust version:", "The second one handles empty input.", SECOND),
    ("First attempt:", "Cleaner:", "", SECOND),
    ("## Recommended", "## Not recommended", "", FIRST),
    ("**Do this:**", "**Don't do this:**", "", FIRST),
    ("✅ Good", "❌ Bad", "", FIRST),
    ("The readable version:", "The same as a one-liner, but please don't use it:", "", FIRST),
    ("Here you go:", "If you prefer a longer one:", "", FIRST),
    ("My answer:", "For completeness, the naive loop:", "", FIRST),
    ("版本A：", "版本B：", "以版本A为准。", FIRST),
    ("My answer:", "A slower alternative, just so that you see the idea:", "", FIRST),
]


@pytest.mark.parametrize(("first", "second", "after", "program"), VERSIONS)
def test_the_preferred_version_counts(first, second, after, program):
    reply = f"{first}\n\n```python\n{FIRST}\n```\n\n{second}\n\n```python\n{SECOND}\n```\n\n{after}"
    assert code_block(reply).value == program
