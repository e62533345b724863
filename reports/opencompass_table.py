"""The summary table of OpenCompass from stored result dictionaries, as recorded.

The groups are combined by the same engine as ours (`reports.combine`). What differs: which row of a group comes first is the
shared metric, groups appear only where every member has a result, values below nothing count as 1 in a harmonic mean, the label
decides how a group is combined, and the version is a hash of the inference block alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaderflow.core.errors import DataError, SpecError
from leaderflow.core.specs import SummaryGroup
from reports.combine import Combination, Member, Way, way_of

RANKED = (
    "score",
    "auc_score",
    "accuracy",
    "humaneval_pass@1",
    "rouge1",
    "avg_toxicity_score",
    "bleurt_diff",
    "matthews_correlation",
    "truth",
    "f1",
    "exact_match",
    "extract_rate",
)
"""These metrics come first, in this order; the others follow as the result file has them."""

HIDDEN = frozenset({"bp", "sys_len", "ref_len", "type"})

MODES = {"GenInferencer": "gen", "PPL": "ppl", "LL": "ll"}
"""Part of the inferencer's name → mode; the first that fits."""

_BY_LABEL: Mapping[str, Way] = {"standard_deviation": "standard_deviation", "sum": "sum", "harmonic_mean": "harmonic_mean"}

Results = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Model → dataset → result as stored."""


@dataclass
class Board:
    """What the table is made of: numbers by model, dataset and metric, the datasets' metrics in order, and their modes."""

    models: list[str]
    parsed: dict[str, dict[str, dict[str, float]]]
    metrics: dict[str, list[str]] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)

    def add_group(self, raw: Mapping[str, Any]) -> None:
        """Add a summary group for every model that has all its members; the metrics are listed once for each such model."""
        group = SummaryGroup.model_validate(raw)
        for model in self.models:
            if group.subsets and all(self._has(model, item) for item in group.subsets):
                self._add(group, self.parsed[model])

    def _has(self, model: str, item: str | list[str]) -> bool:
        own = self.parsed[model]
        return item in own if isinstance(item, str) else item[1] in own.get(item[0], {})

    def _add(self, group: SummaryGroup, own: dict[str, dict[str, float]]) -> None:
        label = group.metric or way_of(group)
        members = self._members(group, label)
        way = _BY_LABEL.get(label) or ("weighted_average" if group.weights else "naive_average")
        combination = Combination.of(group, way)
        result = {metric: _combined(combination, chosen, own) for metric, chosen in members.items()}
        own[group.name] = own.get(group.name, {}) | result
        self.metrics.setdefault(group.name, []).extend(members)
        modes = {self.modes.get(name, "unknown") for name in group.members()}
        self.modes[group.name] = modes.pop() if len(modes) == 1 else "mixed"

    def _members(self, group: SummaryGroup, label: str) -> dict[str, list[Member]]:
        """Return for each metric of the group the members that make it; the label stands for each member's first metric."""
        names = [item for item in group.subsets if isinstance(item, str)]
        if len(names) not in (0, len(group.subsets)):
            raise SpecError(f"summary group {group.name!r}: subsets must all be names, or all be pairs of name and metric")
        if not names:
            return {label: [(item[0], item[1]) for item in group.subsets]}
        first = self.metrics[names[0]]
        shared = [m for m in dict.fromkeys(first) if m != label and all(m in self.metrics[name] for name in names)]
        leading: list[Member] = [(name, self.metrics[name][0]) for name in names]
        return {**{metric: [(name, metric) for name in names] for metric in shared}, label: leading}


def pick_up(models: Sequence[Mapping[str, Any]], datasets: Sequence[Mapping[str, Any]], results: Results) -> Board:
    """Return the results' numbers, without those of failed datasets.

    Raises:
        DataError: a dataset has other metrics for one model than for another.
    """
    shown = {model["abbr"]: model.get("summarizer_abbr") or model["abbr"] for model in models}
    board = Board(list(dict.fromkeys(shown.values())), {name: {} for name in shown.values()})
    board.modes = {dataset["abbr"]: mode_of(dataset) for dataset in datasets}
    for model, name in shown.items():
        for dataset in board.modes:
            numbers = _numbers(results.get(model, {}).get(dataset, {}))
            if not numbers:
                continue
            known = board.metrics.setdefault(dataset, list(numbers))
            if known != list(numbers):
                raise DataError(f"{dataset} has different metrics: {known} and, for {name}, {list(numbers)}")
            board.parsed[name][dataset] = numbers
    return board


def table(
    models: Sequence[Mapping[str, Any]],
    datasets: Sequence[Mapping[str, Any]],
    results: Results,
    summary_groups: Sequence[Mapping[str, Any]] = (),
    dataset_abbrs: Sequence[str | Sequence[str]] | None = None,
) -> tuple[list[list[str]], Board]:
    """Return the table (header first, every cell as text), and what it was made of.

    Args:
        models: model configurations with `abbr` and perhaps `summarizer_abbr`.
        datasets: dataset configurations with `abbr` and `infer_cfg`.
        results: result dictionaries by model and dataset.
        summary_groups: as in `leaderflow.core.specs.SummaryGroup`.
        dataset_abbrs: names, or pairs of name and metric; None: everything, groups last.
    """
    board = pick_up(models, datasets, results)
    for group in summary_groups:
        board.add_group(group)
    versions = {dataset["abbr"]: prompt_version(dataset) for dataset in datasets}
    wanted = _everything(board, datasets) if dataset_abbrs is None else [_pair(item) for item in dataset_abbrs]
    header = ["dataset", "version", "metric", "mode", *board.models]
    return [header, *(_line(board, versions, name, metric) for name, metric in wanted)], board


def as_csv(lines: Sequence[Sequence[str]]) -> str:
    """Return the table as the CSV file has it: commas inside a cell become blanks."""
    return "".join(",".join(cell.replace(",", " ") for cell in line) + "\n" for line in lines)


def as_markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return the table as the Markdown file has it."""
    header, *body = lines
    rows = ["| " + " | ".join(line) + " |\n" for line in [header, *body]]
    return "".join([rows[0], "|" + " | ".join(["-----"] * len(header)) + "|\n", *rows[1:]])


def prompt_version(dataset: Mapping[str, Any]) -> str:
    """Return six hex digits of the inference block; fixed example ids count as part of the inferencer."""
    infer = {name: dict(block) if isinstance(block, Mapping) else block for name, block in dataset["infer_cfg"].items()}
    if "fix_id_list" in infer.get("retriever", {}):
        infer["inferencer"]["fix_id_list"] = infer["retriever"].pop("fix_id_list")
    return hashlib.sha256(json.dumps(infer, sort_keys=True).encode()).hexdigest()[:6]


def mode_of(dataset: Mapping[str, Any]) -> str:
    """Return gen, ppl, ll or unknown, told by the inferencer's name."""
    name = str(dataset.get("infer_cfg", {}).get("inferencer", {}).get("type", "")).rpartition(".")[2]
    return next((mode for part, mode in MODES.items() if part in name), "unknown")


def _numbers(result: Mapping[str, Any]) -> dict[str, float]:
    if "error" in result:
        return {}
    found = {name: value for name, value in result.items() if name not in HIDDEN and isinstance(value, int | float)}
    rank = {name: position for position, name in enumerate(RANKED)}
    return dict(sorted(found.items(), key=lambda item: rank.get(item[0], len(RANKED))))


def _combined(combination: Combination, members: Sequence[Member], own: Mapping[str, Mapping[str, float]]) -> float:
    values = {member: own[member[0]][member[1]] for member in members}
    if combination.way == "harmonic_mean":
        values = {member: 1 if value <= 0 else value for member, value in values.items()}
    return combination(values)


def _everything(board: Board, datasets: Sequence[Mapping[str, Any]]) -> list[tuple[str, str | None]]:
    wanted: list[tuple[str, str | None]] = []
    for dataset in datasets:
        metrics: Sequence[str | None] = board.metrics.get(dataset["abbr"]) or [None]
        wanted.extend((dataset["abbr"], metric) for metric in metrics)
    rest = [(name, metric) for name, metrics in board.metrics.items() for metric in dict.fromkeys(metrics)]
    return [*wanted, *(pair for pair in rest if pair not in wanted)]


def _pair(item: str | Sequence[str]) -> tuple[str, str | None]:
    return (item, None) if isinstance(item, str) else (item[0], item[1])


def _line(board: Board, versions: Mapping[str, str], name: str, metric: str | None) -> list[str]:
    known = board.metrics.get(name)
    if not known or metric not in (None, *known):
        return [name, *["-"] * (3 + len(board.models))]
    metric = metric or known[0]
    values = [board.parsed[model].get(name, {}).get(metric) for model in board.models]
    shown = ["-" if value is None else f"{value:.2f}" for value in values]
    return [name, versions.get(name, "-"), metric, board.modes.get(name, "-"), *shown]
