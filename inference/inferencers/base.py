"""What all likelihood inferencers share: one request for each rendered candidate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from leaderflow.core.identity import request_key
from leaderflow.core.types import Capability, Mode, Prompt, Request, Settings


class LikelihoodInferencer:
    """Asks for the log-likelihood of every rendered row.

    A likelihood has no settings and no chance in it. So token limits and temperatures are no part of the request, equal inputs
    share one answer, and there is one repeat whatever the dataset's `n`.
    """

    mode: Mode = "ppl"
    needs: Capability = "loglikelihood"
    choice: str | None = None
    repeats: int = 1

    def requests(self, rendered: pa.Table, identity: str, defaults: Settings) -> list[Request]:
        """Return a request for each model input, in row order, rows with status ``rejected`` left out."""
        rows = [row for row in rendered.to_pylist() if row["status"] == "ok"]
        return [Request(_key(row, identity), rendered_prompt(row), Settings()) for row in rows]


def _key(row: Mapping[str, Any], identity: str) -> str:
    return request_key(row["input_key"], identity, {}, "loglikelihood")


def rendered_prompt(row: Mapping[str, Any]) -> Prompt:
    """Return the model input of a row of the render table."""
    messages = None if row["messages"] is None else tuple(json.loads(row["messages"]))
    return Prompt(messages=messages, text=row["text"], continuation=row["continuation"])
