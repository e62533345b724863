"""The bar of a cell."""

from __future__ import annotations

from rich.console import RenderableType
from rich.progress import BarColumn, ProgressColumn, Task

WIDTH = 24


class CellBar(ProgressColumn):
    """A bar for what has a name; the line about the whole run has none, and no bar."""

    def __init__(self) -> None:
        super().__init__()
        self._bar = BarColumn(bar_width=WIDTH)

    def render(self, task: Task) -> RenderableType:
        """Return the bar of a task."""
        return self._bar.render(task) if task.fields["name"] else ""
