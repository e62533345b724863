"""Walks a legacy dialogue in the order of the model's round: what is said, what the model's round adds, where generation starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from leaderflow.core.errors import TemplateError, did_you_mean
from leaderflow.core.types import Json
from templating.compat import Rules
from templating.dialogue import Dialogue, Item


@dataclass(frozen=True, slots=True)
class Turn:
    """One role's turn as the model's protocol has it; `open` is where generation starts."""

    role: str
    api_role: str | None
    begin: str
    prompt: str
    end: str
    open: bool = False

    def text(self) -> str:
        """Return the turn with its markers; an open one stops after the first marker."""
        return self.begin if self.open else self.begin + self.prompt + self.end


class Rounds:
    """The roles of a model and their order.

    Args:
        order: the entries of the meta_template's ``round``: roles, and text between them.
        roles: all declared roles, the reserved ones included.
        rules: which semantics holds.
    """

    def __init__(self, order: Sequence[Item], roles: Mapping[str, dict[str, Json]], rules: Rules) -> None:
        self._order, self._roles, self._rules = order, roles, rules
        self._positions = {entry["role"]: place for place, entry in enumerate(order) if isinstance(entry, dict)}

    def turns(self, dialogue: Dialogue, generate: bool, *, lossy: bool) -> Iterator[str | Turn]:
        """Yield the turns and bare texts of a dialogue, in the order of the model's round.

        Args:
            dialogue: what the template rendered to.
            generate: the last turn of the last round's generating role is open, and nothing follows it.
            lossy: OpenCompass' API parser reads, which loses a reserved role's message inside a round.

        Raises:
            TemplateError: a role that the model does not declare.
        """
        last = max((place for place, block in enumerate(dialogue.blocks) if block.section == "round"), default=None)
        for place, block in enumerate(dialogue.blocks):
            if block.section in ("begin", "end"):
                yield from (item if isinstance(item, str) else self._turn(item) for item in block.items)
                continue
            rounds = self._rounds(block.items)
            for index, items in enumerate(rounds):
                final = generate and place == last and index == len(rounds) - 1
                for turn in self._round(items, final, lossy):
                    yield turn
                    if isinstance(turn, Turn) and turn.open:
                        return

    def _rounds(self, items: Iterable[Item]) -> list[list[Item]]:
        """Cut a dialogue where a role's place in the model's round is not later than the one before."""
        rounds: list[list[Item]] = [[]]
        before = -1
        for item in items:
            place = None if isinstance(item, str) else self._place(item)
            if place is not None:
                if place <= before:
                    rounds.append([])
                before = place
            rounds[-1].append(item)
        return rounds

    def _place(self, item: dict[str, Json]) -> int | None:
        place = self._positions.get(item["role"])
        if place is None and (self._rules.full_rounds or item["role"] not in self._roles):
            place = self._positions.get(item.get("fallback_role", ""))
        return place

    def _round(self, items: Sequence[Item], final: bool, lossy: bool) -> Iterator[str | Turn]:
        """Yield one round in the model's order; in the final one the model's turn is open."""
        if self._rules.full_rounds:
            items = sorted(items, key=lambda item: isinstance(item, dict))
        done = 0
        for item in items:
            if isinstance(item, str):
                yield item
                continue
            place = self._positions.get(self._name(item))
            if place is None:
                yield from () if lossy and self._rules.full_rounds else (self._turn(item),)
                continue
            yield from self._untouched(done, place, final)
            yield self._turn(item, final)
            done = place + 1
        yield from self._untouched(done, len(self._order), final)

    def _untouched(self, start: int, stop: int, final: bool) -> Iterator[str | Turn]:
        """Yield what the model's round has where the dialogue says nothing."""
        for entry in self._order[start:stop]:
            if isinstance(entry, str):
                yield entry
            elif self._rules.full_rounds or entry.get("prompt") or (final and entry.get("generate")):
                yield self._turn({"role": entry["role"]}, final)

    def _name(self, item: dict[str, Json]) -> str:
        for name in (item["role"], item.get("fallback_role")):
            if name in self._roles:
                return cast(str, name)
        tried = f"{item['role']!r}" + (f" nor its fallback_role {item['fallback_role']!r}" if item.get("fallback_role") else "")
        raise TemplateError(
            f"the model's meta_template does not declare the role {tried}{did_you_mean(item['role'], self._roles)}; "
            f"declare it in reserved_roles or give the turn a fallback_role"
        )

    def _turn(self, item: dict[str, Json], final: bool = False) -> Turn:
        own = {**self._roles[self._name(item)], **item}
        begin, prompt, end = (own.get(key, "") for key in ("begin", "prompt", "end"))
        return Turn(own["role"], own.get("api_role"), begin, prompt, end, final and bool(own.get("generate")))
