"""``leaderflow check``: can this model be asked, and how?"""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from leaderflow.cli.options import AsJson, BaseUrl, Debug, Sets

MARKS = {True: ("ok", "green"), False: ("fail", "bold red"), None: ("note", "yellow")}


def check(
    model: Annotated[str, typer.Argument(help="Recipe, YAML file, openai/NAME or hf/PATH-OR-ID.")],
    base_url: BaseUrl = None,
    set_: Sets = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Connect or load, ask one request of each kind, and print a model block to paste. Exit code 1 if it cannot be asked."""
    from inference.check import as_yaml
    from inference.check import check as try_out
    from leaderflow.cli.console import out, print_json, safe, show_log
    from leaderflow.core.load import load_model

    show_log()
    verdict = try_out(load_model(model, base_url=base_url, overrides=set_ or []))
    if as_json:
        findings = [dataclasses.asdict(finding) for finding in verdict.findings]
        print_json({"good": verdict.good, "findings": findings, "block": verdict.block})
        raise typer.Exit(int(not verdict.good))
    console = out()
    for finding in verdict.findings:
        mark, style = MARKS[finding.good]
        console.print(safe(f"{mark:<5}", style), safe(f"{finding.what:<15}{finding.said}"), soft_wrap=True)
    if verdict.good:
        console.print(safe("\n# a model block to paste"), safe("\n" + as_yaml(verdict.block)), sep="", soft_wrap=True)
    raise typer.Exit(int(not verdict.good))
