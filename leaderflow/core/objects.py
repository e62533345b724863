"""A store in an object store: S3 and what speaks like it, Google Cloud Storage, Azure, through `pyarrow.fs`.

Objects appear whole or not at all, cannot grow, and are far away. So what is read often (answers, manifests, the history) is
copied to ``LEADERFLOW_HOME/cache`` once, and again where the object's size or time is another.

Credentials come from the environment and the profiles that the provider's own tools read; if a URI has some, it is never shown.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from errno import ENOENT
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import fs

from leaderflow.core.errors import StoreError
from leaderflow.core.files import written_whole
from leaderflow.core.identity import sha256_hex
from leaderflow.core.object_leases import object_lease, object_leased
from leaderflow.core.object_uri import opened, reason, shown
from leaderflow.core.paths import home

T = TypeVar("T")

AT_ONCE = 16
"""Objects asked for at a time."""

_TRIES = 20

_CHUNK = 8 << 20
"""Bytes held in memory while an object is copied."""

_YOUNG_S = 60

_TICK_NS = 2_000_000_000
"""Object stores tell times in whole seconds: two objects written within this time may look the same."""


class Found(NamedTuple):
    """An object: its size in bytes and when it was written, in nanoseconds by the store's clock."""

    size: int
    mtime: int


class ObjectFiles:
    """The files of a store below the prefix of a bucket.

    Args:
        uri: of `pyarrow.fs`, such as ``s3://bucket/prefix?endpoint_override=host:9000&scheme=http``.

    Raises:
        StoreError: the URI is wrong, or the bucket's region cannot be found.
    """

    def __init__(self, uri: str) -> None:
        self.address, self.place = uri, shown(uri)
        self._cache = home() / "cache" / "stores" / sha256_hex(f"{self.place}?{uri.partition('?')[2]}")[:16]
        self._bucket_seen = False
        with self._told("use"):
            system, path = fs.FileSystem.from_uri(opened(uri))
            if not path.strip("/"):
                raise ValueError("it names no bucket")
            self._fs = fs.SubTreeFileSystem(path.rstrip("/"), system)

    def check_writable(self) -> None:
        """Write an object and remove it."""
        probe = f".probe-{uuid.uuid4().hex}"
        self.write(probe, b"")
        self.delete(probe)

    def read(self, name: str) -> bytes:
        """Get the object."""
        with _as_missing(name):
            return b"".join(self._chunks(name))

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Ask for all of them at once."""
        return {name: found.size for name, found in self._each(self._find, names) if found}

    def names(self, folder: str) -> list[str]:
        """List the prefix."""
        return sorted(self.found(folder))

    def local(self, name: str) -> Path:
        """Return the path of a copy."""
        with _as_missing(name):
            if (found := self._find(name)) is None:
                raise _Gone
            return self._copied(name, found)

    def mirror(self, folder: str) -> list[Path]:
        """Copy what is new, drop the copies of what is gone."""
        for _ in range(_TRIES):
            found = self.found(folder)
            new = [name for name, own in found.items() if not _is_copy(self._cache / name, own)]
            try:
                self._each(lambda name: self._copied(name, found[name]), new)  # noqa: B023 - done with before the next round
            except _Gone:  # merged away, or written again, since it was listed
                continue
            paths = [self._cache / name for name in sorted(found)]
            self._tidy(folder, set(paths))
            return paths
        raise StoreError(f"the objects below {self.place}/{folder} change faster than they can be read; try again")

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Get the object into a temporary file."""
        with tempfile.TemporaryFile() as file:
            with _as_missing(name):
                file.writelines(self._chunks(name))
            file.seek(0)
            yield file

    def write(self, name: str, data: bytes) -> None:
        """Put the object."""
        with self._told("write"), self._fs.open_output_stream(name) as stream:
            stream.write(data)

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Collect the bytes in a temporary file, then put the object: a stream that is given up would leave half of it."""
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            with self._told("write"), self._fs.open_output_stream(name) as stream:
                shutil.copyfileobj(file, stream, _CHUNK)

    def delete(self, name: str) -> None:
        """Delete the object."""
        with contextlib.suppress(FileNotFoundError), self._told("write"):
            self._fs.delete_file(name)

    def lease(self, name: str, keys: Iterable[str] | None = None) -> contextlib.AbstractContextManager[None]:
        """Hold an object below ``leases``."""
        return object_lease(self, name, keys)

    def leased(self, name: str) -> bool:
        """Look for claims that were renewed lately."""
        return object_leased(self, name)

    def arrow(self) -> Any:
        """Return the prefix."""
        return self._fs

    def found(self, folder: str) -> dict[str, Found]:
        """Return all objects below a folder by name, hidden ones left out."""
        with self._told("read"):
            infos = self._fs.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
            if not infos and not self._bucket_seen:  # a bucket that is not there lists like an empty one
                bucket = self._fs.base_path.partition("/")[0]
                if self._fs.base_fs.get_file_info(bucket).type == fs.FileType.NotFound:
                    raise ValueError("NoSuchBucket")
        self._bucket_seen = True
        files = (info for info in infos if info.type == fs.FileType.File and not info.base_name.startswith("."))
        return {info.path: Found(info.size, info.mtime_ns or 0) for info in files}

    def _find(self, name: str) -> Found | None:
        with self._told("read"):
            info = self._fs.get_file_info(name)
        return Found(info.size, info.mtime_ns or 0) if info.type == fs.FileType.File else None

    def _copied(self, name: str, found: Found) -> Path:
        path = self._cache / name
        if not _is_copy(path, found):
            with written_whole(path) as file:
                file.writelines(self._chunks(name))
                if file.tell() != found.size:
                    raise _Gone
            os.utime(path, ns=(found.mtime, found.mtime))
        return path

    def _tidy(self, folder: str, keep: Set[Path]) -> None:
        """Drop old copies of what is gone; what another process has just copied may not have been listed yet."""
        for base, _, names in os.walk(self._cache / folder):
            for path in {Path(base, name) for name in names} - keep:
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - path.stat().st_ctime > _YOUNG_S:
                        path.unlink()

    def _chunks(self, name: str) -> Iterator[bytes]:
        """Yield an object's bytes."""
        try:
            with self._told("read"), self._fs.open_input_stream(name) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
        except FileNotFoundError:
            raise _Gone from None
        except StoreError:
            if self._find(name) is None:  # deleted between the requests that reading takes
                raise _Gone from None
            raise

    def _each(self, ask: Callable[[str], T], names: Iterable[str]) -> list[tuple[str, T]]:
        """Return what `ask` says of every name."""
        names = list(names)
        if len(names) < 2:
            return [(name, ask(name)) for name in names]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="leaderflow-objects") as pool:
            return list(zip(names, pool.map(ask, names), strict=True))

    @contextlib.contextmanager
    def _told(self, verb: str) -> Iterator[None]:
        """Turn errors of the provider into one line without credentials; a missing object stays a FileNotFoundError."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, ValueError, NotImplementedError, pa.ArrowException) as exc:
            raise StoreError(f"cannot {verb} the store {self.place}: {reason(str(exc), self.address)}") from None


class _Gone(Exception):
    """An object is not there, or no longer what it was when it was listed."""


@contextlib.contextmanager
def _as_missing(name: str) -> Iterator[None]:
    try:
        yield
    except _Gone:
        raise FileNotFoundError(ENOENT, "there is no such object", name) from None


def _is_copy(path: Path, found: Found) -> bool:
    try:
        own = path.stat()
    except OSError:
        return False
    same = own.st_size == found.size and abs(own.st_mtime_ns - found.mtime) < 1_000_000  # some file systems round
    return same and own.st_ctime_ns - own.st_mtime_ns > _TICK_NS  # the copy of a young object may be of the one before it
