"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


class Debugging:
    """Whether ``--debug`` was given: errors then show their trace."""

    on = False


def _debug(value: bool) -> bool:
    Debugging.on = Debugging.on or value
    return value


def _root(folder: Path | None) -> Path | None:
    """Make the folder known to whatever loads configurations in this process."""
    if folder is not None:
        os.environ["LEADERFLOW_OPENCOMPASS"] = str(folder.expanduser().resolve())
    return folder


Debug = Annotated[bool, typer.Option("--debug", callback=_debug, is_eager=True, help="Show the trace of an error.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
DataDir = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of local data, looked up before any network (or LEADERFLOW_DATA).")
]
Offline = Annotated[bool, typer.Option("--offline", help="Open no socket but the model's.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change the spec: n=4 (every dataset), datasets.gsm8k.n=4, models.*.batch_size=4. Repeatable.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("-j", "--judge", metavar="NAME", help="Model that judges where a recipe needs a judge; named as models are."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Endpoint of models written as openai/NAME; their key is read from OPENAI_API_KEY."),
]
OpenCompassRoot = Annotated[
    Path | None,
    typer.Option(
        "--opencompass-root",
        metavar="DIR",
        callback=_root,
        help="OpenCompass' checkout or package, for Python configurations that build on its own (or LEADERFLOW_OPENCOMPASS).",
    ),
]
