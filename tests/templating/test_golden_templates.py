"""Recorded behaviour of OpenCompass: every rendering of every template and model kind, under ``compat: opencompass``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leaderflow.core.errors import LeaderflowError
from leaderflow.core.types import Json
from templating import stage
from tests.golden import golden, run_cases
from tests.templating import recorded

EXCEPTIONS = {
    "a message without a role": "OpenCompass sends an api_role that its client does not know without any role; ours names the role",
    "examples of another kind": "OpenCompass loses role/content examples in a PromptTemplate without a word; ours refuses the pair",
}


def _rows(case: Json) -> tuple[list[Json], list[Json]]:
    """Return the train and test rows as the recording's reader handed them on."""
    import datasets

    train, test = (datasets.Dataset.from_list(case[name]).to_list() for name in ("train_rows", "test_rows"))
    return recorded.split(case["reader_cfg"], train, test)


def _ours(case: Json, labels: list[str] | None, retrieved: list[list[int]] | None) -> list[list[Json]]:
    train, test = _rows(case)
    dataset = recorded.dataset(case["infer_cfg"], case["reader_cfg"])
    template = case["infer_cfg"].get("prompt_template") or case["infer_cfg"]["ice_template"]
    raw = template["type"] == "RawPromptTemplate"
    length: dict[str, Any] = {"max_seq_len": case["max_seq_len"], "counter": recorded.Tokens(raw)} if "max_seq_len" in case else {}
    target = recorded.target(case["model"]["parser"], case["model"]["meta_template"], case["mode"], **length)
    shots = [] if case["infer_cfg"]["retriever"]["type"] == "ZeroRetriever" else [0]
    samples, pool, examples = recorded.tables(train, test, retrieved if retrieved is not None else [shots] * len(test))
    if case["mode"] == "ppl":
        found = stage.labels(dataset, samples, case.get("labels"))
        assert labels is None or sorted(found) == sorted(labels)
        labels = labels or found
    return recorded.inputs(stage.render(samples, pool, examples, dataset, target, labels=labels), len(test))


def _difference(case: dict[str, Any]) -> str | None:
    expected = case.get("expected")
    try:
        got = _ours(case["input"], expected and expected.get("labels"), expected and expected["retrieved_ids"])
    except (LeaderflowError, ImportError) as exc:
        return None if _crashed(case) else f"refused: {exc}"
    except Exception as exc:  # the recorded rows themselves may not fit a table
        return None if expected is None and type(exc).__module__.startswith("pyarrow") else f"crashed: {exc!r}"
    if expected is None:
        return None
    for items, ours in zip(expected["items"], got, strict=True):
        for item, prompt in zip(items if isinstance(items, list) else [items], ours, strict=True):
            wire = recorded.wire(item)
            if wire is not None and wire != prompt:
                return f"{json.dumps(prompt, ensure_ascii=False)[:300]} is not {json.dumps(wire, ensure_ascii=False)[:300]}"
    return None


def _crashed(case: dict[str, Any]) -> bool:
    if "expected" not in case:
        return True
    items = [item for items in case["expected"]["items"] for item in (items if isinstance(items, list) else [items])]
    return any(isinstance(item.get(name), dict) for item in items for name in ("parsed", "openai_messages", "hf_chat_messages"))


def _excepted(case: dict[str, Any]) -> str | None:
    templates = {name: case["input"]["infer_cfg"].get(name, {}).get("type") for name in ("prompt_template", "ice_template")}
    if templates == {"prompt_template": "PromptTemplate", "ice_template": "RawPromptTemplate"}:
        return EXCEPTIONS["examples of another kind"]
    items = [item for items in case["expected"]["items"] for item in (items if isinstance(items, list) else [items])]
    sent = [message for item in items for message in item.get("openai_messages") or []]
    return EXCEPTIONS["a message without a role"] if any("role" not in message for message in sent) else None


@pytest.mark.golden
def test_recorded_templates() -> None:
    run_cases("templates", golden("templates.jsonl"), _difference, _excepted)
