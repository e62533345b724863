"""``leaderflow run``: evaluate models on datasets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from leaderflow.cli.interrupt import INTERRUPTED
from leaderflow.cli.options import AsJson, BaseUrl, DataDir, Debug, Judges, Offline, OpenCompassRoot, Sets

if TYPE_CHECKING:
    from leaderflow.core.specs import EvaluationSpec


def run(
    spec: Annotated[
        str | None, typer.Argument(help="YAML or Python file, leaderboard recipe, or manifest of a run.", show_default=False)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "-m", "--model", metavar="NAME", help="Recipe, YAML or Python file, openai/NAME or hf/PATH-OR-ID. Repeatable."
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("-d", "--dataset", metavar="NAME", help="Recipe, YAML or Python file, or JSONL/CSV file. Repeatable."),
    ] = None,
    judge: Judges = None,
    base_url: BaseUrl = None,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="RANGE", help="Samples of every dataset: '[:100]', a count, a fraction.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N samples of every dataset.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask everything N times.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Requests in flight (API) or rows in a batch, for every model.")
    ] = None,
    set_: Sets = None,
    data_dir: DataDir = None,
    opencompass_root: OpenCompassRoot = None,
    offline: Offline = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask again although answers are stored.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be asked, and write nothing.")] = False,
    no_server: Annotated[bool, typer.Option("--no-server", help="Walk the same plan without Prefect.")] = False,
    allow_unsafe_code: Annotated[
        bool, typer.Option("--allow-unsafe-code", help="Execute model code with all your rights where there is no sandbox.")
    ] = False,
    shard_size: Annotated[int | None, typer.Option(min=1, metavar="N", help="Samples in a shard; changes no result.")] = None,
    task_runner: Annotated[
        Literal["threads", "ray"] | None, typer.Option(help="Ask the models from here, or from the workers of a Ray cluster.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The Ray cluster (or RAY_ADDRESS); with --task-runner ray.")
    ] = None,
    max_cost: Annotated[float | None, typer.Option(min=0.000001, metavar="USD", help="Dollars the run may spend.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, metavar="N", help="Tokens the run may use, prompts and answers.")] = None,
    max_time: Annotated[str | None, typer.Option(metavar="TIME", help="How long requests may leave, such as 90m or 2h.")] = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Evaluate models on datasets and print the leaderboard.

    A killed run, or one that a cap stopped, goes on where it was: run the same command again. Ctrl-C finishes what is in flight,
    a second one stops at once.
    """
    from leaderflow.core.overrides import shorthand

    sets = shorthand(range_, limit, repeats, concurrency) + (set_ or [])
    scalars: dict[str, Any] = {"data_dir": data_dir, "offline": offline or None, "fresh": fresh or None, "shard_size": shard_size}
    scalars |= {"allow_unsafe_code": allow_unsafe_code or None, "judges": judge}
    scalars |= {"task_runner": task_runner, "ray_address": ray_address}
    scalars |= {"max_cost": max_cost, "max_tokens": max_tokens, "max_time": max_time}
    evaluation = _load(spec, model or [], dataset or [], sets, base_url, scalars)
    raise typer.Exit(_dry_run(evaluation, as_json) if dry_run else evaluate_spec(evaluation, not no_server, as_json))


def _load(
    spec: str | None, models: Sequence[str], datasets: Sequence[str], sets: list[str], base_url: str | None, scalars: dict[str, Any]
) -> EvaluationSpec:
    from leaderflow.cli.console import show_log
    from leaderflow.core.load import build_evaluation, load_evaluation

    show_log()
    if spec is None:
        return build_evaluation(models, datasets, sets, base_url=base_url, from_file=from_file, **scalars)
    return load_evaluation(
        spec, models=models, datasets=datasets, overrides=sets, base_url=base_url, from_file=from_file, **scalars
    )


def from_file(path: Path) -> Any:
    """Make a dataset of a data file."""
    from readers.custom import dataset_from_file

    return dataset_from_file(path)


def evaluate_spec(spec: EvaluationSpec, server: bool, as_json: bool) -> int:
    """Run an evaluation, print its result and return the exit code."""
    from flows.api import evaluate
    from leaderflow.cli.console import print_json, show_log
    from leaderflow.cli.interrupt import interruptible
    from leaderflow.cli.progress import progress
    from leaderflow.cli.table import print_result

    shown = progress()
    show_log(shown.line)
    try:
        result = evaluate(spec, server=server, progress=shown, watch=interruptible)
    except KeyboardInterrupt:
        shown.line("interrupted; the same command goes on where it stopped")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        shown.finish()
    if as_json:
        print_json(result.as_json())
    else:
        print_result(result.as_json())
    return result.exit_code


def _dry_run(spec: EvaluationSpec, as_json: bool) -> int:
    from flows.api import plan
    from leaderflow.cli.console import print_json, say
    from leaderflow.cli.table import print_plan

    found = plan(spec)
    if as_json:
        print_json(found.as_json())
    else:
        print_plan(found.as_json())
        say(found.estimate())
    return 0
