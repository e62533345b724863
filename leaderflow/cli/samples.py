"""The samples of a cell, joined from its tables: what was asked, what was answered, what was made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leaderflow.cli.console import WIDTH, heading, labelled, out, safe
from leaderflow.cli.preview import print_input
from leaderflow.cli.table import grid, print_leaderboard
from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.types import Json

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from leaderflow.core.manifest import CellEntry, Manifest
    from leaderflow.core.store import Store

JUDGED = ("judge_extracted", "judge_outputs", "judge_prompts", "judge_questions")
TABLES = ("metrics", "scores", *JUDGED, "extracted", "outputs", "prompts", "examples", "samples", "pool")
"""From a number back to its source."""


def the_cell(manifest: Manifest, name: str | None) -> str:
    """Return the name of a cell: MODEL:DATASET, or a model or dataset that stands in one cell only.

    Raises:
        UsageError: the run has no such cell, or several.
    """
    cells = list(manifest.cells)
    if name in cells or (name is None and len(cells) == 1):
        return name or cells[0]
    if name is None:
        raise UsageError(f"run {manifest.run} has {len(cells)} cells; name one of them: {', '.join(cells[:8])}")
    found = [cell for cell, entry in manifest.cells.items() if name in (entry.model, entry.dataset)]
    if len(found) != 1:
        what = f"{len(found)} cells of run {manifest.run} fit {name!r}" if found else f"run {manifest.run} has no cell {name!r}"
        raise UsageError(f"{what}{did_you_mean(name, cells) if not found else ''}; its cells: {', '.join(cells[:8])}")
    return found[0]


def leaderboard(store: Store, manifest: Manifest) -> list[dict[str, Json]]:
    """Return the rows of a run's summary, empty where it has none yet."""
    rows: list[dict[str, Json]] = store.read(manifest.summary).to_pylist() if manifest.summary else []
    return rows


def cell_rows(store: Store, entry: CellEntry) -> list[dict[str, Json]]:
    """Return one mapping a sample × repeat: prompts, answers, extraction, reference and score."""
    samples = {row["sample_id"]: json.loads(row["row"]) for row in _read(store, entry, "samples")}
    prompts = _grouped(_read(store, entry, "prompts"), "sample_id")
    outputs = _grouped(_read(store, entry, "outputs"), "sample_id", "repeat")
    scores = _grouped(_read(store, entry, "scores"), "sample_id", "repeat")
    judged = _judged(store, entry)
    return [
        {
            "cell": f"{entry.model}:{entry.dataset}",
            "sample_id": row["sample_id"],
            "repeat": row["repeat"],
            "status": row["status"],
            "row": samples.get(row["sample_id"]),
            "prompts": [_prompt(p) for p in prompts.get((row["sample_id"],), [])],
            "answers": [_answer(o) for o in outputs.get((row["sample_id"], row["repeat"]), [])],
            "extracted": _json(row["extracted"]),
            "reference": _json(row["reference"]),
            "judged": judged.get((row["sample_id"], row["repeat"]), []),
            **_score(scores.get((row["sample_id"], row["repeat"]), [])),
        }
        for row in _read(store, entry, "extracted")
    ]


def trace_tables(entry: CellEntry) -> list[dict[str, Json]]:
    """Return the tables behind a cell's number, from the metrics back to the source."""
    return [
        {"table": name, "stage": ref.stage, "key": ref.key, "rows": ref.rows, "digest": ref.digest, "path": ref.path}
        for name in TABLES
        for ref in entry.tables.get(name, [])
    ]


def print_samples(
    manifest: Manifest, board: Sequence[Mapping[str, Json]], cells: Sequence[str], rows: Sequence[Mapping[str, Json]]
) -> None:
    """Print a run's leaderboard and some samples."""
    console = out()
    console.print(safe(f"run {manifest.run} · {manifest.state} · {manifest.started}", "bold"))
    print_leaderboard(board, console)
    for error in manifest.errors:
        console.print(
            safe(f"{error.cell}: {error.rows} rows without an answer ({error.kind}): {error.message}", "red"), soft_wrap=True
        )
    for row in rows:
        _print_sample(row, console, of=len(cells) > 1)
    if cells and not rows:
        console.print(safe("no sample is like that", "dim"))
    if not cells and manifest.cells:
        console.print(safe(f"samples: leaderflow show {manifest.run} {next(iter(manifest.cells))}", "dim"), soft_wrap=True)


def print_trace(found: Mapping[str, Json]) -> None:
    """Print the tables behind a number, and one sample's whole way."""
    console = out()
    console.width = max(console.width, WIDTH)  # a terminal folds the paths, which stay whole when copied
    console.print(safe(f"{found['cell']} · run {found['run']} · version {found['version']}", "bold"))
    body = [[t["table"], t["stage"], t["key"][:12], str(t["rows"]), t["path"]] for t in found["tables"]]
    table = grid(["table", "stage", "key", "rows", "file below the store"], body, right=range(3, 4))
    console.print(table)
    for row in found["samples"]:
        _print_sample(row, console, prompts=True)


def _print_sample(row: Mapping[str, Any], console: Console, prompts: bool = False, of: bool = False) -> None:
    mark = {True: "right", False: "wrong", None: row["status"]}[row["correct"]]
    mark += ", nothing was found in the answer" if row["status"] == "unparsed" else ""
    repeat = f" · repeat {row['repeat']}" if row["repeat"] else ""
    cell = f"{row['cell']} · " if of else ""
    console.print(heading(f"{cell}{row['sample_id']}{repeat} · {mark}"))
    for prompt in row["prompts"] if prompts else row["prompts"][:1]:
        print_input(prompt, console)
    for answer in row["answers"]:
        _print_answer(answer, console)
    for said in row["judged"]:
        _print_judged(said, console, prompts)
    for name in ("extracted", "reference", "score", "detail", "found"):
        if row.get(name) is not None:
            value = row[name] if isinstance(row[name], str) else json.dumps(row[name], ensure_ascii=False)
            console.print(safe(labelled(name, value), "yellow"), soft_wrap=True)


def _print_judged(said: Mapping[str, Any], console: Console, prompts: bool) -> None:
    if prompts:
        console.print(safe(f"asked of the judge {said['judge']}:", "magenta"))
        print_input(said["prompt"], console)
    about = " · ".join(str(said[name]) for name in ("question", "status", "error") if said[name])
    console.print(safe(labelled(f"judge {said['judge']}", said["output"] or ""), "magenta"), soft_wrap=True)
    console.print(safe(f"verdict {json.dumps(said['verdict'], ensure_ascii=False)} · {about} · {said['request_key'][:12]}", "dim"))


def _judged(store: Store, entry: CellEntry) -> dict[tuple[str, int], list[dict[str, Json]]]:
    """Return what judges were asked and said, by sample × repeat; judge by judge."""
    asked = {row["question_id"]: row for row in _read(store, entry, "judge_questions")}
    prompts = {row["sample_id"]: _prompt(row) for row in _read(store, entry, "judge_prompts")}
    found: dict[tuple[str, int], list[dict[str, Json]]] = {}
    outputs, extracted = (_read(store, entry, name) for name in ("judge_outputs", "judge_extracted"))
    judges = [judge["path"] for judge in entry.protocol.get("judges", [])]
    for position, (output, read) in enumerate(zip(outputs, extracted, strict=True)):
        question = asked[output["sample_id"]]
        said = {name: output[name] for name in ("request_key", "repeat", "status", "output", "error")}
        judge = judges[position * len(judges) // len(outputs)]  # all are asked the same, one after the other
        reply = {"judge": judge, "question": question["question"], "prompt": prompts[output["sample_id"]], **said}
        found.setdefault((question["sample_id"], question["repeat"]), []).append(reply | {"verdict": _json(read["extracted"])})
    return found


def _print_answer(answer: Mapping[str, Json], console: Console) -> None:
    name = "answer" if answer["label"] is None else f"answer {answer['label']}"
    if answer["reasoning"]:
        console.print(safe(labelled(_thought(answer), answer["reasoning"]), "dim"), soft_wrap=True)
    shown = answer["output"] if answer["nll"] is None else f"nll {answer['nll']:.4f} over {answer['scored_tokens']} tokens"
    for text in answer["turns"] or [shown]:
        if text is not None:
            console.print(safe(labelled(name, text), "green"), soft_wrap=True)
    facts = [answer["status"], answer["finish_reason"], answer["error"], f"request {answer['request_key'][:12]}"]
    console.print(safe(" · ".join(str(fact) for fact in facts if fact), "dim"), soft_wrap=True)


def _thought(answer: Mapping[str, Json]) -> str:
    """Return ``reasoning``, with its tokens where they are known; ``about`` marks what was counted by its share of the text."""
    if answer["reasoning_tokens"] is None:
        return "reasoning"
    about = "about " if answer["reasoning_counted"] == "share" else ""
    return f"reasoning ({about}{answer['reasoning_tokens']:,} of {answer['output_tokens'] or 0:,} tokens)"


def _read(store: Store, entry: CellEntry, name: str) -> list[dict[str, Any]]:
    tables: list[pa.Table] = [store.read(ref) for ref in entry.tables.get(name, [])]
    return [row for table in tables for row in table.to_pylist()]


def _grouped(rows: Sequence[dict[str, Any]], *names: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _prompt(row: Mapping[str, Any]) -> dict[str, Json]:
    names = ("label", "part", "text", "continuation", "dropped_examples", "status", "error")
    return {name: row[name] for name in names} | {"messages": _json(row["messages"])}


def _answer(row: Mapping[str, Any]) -> dict[str, Json]:
    names = (
        "request_key",
        "label",
        "part",
        "status",
        "output",
        "reasoning",
        "nll",
        "scored_tokens",
        "finish_reason",
        "prompt_tokens",
        "output_tokens",
        "reasoning_tokens",
        "reasoning_counted",
        "latency_s",
        "attempts",
        "error",
    )
    return {name: row[name] for name in names} | {"turns": _json(row["turns"])}


def _score(rows: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    if not rows:
        return {"correct": None, "score": None, "detail": None}
    return {name: rows[0][name] for name in ("status", "correct", "score")} | {"detail": _json(rows[0]["detail"])}


def _json(text: str | None) -> Json:
    return None if text is None else json.loads(text)
