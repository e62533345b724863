"""See that all workers of a pool have one store: a second one would ask everything again, and nobody would notice."""

from __future__ import annotations

import asyncio
import contextlib
import re

from prefect import runtime
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectAlreadyExists
from prefect.variables import Variable

from leaderflow.core.errors import StoreError
from leaderflow.core.store import Store
from tasks.shared import store_id


async def check_shared(store: Store) -> None:
    """Compare the store's id with the one that the pool's first run left in a Prefect variable.

    Raises:
        StoreError: this worker has another store than the pool's other workers.
    """
    if runtime.deployment.id is None or runtime.flow_run.id is None:
        return
    async with get_client() as client:
        pool = (await client.read_flow_run(runtime.flow_run.id)).work_pool_name
    if pool is None:
        return
    name = f"leaderflow_store_{re.sub(r'[^a-z0-9]+', '_', pool.lower())}"
    own = await asyncio.to_thread(store_id, store)
    with contextlib.suppress(ValueError, ObjectAlreadyExists):  # it is there: another run may have set it this very moment
        await Variable.aset(name, own)
    if await Variable.aget(name) != own:
        raise StoreError(
            f"this worker's store {store.files.place} is not the one that other workers of pool {pool!r} write to: point "
            f"LEADERFLOW_STORE of all of them at one place, or, if that is meant, delete the Prefect variable {name}"
        )
