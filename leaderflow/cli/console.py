"""Where the command line prints: results on stdout, everything else on stderr, and no text is ever taken for markup."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from leaderflow.core.text import printable
from leaderflow.core.types import Json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDTH = 200
"""Columns where the output goes to a file or a pipe: ids and paths stay whole."""


def out() -> Console:
    """Return a console on stdout."""
    return _console(stderr=False)


def err() -> Console:
    """Return a console on stderr."""
    return _console(stderr=True)


def safe(text: object, style: str = "") -> Text:
    """Return untrusted text as it is to be seen."""
    from rich.text import Text

    return Text(printable(text), style=style)


def heading(text: object) -> Text:
    """Return the line above a sample."""
    return safe(f"── {text}", "bold")


def labelled(name: str, text: object) -> str:
    """Return ``name  text``, a text of several lines below its name."""
    shown = str(text)
    return f"{name}:\n{shown}" if "\n" in shown else f"{name:<10} {shown}"


def say(text: str) -> None:
    """Print one line on stderr."""
    print(printable(text), file=sys.stderr, flush=True)


def print_json(value: Json) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(value, ensure_ascii=True, allow_nan=False, indent=2))


class Lines(logging.Handler):
    """Hands leaderflow's log records on, one line each."""

    def __init__(self, line: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        """Show the record's message."""
        self._line(f"{record.levelname.lower()}: {' '.join(record.getMessage().split())}")


def show_log(line: Callable[[str], None] = say) -> None:
    """Show the warnings of leaderflow's loggers through `line`, and only there."""
    logger = logging.getLogger("leaderflow")
    logger.handlers = [Lines(line)]
    logger.propagate = False


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, width=width)
