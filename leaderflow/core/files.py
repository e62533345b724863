"""Where a store's bytes lie: the protocol, and the local folder. Everything else that touches a store goes through it."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import unquote

from leaderflow.core.errors import StoreError
from leaderflow.core.leases import local_lease, local_leased


class Files(Protocol):
    """The files of a store. A name is relative to the store's root, with slashes; a file appears whole or not at all.

    All methods raise StoreError where the store cannot be reached or written; `read` an OSError where that one file cannot be read.
    """

    place: str
    """The root as it may be shown: never with credentials."""
    address: str
    """What another process opens the same files by (`open_files`); never shown."""

    def check_writable(self) -> None:
        """Raise StoreError where nothing can be written."""

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises:
            FileNotFoundError: there is no such file.
        """

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Return the sizes in bytes of those of the files that are there."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, sorted; hidden ones are left out."""

    def local(self, name: str) -> Path:
        """Return the path of a file on this machine, or of a copy of it that is up to date."""

    def mirror(self, folder: str) -> list[Path]:
        """Return the paths of all files below a folder, as `local` does for one; sorted, hidden ones left out."""

    def reading(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Open a file for reading from any place in it.

        Raises:
            FileNotFoundError: there is no such file.
        """

    def write(self, name: str, data: bytes) -> None:
        """Write a file, in place of the one of that name."""

    def writing(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Open a new file for writing; it appears when the block is left without an error."""

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""

    def lease(self, name: str, keys: Iterable[str] | None = None) -> contextlib.AbstractContextManager[None]:
        """Hold the lease of a name, or only of some keys (hex digests) below it; waits while somebody else holds it."""

    def leased(self, name: str) -> bool:
        """Say whether somebody holds the lease of a name at this moment; where it cannot be told, somebody does."""

    def arrow(self) -> Any:
        """Return a `pyarrow.fs.FileSystem` whose paths are names."""


def open_files(place: Path | str) -> Files:
    """Return the files at a path or a URI of `pyarrow.fs`.

    Raises:
        StoreError: the URI is wrong.
    """
    scheme, separator, rest = str(place).partition("://")
    if not separator:
        return LocalFiles(place)
    if scheme == "file":
        if not rest.startswith("/"):
            raise StoreError(f"{place} names a host; write file:/// and an absolute path, or simply the path")
        return LocalFiles(unquote(rest))
    from leaderflow.core.objects import ObjectFiles

    return ObjectFiles(str(place))


class LocalFiles:
    """The files of a store in a local folder, or in one of a network file system."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).expanduser().resolve()
        self.place = self.address = str(self.root)

    def check_writable(self) -> None:
        """Make the folder and try."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            probe = self.root / f".probe-{uuid.uuid4().hex}"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as exc:
            raise StoreError(f"cannot write the store {self.root}: {exc.strerror}; point LEADERFLOW_STORE elsewhere") from exc

    def read(self, name: str) -> bytes:
        """Read the file."""
        return self.local(name).read_bytes()

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Ask the file system."""
        found = {}
        for name in names:
            with contextlib.suppress(OSError):
                found[name] = self.local(name).stat().st_size
        return found

    def names(self, folder: str) -> list[str]:
        """Walk the folder."""
        return [path.relative_to(self.root).as_posix() for path in self.mirror(folder)]

    def local(self, name: str) -> Path:
        """Return the file itself."""
        return self.root / name

    def mirror(self, folder: str) -> list[Path]:
        """Walk the folder."""
        walked = os.walk(self.root / folder)
        found = (os.path.join(base, name) for base, _, names in walked for name in names if not name.startswith("."))
        return [Path(path) for path in sorted(found)]

    def reading(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Open the file itself."""
        return self.local(name).open("rb")

    def write(self, name: str, data: bytes) -> None:
        """Write it as `write_whole` does."""
        write_whole(self.root / name, data)

    def writing(self, name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
        """Open it as `written_whole` does."""
        return written_whole(self.root / name)

    def delete(self, name: str) -> None:
        """Unlink it."""
        try:
            self.local(name).unlink(missing_ok=True)
        except OSError as exc:
            raise StoreError.unwritable(self.local(name), exc) from exc

    def lease(self, name: str, keys: Iterable[str] | None = None) -> contextlib.AbstractContextManager[None]:
        """Lock a file below ``leases``."""
        return local_lease(self.root / "leases", name, keys)

    def leased(self, name: str) -> bool:
        """Try the lock."""
        return local_leased(self.root / "leases", name)

    def arrow(self) -> Any:
        """Return the folder."""
        from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

        return SubTreeFileSystem(str(self.root), LocalFileSystem())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        StoreError: the file system refuses (full, read-only, no permission).
    """
    with written_whole(path) as file:
        file.write(data)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears whole or not at all: temporary name in the same folder, fsync, rename.

    Raises:
        StoreError: the file system refuses (full, read-only, no permission).
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as exc:
        raise StoreError.unwritable(path, exc) from exc
    finally:
        with contextlib.suppress(OSError):  # why the file could not be written matters, not why its beginning stays
            temporary.unlink()
