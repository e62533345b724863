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
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs

from leaderflow.core.errors import StoreError
from leaderflow.core.files import write_whole
from leaderflow.core.identity import sha256_hex
from leaderflow.core.object_leases import object_lease, object_leased
from leaderflow.core.paths import home
from leaderflow.core.text import shortened

T = TypeVar("T")

AT_ONCE = 16
"""Objects asked for at a time."""

_TRIES = 20

_DEFAULTS = {"s3": {"allow_delayed_open": "true"}, "gs": {"retry_limit_seconds": "30"}, "gcs": {"retry_limit_seconds": "30"}}
"""Small objects in one request instead of three; no minutes of silence where nothing answers."""

_REASONS = {
    "there is no such bucket": ("NO_SUCH_BUCKET", "NoSuchBucket", "ContainerNotFound"),
    "access is denied; give credentials in the environment (for S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE)": (
        *(
            "ACCESS_DENIED",
            "INVALID_ACCESS_KEY_ID",
            "SIGNATURE_DOES_NOT_MATCH",
            "EXPIRED_TOKEN",
            "HTTP status 401",
            "HTTP status 403",
        ),
        *("EXPIRED_TOKEN", "PERMISSION_DENIED", "UNAUTHENTICATED", "AuthenticationFailed"),
    ),
    "nothing answers there; see to the endpoint and the network": (
        *("NETWORK_CONNECTION", "UNAVAILABLE", "ould not resolve", "ould not connect", "onnection refused"),
    ),
    "its scheme is unknown; a store is a path, or begins with s3://, gs://, abfs:// or file://": ("Unrecognized filesystem type",),
}
"""What the provider's words mean to the user; an error without them is quoted."""

_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")


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
        self.place = shown(uri)
        self._uri = uri
        self._cache = home() / "cache" / "stores" / sha256_hex(f"{self.place}?{uri.partition('?')[2]}")[:16]
        self._bucket_seen = False
        with self._told("use"):
            system, path = fs.FileSystem.from_uri(_with_defaults(uri))
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
        with self._told("read"), self._fs.open_input_stream(name) as stream:
            return bytes(stream.read())

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Ask for all of them at once."""
        return {name: found.size for name, found in self._each(self._find, names) if found}

    def names(self, folder: str) -> list[str]:
        """List the prefix."""
        return sorted(self.found(folder))

    def local(self, name: str) -> Path:
        """Return the path of a copy."""
        found = self._find(name)
        if found is None:
            raise FileNotFoundError(2, "there is no such object", name)
        return self._copied(name, found)

    def mirror(self, folder: str) -> list[Path]:
        """Copy what is new, drop the copies of what is gone."""
        for _ in range(_TRIES):
            found = self.found(folder)
            new = [name for name, own in found.items() if not _is_copy(self._cache / name, own)]
            try:
                self._each(lambda name: self._copied(name, found[name]), new)  # noqa: B023 - done with before the next round
            except FileNotFoundError:  # merged away, or written again, since it was listed
                continue
            paths = {self._cache / name for name in found}
            for base, _, names in os.walk(self._cache / folder):
                for path in {Path(base, name) for name in names if not name.startswith(".")} - paths:
                    path.unlink(missing_ok=True)
            return sorted(paths)
        raise StoreError(f"the objects below {self.place}/{folder} change faster than they can be read; try again")

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
                shutil.copyfileobj(file, stream, 8 << 20)

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
            data = self.read(name)
            if len(data) != found.size:
                raise FileNotFoundError(2, "the object was written again", name)
            write_whole(path, data)
            os.utime(path, ns=(found.mtime, found.mtime))
        return path

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
            raise StoreError(f"cannot {verb} the store {self.place}: {self._reason(str(exc))}") from None

    def _reason(self, text: str) -> str:
        for reason, words in _REASONS.items():
            if any(word in text for word in words):
                return reason
        user = _login(self._uri).partition(":")
        for secret in [self._uri, *map(unquote, user), *user, *(os.environ.get(name, "") for name in _SECRETS)]:
            text = text.replace(secret, "***") if len(secret) > 1 else text
        return shortened(" ".join(text.split()), 300)


def shown(uri: str) -> str:
    """Return a URI without credentials and options, as it may be shown."""
    scheme, _, rest = uri.partition("://")
    login = _login(uri)
    rest = "***" + rest.removeprefix(login) if ":" in login else rest
    return f"{scheme}://{rest.partition('?')[0].rstrip('/')}"


def _login(uri: str) -> str:
    """Return what stands before the @ of a URI: key and secret, or a container's name."""
    return uri.partition("://")[2].rpartition("@")[0]


def _with_defaults(uri: str) -> str:
    scheme, (head, _, options) = uri.partition("://")[0].lower(), uri.partition("?")
    missing = [f"{name}={value}" for name, value in _DEFAULTS.get(scheme, {}).items() if f"{name}=" not in options]
    return f"{head}?{'&'.join(filter(None, [options, *missing]))}" if missing else uri


def _is_copy(path: Path, found: Found) -> bool:
    try:
        own = path.stat()
    except OSError:
        return False
    return own.st_size == found.size and abs(own.st_mtime_ns - found.mtime) < 1_000_000  # some file systems round
