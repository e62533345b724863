"""What is odd about a finished cell, and which setting to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from flows.work import Work
from inference.stage import defaults

TRUNCATED_ABOVE = 0.05
EMPTY_ABOVE = 0.5
UNPARSED_ABOVE = 0.5


def cell_alarms(cell: Work, counts: Mapping[str, int], outputs: Iterable[pa.Table]) -> list[str]:
    """Return one line for each thing that makes a cell's number doubtful."""
    if cell.inferencer.needs == "loglikelihood" or not counts.get("n"):
        return []
    found = []
    truncated = counts.get("n_truncated", 0) / counts["n"]
    if truncated > TRUNCATED_ABOVE:
        limit = defaults(cell.model, cell.dataset.infer_cfg.inferencer).max_out_len
        higher = f"--set infer_cfg.inferencer.max_out_len={2 * limit}" if limit else "a higher max_out_len"
        hit = f"hit the token limit ({limit or 'the server’s own'})"
        found.append(f"{cell.label}: {truncated:.0%} of the answers {hit}; raise it by {higher}")
    empty, answered = (sum(parts) for parts in zip(*map(count_empty, outputs), strict=True))
    if answered and empty / answered > EMPTY_ABOVE:
        advice = "look at one with `leaderflow trace`; a model that thinks needs `reasoning: true` and a higher max_out_len"
        found.append(f"{cell.label}: {empty / answered:.0%} of the answers are empty; {advice}")
    unparsed = counts.get("n_unparsed", 0) / counts["n"]
    if not found and unparsed > UNPARSED_ABOVE:
        seen = "`leaderflow show --unparsed` shows them; where they do hold one, choose another eval_cfg.pred_postprocessor"
        found.append(f"{cell.label}: {unparsed:.0%} of the answers state nothing that could be scored; {seen}")
    return found


def count_empty(outputs: pa.Table) -> tuple[int, int]:
    """Return how many of the answered rows say nothing but blanks, and how many answered rows there are."""
    answered = outputs.filter(pc.is_in(outputs.column("status"), value_set=pa.array(["ok", "truncated"])))
    texts = pc.utf8_trim_whitespace(pc.fill_null(answered.column("output"), ""))
    return int(pc.sum(pc.equal(texts, "")).as_py() or 0), answered.num_rows
