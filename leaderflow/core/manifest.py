"""The manifest of a run: what was asked for, where every table lies, how it ended. One JSON file, rewritten whole."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from leaderflow.core.errors import StoreError, UsageError, did_you_mean
from leaderflow.core.store import ArtifactRef, Store

log = logging.getLogger("leaderflow.manifest")

T = TypeVar("T")

_FILE = "manifest.json"

State = Literal["running", "completed", "incomplete", "failed", "crashed"]
"""A run whose process is gone cannot write that it has ``crashed``: whoever reads its manifest finds it out."""


class CellEntry(BaseModel):
    """One cell's tables, in shard order where there are shards, and what is known of the cell beside them."""

    model_config = ConfigDict(extra="forbid")

    model: str
    dataset: str
    group: str | None = None
    mode: str = "gen"
    version: str | None = None
    protocol: dict[str, Any] = Field(default_factory=dict)
    tables: dict[str, list[ArtifactRef]] = Field(default_factory=dict)
    """``samples``, ``pool``, ``examples``, ``prompts``, ``outputs``, ``extracted``, ``scores``, ``metrics``; of judges
    ``judge_questions``, ``judge_prompts``, ``judge_outputs``, ``judge_extracted``, judge by judge, shard by shard."""
    counts: dict[str, int] = Field(default_factory=dict)


class CellError(BaseModel):
    """Why rows of a cell have no answer: how many, of which class, and the first message."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    cell: str
    rows: int
    kind: str = Field(alias="class")
    message: str


class Manifest(BaseModel):
    """One run. `spec` is the effective spec: it can be run again."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    run: str
    state: State = "running"
    started: str
    finished: str | None = None
    spec: dict[str, Any]
    suite: str | None = None
    cells: dict[str, CellEntry] = Field(default_factory=dict)
    summary: ArtifactRef | None = None
    tasks: dict[str, int] = Field(default_factory=dict)
    requests: dict[str, int] = Field(default_factory=dict)
    seconds: dict[str, float] = Field(default_factory=dict)
    errors: list[CellError] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    """What makes a cell's number doubtful, and the setting to change."""
    cost: float | None = None
    """Dollars spent by this run, where prices are known."""
    flow_run: str | None = None
    """The Prefect flow run's id, where there is one."""

    def save(self, store: Store) -> None:
        """Write the manifest whole."""
        text = json.dumps(self.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=1, allow_nan=False)
        store.files.write(manifest_name(self.run), text.encode())

    def lease(self, store: Store) -> contextlib.AbstractContextManager[None]:
        """Hold the run's lease while it is walked: one that says ``running`` without it has crashed."""
        return store.lease(_lease(self.run))

    @classmethod
    def load(cls, store: Store, run: str) -> Manifest:
        """Return the manifest of a run: its id, the beginning of one, ``latest``, or ``latest~1`` for the one before it.

        Raises:
            UsageError: there is no such run, or more than one begins so.
            StoreError: its manifest cannot be read.
        """
        there = manifests(store)
        names = list(there)
        if not names:
            raise UsageError(f"no run in {store.files.place} yet; start one with `leaderflow run`")
        if back := re.fullmatch(r"latest(?:~(\d{1,9}))?", run):
            found = names[-1 - int(back[1] or 0) :][:1] if int(back[1] or 0) < len(names) else []
        else:
            found = [name for name in names if name == run] or [name for name in names if name.startswith(run)]
        if len(found) != 1:
            what = "no run" if not found else f"{len(found)} runs"
            raise UsageError(f"{what} named {run!r}{did_you_mean(run, names) if not found else ''}; `leaderflow runs` lists them")
        return cls._read(store, there[found[0]])

    @classmethod
    def all(cls, store: Store) -> Iterator[Manifest]:
        """Yield the manifests of all runs, oldest first; one that cannot be read is left out with a warning."""
        return each_readable(manifests(store).values(), lambda path: cls._read(store, path))

    @classmethod
    def _read(cls, store: Store, path: Path) -> Manifest:
        with _one_line(path):
            found = cls.model_validate_json(path.read_bytes())
            found.state = "crashed" if _crashed(store, path, found.state) else found.state
            return found


_SAVED = frozenset(Manifest.model_fields) - {"warnings", "cost", "flow_run"}
"""The keys that every manifest has had."""


def plain_manifest(store: Store, path: Path) -> dict[str, Any]:
    """Return a manifest as plain JSON, its spec not validated: cheap, where thousands are read.

    Raises:
        StoreError: it cannot be read.
    """
    with _one_line(path):
        found = json.loads(path.read_bytes())
        if not isinstance(found, dict) or not found.keys() >= _SAVED:
            raise ValueError("no manifest")
        return found | {"state": "crashed"} if _crashed(store, path, found["state"]) else found


def _lease(run: str) -> str:
    return f"run-{run}"


def _crashed(store: Store, path: Path, state: str) -> bool:
    """Say whether a run ended without a word: it says `running`, nobody walks it, and it still says so afterwards."""
    if state != "running" or store.leased(_lease(path.parent.name)):
        return False
    return bool(json.loads(store.files.read(manifest_name(path.parent.name)))["state"] == "running")


@contextlib.contextmanager
def _one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StoreError(f"{path} cannot be read: {exc.strerror}") from exc
    except ValueError as exc:
        raise StoreError(f"{path} is cut or altered; remove its folder and run the same command again") from exc


def each_readable(paths: Iterable[Path], read: Callable[[Path], T]) -> Iterator[T]:
    """Yield what `read` makes of each manifest; a StoreError of one is a warning, because the others are as good as before."""
    for path in paths:
        try:
            found = read(path)
        except StoreError as error:
            log.warning("run %s is left out: %s", path.parent.name, error)
        else:
            yield found


def manifests(store: Store) -> dict[str, Path]:
    """Return the manifests of all runs by the runs' ids, oldest first: paths on this machine."""
    found = {path.parent.name: path for path in store.files.mirror("runs") if path.name == _FILE}
    return {run: found[run] for run in sorted(found)}


def run_names(store: Store) -> list[str]:
    """Return the ids of all runs with a manifest, oldest first."""
    return list(manifests(store))


def manifest_name(run: str) -> str:
    """Return the name of a run's manifest in the store."""
    return f"runs/{run}/{_FILE}"


def manifest_place(store: Store, run: str) -> str:
    """Return where a run's manifest lies, as it may be shown; `leaderflow run` takes it."""
    return f"{store.files.place}/{manifest_name(run)}"


def new_run_id(now: datetime | None = None) -> str:
    """Return an id that sorts by time, such as ``20300131-235959-3fa2c``: the second, its 4096th part, and two random digits."""
    now = now or datetime.now(UTC)
    return f"{now:%Y%m%d-%H%M%S}-{now.microsecond * 4096 // 1_000_000:03x}{secrets.token_hex(1)}"


def timestamp() -> str:
    """Return the time now as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
