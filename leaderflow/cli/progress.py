"""Progress of a run on stderr: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from flows.progress import Count
from leaderflow.cli.console import err, safe, say
from leaderflow.core.text import dollars, printable

if TYPE_CHECKING:
    from rich.progress import TaskID

    from flows.progress import Live, Progress
    from leaderflow.core.types import Answer

EVERY_SECONDS = 10.0
"""Between two plain lines of one cell."""

FEW_CELLS = 8
"""Up to so many cells every one keeps its bar."""

ALL = "all"
"""Name of the bar for all cells of a large run; no cell is called so, for a cell's name holds a colon."""


NOW = "now"
"""Name of the line about the whole run."""


def progress() -> Progress:
    """Return what fits stderr: bars on a terminal, else lines."""
    return Bars() if sys.stderr.isatty() else PlainLines()


class PlainLines:
    """One line now and then for each cell."""

    def __init__(self, write: Callable[[str], None] = say, every: float = EVERY_SECONDS) -> None:
        self._write, self._every = write, every
        self._counts: dict[str, Count] = {}
        self._shown: dict[str, float] = {}
        self._live: Callable[[], Live] | None = None
        self._lock = threading.Lock()

    def line(self, text: str) -> None:
        """Print a line."""
        self._write(printable(text, one_line=True))

    def watch(self, live: Callable[[], Live]) -> None:
        """Take in whom to ask what the run is doing."""
        self._live = live

    def cell(self, cell: str, total: int, reused: int) -> None:
        """Take in a cell's size; say so where it needs no request."""
        with self._lock:
            count = self._counts.setdefault(cell, Count())
            count.total, count.reused = total, reused
            self._tell(cell, count)

    def answered(self, cell: str, answer: Answer) -> None:
        """Count an answer."""
        with self._lock:
            count = self._counts.setdefault(cell, Count())
            count.add(answer)
            self._tell(cell, count)

    def finish(self) -> None:
        """Print the last line of every cell that was under way."""
        with self._lock:
            for cell, count in self._counts.items():
                if count.answered and self._shown.get(cell) != 0.0:
                    self._say(cell, count)
            self._counts.clear()

    def _tell(self, cell: str, count: Count) -> None:
        now = time.monotonic()
        if now - self._shown.setdefault(cell, now) >= self._every and count.done < count.total:
            self._shown[cell] = now
            self._say(cell, count)

    def _say(self, cell: str, count: Count) -> None:
        now = describe_live(self._live)
        self._write(printable(f"{cell}: {count.describe()}{f' · {now}' if now else ''}", one_line=True))


class Bars:
    """A live bar for each cell; in a large run only for those under way, and one for all."""

    def __init__(self) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn

        from leaderflow.cli.bar import CellBar

        self._counts: dict[str, Count] = {}
        self._tasks: dict[str, TaskID] = {}
        self._all = Count()
        self._live: Callable[[], Live] | None = None
        self._lock = threading.Lock()
        columns = (
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.fields[name]}", markup=False),
            CellBar(),
            TextColumn("{task.fields[state]}", markup=False),
        )
        self._bars = Progress(*columns, console=err(), refresh_per_second=4)
        self._bars.start()

    def line(self, text: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(safe(printable(text, one_line=True)))

    def watch(self, live: Callable[[], Live]) -> None:
        """Draw a line below the bars that tells what the run is doing."""
        with self._lock:
            self._live = live
            self._now()

    def cell(self, cell: str, total: int, reused: int) -> None:
        """Draw or resize a cell's bar."""
        with self._lock:
            count = self._counts.setdefault(cell, Count())
            self._all.total += total - count.total
            self._all.reused += reused - count.reused
            count.total, count.reused = total, reused
            self._draw(cell, count)

    def answered(self, cell: str, answer: Answer) -> None:
        """Move a cell's bar."""
        with self._lock:
            count = self._counts.setdefault(cell, Count())
            count.add(answer)
            self._all.add(answer)
            self._draw(cell, count)

    def finish(self) -> None:
        """Leave the bars as they are."""
        self._bars.stop()

    def _now(self) -> None:
        if (text := describe_live(self._live)) and NOW not in self._tasks:
            self._tasks[NOW] = self._bars.add_task("", total=None, name="", state="")
        if NOW in self._tasks:
            self._bars.update(self._tasks[NOW], state=text)

    def _draw(self, cell: str, count: Count) -> None:
        self._now()
        if len(self._counts) <= FEW_CELLS:
            self._move(cell, count, visible=True)
            return
        earlier = {} if ALL in self._tasks else self._counts  # until now every cell had its bar
        for name, its in {**earlier, cell: count}.items():
            self._move(name, its, visible=0 < its.done < its.total)
        self._move(ALL, self._all, visible=True)

    def _move(self, name: str, count: Count, visible: bool) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task("", total=count.total, name=printable(name, one_line=True), state="")
        state = f"{count.describe()} · {len(self._counts)} cells" if name == ALL else count.describe()
        self._bars.update(self._tasks[name], total=count.total, completed=count.done, state=state, visible=visible)


def describe_live(live: Callable[[], Live] | None) -> str:
    """Return ``64 in flight · 1.25 USD``, as far as there is something to tell."""
    if live is None:
        return ""
    now = live()
    parts = [f"{now.in_flight} in flight"] if now.in_flight else []
    return " · ".join([*parts, dollars(now.cost)] if now.cost is not None else parts)
