from __future__ import annotations

from evaluators.audit import Doubt, audit
from tests.evaluators.cells import answers, spec


def test_disagreements_and_empty_findings_are_listed() -> None:
    cfg = {
        "pred_postprocessor": {"type": "first_option_postprocess", "options": "ABCD"},
        "extractors": {"first": {"type": "first-capital"}, "last": {"type": "last-capital"}},
    }
    outputs = answers("B", "The answer is C", "no letter", {"status": "error"})
    found = audit(outputs, spec(eval_cfg=cfg))
    assert found == [
        Doubt("s1", 0, {"first_option_postprocess": "C", "first": "T", "last": "C"}),
        Doubt("s2", 0, {"first_option_postprocess": None, "first": None, "last": None}),
    ]


def test_one_extractor_alone_doubts_only_what_it_does_not_find() -> None:
    assert audit(answers("yes", ""), spec()) == [Doubt("s1", 0, {"answer": None})]
