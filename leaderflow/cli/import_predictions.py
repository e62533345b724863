"""``leaderflow import-predictions``: the results of an OpenCompass run, without asking anything again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leaderflow.cli.options import AsJson, DataDir, Debug, OpenCompassRoot, Sets
from leaderflow.core.errors import UsageError

if TYPE_CHECKING:
    from leaderflow.core.specs import EvaluationSpec


def import_predictions(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Work directory of an OpenCompass run, or the folder above it.")],
    config: Annotated[
        Path | None, typer.Option("--config", help="The run's configuration; by default the one that OpenCompass kept in configs/.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("-d", "--dataset", metavar="NAME", help="Use these datasets instead; told by their abbr.")
    ] = None,
    set_: Sets = None,
    data_dir: DataDir = None,
    opencompass_root: OpenCompassRoot = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Turn OpenCompass' predictions into answers and runs, which can be re-scored, compared and shown."""
    from flows.import_predictions import import_predictions as bring_in
    from flows.predictions import config_of, work_dir
    from leaderflow.cli.console import print_json, show_log
    from leaderflow.cli.table import print_result

    show_log()
    run = work_dir(folder)
    kept = config or config_of(run)
    if kept is None:
        raise UsageError(f"{run} keeps no configuration in configs/; name the run's with --config FILE.py")
    results = [result.as_json() for result in bring_in(run, _spec(kept, dataset or [], set_ or [], data_dir))]
    if as_json:
        print_json({"runs": results})
    else:
        for result in results:
            print_result(result)
    raise typer.Exit(0 if all(result["state"] == "completed" for result in results) else 3)


def _spec(config: Path, datasets: list[str], sets: list[str], data_dir: Path | None) -> EvaluationSpec:
    from leaderflow.cli.run import from_file
    from leaderflow.core.load import load_evaluation

    return load_evaluation(config, datasets=datasets, overrides=sets, from_file=from_file, data_dir=data_dir)
