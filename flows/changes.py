"""What a run changed: compared with the last good one of its suite, told in a report, and in alerts where somebody should look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from flows.result import CellResult
from leaderflow.core.errors import UsageError
from leaderflow.core.manifest import Manifest, run_names
from leaderflow.core.specs import cell_name
from leaderflow.core.store import Store
from leaderflow.core.types import Json
from reports.compare import compare
from reports.comparison import CellComparison, Comparison

WORDS = {"better": "better", "worse": "**worse**", "no difference shown": "=", "not comparable": "not comparable"}

SMALLEST = 0.00005
"""A probability below this would be shown as zero, which it is not."""


@dataclass(frozen=True)
class Alert:
    """Something a person should look at: ``regression``, ``partial`` or ``truncation``."""

    kind: str
    text: str
    cells: Sequence[str]
    details: dict[str, Json] = field(default_factory=dict)


def last_good(store: Store, manifest: Manifest) -> Manifest | None:
    """Return the newest complete run before this one that belongs to the same suite."""
    for name in reversed(run_names(store)):
        if name < manifest.run:
            found = Manifest.load(store, name)
            if found.state == "completed" and found.suite == manifest.suite:
                return found
    return None


def compared(store: Store, manifest: Manifest) -> tuple[Comparison | None, str]:
    """Return the comparison with the last good run, or None and why there is none."""
    good = last_good(store, manifest)
    if good is None:
        return None, "This is the first complete run of its suite: there is nothing to compare with."
    try:
        return compare(store, good.run, manifest.run, flips=0), f"Compared with run `{good.run}` of {_date(good.started)}."
    except UsageError as error:
        return None, f"Not comparable with run `{good.run}`: {error}"


def _date(started: str) -> str:
    return f"{datetime.fromisoformat(started):%Y-%m-%d %H:%M} UTC"


def report(comparison: Comparison | None, why: str, alerts: Sequence[Alert]) -> str:
    """Return what changed, as Markdown."""
    parts = ["\n".join(f"- ⚠ {_safe(alert.text)}" for alert in alerts)] if alerts else []
    parts.append(_safe(why))
    if comparison is not None:
        parts += [table(comparison), f"`leaderflow compare {comparison.left} {comparison.right}` shows the samples that changed."]
    return "\n\n".join(parts)


def table(comparison: Comparison) -> str:
    """Return a comparison as a Markdown table."""
    head = ["cell", "before", "now", "difference", "95 % interval", "p (Holm)", "n", "verdict", "what changed"]
    lines = [head, ["---", "---:", "---:", "---:", "---:", "---:", "---:", "---", "---"], *map(_line, comparison.cells)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _line(cell: CellComparison) -> list[str]:
    interval = "-" if cell.ci_low is None or cell.ci_high is None else f"{cell.ci_low:+.2f}\u00a0to\u00a0{cell.ci_high:+.2f}"
    facts = [f"{n} {change}" for change, n in cell.changes.items()] + ([cell.why] if cell.why else []) + cell.differences[:3]
    numbers = [_number(cell.left_value), _number(cell.right_value), _number(cell.difference, "+.2f")]
    return [
        _safe(cell.right),
        *numbers,
        interval,
        _probability(cell.p_adjusted),
        str(cell.n),
        WORDS[cell.verdict],
        _safe(", ".join(facts)),
    ]


def _number(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def _probability(value: float | None) -> str:
    return "&lt;0.0001" if value is not None and value < SMALLEST else _number(value, ".4f")


def _safe(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def alerts(cells: Sequence[CellResult], comparison: Comparison | None, threshold: float, truncation: float) -> list[Alert]:
    """Return what somebody should look at, one alert a kind.

    Args:
        cells: the run's leaderboard.
        comparison: with the last good run.
        threshold: in the metric's unit; a significant loss of more is a regression.
        truncation: a share of the scored samples; more cut-off answers are an alert.
    """
    own = list({cell_name(cell.model, cell.dataset): cell for cell in reversed(cells) if not cell.group}.items())[::-1]
    return [*_regressions(comparison, threshold), *_partial(own), *_truncated(own, truncation)]


def _regressions(comparison: Comparison | None, threshold: float) -> Iterator[Alert]:
    worse = [cell for cell in comparison.cells if cell.regressed(threshold)] if comparison else []
    if comparison and worse:
        named = ", ".join(f"{cell.right} {cell.difference:+.2f}" for cell in worse)
        text = f"significantly worse than run {comparison.left} on {len(worse)} of {len(comparison.cells)} cells: {named}"
        details = {cell.right: {"before": cell.left_value, "now": cell.right_value, "p": cell.p_adjusted} for cell in worse}
        yield Alert("regression", text, [cell.right for cell in worse], details)


def _partial(cells: Sequence[tuple[str, CellResult]]) -> Iterator[Alert]:
    if found := {name: cell.n_failed for name, cell in cells if cell.partial}:
        text = f"{len(found)} cells are partial: " + ", ".join(f"{name} lacks {n} answers" for name, n in found.items())
        yield Alert("partial", text, list(found), dict(found))


def _truncated(cells: Sequence[tuple[str, CellResult]], limit: float) -> Iterator[Alert]:
    shares = {name: (cell.n_truncated or 0) / cell.n_scored for name, cell in cells if cell.n_scored}
    if found := {name: share for name, share in shares.items() if share > limit}:
        text = f"more than {limit:.0%} of the answers are cut off: " + ", ".join(
            f"{name} {share:.0%}" for name, share in found.items()
        )
        yield Alert("truncation", text, list(found), {name: round(share, 4) for name, share in found.items()})
