"""Recorded renderings of the real dataset configurations, for three model kinds, under ``compat: opencompass``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from leaderflow.core.errors import LeaderflowError
from leaderflow.core.types import Json
from templating import stage
from tests.golden import golden
from tests.templating import recorded

MODELS: dict[str, tuple[str, Json]] = {
    "none_api": ("api", None),
    "api": (
        "api",
        {
            "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
            "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
        },
    ),
    "lm": (
        "lm",
        {
            "begin": "<s>",
            "round": [
                {"role": "HUMAN", "begin": "<|user|>\n", "end": "<|end|>\n"},
                {"role": "BOT", "begin": "<|assistant|>\n", "end": "<|end|>\n", "generate": True},
            ],
            "reserved_roles": [{"role": "SYSTEM", "begin": "<|system|>\n", "end": "<|end|>\n"}],
            "end": "</s>",
        },
    ),
}

EXCEPTIONS = {"OlympiadBenchTemplate": "a class that writes one dataset's instructions itself; it belongs to that dataset's recipe"}
"""Template type → why its renderings are not compared."""

SHARE = 0.99
"""Of the renderings without a recorded error, how many must be byte-identical."""


def _items(found: Any) -> Iterator[dict[str, Json]]:
    for entry in found:
        yield from entry if isinstance(entry, list) else [entry]


def _renderings(case: dict[str, Any], model: str) -> list[Json]:
    parser, meta_template = MODELS[model]
    infer_cfg, reader = case["dataset_config"]["infer_cfg"], case["input"]["reader_cfg_used"]
    dataset = recorded.dataset(infer_cfg, reader)
    train, test = recorded.split(reader, case["input"]["train_rows"], case["input"]["test_rows"])
    samples, pool, examples = recorded.tables(train, test, case["expected"]["retrieved_ids"])
    target = recorded.target(parser, meta_template, case["input"]["mode"])
    prompts = stage.render(samples, pool, examples, dataset, target, labels=case["expected"].get("labels"))
    return [prompt for group in recorded.inputs(prompts, len(test)) for prompt in group]


def _compare(case: dict[str, Any], model: str) -> tuple[int, int, str | None]:
    """Return how many renderings were compared, how many agree, and the first difference."""
    recorded_model = case["expected"]["models"][model]
    if isinstance(recorded_model, dict):
        return 0, 0, None
    wanted = list(_items(recorded_model))
    good = [item for item in wanted if "error" not in item and not isinstance(item.get("parsed"), dict)]
    if not good:
        return 0, 0, None
    try:
        ours = _renderings(case, model)
    except LeaderflowError as exc:
        return len(good), 0, f"refused: {exc}"
    same = 0
    first = None
    for item, prompt in zip(wanted, ours, strict=True):
        wire = recorded.wire(item) if item in good else None
        if item in good and (wire == prompt or _bare(wire, prompt)):
            same += 1
        elif item in good and first is None:
            first = f"{json.dumps(prompt, ensure_ascii=False)[:400]} is not {json.dumps(wire, ensure_ascii=False)[:400]}"
    return len(good), same, first


def _bare(wire: Json, prompt: Json) -> bool:
    """Say whether a recorded bare text is the one user message that a model which takes messages is sent."""
    return isinstance(wire, str) and prompt == [{"role": "user", "content": wire}]


@pytest.mark.golden
@pytest.mark.parametrize("file", ["real_configs.jsonl", "real_configs_2.jsonl", "real_configs_3.jsonl"])
def test_recorded_configurations(file: str) -> None:
    compared = agreed = excepted = 0
    differences: list[str] = []
    for case in golden(file):
        template = case["dataset_config"]["infer_cfg"].get("prompt_template") or {}
        if "expected" not in case or recorded.short(template.get("type", "")) in EXCEPTIONS:
            excepted += 1
            continue
        for model in MODELS:
            count, same, first = _compare(case, model)
            compared, agreed = compared + count, agreed + same
            differences += [f"{case['config_file']} {case['input']['mode']} {model}: {first}"] if first else []
    print(f"{file}: {compared} renderings compared, {compared - agreed} differ, {excepted} cases excepted")
    assert compared, f"{file} holds no rendering"
    assert agreed / compared >= SHARE, "\n".join(differences[:20])
    assert not differences, "\n".join(differences[:20])
