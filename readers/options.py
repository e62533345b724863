"""The one form of a multiple-choice row, for recipes to prepare their rows with."""

from __future__ import annotations

import string
from collections.abc import Sequence

from leaderflow.core.identity import sha256_hex
from leaderflow.core.types import Json, Row


def multiple_choice(question: str, texts: Sequence[Json], gold: int | str, **more: Json) -> Row:
    r"""Return a row with `question`, ``A``, ``B``, …, `options` and `answer`.

    Args:
        question: the question, with its passage where there is one.
        texts: the options' texts in order, at most 26.
        gold: the right option's position counted from 0, or its letter.
        more: further columns.

    Returns:
        The options under their letters, all of them in `options` as lines ``A. …``, and in `answer` the right letter. A row may
        have fewer options than others: prompts that show `options` fit every row.

    Raises:
        ValueError: the right option is none of those given.
    """
    letters = string.ascii_uppercase[: len(texts)]
    answer = letters[gold : gold + 1] if isinstance(gold, int) and gold >= 0 else str(gold).strip().upper()
    if answer not in list(letters):
        raise ValueError(f"the answer {gold!r} is none of the {len(texts)} options")
    columns = {letter: str(text).strip() for letter, text in zip(letters, texts, strict=True)}
    lines = "\n".join(f"{letter}. {text}" for letter, text in columns.items())
    return {"question": question.strip(), **columns, "options": lines, "answer": answer, **more}


def mixed(texts: Sequence[str]) -> list[str]:
    """Return the distinct texts in an order that tells nothing about them and is the same everywhere: that of their hashes."""
    return sorted(set(texts), key=sha256_hex)
