"""What a run leaves in the Prefect UI beside its states: the leaderboard."""

from __future__ import annotations

import re

from prefect.artifacts import acreate_markdown_artifact

from flows.result import RunResult
from leaderflow.core.manifest import Manifest
from reports.table import markdown_table


async def publish(manifest: Manifest, result: RunResult) -> None:
    """Publish the leaderboard under its lasting key: the versions of one key are the history."""
    text = f"{result.message}\n\n{markdown_table([cell.model_dump() for cell in result.cells])}\n\nRun `{manifest.run}`"
    await acreate_markdown_artifact(
        markdown=text, key=leaderboard_key(manifest.suite), description=f"Leaderboard of run {manifest.run}"
    )


def leaderboard_key(suite: str | None) -> str:
    """Return the artifact key of a suite's leaderboard; Prefect takes lower-case letters, digits and dashes."""
    return "leaderboard" if suite is None else f"leaderboard-{re.sub(r'[^a-z0-9]+', '-', suite.lower()).strip('-')}"
