"""Arguments of postprocessors that can mean nothing are refused with the configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leaderflow.core.errors import SpecError
from leaderflow.core.names import NAMES
from leaderflow.core.registry import bind, check

IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"type": "choice_letter", "options": ""}, "choice_letter: options '': it must not be empty"),
    ({"type": "choice_letter", "options": 5}, "options must be text, not 5"),
    ({"type": "choice_letter", "options": ["A", "B"]}, "options must be text"),
    ({"type": "choice_letters", "options": "ABA"}, "it names one twice"),
    ({"type": "choice_letter", "options": "A, B"}, "letters or digits side by side"),
    ({"type": "first_option_postprocess", "options": ""}, "it must not be empty"),
    ({"type": "first_option_postprocess", "options": "AB", "cushion": "no"}, "cushion must be true or false, not 'no'"),
    ({"type": "code_block", "which": "middle"}, "which must be one of last, first, not 'middle'"),
    ({"type": "code_block", "language": ""}, "it must not be empty"),
    ({"type": "tag_content", "tag": ""}, "it must not be empty"),
    ({"type": "json_value", "key": 3}, "key must be text, not 3"),
    ({"type": "verdict", "labels": []}, "it must not be empty"),
    ({"type": "verdict", "labels": ["A", ""]}, "it must not be empty"),
    ({"type": "verdict", "labels": "AB"}, "labels must be a list of texts"),
    ({"type": "rating", "low": 10, "high": 1}, "low must be below high, got 10 and 1"),
    ({"type": "rating", "low": 10}, "low must be below high"),
    ({"type": "rating", "high": "ten"}, "high must be a number, not 'ten'"),
    ({"type": "match_answer_pattern", "answer_pattern": "("}, "it is no regular expression"),
    ({"type": "think_pred", "re_pattern": ""}, "it must not be empty"),
    ({"type": "mgsm_postprocess", "lang": "xx"}, "lang must be one of en, bn"),
    ({"type": "clbench_pred_postprocess", "max_chars": True}, "max_chars must be a whole number, not True"),
    ({"type": "PEER_postprocess_float_compare", "compare_number": "5"}, "compare_number must be a number"),
]


@pytest.mark.parametrize(("config", "message"), IMPOSSIBLE)
def test_impossible_values_are_refused(config: dict[str, Any], message: str) -> None:
    for look in (bind, check):
        with pytest.raises(SpecError, match=message) as caught:
            look("postprocessor", config, key="eval_cfg.pred_postprocessor")
        assert str(caught.value).startswith(f"eval_cfg.pred_postprocessor.{config['type']}: ")


def test_possible_values_pass() -> None:
    for config in (
        {"type": "choice_letter", "options": "正反"},
        {"type": "rating", "low": 0, "high": 1.5},
        {"type": "json_value", "key": None},
        {"type": "extract_prediction", "options": ["red", "blue"]},
        {"type": "extract-non-reasoning-content", "think_start_token": "[", "think_end_token": "]"},
    ):
        bind("postprocessor", config)


def test_every_registered_postprocessor_can_be_looked_at() -> None:
    """A function whose types cannot be read would let any value pass."""
    from leaderflow.core.arguments import _hints
    from leaderflow.core.registry import resolve

    for name in NAMES["postprocessor"]:
        assert _hints(resolve("postprocessor", name)), name


def test_the_recipes_arguments_pass() -> None:
    recipes = Path(__file__).resolve().parents[2] / "recipes" / "datasets"
    from ruamel.yaml import YAML

    seen = 0
    for file in sorted(recipes.rglob("*.yaml")):
        text = json.loads(json.dumps(YAML(typ="safe").load(file.read_text(encoding="utf-8")) or {}))
        config = (text.get("eval_cfg") or {}).get("pred_postprocessor") if isinstance(text, dict) else None
        if config:
            bind("postprocessor", config)
            seen += 1
    assert seen > 10
