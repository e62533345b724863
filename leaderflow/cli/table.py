"""What a person sees at the end of a run: the leaderboard, where things are, what to do next. Drawn from the JSON object alone."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from leaderflow.cli.console import out, safe
from leaderflow.core.text import dollars, reasoning_part, shortened
from leaderflow.core.types import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

CAUSES = ("n_unparsed", "n_truncated", "n_filtered", "n_rejected", "n_failed")
MESSAGE_WIDTH = 200
MOST_NOTES = 12


def print_result(result: Mapping[str, Json], console: Console | None = None) -> None:
    """Print the outcome of a run."""
    console = console or out()
    print_leaderboard(result["cells"], console)
    for error in result["errors"]:
        console.print(
            safe(f"{error['cell']}: {error['rows']} rows without an answer ({error['class']}): {_short(error['message'])}", "red")
        )
    for warning in result.get("warnings", ()):
        console.print(safe(_short(warning), "yellow"))
    if result.get("message"):
        console.print(safe(result["message"], "" if result["state"] == "completed" else "bold red"))
    console.print()
    for line in [*_effort(result), *_places(result), *next_commands(result)]:
        console.print(safe(line), soft_wrap=True)


def print_leaderboard(cells: Sequence[Mapping[str, Json]], console: Console) -> None:
    """Print the table of cells: a line a dataset and metric, a column a model, and what is odd about a cell below."""
    from reports.table import COLUMNS, pivot

    if not cells:
        return
    header, body = pivot(cells)
    console.print(grid(header, body, right=range(len(COLUMNS), len(header))))
    ordered = sorted(cells, key=lambda cell: not cell["group"])
    lines = [f"{cell['dataset']} · {cell['model']}: {notes}" for cell in ordered if (notes := _notes(cell))]
    noted = list(dict.fromkeys(lines))  # the metrics of a cell share their rows
    for line in noted[:MOST_NOTES]:
        console.print(safe(line, "yellow"))
    if len(noted) > MOST_NOTES:
        console.print(safe(f"… and {len(noted) - MOST_NOTES} more cells with such rows", "yellow"))


def print_plan(plan: Mapping[str, Json], console: Console | None = None) -> None:
    """Print what a run would ask."""
    console = console or out()
    names = ["model", "dataset", "samples", "shards", "requests", "answered", "rejected"]
    console.print(grid(names, [[str(cell[name]) for name in names] for cell in plan["cells"]], right=range(2, len(names))))
    console.print(
        safe(f"{plan['requests']} requests: {plan['answered']} already answered, {plan['to_ask']} to ask. Nothing was written.")
    )
    known = sum(cell["judge_requests"] or 0 for cell in plan["cells"])
    if known:
        console.print(safe(f"{known} of them go to judges."))
    if plan["judges_open"]:
        console.print(safe(f"Judges: at most {plan['judges_open']} further requests, known once the models' answers are there."))


def grid(header: Sequence[str], body: Sequence[Sequence[str]], right: range = range(0), whole: Collection[str] = ()) -> Table:
    """Return a table whose cells are untrusted text; the columns `right` are aligned there, those named in `whole` never folded."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for position, name in enumerate(header):
        side: Literal["left", "right"] = "right" if position in right else "left"
        table.add_column(safe(name), justify=side, overflow="fold", no_wrap=name in whole)
    for line in body:
        table.add_row(*[safe(cell) for cell in line])
    return table


def print_wide(header: Sequence[str], body: Sequence[Sequence[str]], console: Console) -> None:
    """Print a table of any width: where it does not fit, a block of lines for each of its lines."""
    from rich.measure import Measurement

    table = grid(header, body)
    unbound = console.options.update(max_width=sys.maxsize)
    if Measurement.get(console, unbound, table).maximum <= console.width:
        console.print(table)
        return
    margin = max(map(len, header))
    for number, line in enumerate(body, 1):
        console.print(safe(f"── {number}", "bold"))
        for name, value in zip(header, line, strict=True):
            console.print(safe(f"{name:<{margin}}  {value}"), soft_wrap=True)


def next_commands(result: Mapping[str, Json]) -> list[str]:
    """Return the commands that are useful now."""
    run = result["run"]
    cells = [
        cell for cell in result["cells"] if cell["version"] and not cell["group"]
    ]  # a name that the run does not have has none
    lines = [f"look     leaderflow show {run}"]
    if cells:
        lines.append(f"explain  leaderflow trace {run} {cells[0]['model']}:{cells[0]['dataset']}")
    if result["state"] != "completed" and result.get("manifest"):
        lines.append(f"finish   leaderflow run {result['manifest']}    asks only what is missing")
    return lines


def _effort(result: Mapping[str, Json]) -> list[str]:
    requests, tasks, seconds = result["requests"], result["tasks"], result["seconds"]
    asked = f"{requests.get('sent', 0)} requests sent, {requests.get('reused', 0)} answers reused"
    tokens = f"{requests.get('prompt_tokens', 0):,} + {requests.get('output_tokens', 0):,} tokens{reasoning_part(requests)}"
    steps = f"{tasks.get('computed', 0)} tasks computed, {tasks.get('cached', 0)} cached, {tasks.get('failed', 0)} failed"
    cost = "" if result.get("cost") is None else f", {dollars(result['cost'])}"
    return [f"{asked}, {tokens}{cost}; {steps}; {seconds.get('total', 0.0):.1f} s"]


def _places(result: Mapping[str, Json]) -> list[str]:
    places = {"run": result["run"], "manifest": result.get("manifest"), "UI": result.get("ui")}
    return [f"{name:<8} {value}" for name, value in places.items() if value]


def _notes(cell: Mapping[str, Any]) -> str:
    counts = [f"{cell[name]} {name.removeprefix('n_')}" for name in CAUSES if cell.get(name)]
    of = f" of {cell['n']}" if counts and cell.get("n") else ""
    return "; ".join(part for part in (", ".join(counts) + of, cell.get("note") or "") if part)


def _short(text: str) -> str:
    return shortened(text, MESSAGE_WIDTH)
