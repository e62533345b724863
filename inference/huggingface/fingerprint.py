"""What a folder of weights is: the identity under which its answers are stored."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from leaderflow.core.identity import canonical_json, sha256_hex
from leaderflow.core.paths import home
from leaderflow.core.types import Json

_IGNORED = {".md", ".png", ".jpg", ".lock", ".metadata"}


def model_identity(files: str, *, dtype: str, chat: bool, extra: Mapping[str, Json] | None = None) -> str:
    """Return the identity of local weights: what their files hold, dtype, engine and version, never a path.

    Args:
        files: `files_digest` of config, tokenizer, chat template and weights.
        dtype: what is computed in.
        chat: whether messages go through the chat template.
        extra: whatever else changes an answer, such as a PEFT adapter's digest.
    """
    parts = {"files": files, "dtype": dtype, "chat": chat, "engine": engine()} | dict(extra or {})
    return f"transformers:{sha256_hex(canonical_json(parts))[:32]}"


def engine() -> list[str]:
    """Return name and version of what computes; a local build tag such as ``+cpu`` does not count."""
    return [f"{name} {version(name).partition('+')[0]}" for name in ("transformers", "torch")]


def files_digest(folder: Path, beginning: str = "") -> str:
    """Return the digest of a folder's files by name and content; documentation, pictures and hidden files left out.

    Args:
        folder: where the files lie.
        beginning: only files whose names begin so; alternatives are separated by ``|``.
    """
    wanted = tuple(beginning.split("|"))
    found = (p for p in folder.rglob("*") if p.is_file() and p.name.startswith(wanted))
    files = sorted(p for p in found if not _ignored(p.relative_to(folder)))
    known = _read_memo()
    sums = {path.relative_to(folder).as_posix(): _sum(path, known) for path in files}
    _write_memo(known)
    return sha256_hex(canonical_json(sums))


def _ignored(name: Path) -> bool:
    return name.suffix.lower() in _IGNORED or any(part.startswith(".") for part in name.parts)


def _sum(path: Path, known: dict[str, list[Json]]) -> str:
    """Return a file's SHA-256; read again only if size or time of change differ from the last time."""
    status = path.stat()
    stamp = [status.st_size, status.st_mtime_ns]
    entry = known.get(name := str(path.resolve()))
    if entry is None or entry[:2] != stamp:
        with path.open("rb") as stream:
            entry = known[name] = [*stamp, hashlib.file_digest(stream, "sha256").hexdigest()]
    return str(entry[2])


def _memo_file() -> Path:
    return home() / "fingerprints.json"


def _read_memo() -> dict[str, list[Json]]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(_memo_file().read_text("utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _write_memo(known: Mapping[str, list[Json]]) -> None:
    if known == _read_memo():
        return
    target = _memo_file()
    with contextlib.suppress(OSError):  # a memo saves seconds; without it the files are read again
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as scratch:
            json.dump(dict(known), scratch)
        os.replace(scratch.name, target)
