"""The figures of the development sets do not fall, and our extractors do better than the recorded ones."""

from __future__ import annotations

import pytest

from tests.evaluators.corpus.measure import FOLDER, KINDS, OURS, RECORDED, found, measure, rows

DEVELOPMENT = sorted(FOLDER.glob("*.jsonl"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_sets_used_for_development_stay_read(kind):
    """These figures say nothing of unseen wording: the extractors were made with these answers in view."""
    figures = measure(row for row in rows(DEVELOPMENT) if row["kind"] == kind)[kind, OURS[kind]]
    assert figures.rows > 150
    assert figures.precision >= 0.99, figures.wrong
    assert figures.recall >= 0.98, figures.wrong


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_postprocessors_are_measured_beside(kind):
    figures = measure((row for row in rows(DEVELOPMENT) if row["kind"] == kind), recorded=True)
    ours = figures[kind, OURS[kind]]
    for name in RECORDED[kind]:
        assert figures[kind, name].precision < ours.precision
        assert figures[kind, name].recall <= ours.recall


def test_rows_are_cut_by_their_id():
    parts = {part: {(row["id"], row["text"]) for row in rows(DEVELOPMENT, part)} for part in ("open", "sealed", "all")}
    assert parts["open"] | parts["sealed"] == parts["all"]
    assert not parts["open"] & parts["sealed"]


def test_thinking_that_is_never_closed_holds_no_answer():
    assert found({"kind": "choice", "options": "AB", "text": "<think>The answer is A", "expect": None}) is None
