"""``leaderflow models``: models that leaderflow can put on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from leaderflow.cli.options import Debug

app = typer.Typer(help="Models that leaderflow can put on this machine.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command()
def get(name: Annotated[str, typer.Argument(help="Name of the model, such as smollm2-135m.")], debug: Debug = False) -> None:
    """Fetch a model into LEADERFLOW_HOME and print its folder; does nothing where it is there already."""
    from inference.huggingface import fetch

    print(fetch.get(name))
