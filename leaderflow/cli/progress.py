"""Progress of a run on stderr: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leaderflow.cli.console import err, safe, say
from leaderflow.core.text import printable

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


@dataclass
class Count:
    """What is known of a cell; rates leave out what earlier runs answered."""

    total: int = 0
    reused: int = 0
    answered: int = 0
    retries: int = 0
    tokens: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Rows without an answer, by class of error."""
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Requests answered by this run and earlier ones."""
        return self.reused + self.answered

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.answered += 1
        self.retries += max(0, answer.attempts - 1)
        if answer.status == "error":
            self.failed[answer.error_class or "unknown"] += 1
        self.tokens += answer.output_tokens or 0

    def rate(self) -> float:
        """Return answers a second."""
        return self.answered / self.seconds()

    def seconds(self) -> float:
        """Return how long the cell has been under way."""
        return max(time.monotonic() - self.started, 1e-3)

    def describe(self) -> str:
        """Return ``120/1000 · 34.1/s · 5,120 tokens · 26 s left``."""
        parts = [f"{self.done}/{self.total}"]
        if self.answered:
            rate = f"{self.rate():.1f}/s" if self.rate() >= 1 else f"{1 / self.rate():.1f} s each"
            parts += [rate, *([f"{self.tokens:,} tokens ({self.tokens / self.seconds():.0f}/s)"] if self.tokens else [])]
            if self.done < self.total:
                parts.append(f"{duration((self.total - self.done) / self.rate())} left")
        if self.retries:
            parts.append(f"{self.retries} retries")
        if self.failed:
            parts.append(f"{self.failed.total()} failed ({', '.join(sorted(self.failed))})")
        return " · ".join(parts)


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
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        self._counts: dict[str, Count] = {}
        self._tasks: dict[str, TaskID] = {}
        self._all = Count()
        self._live: Callable[[], Live] | None = None
        self._lock = threading.Lock()
        columns = (
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.fields[name]}", markup=False),
            BarColumn(bar_width=24),
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
    return " · ".join([*parts, f"{now.cost:.2f} USD"] if now.cost is not None else parts)


def duration(seconds: float) -> str:
    """Return a duration for people: ``45 s``, ``12 min``, ``3 h 05 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
