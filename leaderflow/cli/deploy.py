"""``leaderflow deploy``: put the nightly leaderboards on a Prefect server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leaderflow.cli.options import Debug


def deploy(
    file: Annotated[
        Path | None, typer.Argument(help="Your copy of deployments/prefect.yaml; by default the shipped one.", show_default=False)
    ] = None,
    webhook: Annotated[
        str | None, typer.Option(metavar="URL", help="Where alerts go: regressions, partial cells, too many cut-off answers.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Create or update deployments, work pools and automations on the configured Prefect server, or the local one."""
    from flows.deploy import deploy as put

    done = put(file, webhook=webhook)
    for name in done.deployments:
        print(f"deployed   {name}")
    for name in done.automations:
        print(f"automation {name}")
    print(f"UI         {done.ui}")
    for pool in done.pools:
        print(f"worker     PREFECT_API_URL={done.api} PYTHONSAFEPATH=1 prefect worker start --pool {pool}")
