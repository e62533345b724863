"""See that all workers of a pool have one store: a second one would ask everything again, and nobody would notice."""

from __future__ import annotations

import re

from prefect import runtime
from prefect.client.orchestration import get_client
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
    own, known = store_id(store), await Variable.aget(name)
    if known is None:
        await Variable.aset(name, own)
    elif known != own:
        raise StoreError(
            f"this worker's store {store.root} is not the one that other workers of pool {pool!r} write to: point LEADERFLOW_STORE "
            f"of all of them at one shared folder, or, if that is meant, delete the Prefect variable {name}"
        )
