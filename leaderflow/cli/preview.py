"""``leaderflow preview``: what the model will see, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from leaderflow.cli.options import AsJson, BaseUrl, DataDir, Debug, Offline, OpenCompassRoot, Sets
from leaderflow.core.types import Json

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from flows.preview import Preview
    from leaderflow.core.specs import DatasetSpec

ROLE_STYLES = {"system": "magenta", "user": "cyan", "assistant": "green"}
ALIKE_WIDTH = 120
NO_MODEL = "openai-compatible"
"""Stands in the spec where no model is named; it is never asked."""


def preview(
    dataset: Annotated[str, typer.Argument(help="Recipe, YAML or Python file, or JSONL/CSV file.")],
    model: Annotated[
        str | None, typer.Option("-m", "--model", metavar="NAME", help="Whose template, limits and tokenizer apply.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many samples of a dataset.")] = 3,
    every: Annotated[bool, typer.Option("--all", help="Every member of a family, not one of each template.")] = False,
    sample: Annotated[str | None, typer.Option(metavar="ID", help="Only this sample.")] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Show what the model's chat template makes of each prompt, and its tokens.")
    ] = False,
    diff: Annotated[str | None, typer.Option(metavar="OTHER", help="Show what differs for another dataset configuration.")] = None,
    base_url: BaseUrl = None,
    set_: Sets = None,
    data_dir: DataDir = None,
    opencompass_root: OpenCompassRoot = None,
    offline: Offline = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show the exact messages or text that a run would send."""
    from leaderflow.cli.console import print_json, show_log

    show_log()
    names = [dataset] if diff is None else [dataset, diff]
    every = every or as_json or diff is not None or sample is not None
    found = [_previews(name, model, n, sample, base_url, set_ or [], data_dir, offline, every, tokens) for name in names]
    if diff is not None:
        _print_diff(names, found)
    elif as_json:
        judged = [row for one in found[0] for row in one.judge]
        print_json({"rows": [row for one in found[0] for row in one.rows]} | ({"judge": judged} if judged else {}))
    else:
        _print(found[0])


def _previews(
    dataset: str,
    model: str | None,
    n: int,
    sample: str | None,
    base_url: str | None,
    sets: list[str],
    data_dir: Path | None,
    offline: bool,
    every: bool,
    texts: bool,
) -> list[Preview]:
    """Return the previews of a dataset, or of members of its family: of all, or of one of each template."""
    from flows.preview import preview
    from leaderflow.cli.run import from_file
    from leaderflow.core.errors import UsageError
    from leaderflow.core.load import build_evaluation

    spec = build_evaluation(
        [model or NO_MODEL], [dataset], sets, base_url=base_url, from_file=from_file, data_dir=data_dir, offline=offline or None
    )
    chosen = spec.models[0] if model else None
    families = [[one] for one in spec.datasets] if every else _alike(spec.datasets)
    found = []
    for one, *others in families:
        try:
            found.append(
                replace(preview(spec, one, chosen, n=n, sample=sample, texts=texts), alike=[other.abbr for other in others])
            )
        except UsageError:
            if sample is None or (one is families[-1][0] and not found):
                raise  # a sample stands in one member of its family
    return found


def _alike(datasets: Sequence[DatasetSpec]) -> list[list[DatasetSpec]]:
    """Return the members of a family that have one template together; other datasets stand alone."""
    found: dict[str, list[DatasetSpec]] = {}
    for one in datasets:
        key = f"{one.group} {one.prepare} {one.infer_cfg.model_dump_json()}" if one.group else one.abbr
        found.setdefault(key, []).append(one)
    return list(found.values())


def _print(found: Sequence[Preview]) -> None:
    from leaderflow.cli.console import heading, out, safe
    from leaderflow.core.text import shortened

    console = out()
    for one in found:
        for row in one.rows:
            print_row(row, one.references.get(row["sample_id"]), console)
        for row in one.judge:
            console.print(heading(f"judge · {row['sample_id']} {row['question']}".rstrip()))
            print_input(row, console)
        tokens = f", about {one.tokens:,} prompt tokens" if one.tokens is not None else ""
        console.print(safe(f"{one.dataset}: {one.samples} samples{tokens}", "bold"))
        if one.alike:
            names = shortened(", ".join(one.alike), ALIKE_WIDTH)
            console.print(safe(f"{len(one.alike)} more with this template (--all shows each): {names}", "dim"), soft_wrap=True)


def print_row(row: Mapping[str, Json], reference: Json, console: Console) -> None:
    """Print one model input, its parts set apart by colour."""
    from leaderflow.cli.console import heading, labelled, safe

    label = "" if row["label"] is None else f" · label {row['label']}"
    console.print(heading(f"{row['sample_id']}{label}"))
    print_input(row, console)
    facts = {
        "reference": reference,
        "examples": ", ".join(row["example_ids"]) or None,
        "dropped": row["dropped_examples"] or None,
        "tokens": row["tokens"],
        "request": row["request_key"],
        "status": None if row.get("status", "ok") == "ok" else row["status"],
    }
    if "model_text" in row:
        console.print(safe(labelled("read as", row["model_text"]), "dim"), soft_wrap=True)
    for name, value in facts.items():
        if value is not None:
            console.print(safe(labelled(name, value), "yellow" if name == "reference" else "dim"), soft_wrap=True)


def print_input(row: Mapping[str, Json], console: Console) -> None:
    """Print messages or text as the model gets them; an empty assistant turn is a slot."""
    from leaderflow.cli.console import safe

    if row.get("messages") is None:
        console.print(safe(row.get("text") or ""), soft_wrap=True)
        return
    for message in row["messages"]:
        style = ROLE_STYLES.get(message["role"], "")
        console.print(safe(f"{message['role']}:", f"bold {style}"))
        content = message["content"]
        shown = "▁▁▁ (the model's turn)" if content == "" and message["role"] == "assistant" else content
        console.print(safe(shown, style), soft_wrap=True)


def _print_diff(names: Sequence[str], found: Sequence[Sequence[Preview]]) -> None:
    import difflib

    from leaderflow.cli.console import out, safe

    left, right = ([line for one in side for row in one.rows for line in _lines(row)] for side in found)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    console = out()
    for line in difflib.unified_diff(left, right, names[0], names[1], lineterm=""):
        console.print(safe(line, styles.get(line[:1], "")), soft_wrap=True)


def _lines(row: Mapping[str, Json]) -> list[str]:
    head = f"# {row['sample_id']} {row['label'] or ''}".rstrip()
    if row.get("messages") is None:
        return [head, *(row.get("text") or "").splitlines()]
    return [head, *(f"{m['role']}: {line}" for m in row["messages"] for line in str(m["content"]).splitlines() or [""])]
