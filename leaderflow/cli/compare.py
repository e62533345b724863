"""``leaderflow compare``: is one run better than another, and which samples changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from leaderflow.cli.options import AsJson, Debug

if TYPE_CHECKING:
    from rich.console import Console

    from reports.comparison import CellComparison, Comparison, Flip

LONGEST = 600
"""Characters of one text of a flipped sample; ``--json`` and ``leaderflow show`` have it whole."""

GAINS = frozenset({"wrong→right", "higher", "answered again"})


def compare(
    runs: Annotated[list[str], typer.Argument(metavar="A B…", help="Runs, or RUN:MODEL. A is the baseline of all others.")],
    threshold: Annotated[
        float, typer.Option(min=0, help="A significant loss of more than this, in the metric's unit, ends with exit code 4.")
    ] = 0.0,
    n: Annotated[int, typer.Option("-n", min=0, metavar="N", help="Changed samples to show of each dataset.")] = 3,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare runs sample by sample: difference, interval, verdict, and what flipped.

    Runs are ids, their beginnings, latest, or latest~1 for the one before.
    """
    from leaderflow.cli.console import out, print_json, safe
    from leaderflow.core.errors import RegressionFound, UsageError
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store
    from reports.compare import compare as compare_runs

    if len(runs) < 2:
        raise UsageError("compare needs two runs or more, such as `leaderflow compare latest~1 latest`")
    store = Store(store_uri())
    found = [compare_runs(store, runs[0], other, flips=None if as_json else n) for other in runs[1:]]
    worse = [(one.right, cell) for one in found for cell in one.cells if cell.regressed(threshold)]
    if as_json:
        names = [f"{run}:{cell.dataset}" for run, cell in worse]
        comparisons = [one.model_dump(mode="json") for one in found]
        print_json({"threshold": threshold, "regressions": names, "comparisons": comparisons})
    else:
        console = out()
        for one in found:
            _print(one, console)
            console.print(safe(""))
    if worse:
        named = ", ".join(f"{cell.right} {_signed(cell.difference)}" for _, cell in worse)
        raise RegressionFound(f"significantly worse by more than {threshold:g} on {len(worse)} of {_cells(found)} cells: {named}")


def _cells(found: Sequence[Comparison]) -> int:
    return sum(len(one.cells) for one in found)


def _print(found: Comparison, console: Console) -> None:
    from leaderflow.cli.console import safe
    from leaderflow.cli.table import grid

    console.print(safe(f"A {found.left} · B {found.right} · difference B − A [95 % interval]", "bold"))
    header = ["dataset", "A", "B", "metric", "n", "A", "B", "difference", "p (Holm)", "could show", "verdict"]
    console.print(grid(header, [_line(cell) for cell in found.cells], right=range(4, 10)))
    for cell in found.cells:
        _print_cell(cell, console)


def _line(cell: CellComparison) -> list[str]:
    left, right = (name.partition(":")[0] for name in (cell.left, cell.right))
    if cell.difference is None:
        return [cell.dataset, left, right, cell.metric or "-", str(cell.n), *["-"] * 5, cell.verdict]
    interval = "" if cell.ci_low is None else f" [{_signed(cell.ci_low)}, {_signed(cell.ci_high)}]"
    return [
        cell.dataset,
        left,
        right,
        cell.metric or "-",
        str(cell.n),
        _number(cell.left_value),
        _number(cell.right_value),
        f"{_signed(cell.difference)}{interval}",
        _number(cell.p_adjusted, 4),
        _number(cell.smallest),
        cell.verdict,
    ]


def _print_cell(cell: CellComparison, console: Console) -> None:
    from leaderflow.cli.console import heading, safe

    facts = [f"{n} {change}" for change, n in cell.changes.items()]
    if cell.why:
        facts.append(cell.why)
    if facts or cell.differences:
        console.print(heading(f"{cell.dataset} · {cell.verdict}" + (f" · {', '.join(facts)}" if facts else "")), soft_wrap=True)
    for difference in cell.differences:
        console.print(safe(f"specs      {difference}", "dim"), soft_wrap=True)
    for flip in cell.flips:
        _print_flip(flip, console)


def _print_flip(flip: Flip, console: Console) -> None:
    from leaderflow.cli.console import safe
    from leaderflow.core.text import shortened

    console.print(safe(f"{flip.change}  {flip.sample_id}", "green" if flip.change in GAINS else "red"), soft_wrap=True)
    texts = {"row": _text(flip.row), "reference": _text(flip.reference)}
    texts |= {f"A {i}" if i else "A": text for i, text in enumerate(flip.left or [_text(x) for x in flip.left_extracted])}
    texts |= {f"B {i}" if i else "B": text for i, text in enumerate(flip.right or [_text(x) for x in flip.right_extracted])}
    for name, text in texts.items():
        console.print(safe(f"  {name:<9}{shortened(text, LONGEST)}"), soft_wrap=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"
