"""``leaderflow vllm``: vLLM's own Python environment."""

from __future__ import annotations

from typing import Annotated

import typer

from leaderflow.cli.options import Debug

app = typer.Typer(help="vLLM's own Python environment.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command()
def install(
    cpu: Annotated[bool, typer.Option("--cpu", help="The build for CPUs (tested version).")] = False,
    requirement: Annotated[
        str | None, typer.Option(help="What pip installs, such as vllm==0.33.0, in place of the default.", show_default=False)
    ] = None,
    debug: Debug = False,
) -> None:
    """Make the environment below LEADERFLOW_HOME and print its folder; does nothing where it is there already."""
    from inference.vllm import environment
    from leaderflow.cli.console import say

    print(environment.install(cpu=cpu, requirement=requirement, say=say))
