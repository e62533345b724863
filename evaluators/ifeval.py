"""Share of instructions and of prompts that are followed: IFEval (Zhou et al. 2023), IFBench (Pyatkin et al. 2025), Multi-IF.

All 0–100, more is better. Strict looks at the answer as it is. Loose also accepts it without its first line, its last line,
both, and each of these without stars.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluators.base import Evaluator, Rating
from evaluators.instructions import checkable, follows
from evaluators.ratings import Ratings
from leaderflow.core.errors import DataError
from leaderflow.core.types import Json, Row

_KEYS = ("instruction_id_list", "kwargs")
_LEVELS = {"strict": "Prompt-level-strict-accuracy", "loose": "Prompt-level-loose-accuracy"}


def loose_forms(text: str) -> list[str]:
    """Return the eight forms of an answer of which one must follow an instruction."""
    lines = text.split("\n")
    forms = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return forms + [form.replace("*", "") for form in forms]


def followed(text: str, names: Sequence[str], arguments: Sequence[Mapping[str, Any]]) -> dict[str, list[bool]]:
    """Return for ``strict`` and ``loose`` which of the instructions a text follows; an empty text follows none."""
    pairs, forms = list(zip(names, arguments, strict=True)), [form for form in loose_forms(text) if form.strip()]
    return {
        "strict": [bool(text.strip()) and follows(name, text, given) for name, given in pairs],
        "loose": [any(follows(name, form, given) for form in forms) for name, given in pairs],
    }


Counts = tuple[bool, int, int]
"""Whether all instructions are followed, how many are, and how many there are."""


def _counted(found: Mapping[str, Sequence[bool]]) -> tuple[Counts, ...]:
    """The counts of each level."""
    return tuple((all(found[level]), sum(found[level]), len(found[level])) for level in _LEVELS)


def check_instructions(reference: Json, prefix: str = "") -> None:
    """See that a reference names instructions that are known, each with its arguments.

    Raises:
        DataError: it does not.
    """
    names, given = (reference.get(f"{prefix}{key}") if isinstance(reference, Mapping) else None for key in _KEYS)
    listed = isinstance(names, Sequence) and isinstance(given, Sequence) and len(names) == len(given) > 0
    if not listed or not all(isinstance(arguments, Mapping) for arguments in given or ()):
        said = f"{prefix}{_KEYS[0]} and {prefix}{_KEYS[1]}"
        raise DataError(f"needs {said} in the reference, lists of one length, not {str(reference)[:80]}")
    for name, arguments in zip(names or (), given or (), strict=True):
        checkable(name, arguments)


class IFEvaluator(Evaluator):
    """Prompts wholly followed and single instructions followed, strict and loose (the official IFEval scorer).

    References are {instruction_id_list, kwargs, …}.
    """

    metric = _LEVELS["strict"]

    def check_row(self, reference: Json, row: Row) -> None:
        """See that the instructions can be checked."""
        check_instructions(reference)

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return what was followed."""
        found = followed(str(prediction), reference["instruction_id_list"], reference["kwargs"])
        values = {_LEVELS[level]: float(all(verdicts)) for level, verdicts in found.items()}
        detail = dict(zip(reference["instruction_id_list"], found["strict"], strict=True))
        return Rating(values, all(found["strict"]), detail, _counted(found))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the shares of prompts and of instructions."""
        prompts = super().combine(ratings)
        counts = zip(_LEVELS, Ratings.of(ratings).totals(), strict=True)
        single = {level: 100 * (kept / given) for level, (_, kept, given) in counts}
        return {
            name: value
            for level in _LEVELS
            for name, value in ((_LEVELS[level], prompts[_LEVELS[level]]), (f"Inst-level-{level}-accuracy", single[level]))
        }


class IFBenchEvaluator(IFEvaluator):
    """As ``IFEvaluator``; ``score`` is the loose share of prompts, the paper's headline (OpenCompass ``IFBenchEvaluator``)."""

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return the shares, ``score`` first."""
        found = super().combine(ratings)
        return {"score": found[_LEVELS["loose"]]} | found


class MultiIFEvaluator(Evaluator):
    """Instructions followed in each of three turns; ``overall`` is the mean of the turns' means (He et al. 2024).

    Answers are lists of three texts; references hold turn_N_instruction_id_list and turn_N_kwargs.
    """

    metric = "overall"
    blank = ("", "", "")

    def check_row(self, reference: Json, row: Row) -> None:
        """See that the instructions of each turn can be checked."""
        for turn in (1, 2, 3):
            check_instructions(reference, f"turn_{turn}_")

    def observe(self, prediction: Any, reference: Any, row: Row) -> Rating:
        """Return what was followed in each turn.

        Raises:
            DataError: an answer with fewer than three turns.
        """
        if not isinstance(prediction, list | tuple) or len(prediction) < 3:
            raise DataError(f"MultiIFEvaluator needs the answers of three turns, got {prediction!r}")
        turns = [
            followed(str(text), reference[f"turn_{n}_instruction_id_list"], reference[f"turn_{n}_kwargs"])
            for n, text in enumerate(prediction[:3], 1)
        ]
        share = fmean(fmean([fmean(v), float(all(v))]) for turn in turns for v in turn.values())
        return Rating({self.metric: share}, data=tuple(_counted(turn) for turn in turns))

    def combine(self, ratings: Sequence[Rating]) -> dict[str, float]:
        """Return all shares."""
        found: dict[str, float] = {}
        for n, counts in enumerate(Ratings.of(ratings).totals(), 1):
            turn: dict[str, float] = {}
            for level, (whole, kept, given) in zip(_LEVELS, counts, strict=True):
                turn[f"turn_{n}_prompt_{level}"] = 100 * (whole / len(ratings))
                turn[f"turn_{n}_inst_{level}"] = 100 * (kept / given)
            found |= {f"turn_{n}_overall": fmean(turn.values())} | turn
        return {"overall": fmean(found[f"turn_{n}_overall"] for n in (1, 2, 3))} | found
