"""What a translation could not carry over, and what it did otherwise."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from leaderflow.core.errors import SpecError

log = logging.getLogger("leaderflow.opencompass")

SHOWN = 4
"""Names that the one-line message lists."""


@dataclass(frozen=True, order=True)
class Missing:
    """A name without a counterpart: what it is called, what it is, and where it was used."""

    name: str
    kind: str
    file: str | None = None
    line: int | None = None
    hint: str = ""

    @property
    def place(self) -> str:
        """The file and line."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or "-"


class NoCounterpart(SpecError):
    """A configuration uses names that leaderflow has nothing for; `missing` lists them all."""

    def __init__(self, missing: Iterable[Missing]) -> None:
        self.missing = list(dict.fromkeys(missing))
        first = self.missing[0]
        named = [f"{m.kind} {m.name}" + (f" ({m.place})" if m.place != first.place else "") for m in self.missing[:SHOWN]]
        more = f" and {len(self.missing) - SHOWN} more" if len(self.missing) > SHOWN else ""
        hint = f"; {first.hint}" if first.hint else ""
        super().__init__(f"no counterpart for {', '.join(named)}{more}{hint}", file=first.file, line=first.line)

    def table(self) -> Sequence[Sequence[str]]:
        """Return the rows (what, name, where, hint)."""
        return [(m.kind, m.name, m.place, m.hint) for m in self.missing]


@dataclass
class Report:
    """Collects what is missing and what is done otherwise while a configuration is translated."""

    missing: list[Missing] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=dict)
    """What is said → the places that gave rise to it."""

    def miss(self, name: str, kind: str, place: tuple[str | None, int | None] = (None, None), hint: str = "") -> None:
        """Note a name without a counterpart."""
        found = Missing(name, kind, *place, hint)
        if found not in self.missing:
            self.missing.append(found)

    def note(self, text: str, place: tuple[str | None, int | None] = (None, None)) -> None:
        """Note what is done otherwise."""
        where = f"{place[0]}:{place[1]}" if place[0] and place[1] else ""
        places = self.notes.setdefault(text, [])
        if where and where not in places:
            places.append(where)

    def lines(self) -> list[str]:
        """Return the notes, one line each."""
        return [f"{places[0]}: {text}{_more(len(places) - 1)}" if places else text for text, places in self.notes.items()]

    def check(self) -> None:
        """Say what is done otherwise, and refuse what is missing.

        Raises:
            NoCounterpart: names, kinds, files and lines of everything that is missing.
        """
        if self.missing:
            raise NoCounterpart(self.missing)
        for line in self.lines():
            log.warning("%s", line)


def _more(count: int) -> str:
    return f" (and {count} more)" if count else ""
