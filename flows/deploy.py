"""Put the deployments of a file on a Prefect server: checked first, then `prefect deploy`, then the automations."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.flows import Flow
from prefect.settings import get_current_settings
from prefect.utilities.importtools import import_object

from flows.evaluate import prefect_api
from flows.form import Form
from leaderflow.core.errors import LeaderflowError, UsageError
from leaderflow.core.paths import data_file
from leaderflow.core.validate import validate
from leaderflow.core.yaml import Located, load_yaml

WEBHOOK = "leaderflow-alerts"
"""Name of the block that holds the address alerts go to."""


@dataclass(frozen=True)
class Deployed:
    """What now stands on the server."""

    ui: str
    api: str
    deployments: list[str]
    pools: list[str]
    automations: list[str]


def deploy(file: Path | None = None, *, webhook: str | None = None) -> Deployed:
    """Create or update the deployments of a file, the work pools they name, and the automations that ship with leaderflow.

    Args:
        file: a file such as ``deployments/prefect.yaml``, which is the default.
        webhook: the address that alerts go to; None leaves it as it is.

    Raises:
        UsageError: the file is wrong; nothing was changed.
        LeaderflowError: the server does not answer, is of another version, or refuses a deployment.
    """
    file = (file or data_file("deployments") / "prefect.yaml").resolve()
    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    blocks = list(checked(load_yaml(file)))
    with prefect_api() as ui:
        api = str(get_current_settings().api.url)
        pools = sorted({str(block.value["work_pool"]["name"]) for block in blocks})
        asyncio.run(_prepare(pools))
        _prefect_deploy(file, api)
        automations = asyncio.run(_automate(webhook))
    names = [f"{_flow(block).name}/{block.value['name']}" for block in blocks]
    return Deployed(ui, api, names, pools, automations)


def checked(top: Located) -> Iterator[Located]:
    """Yield the deployments of a file, refusing what would only show at night.

    Raises:
        SpecError: no flow or work pool, a schedule without a time zone, or parameters that the flow would refuse.
    """
    items = top.value.get("deployments")
    if not isinstance(items, list) or not items:
        raise top.error("must be a list of deployments", "deployments")
    for position in range(len(items)):
        block = top.at("deployments", position)
        if not isinstance(block.value.get("name"), str):
            raise block.error("a deployment needs a name")
        if not isinstance((block.value.get("work_pool") or {}).get("name"), str):
            raise block.error("a deployment needs a work pool", "work_pool", "name")
        _check_schedules(block)
        _check_parameters(block)
        yield block


def _check_schedules(block: Located) -> None:
    for position, schedule in enumerate(block.value.get("schedules") or []):
        if "cron" in schedule and not schedule.get("timezone"):
            raise block.error(
                "a cron schedule needs a timezone, such as Europe/Berlin: without one it runs by UTC", "schedules", position
            )


def _check_parameters(block: Located) -> None:
    flow, given = _flow(block), block.value.get("parameters") or {}
    known = list(flow.parameters.properties)
    if unknown := next((name for name in given if name not in known), None):
        raise block.error(f"the flow {flow.name} has no parameter {unknown!r}; it has: {', '.join(known)}", "parameters", unknown)
    if set(known) <= set(Form.model_fields) and given:
        form = validate(Form, block.at("parameters"), strict=True)  # as the server will
        try:
            if form.suite or form.models:
                form.model_copy(update={"data_dir": None}).evaluation()  # the folder is the worker's
        except UsageError as error:
            raise block.error(str(error), "parameters") from error


def _flow(block: Located) -> Flow[..., Any]:
    entrypoint = block.value.get("entrypoint")
    try:
        found = import_object(str(entrypoint))
    except (ImportError, AttributeError, ValueError) as error:
        raise block.error(f"{entrypoint!r} is no flow: {error}", "entrypoint") from error
    if not isinstance(found, Flow):
        raise block.error(f"{entrypoint!r} is no flow", "entrypoint")
    return found


async def _prepare(pools: Iterable[str]) -> None:
    """Create the work pools that are missing."""
    async with get_client() as client:
        for name in pools:
            try:
                await client.read_work_pool(name)
            except ObjectNotFound:
                await client.create_work_pool(WorkPoolCreate(name=name, type="process"))


def _prefect_deploy(file: Path, api: str) -> None:
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
    environment = {**os.environ, "PREFECT_API_URL": api, "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(command, cwd=file.parent, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise LeaderflowError(f"`prefect deploy` refused {file.name}: {' '.join(lines[-3:])[:600]}")


async def _automate(webhook: str | None) -> list[str]:
    """Create the shipped automations, or replace those of the same name; returns their names."""
    block = await _webhook_block(webhook)
    items = load_yaml(data_file("deployments") / "automations.yaml").value["automations"]
    done = []
    async with get_client() as client:
        for item in items:
            calls = [action for action in item["actions"] if action["type"] == "call-webhook"]
            if calls and block is None:
                continue
            for action in calls:
                action["block_document_id"] = block
            await _replace(client, AutomationCore.model_validate(item))
            done.append(str(item["name"]))
    return done


async def _webhook_block(url: str | None) -> str | None:
    """Return the id of the webhook block, written now if there is a new address."""
    if url is not None:
        return str(await Webhook(method="POST", url=url).save(WEBHOOK, overwrite=True))
    async with get_client() as client:
        try:
            return str((await client.read_block_document_by_name(WEBHOOK, "webhook")).id)
        except ObjectNotFound:
            return None


async def _replace(client: PrefectClient, automation: AutomationCore) -> None:
    existing = await client.read_automations_by_name(automation.name)
    if existing:
        await client.update_automation(existing[0].id, automation)
    else:
        await client.create_automation(automation)
