"""What names a store wherever it is mounted: how workers find out that they do not have the same one."""

from __future__ import annotations

import uuid

from leaderflow.core.store import Store, write_whole


def store_id(store: Store) -> str:
    """Return what names a store wherever it is mounted, made up when it is first asked for.

    Raises:
        StoreError: the store cannot be written.
    """
    path = store.root / "id"
    with store.lease("id"):
        if not path.is_file():
            write_whole(path, uuid.uuid4().hex.encode())
        return path.read_text().strip()
