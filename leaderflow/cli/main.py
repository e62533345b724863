"""The command ``leaderflow``. Every error is one line on stderr and an exit code; ``--debug`` shows the trace."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer

from leaderflow import __version__
from leaderflow.cli import (
    check,
    compare,
    deploy,
    history,
    import_predictions,
    migrate,
    models,
    preview,
    rescore,
    run,
    server,
    show,
    sql,
    vllm,
)
from leaderflow.cli import list as list_command
from leaderflow.cli.console import say
from leaderflow.cli.names import print_missing
from leaderflow.cli.options import Debug, Debugging
from leaderflow.core.errors import LeaderflowError
from leaderflow.core.install import check_packages

FOREIGN = {
    "tasks": "datasets are named by -d",
    "datasets": "datasets are named by -d",
    "models": "models are named by -m",
    "model-args": "write -m hf/PATH, or -m openai/NAME --base-url URL, or a model's YAML file",
    "num-fewshot": "examples belong to the recipe: docs/few-shot.md",
    "batch-size": "that is --concurrency",
    "max-num-workers": "that is --concurrency",
    "epochs": "that is --repeats",
    "reuse": "the same command again asks only what is missing",
    "log-samples": "samples are always kept: `leaderflow show`",
    "output-path": "results lie in the folder of LEADERFLOW_STORE",
    "work-dir": "results lie in the folder of LEADERFLOW_STORE",
    "gen-kwargs": "write --set infer_cfg.inferencer.generation_kwargs.temperature=0.6",
    "temperature": "write --set infer_cfg.inferencer.generation_kwargs.temperature=0.6",
}
"""Options of lm-evaluation-harness, OpenCompass and Inspect, and what stands for them."""

app = typer.Typer(
    help="Evaluate language models: read a dataset, render the prompts, ask the model, score the answers, print a leaderboard.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("preview")(preview.preview)
app.command("check")(check.check)
app.command("migrate")(migrate.migrate)
app.command("import-predictions")(import_predictions.import_predictions)
app.command("list")(list_command.list_)
app.command("runs")(show.runs)
app.command("show")(show.show)
app.command("trace")(show.trace)
app.command("rescore")(rescore.rescore)
app.command("why")(show.why)
app.command("compare")(compare.compare)
app.command("history")(history.history)
app.command("sql")(sql.sql)
app.command("deploy")(deploy.deploy)
app.add_typer(models.app, name="models")
app.add_typer(server.app, name="server")
app.add_typer(vllm.app, name="vllm")


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    debug: Debug = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; ends the process with the exit code."""
    Debugging.on = False  # an earlier command of this process may have had the option
    try:
        check_packages()
        code = app(prog_name="leaderflow", standalone_mode=False)
    except Exception as exc:
        code = report(exc)
    sys.exit(code if isinstance(code, int) else 0)


def report(exc: BaseException) -> int:
    """Print what ended a command as one line, and return its exit code."""
    cause = _cause(exc)
    if Debugging.on:
        traceback.print_exception(cause)
    if hasattr(cause, "format_message"):
        return _misused(cause)
    if missing := getattr(cause, "missing", None):
        print_missing(missing)
    if isinstance(cause, LeaderflowError):
        say(f"leaderflow: {' '.join(str(cause).split())}")
        return cause.exit_code
    hint = "" if Debugging.on else " (add --debug for the trace)"
    say(f"leaderflow: internal error: {type(cause).__name__}: {' '.join(str(cause).split())}{hint}")
    return 1


def _misused(exc: Any) -> int:
    """Print what Typer says of wrong options and arguments; it has printed the help and says nothing where there are none."""
    command = exc.ctx.command_path if exc.ctx else "leaderflow"
    option = getattr(exc, "option_name", None) or ""
    known = FOREIGN.get(option.lstrip("-").replace("_", "-")) if command.endswith(" run") else None
    said = f"No such option: {option}; {known}" if known else exc.format_message()
    if message := " ".join(said.replace("Value error, ", "").split()):
        say(f"leaderflow: {message.rstrip('.')}; `{command} --help` tells more")
    return int(exc.exit_code)


def _cause(exc: BaseException) -> BaseException:
    """Return the first error of ours in a group of errors, or the first of all."""
    leaves = list(_leaves(exc))
    return next((leaf for leaf in leaves if isinstance(leaf, LeaderflowError)), leaves[0])


def _leaves(exc: BaseException) -> list[BaseException]:
    if isinstance(exc, BaseExceptionGroup):
        return [leaf for inner in exc.exceptions for leaf in _leaves(inner)]
    return [exc]


if __name__ == "__main__":
    main()
