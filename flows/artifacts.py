"""What a run leaves in the Prefect UI beside its states: the leaderboard, and the rows that have no answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from flows.progress import duration
from flows.result import RunResult
from leaderflow.core.manifest import Manifest
from leaderflow.core.store import Store
from leaderflow.core.text import dollars, printable, reasoning_part, shortened
from reports.table import markdown_table

MOST_ROWS = 200
"""Failed rows shown; the database pays for every one, and the store has them all."""

LONGEST = 300
"""Characters of an error message in a table."""


async def publish(store: Store, manifest: Manifest, result: RunResult) -> None:
    """Publish the leaderboard and the failed rows, each under its lasting key: the versions of one key are the history."""
    description = f"Leaderboard of run {manifest.run}"
    await acreate_markdown_artifact(leaderboard(manifest, result), key("leaderboard", manifest.suite), description)
    if rows := list(islice(failed_rows(store, manifest), MOST_ROWS)):
        total = sum(error.rows for error in manifest.errors)
        text = f"{total} requests without an answer" + (f", the first {MOST_ROWS} of them" * (total > MOST_ROWS))
        await acreate_table_artifact(rows, "failed-rows", f"{text}. Retry asks only these.")


def leaderboard(manifest: Manifest, result: RunResult) -> str:
    """Return the leaderboard as Markdown, with what the run cost."""
    table = markdown_table([cell.model_dump() for cell in result.cells])
    doubts = "\n".join(f"- ⚠ {printable(warning, one_line=True)}" for warning in manifest.warnings)
    trail = f"Run `{manifest.run}` · `leaderflow show {manifest.run}`"
    return "\n\n".join(part for part in (result.message, table, doubts, spent(manifest), trail) if part)


def spent(manifest: Manifest) -> str:
    """Say what a run cost: requests, tokens, time and, where prices are known, dollars."""
    requests = manifest.requests
    parts = [
        f"{requests.get('sent', 0):,} requests sent, {requests.get('reused', 0):,} reused",
        f"{requests.get('prompt_tokens', 0):,} prompt tokens",
        f"{requests.get('output_tokens', 0):,} output tokens{reasoning_part(requests)}",
        duration(manifest.seconds.get("total", 0.0)),
    ]
    return " · ".join(parts if manifest.cost is None else [*parts, dollars(manifest.cost)])


def failed_rows(store: Store, manifest: Manifest) -> Iterator[dict[str, Any]]:
    """Yield every request without an answer: its cell, shard, sample, and why."""
    for name, cell in manifest.cells.items():
        if not cell.counts.get("n_failed"):
            continue
        outputs = cell.tables["outputs"]
        for shard, ref in enumerate(outputs, 1):
            table = store.read(ref).select(["sample_id", "repeat", "label", "status", "error_class", "error", "attempts"])
            for row in table.to_pylist():
                if row.pop("status") == "error":
                    error = shortened(row.pop("error") or "no answer", LONGEST)
                    yield {"cell": name, "shard": f"{shard}/{len(outputs)}", "sample_id": row["sample_id"], "error": error} | row


def key(kind: str, suite: str | None) -> str:
    """Return the artifact key of a suite's leaderboard or report; Prefect takes lower-case letters, digits and dashes."""
    return kind if suite is None else f"{kind}-{re.sub(r'[^a-z0-9]+', '-', suite.lower()).strip('-')}"
