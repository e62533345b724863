"""A finished run as Arrow tables, for notebooks: ``leaderflow.load_run("latest").samples()``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from leaderflow.core.artifacts import TABLES
from leaderflow.core.errors import UsageError, did_you_mean
from leaderflow.core.manifest import CellEntry, Manifest
from leaderflow.core.paths import store_uri
from leaderflow.core.store import Store

_SCHEMAS = {name: schema for tables in TABLES.values() for name, schema in tables.items()}


class LoadedRun:
    """A run in the store. Every method returns a `pyarrow.Table`; ``.to_pandas()`` or ``polars.from_arrow`` goes on from there.

    `cell` is ``MODEL:DATASET``; without it the tables of all cells are put together. All tables but the summary begin with the
    columns `model` and `dataset`.
    """

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.manifest = manifest
        self._store = store

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.state}, {len(self.cells)} cells>"

    @property
    def id(self) -> str:
        """The run's id."""
        return self.manifest.run

    @property
    def state(self) -> str:
        """running, completed, incomplete, failed or crashed."""
        return self.manifest.state

    @property
    def cells(self) -> list[str]:
        """The names of the scored cells."""
        return list(self.manifest.cells)

    @property
    def spec(self) -> dict[str, Any]:
        """What was run, as JSON."""
        return self.manifest.spec

    def summary(self) -> pa.Table:
        """Return the leaderboard: model × dataset × metric, groups included.

        Raises:
            UsageError: the run did not come that far.
        """
        if self.manifest.summary is None:
            raise UsageError(f"run {self.id} has no summary ({self.state}); run the same command again to finish it")
        return self._store.read(self.manifest.summary)

    def metrics(self, cell: str | None = None) -> pa.Table:
        """Return the cells' metrics with standard errors and intervals."""
        return self._all("metrics", cell)

    def answers(self, cell: str | None = None) -> pa.Table:
        """Return a row a request: output, reasoning, likelihood, tokens, latency, error."""
        return self._all("outputs", cell)

    def prompts(self, cell: str | None = None) -> pa.Table:
        """Return a row a model input; `messages` is JSON text."""
        return self._all("prompts", cell)

    def samples(self, cell: str | None = None) -> pa.Table:
        """Return a row a sample × repeat: its score, what was extracted, the reference and the dataset's row (JSON text)."""
        return pa.concat_tables([_named(entry, self._samples(entry)) for entry in self._entries(cell)])

    def _samples(self, entry: CellEntry) -> pa.Table:
        scores, extracted, rows = (self._table(entry, name) for name in ("scores", "extracted", "samples"))
        found = pc.index_in(_keys(scores), value_set=_keys(extracted))
        for name in ("extracted", "reference", "extractor"):
            scores = scores.append_column(name, extracted.column(name).take(found))
        position = pc.index_in(scores.column("sample_id"), value_set=rows.column("sample_id").combine_chunks())
        return scores.append_column("row", rows.column("row").take(position))

    def _all(self, table: str, cell: str | None) -> pa.Table:
        return pa.concat_tables([_named(entry, self._table(entry, table)) for entry in self._entries(cell)])

    def _table(self, entry: CellEntry, name: str) -> pa.Table:
        tables = [self._store.read(ref).replace_schema_metadata(None) for ref in entry.tables.get(name, [])]
        return pa.concat_tables([*tables, _SCHEMAS[name].empty_table()])

    def _entries(self, cell: str | None) -> Iterable[CellEntry]:
        cells = self.manifest.cells
        if not cells or (cell is not None and cell not in cells):
            known = ", ".join(cells) or "none"
            raise UsageError(f"run {self.id} has no cell {cell or ''}{did_you_mean(cell or '', cells)}; its cells: {known}")
        return cells.values() if cell is None else [cells[cell]]


def load_run(run: str = "latest", store: str | None = None) -> LoadedRun:
    """Return a run of the store.

    Args:
        run: its id, its beginning, ``latest``, or ``latest~1`` for the one before.
        store: folder of the store; by default LEADERFLOW_STORE, or ``store`` in LEADERFLOW_HOME.

    Raises:
        UsageError: there is no such run.
    """
    place = Store(store or store_uri())
    return LoadedRun(place, Manifest.load(place, run))


def _keys(table: pa.Table) -> pa.Array:
    """Return sample and repeat as one text a row."""
    texts = pc.binary_join_element_wise(table.column("sample_id"), table.column("repeat").cast(pa.string()), "\0")
    return texts.combine_chunks()


def _named(entry: CellEntry, table: pa.Table) -> pa.Table:
    for name, value in (("dataset", entry.dataset), ("model", entry.model)):
        table = table.add_column(0, pa.field(name, pa.string()), pa.repeat(pa.scalar(value), table.num_rows))
    return table
