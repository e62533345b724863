from __future__ import annotations

import math

import pytest

from evaluators.repeats import majority
from leaderflow.core.errors import SpecError
from tests.evaluators.cells import answers, rows, scored, spec


def test_repeats_are_no_independent_samples() -> None:
    given = [1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1]
    _, _, metrics = scored(answers(*[str(g) for g in given], repeats=3), rows(*["1"] * 5), spec(n=3))
    assert next(iter(metrics)) == "avg@3"
    assert (metrics["avg@3"]["value"], metrics["avg@3"]["stderr"]) == (pytest.approx(60.0), pytest.approx(19.4365, abs=1e-4))
    assert metrics["pass@1"]["value"] == pytest.approx(60.0)


def test_metrics_over_repeats_equal_the_closed_forms() -> None:
    """Two of three, one of three and none of three right."""
    given = ["1", "1", "0", "1", "0", "0", "0", "0", "0"]
    _, _, metrics = scored(answers(*given, repeats=3), rows("1", "1", "1"), spec(n=3, k=[1, 2, 3]))
    assert metrics["pass@2"]["value"] == pytest.approx(100 * (1 + 2 / 3 + 0) / 3)
    assert metrics["pass^2"]["value"] == pytest.approx(100 * (1 / 3) / 3)
    assert metrics["G-Pass@3_0.5"]["value"] == pytest.approx(100 / 3)
    assert metrics["mG-Pass@2"]["value"] == pytest.approx(100 * (1 / 3) / 3)
    assert metrics["majority@3"]["value"] == pytest.approx(100 / 3)
    assert not math.isnan(metrics["pass@3"]["ci_low"])


def test_k_above_n_is_refused() -> None:
    dataset = spec().model_copy(update={"k": [1, 10]})
    with pytest.raises(SpecError, match="pass@10 needs at least 10 repeats"):
        scored(answers("A"), rows("A"), dataset)


def test_one_repeat_has_no_pass_at_k() -> None:
    _, _, metrics = scored(answers(*["1"] * 50 + ["0"] * 114), rows(*["1"] * 164), spec())
    assert list(metrics) == ["accuracy"]
    assert metrics["accuracy"]["value"] == pytest.approx(30.4878, abs=1e-4)


def test_failed_repeats_are_left_out() -> None:
    outputs = answers("1", {"status": "error"}, "1", "0", repeats=2)
    _, _, metrics = scored(outputs, rows("1", "1"), spec(n=2, k=[1, 2]))
    assert metrics["avg@2"]["value"] == pytest.approx(200 / 3)
    assert metrics["pass@2"]["value"] == 100.0


def test_majority() -> None:
    assert majority([None, None, "7"]) == "7"
    assert majority(["A", "B", "B"]) == "B"
    assert majority(["B", "A"]) == "B"
    assert majority(["A", "B"]) == "A"
    assert majority([None, ""]) is None
    assert majority(["3", "1/2", "0.5"]) == "1/2"
    assert majority(["1,000", "2", "1000.0"]) == "1,000"
    assert majority(["1/0", "2"]) == "1/0"


def test_a_repeat_that_failed_everywhere_is_no_other_design() -> None:
    outputs = answers("1", {"status": "error"}, "0", {"status": "error"}, repeats=2)
    _, _, metrics = scored(outputs, rows("1", "1"), spec(n=2, k=[1, 2]))
    assert list(metrics)[:2] == ["avg@2", "pass@1"]
    assert "pass@2" not in metrics


def test_no_right_answer_at_all_is_no_certainty() -> None:
    """Where every sample's pass@k is 0 or 1 the interval is Wilson's over the samples, never a point."""
    _, _, metrics = scored(answers(*["0"] * 8, repeats=4), rows("1", "1"), spec(n=4, k=[1, 4]))
    for name in ("avg@4", "pass@1", "pass@4", "pass^4"):
        assert metrics[name]["value"] == 0
        assert metrics[name]["ci_low"] == 0
        assert metrics[name]["ci_high"] == pytest.approx(65.76, abs=0.01)
