"""The rows of a cell, joined from its tables block by block."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from evaluators.judges.shown import answer_text, rival_answer
from leaderflow.core.errors import DataError, did_you_mean
from leaderflow.core.streams import Finder, Found, Rows, tuples
from leaderflow.core.types import Item, Json, Row

_RIVAL = ("sample_id", "repeat", "status", "extracted")
_ANSWER = ("sample_id", "repeat", "output", "turns")
_COLUMNS = ("sample_id", "repeat", "status", "extracted", "reference")


class TableCell:
    """A cell whose tables are read as often as needed.

    Args:
        extracted: the postprocess table.
        samples: the read table.
        cluster_column: what groups rows which are not independent.
        needs: columns that the rows must have, by whom that is said if they have not.
        outputs: the infer table, where the whole answers are needed.
        rivals: the postprocess tables of the models to compare with.
    """

    def __init__(
        self,
        extracted: Rows,
        samples: Rows,
        cluster_column: str | None = None,
        needs: tuple[str, frozenset[str]] = ("", frozenset()),
        outputs: Rows | None = None,
        rivals: Mapping[str, Rows] | None = None,
    ) -> None:
        self.extracted, self.samples, self.outputs, self.rivals = extracted, samples, outputs, rivals or {}
        self.cluster_column, self.needs = cluster_column, needs

    def blocks(self, size: int | None) -> Iterator[Sequence[Item]]:
        """Join the tables.

        Raises:
            DataError: an extracted row without a sample, or a column that the evaluator or the clustering needs is absent.
        """
        who, needs = self.needs
        for text in islice(tuples(self.samples, ["row"]), 1):
            check_columns(json.loads(text[0]), needs | ({self.cluster_column} if self.cluster_column else set()), who)
        samples = Finder(self.samples, ["sample_id", "row"], lambda sample_id, row: sample_id)
        outputs = None if self.outputs is None else Finder(self.outputs, _ANSWER, lambda s, r, *said: (s, r))
        rivals = {model: Finder(rows, _RIVAL, lambda s, r, *said: (s, r)) for model, rows in self.rivals.items()}
        lines = tuples(self.extracted, _COLUMNS)
        while block := list(islice(lines, size)):
            found = samples.find({line[0] for line in block})
            if lost := next((line[0] for line in block if line[0] not in found), None):
                raise DataError(f"the answer of sample {lost!r} belongs to no sample of this dataset: read and infer differ")
            scored = [line for line in block if line[2] != "error"]
            keys = {(line[0], line[1]) for line in scored}
            said = outputs.find(keys) if outputs else {}
            others = {model: finder.find(keys) for model, finder in rivals.items()}
            if scored:
                yield list(self._items(scored, found, said, others))

    def predictions(self) -> Iterator[Json]:
        """Read one column."""
        return (_load(text) for status, text in tuples(self.extracted, ["status", "extracted"]) if status != "error")

    def references(self) -> Iterator[Json]:
        """Read one column."""
        return (_load(text) for status, text in tuples(self.extracted, ["status", "reference"]) if status != "error")

    def _items(
        self,
        lines: Sequence[tuple[Any, ...]],
        samples: Found[str],
        said: Found[tuple[str, int]],
        others: Mapping[str, Found[tuple[str, int]]],
    ) -> Iterator[Item]:
        rows = {sample_id: json.loads(samples[sample_id][1][1]) for sample_id in {line[0] for line in lines}}
        for sample_id, repeat, status, extracted, reference in lines:
            row, key = rows[sample_id], (sample_id, repeat)
            yield Item(
                sample_id,
                repeat,
                status,
                _load(extracted),
                _load(reference),
                row,
                None if self.cluster_column is None else _cluster(sample_id, row.get(self.cluster_column)),
                samples[sample_id][0],
                answer_text(*said[key][1][2:]) if key in said else "",
                {model: rival_answer(*own[key][1][2:]) for model, own in others.items() if key in own},
            )


def check_columns(row: Row, needs: frozenset[str] | set[str], who: str) -> None:
    """See that a row has all columns that somebody needs.

    Raises:
        DataError: names the column, and the one that was perhaps meant.
    """
    for missing in sorted(needs - set(row)) if row else ():
        raise DataError(f"{who} needs the column {missing!r}, which the rows do not have{did_you_mean(missing, row)}")


def _load(text: str | None) -> Json:
    return None if text is None else json.loads(text)


def _cluster(sample_id: str, value: Json) -> str:
    """A row without a cluster is one by itself."""
    return _text({"sample_id": sample_id} if value is None else value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
