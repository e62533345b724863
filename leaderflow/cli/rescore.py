"""``leaderflow rescore``: score a run's answers again, with another evaluator or extraction, without one request."""

from __future__ import annotations

from typing import Annotated

import typer

from leaderflow.cli.options import AsJson, Debug, Sets


def rescore(
    run: Annotated[str, typer.Argument(help="Id of a run, its beginning, or latest.")],
    set_: Sets = None,
    no_server: Annotated[bool, typer.Option("--no-server", help="Walk the same plan without Prefect.")] = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Score the stored answers of a run again, as a run of its own; refused where anything would have to be asked."""
    from flows.answered import answered
    from leaderflow.cli.console import show_log
    from leaderflow.cli.run import evaluate_spec, from_file
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store

    show_log()
    spec = answered(Store(store_uri()), run, set_ or [], from_file)
    raise typer.Exit(evaluate_spec(spec, not no_server, as_json))
