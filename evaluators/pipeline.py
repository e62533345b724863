"""One answer through the postprocessors of its cell."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evaluators.choice import token_mean
from leaderflow.core.registry import bind
from leaderflow.core.types import Extraction, Json

if TYPE_CHECKING:
    from leaderflow.core.specs import DatasetSpec, Typed

UNANSWERED = ("error", "rejected", "filtered")
"""Statuses without an answer, the one that decides for a sample with several labels first."""


class Pipeline:
    """The postprocessors of one cell in their order; `line` applies them to one answer."""

    def __init__(self, dataset: DatasetSpec, model: Typed | None, role_markers: tuple[str, str] | None) -> None:
        cfg, key = dataset.eval_cfg, f"{dataset.abbr}.eval_cfg"
        own = cfg.evaluator.get("pred_postprocessor")
        chain = [(model, "pred_postprocessor"), (cfg.pred_postprocessor, f"{key}.pred_postprocessor"), (own, f"{key}.evaluator")]
        self.steps = [bind("postprocessor", config, key=where) for config, where in chain if config]
        self.name = " + ".join(str(config["type"]) for config, _ in chain if config) or None
        self.markers = role_markers if role_markers and any(mark.strip() for mark in role_markers) else None

    def line(self, output: Mapping[str, Any]) -> dict[str, Any]:
        """Return status, extracted, span and extractor of one row of the infer table."""
        status, extractor = output["status"], self.name
        if status in UNANSWERED:
            return {"status": status}
        value = _answer(output)
        try:
            found = self._run(value)
        except Exception as exc:  # one strange answer must not cost the scores of all others; `show --audit` lists it
            found, extractor = Extraction(None), f"{self.name}: {type(exc).__name__}: {exc}"
        value = jsonable(found.value)
        if value in (None, "", []):
            return {"status": "unparsed", "extractor": extractor}
        span = None if found.start is None or found.end is None else [found.start, found.end]
        return {"status": status, "extracted": json_text(value), "span": span, "extractor": extractor}

    def _run(self, value: Json) -> Extraction:
        if isinstance(value, list):
            return Extraction([self._run(part).value for part in value])
        found = Extraction(_between(value, *self.markers) if self.markers and isinstance(value, str) else value)
        for step in self.steps:
            before, result = found, step(found.value)
            found = result if isinstance(result, Extraction) else Extraction(result)
            if found.start is not None and before.value != value:
                found = _shifted(found, value, before.value)
        return found


def _answer(output: Mapping[str, Any]) -> Json:
    """The generated text, the list of a multi-turn answer, or the mean loss a token of a likelihood without labels."""
    if output["turns"] is not None:
        return json.loads(output["turns"])
    if output["output"] is None and output["nll"] is not None:
        return token_mean(output)
    return output["output"] or ""


def _between(text: str, begin: str, end: str) -> str:
    """What stands between the markers; a marker that is absent cuts nothing."""
    start = text.find(begin) + len(begin) if begin and begin in text else 0
    stop = text.find(end, start) if end else -1
    return text[start:] if stop < 0 else text[start:stop]


def _shifted(found: Extraction, output: Json, seen: Json) -> Extraction:
    """The span in the output of what was found in a part of it; none where that part cannot be placed without doubt."""
    if isinstance(output, str) and isinstance(seen, str) and output.count(seen) == 1 and found.start is not None and found.end:
        offset = output.index(seen)
        return Extraction(found.value, found.start + offset, found.end + offset)
    return Extraction(found.value)


def jsonable(value: Any) -> Json:
    """Return a value as JSON has it: a set as a sorted list, a number that is none as None."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: Json) -> str:
    """Return a value as JSON text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
