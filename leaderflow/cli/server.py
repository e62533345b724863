"""``leaderflow server``: the local Prefect server, its UI and its history."""

from __future__ import annotations

import typer

from leaderflow.cli.options import Debug

app = typer.Typer(help="The local Prefect server: started once, reused by every run.", no_args_is_help=True)


@app.command()
def start(debug: Debug = False) -> None:
    """Start the server, or say where the running one is."""
    from flows import server

    print(server.start().ui)


@app.command()
def stop(debug: Debug = False) -> None:
    """Stop the server; runs and their history stay."""
    from flows import server

    print("stopped" if server.stop() else "no local server is running")


@app.command()
def status(debug: Debug = False) -> None:
    """Say whether the server runs, and where."""
    from flows import server

    running = server.status()
    print(running.ui if running else "no local server is running")
    if running is None:
        raise typer.Exit(1)
