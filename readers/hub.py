"""Datasets of the Hugging Face hub. Local files always come first; offline, no socket is opened."""

from __future__ import annotations

import contextlib
import os
import socket
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leaderflow.core.errors import DataError
from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.types import Json
from readers.columnar import records
from readers.files import FileDataset, file_hash, first_file, local_files, remedy
from readers.record import ONLY, Record

_CONNECT_S = 5.0


class HFDataset(FileDataset):
    """A dataset of the hub: `path` is its id (or a folder laid out like one), `name` its configuration, `revision` its commit.

    With a file of ``local:`` present, the splits are those that ``local:`` names; a split whose file is absent comes from the hub.
    """

    def splits(self) -> Sequence[str | None]:
        """Return the splits, asking the hub only where no local file is there."""
        files = self._files()
        if any(first_file(paths) for paths in files.values()):
            return list(files)
        with self._hub(None) as datasets:
            names = datasets.get_dataset_split_names(self.dataset.path, self.dataset.name, revision=self.dataset.revision)
        return list(names)

    def records(self, split: str | None) -> list[Record]:
        """Return the rows of a split."""
        path = self.local(split)
        if path is not None:
            return self.read(path)
        with self._hub(split) as datasets:
            cfg = self.dataset
            rows = datasets.load_dataset(cfg.path, cfg.name, split=split, revision=cfg.revision).to_list()
        return list(records(rows, f"{self.dataset.path} {split}"))

    def fingerprint(self) -> Json:
        """Return the hashes of the local files that are there; the hub's id, name and revision where one is missing."""
        files = self._files()
        folder = Path(self.dataset.path or "")
        hub = {"path": self.dataset.path, "name": self.dataset.name, "revision": self.dataset.revision}
        if folder.is_dir():
            hub["path"] = sha256_hex(canonical_json([file_hash(file) for file in sorted(folder.rglob("*")) if file.is_file()]))
        whole = bool(files) and all(first_file(paths) for paths in files.values())
        return {"files": super().fingerprint(), "hub": None if whole else hub}

    def _files(self) -> dict[str | None, list[Path]]:
        if self.dataset.local is not None:
            return local_files(self.dataset, self.source)
        path = Path(self.dataset.path or "")
        return {ONLY: [path]} if path.is_file() else {}

    @contextlib.contextmanager
    def _hub(self, split: str | None) -> Iterator[Any]:
        """Lend the `datasets` library, held offline where it must be; its failures become one clean line."""
        name = self.dataset.path
        if name is None:
            raise self._missing(split, "the recipe names no hub id")
        cached = Path(name).is_dir() or _cached(name)
        offline = self.source.offline or os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "on", "yes", "true")
        reachable = not offline and (Path(name).is_dir() or _reachable(_endpoint()))
        if not reachable and not cached:
            why = "offline, and not in the hub cache" if offline else f"{_endpoint()} cannot be reached"
            raise self._missing(split, f"hub dataset {name!r}: {why}")
        import datasets

        datasets.disable_progress_bars()
        datasets.logging.set_verbosity_error()
        try:
            with _offline(not reachable):
                yield datasets
        except Exception as exc:
            said = next(iter(str(exc).splitlines()), "")
            raise self._missing(split, f"hub dataset {name!r}: {type(exc).__name__}: {said}") from exc

    def _missing(self, split: str | None, why: str) -> DataError:
        files = self._files()
        paths = [self._named(path) for path in files.get(split) or [path for places in files.values() for path in places[:1]]]
        looked = f"; no local file {' or '.join(list(dict.fromkeys(paths))[:2])}" if paths else ""
        return DataError(f"dataset {self.dataset.abbr!r}: {why}{looked}; {remedy(self.source)}")

    def _named(self, path: Path) -> str:
        """Return a path as the recipe names it: below the data folder, not beside the recipe."""
        folder = Path(self.dataset.source).parent if self.dataset.source else None
        return str(path.relative_to(folder)) if folder and path.is_relative_to(folder) else str(path)


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _reachable(endpoint: str) -> bool:
    """Say whether something answers there; behind a proxy only the library itself can tell."""
    if urllib.request.getproxies():
        return True
    parts = urlsplit(endpoint)
    try:
        socket.create_connection((parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)), _CONNECT_S).close()
    except OSError:
        return False
    return True


def _cached(name: str) -> bool:
    """Say whether the library's caches hold anything of a dataset: asking them costs no import."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface")
    prepared = Path(os.environ.get("HF_DATASETS_CACHE") or home / "datasets") / name.replace("/", "___")
    files = Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / f"datasets--{name.replace('/', '--')}"
    return prepared.is_dir() or files.is_dir()


@contextlib.contextmanager
def _offline(needed: bool) -> Iterator[None]:
    """Hold both libraries offline; they read these constants at every call, the environment only once."""
    import datasets
    import huggingface_hub.constants

    before = datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE
    if needed:
        datasets.config.HF_HUB_OFFLINE = huggingface_hub.constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, huggingface_hub.constants.HF_HUB_OFFLINE = before
