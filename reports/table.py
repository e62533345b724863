"""Leaderboards as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from leaderflow.core.artifacts import SUMMARY

COLUMNS = ("dataset", "version", "metric", "mode")


def number(row: Mapping[str, Any]) -> str:
    """Return a row's value with its 95 % interval, ``-`` where there is none; ``*`` marks a partial cell."""
    if row["value"] is None:
        return "-"
    text = f"{row['value']:.2f}"
    if row.get("ci_low") is not None and row.get("ci_high") is not None:
        text += f" [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
    return text + (" *" if row.get("partial") else "")


def pivot(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return header and body: a line a dataset × version × metric, a column a model, in order of first appearance."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        line = tuple(str(row[name]) if row[name] is not None else "-" for name in COLUMNS)
        lines.setdefault(line, {})[row["model"]] = number(row)
    return [*COLUMNS, *models], [[*line, *(cells.get(model, "-") for model in models)] for line, cells in lines.items()]


def csv_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the leaderboard as CSV: a line a model × dataset × metric, every column of the summary, numbers in full."""
    text = io.StringIO()
    writer = csv.DictWriter(text, SUMMARY.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the leaderboard as a Markdown table."""
    header, body = pivot(rows)
    ruler = ["---"] * len(COLUMNS) + ["---:"] * (len(header) - len(COLUMNS))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [header, ruler, *body])
