"""``leaderflow migrate``: a Python configuration of OpenCompass as YAML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leaderflow.cli.options import AsJson, Debug, OpenCompassRoot

if TYPE_CHECKING:
    from leaderflow.core.opencompass.migrate import Migration

INCOMPLETE = 3
"""Exit code where something could not be carried over."""


def migrate(
    config: Annotated[Path, typer.Argument(help="Python configuration: models, datasets, or a whole evaluation.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for the YAML file.")] = Path(),
    opencompass_root: OpenCompassRoot = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Write the YAML that runs the same, and say what could not be carried over.

    Running it gives the same versions and asks the same requests as running the Python file.
    """
    from leaderflow.core.errors import UsageError
    from leaderflow.core.opencompass.migrate import migrate as write

    if config.suffix in (".yaml", ".yml"):
        raise UsageError(f"{config} is no Python configuration; YAML runs as it is: leaderflow run {config}")
    found = write(config, out)
    if as_json:
        _print_json(found)
    else:
        _print(found)
    raise typer.Exit(INCOMPLETE if found.missing else 0)


def _print(found: Migration) -> None:
    from leaderflow.cli.console import say
    from leaderflow.cli.names import print_missing

    for line in found.notes:
        say(f"note: {line}")
    print(f"{found.file}: {found.models} models, {found.datasets} datasets")
    if found.missing:
        say("not carried over:")
        print_missing(found.missing)


def _print_json(found: Migration) -> None:
    from leaderflow.cli.console import print_json

    missing = [{"kind": m.kind, "name": m.name, "place": m.place, "hint": m.hint} for m in found.missing]
    counts = {"models": found.models, "datasets": found.datasets}
    print_json({"file": str(found.file), **counts, "notes": found.notes, "missing": missing})
