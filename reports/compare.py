"""Compare runs: cell by cell, over the samples they have in common, with one verdict each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.identity import differences
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.specs import cell_name
from leaderflow.core.statistics import holm
from leaderflow.core.store import Store
from reports.comparison import CellComparison, Comparison, Flip, Verdict
from reports.paired import ALPHA, compare_scores
from reports.pairing import CHANGES, Paired, Sample, leading_metric, pair, samples_of, texts_of

MOST_DIFFERENCES = 20


@dataclass(frozen=True)
class Side:
    """A run, or one model of it."""

    manifest: Manifest
    model: str | None

    @property
    def models(self) -> list[str]:
        """The models that take part."""
        return [self.model] if self.model else list(dict.fromkeys(cell.model for cell in self.manifest.cells.values()))

    def cell(self, model: str, dataset: str) -> CellEntry | None:
        """Return a cell's entry, if the run has it."""
        return self.manifest.cells.get(cell_name(model, dataset))

    def specs(self, cell: CellEntry) -> dict[str, Any]:
        """Return the effective specs of a cell's model and dataset; where the model ran says nothing of its answers."""
        kinds = {"models": cell.model, "datasets": cell.dataset}
        found: dict[str, dict[str, Any]] = {
            kind: next((item for item in self.manifest.spec.get(kind, []) if item["abbr"] == abbr), {})
            for kind, abbr in kinds.items()
        }
        found["models"] = {key: value for key, value in found["models"].items() if key != "run_cfg"}
        return found


def side(store: Store, name: str) -> Side:
    """Return what ``RUN`` or ``RUN:MODEL`` names.

    Raises:
        UsageError: there is no such run, or it has no such model.
    """
    run, _, model = name.partition(":")
    manifest = Manifest.load(store, run)
    found = Side(manifest, model or None)
    known = Side(manifest, None).models
    if not known:
        raise UsageError(f"run {manifest.run} has no scored cell ({manifest.state}); run the same command again to finish it")
    if model and model not in known:
        raise UsageError(f"run {manifest.run} has no model {model!r}{did_you_mean(model, known)}; it has: {', '.join(known)}")
    return found


def compare(store: Store, left: str, right: str, *, flips: int | None = None) -> Comparison:
    """Compare two runs; the first one is the baseline.

    Models are paired by name, or the one with the other where each side has one. A sample belongs to a pair if its id and its row
    are the same on both sides. Holm's correction runs over the datasets of a pair of models.

    Args:
        store: where both runs are.
        left: a run's id, its beginning, ``latest``, ``latest~1``, or any of these with ``:MODEL``.
        right: the same.
        flips: how many flipped samples of each cell to give with their texts; None: all.

    Raises:
        UsageError: an unknown run or model, or nothing that can be compared.
    """
    sides = side(store, left), side(store, right)
    cells = [cell for models in _models(*sides) for cell in _corrected(_datasets(store, *sides, *models, flips))]
    found = Comparison(left=sides[0].manifest.run, right=sides[1].manifest.run, cells=cells)
    if all(cell.verdict == "not comparable" for cell in cells):
        first = cells[0]
        raise UsageError(f"nothing to compare between {found.left} and {found.right}: {first.why}")
    return found


def _models(left: Side, right: Side) -> list[tuple[str, str]]:
    if len(left.models) == len(right.models) == 1:
        return [(left.models[0], right.models[0])]
    if not set(left.models) & set(right.models):
        raise UsageError(
            f"the runs have no model in common ({', '.join(left.models)}; {', '.join(right.models)}): "
            "say which to compare, as RUN:MODEL RUN:MODEL"
        )
    return [(model, model) for model in dict.fromkeys([*left.models, *right.models])]


def _datasets(
    store: Store, left: Side, right: Side, left_model: str, right_model: str, flips: int | None
) -> Iterator[CellComparison]:
    own = [c.dataset for c in left.manifest.cells.values() if c.model == left_model]
    other = [c.dataset for c in right.manifest.cells.values() if c.model == right_model]
    for dataset in dict.fromkeys([*own, *other]):
        a, b = left.cell(left_model, dataset), right.cell(right_model, dataset)
        found = CellComparison(left=cell_name(left_model, dataset), right=cell_name(right_model, dataset), dataset=dataset)
        if a is None or b is None:
            missing = (left if a is None else right).manifest.run
            yield found.model_copy(update={"why": f"run {missing} has no dataset {dataset!r} of this model"})
        else:
            changed = [*_scored_otherwise(store, left, a, b), *islice(differences(left.specs(a), right.specs(b)), MOST_DIFFERENCES)]
            yield _cell(store, a, b, found.model_copy(update={"differences": changed}), flips)


def _scored_otherwise(store: Store, left: Side, a: CellEntry, b: CellEntry) -> list[str]:
    """Say so where the code that read the answers and scored them was another one: the models may be blameless."""
    codes = _scoring_code(store, a), _scoring_code(store, b)
    if None in (*codes[0], *codes[1]) or codes[0] == codes[1]:
        return []
    return [f"the answers were scored by other code; `leaderflow rescore {left.manifest.run}` scores the first run anew, for free"]


def _scoring_code(store: Store, cell: CellEntry) -> list[str | None]:
    refs = [*cell.tables["extracted"][:1], *cell.tables["scores"][:1]]
    records = [store.lookup(ref.stage, ref.key) for ref in refs]
    return [record.parts.get("code") if record else None for record in records]


def _cell(store: Store, left: CellEntry, right: CellEntry, found: CellComparison, flips: int | None) -> CellComparison:
    if protocol := next(differences(left.protocol, right.protocol), None):
        return found.model_copy(update={"why": f"the protocols differ: {protocol}"})
    samples = samples_of(store, left), samples_of(store, right)
    paired = pair(*samples)
    counts = {"n_left": len(samples[0]), "n_right": len(samples[1]), "n": len(paired.ids)}
    if why := _not_comparable(paired, samples):
        return found.model_copy(update={**counts, "why": why})
    metric = leading_metric(store, left)
    chosen = list(islice(sorted(paired.changes.items(), key=lambda item: CHANGES.index(item[1])), flips))
    return found.model_copy(
        update={
            **counts,
            **{name: metric[name] for name in ("metric", "scale", "higher_is_better")},
            **_numbers(paired, metric["scale"] or 1.0),
            "why": _limits(paired),
            "changes": {change: n for change in CHANGES if (n := list(paired.changes.values()).count(change))},
            "flips": _flips(store, left, right, chosen, samples[0]),
        }
    )


def _not_comparable(paired: Paired, samples: Sequence[Mapping[str, Sample]]) -> str | None:
    if not paired.common:
        altered = f"; {paired.altered} have the same id but another row" if paired.altered else ""
        return f"no common samples{altered}"
    for name, own in zip(("first", "second"), samples, strict=True):
        if all(sample.score is None for sample in own.values()):
            return f"the {name} one has no scores of single samples: its metric is not made of them, or nothing was answered"
    return None if paired.ids else "no sample was answered on both sides"


def _numbers(paired: Paired, unit: float) -> dict[str, Any]:
    found = compare_scores(paired.left, paired.right, paired.clusters)
    estimate = found.difference
    numbers = {
        "left_value": found.left,
        "right_value": found.right,
        "difference": estimate.value,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "smallest": found.smallest,
    }
    scaled = {name: None if value is None else value * unit for name, value in numbers.items()}
    return {**scaled, "p_value": found.p_value, "test": found.test}


def _limits(paired: Paired) -> str | None:
    """Say which samples took no part."""
    parts = {
        "on one side only": paired.alone,
        "with the same id but another row": paired.altered,
        "not answered on both sides": paired.common - len(paired.ids),
    }
    return ", ".join(f"{n} {what}" for what, n in parts.items() if n) or None


def _flips(
    store: Store, left: CellEntry, right: CellEntry, chosen: Sequence[tuple[str, str]], samples: Mapping[str, Sample]
) -> list[Flip]:
    ids = {name for name, _ in chosen}
    texts = (texts_of(store, left, ids), texts_of(store, right, ids)) if ids else ({}, {})
    return [
        Flip(
            sample_id=name,
            change=change,
            row=json.loads(samples[name].row or "null"),
            reference=texts[0][name].reference,
            left=texts[0][name].outputs,
            right=texts[1][name].outputs,
            left_extracted=texts[0][name].extracted,
            right_extracted=texts[1][name].extracted,
        )
        for name, change in chosen
    ]


def _corrected(cells: Iterable[CellComparison]) -> list[CellComparison]:
    """Return the cells with Holm's p-values over the datasets, and the verdicts that follow."""
    found = list(cells)
    tested = [cell for cell in found if cell.p_value is not None]
    adjusted = dict(zip((cell.dataset for cell in tested), holm([cell.p_value or 0.0 for cell in tested]), strict=True))
    return [_judged(cell, adjusted[cell.dataset]) if cell.p_value is not None else cell for cell in found]


def _judged(cell: CellComparison, p_adjusted: float) -> CellComparison:
    verdict: Verdict = "no difference shown"
    if p_adjusted < ALPHA and cell.difference:
        verdict = "better" if (cell.difference > 0) == cell.higher_is_better else "worse"
    return cell.model_copy(update={"p_adjusted": p_adjusted, "verdict": verdict})
