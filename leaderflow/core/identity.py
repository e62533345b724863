"""What makes two results the same: canonical JSON, keys, request keys and digests of tables.

`key = sha256(canonical JSON of {stage, code, config, parents})`. Out of every key: credentials, concurrency, batch size, retries,
time-outs, shard size, paths, log level.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leaderflow.core.types import Json, Prompt, Settings

if TYPE_CHECKING:
    import pyarrow as pa

INFER_VERSION = 1
"""What the infer stage's code is: bumped by hand, because an edit there must not throw paid answers away."""

_PRIME = 2**255 - 19
_BASE = int.from_bytes(hashlib.sha256(b"leaderflow table digest").digest()) % _PRIME

_CHEAP_STAGES = {
    "read": "readers",
    "retrieve": "templating",
    "render": "templating",
    "postprocess": "evaluators",
    "judge": "evaluators",
    "score": "evaluators",
    "summarize": "reports",
}


def canonical_json(value: Json) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, no NaN.

    Raises:
        ValueError: NaN or an infinity.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(text: str | bytes) -> str:
    """Return the hex SHA-256 of a text (as UTF-8) or of bytes."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def stage_key(stage: str, config: Json, parents: Sequence[str], code: str | None = None) -> str:
    """Return the key of a stage's artifact.

    Args:
        stage: ``read``, ``retrieve``, ``render``, ``infer``, ``postprocess``, ``judge``, ``score`` or
            ``summarize``.
        config: the part of the configuration that changes the result, as JSON.
        parents: digests of the parent tables, in the stage's own order.
        code: what the stage's code is; by default `stage_code(stage)`.
    """
    return sha256_hex(canonical_json(key_parts(stage, config, parents, code)))


def key_parts(stage: str, config: Json, parents: Sequence[str], code: str | None = None) -> dict[str, Json]:
    """Return what a key is the hash of; stored beside the artifact, so that `leaderflow why` can compare two keys."""
    return {"stage": stage, "code": code or stage_code(stage), "config": config, "parents": list(parents)}


def stage_code(stage: str, extra_files: Iterable[Path] = ()) -> str:
    """Return what the code of a stage is: a source hash for the cheap stages, a version bumped by hand for infer."""
    if stage == "infer":
        return f"v{INFER_VERSION}"
    digest = source_hash("leaderflow.core") + source_hash(_CHEAP_STAGES[stage])
    return sha256_hex(digest + "".join(sha256_hex(path.read_bytes()) for path in extra_files))[:16]


@functools.cache
def source_hash(package: str) -> str:
    """Return a hash of all files of an installed package, its data (weights, word lists) included, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(package)
    root = Path(next(iter(spec.submodule_search_locations)))
    files = sorted(p for p in root.rglob("*") if p.is_file() and p.parent.name != "__pycache__" and not p.name.startswith("."))
    return sha256_hex("".join(f"{p.relative_to(root).as_posix()}:{sha256_hex(p.read_bytes())}\n" for p in files))


def prompt_json(prompt: Prompt) -> dict[str, Json]:
    """Return a prompt as JSON, null parts left out."""
    parts = {"messages": list(prompt.messages) if prompt.messages is not None else None, "text": prompt.text}
    parts["continuation"] = prompt.continuation
    return {name: value for name, value in parts.items() if value is not None}


def input_key(prompt: Prompt) -> str:
    """Return the hash of the exact model input with its context/continuation border."""
    return sha256_hex(canonical_json(prompt_json(prompt)))


def settings_json(settings: Settings) -> dict[str, Json]:
    """Return the settings that are set, as JSON: an unset one and an absent one are the same."""
    values = asdict(settings) | {"stop": list(settings.stop), "extra": dict(settings.extra)}
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def request_key(input_key: str, model: str, settings: Mapping[str, Json], kind: str, repeat: int = 0, occurrence: int = 0) -> str:
    """Return the name under which an answer is stored and reused.

    Args:
        input_key: hash of the exact input.
        model: the model's identity.
        settings: `settings_json` of the request.
        kind: ``generate`` or ``loglikelihood``.
        repeat: 0-based.
        occurrence: ordinal among equal inputs of the same cell.
    """
    return sha256_hex(canonical_json([input_key, model, settings, kind, repeat, occurrence]))


def table_digest(table: pa.Table) -> str:
    """Return the digest of a table's values in row order; measured columns, metadata and chunk borders do not count.

    Digests of consecutive slices combine to the digest of the whole (`concat_digests`): a cell's digest does not depend on how it
    was cut into shards. The form is ``rows:hex``.
    """
    from leaderflow.core.artifacts import MEASURED
    from leaderflow.core.streams import TableRows, tuples

    names = [name for name in table.schema.names if name not in MEASURED]
    value = 0
    for row in tuples(TableRows(table), names):
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        hashed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        value = (value * _BASE + hashed) % _PRIME
    return f"{table.num_rows}:{value:064x}"


def concat_digests(digests: Iterable[str]) -> str:
    """Return the digest of the tables' concatenation from the digests of the parts, in order."""
    total, value = 0, 0
    for digest in digests:
        rows, _, hexa = digest.partition(":")
        value = (value * pow(_BASE, int(rows), _PRIME) + int(hexa, 16)) % _PRIME
        total += int(rows)
    return f"{total}:{value:064x}"


def version_of(protocol: Json, samples_digest: str) -> str:
    """Return the 8-digit version: results share a leaderboard column only if theirs agree."""
    return sha256_hex(canonical_json([protocol, samples_digest]))[:8]


def first_difference(left: Json, right: Json, path: str = "") -> str | None:
    """Return the first place where two JSON values differ, such as ``config.settings.temperature: 0 != 0.7``, or None."""
    return next(differences(left, right, path), None)


def differences(left: Json, right: Json, path: str = "") -> Iterator[str]:
    """Yield every place where two JSON values differ; lists of unequal length differ as a whole."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(set(left) | set(right)):
            here = f"{path}.{name}" if path else name
            if name not in left or name not in right:
                yield f"{here}: {_short(left.get(name))} != {_short(right.get(name))}"
            else:
                yield from differences(left[name], right[name], here)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            yield from differences(a, b, f"{path}[{i}]")
    elif left != right or type(left) is not type(right):
        yield f"{path}: {_short(left)} != {_short(right)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:77]}…"
