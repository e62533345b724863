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
    from flows.api import plan
    from leaderflow.cli.console import show_log
    from leaderflow.cli.run import evaluate_spec, from_file
    from leaderflow.core.errors import UsageError
    from leaderflow.core.load import load_evaluation
    from leaderflow.core.manifest import Manifest
    from leaderflow.core.paths import store_uri
    from leaderflow.core.store import Store

    show_log()
    store = Store(store_uri())
    path = store.root / "runs" / Manifest.load(store, run).run / "manifest.json"
    spec = load_evaluation(path, overrides=set_ or [], from_file=from_file).model_copy(update={"fresh": False})
    found = plan(spec)
    if found.to_ask or found.judges_open:
        judges = sum((cell.judge_requests or 0) - (cell.judge_answered or 0) for cell in found.cells)
        ask = f"{found.to_ask} requests" + (f" ({judges} to judges)" if judges else "")
        more = f", and up to {found.judges_open} to judges" if found.judges_open else ""
        raise UsageError(f"rescoring would have to ask {ask}{more}; `leaderflow run {path}` with the same --set asks them")
    raise typer.Exit(evaluate_spec(spec, not no_server, as_json))
