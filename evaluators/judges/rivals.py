"""The answers of other models of the run, for judges that compare with them, and of the judges: what becomes of a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from evaluators.judges.base import lines_about
from evaluators.judges.shown import rival_answer
from leaderflow.core.artifacts import EXTRACTED
from leaderflow.core.streams import Finder, Rows

EVERY_OTHER = "*"
"""Stands for all other models of the run."""


def pretended_rivals(names: Sequence[str], extracted: pa.Table) -> dict[str, pa.Table]:
    """Return as many rivals that all answered what stands in `extracted`."""
    return dict.fromkeys(("another model" if name == EVERY_OTHER else name for name in names), extracted)


class Settled:
    """The rows of EXTRACTED with what became of the questions about each.

    A row is ``error`` where a judge, or a model that it is compared with, gave no answer after all attempts (it will be asked
    again), ``unparsed`` where no question has `minimum` readable verdicts.

    Args:
        extracted: the rows.
        verdicts: a VERDICTS table.
        minimum: readable verdicts that a question needs.
        rivals: the postprocess tables of the models to compare with.
    """

    def __init__(self, extracted: Rows, verdicts: pa.Table, minimum: int, rivals: Mapping[str, Rows]) -> None:
        self.extracted, self.verdicts, self.minimum, self.rivals = extracted, verdicts, minimum, rivals

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; the status is another where that is so."""
        if "status" not in columns:
            yield from self.extracted.batches(columns)
            return
        names = ("sample_id", "repeat", "status", "extracted")
        finders = [Finder(rows, names, lambda s, r, *said: (s, r)) for rows in self.rivals.values()]
        for batch in self.extracted.batches([*dict.fromkeys((*columns, "sample_id", "repeat"))]):
            keys = list(zip(batch.column("sample_id").to_pylist(), batch.column("repeat").to_pylist(), strict=True))
            said, waiting = self._said({sample_id for sample_id, _ in keys}), set[tuple[str, int]]()
            for finder in finders:
                answers = finder.find(set(keys))
                waiting |= {key for key, (_, line) in answers.items() if rival_answer(*line[2:]).pending}
            before = batch.column("status").to_pylist()
            status = ["error" if k in waiting else self._status(s, said.get(k, {})) for k, s in zip(keys, before, strict=True)]
            arrays = [pa.array(status, EXTRACTED.field(c).type) if c == "status" else batch.column(c) for c in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _said(self, samples: set[str]) -> Mapping[tuple[str, int], Mapping[str, list[str]]]:
        found: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for line in lines_about(self.verdicts, samples):
            said = "error" if line["status"] == "error" else "none" if line["verdict"] is None else "read"
            found[line["sample_id"], line["repeat"]][line["question"]].append(said)
        return found

    def _status(self, before: str, said: Mapping[str, list[str]]) -> str:
        if any("error" in replies for replies in said.values()):
            return "error"
        return "unparsed" if said and all(replies.count("read") < self.minimum for replies in said.values()) else before
