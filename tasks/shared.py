"""What names a store wherever it is mounted: how workers find out that they do not have the same one."""

from __future__ import annotations

import uuid

from leaderflow.core.store import Store


def store_id(store: Store) -> str:
    """Return what names a store wherever it is mounted, made up when it is first asked for.

    Raises:
        StoreError: the store cannot be written.
    """
    with store.lease("id"):
        if not store.files.sizes(["id"]):
            store.files.write("id", uuid.uuid4().hex.encode())
        return store.files.read("id").decode().strip()
