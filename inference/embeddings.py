"""Embeddings by content: a text is embedded once by a model, whatever dataset or run it stands in."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from inference.answers import folder_name
from leaderflow.core.identity import sha256_hex
from leaderflow.core.store import Store
from leaderflow.core.table_files import arrow_bytes

Floats = np.ndarray[Any, np.dtype[np.float32]]

SCHEMA = pa.schema([("text_key", pa.string()), ("vector", pa.list_(pa.float32()))])


class EmbeddingStore:
    """The embeddings of one model, in small Arrow files below ``embeddings/MODEL`` of the store.

    Args:
        store: where they are kept.
        identity: the model's identity.
        embed: the model's `Backend.embed`, asked for what is not stored.
    """

    def __init__(self, store: Store, identity: str, embed: Callable[[Sequence[str]], Floats]) -> None:
        self._files = store.files
        self._folder = f"embeddings/{folder_name(identity)}"
        self._embed = embed

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return a float32 array (len(texts) × dimension), rows L2-normalised; asks the model only for texts it has not seen."""
        keys = {sha256_hex(text): text for text in texts}
        found = self._stored(set(keys))
        missing = {key: text for key, text in keys.items() if key not in found}
        if missing:
            vectors = self._embed(list(missing.values()))
            found |= dict(zip(missing, vectors, strict=True))
            self._write({key: found[key] for key in missing})
        return np.stack([found[sha256_hex(text)] for text in texts]).astype(np.float32)

    def _stored(self, wanted: set[str]) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        for path in self._files.mirror(self._folder):
            with pa.ipc.open_file(pa.py_buffer(path.read_bytes())) as reader:
                table = reader.read_all()
            keys = table.column("text_key").to_pylist()
            rows = [row for row, key in enumerate(keys) if key in wanted]
            vectors = table.column("vector").take(pa.array(rows, type=pa.int64())).to_pylist()
            found |= {keys[row]: np.asarray(vector, dtype=np.float32) for row, vector in zip(rows, vectors, strict=True)}
        return found

    def _write(self, vectors: dict[str, Floats]) -> None:
        rows = [{"text_key": key, "vector": vector.tolist()} for key, vector in vectors.items()]
        self._files.write(f"{self._folder}/{uuid.uuid4().hex}.arrow", arrow_bytes(pa.Table.from_pylist(rows, schema=SCHEMA)))
