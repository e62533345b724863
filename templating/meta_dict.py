"""The dictionary form of meta_template: how the roles of a legacy dialogue become a model's own text or API messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from leaderflow.core.errors import SpecError, TemplateError, did_you_mean
from leaderflow.core.types import Json, Message
from templating.compat import NATIVE, Rules
from templating.dialogue import Block, Dialogue, Item

API_ROLES = {"SYSTEM": "system", "HUMAN": "user", "BOT": "assistant", "system": "system", "user": "user", "assistant": "assistant"}
"""Both spellings of an api_role, and what goes on the wire."""

CHAT_DEFAULT: dict[str, Json] = {
    "round": [
        {"role": "HUMAN", "api_role": "HUMAN"},
        {"role": "SYSTEM", "api_role": "HUMAN"},
        {"role": "BOT", "api_role": "BOT", "generate": True},
    ]
}
"""OpenCompass' meta_template of a chat-template model that declares none: system turns are user turns on purpose."""

TOP_KEYS = ("round", "reserved_roles", "begin", "end", "eos_token_id")
ROLE_KEYS = ("role", "api_role", "begin", "end", "prompt", "generate")


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


class DictMeta:
    """A checked meta_template.

    Args:
        config: ``round``, and perhaps ``reserved_roles``, ``begin``, ``end``, ``eos_token_id``.
        rules: which semantics holds.

    Raises:
        SpecError: a missing or wrong key, or a role declared twice.
    """

    def __init__(self, config: dict[str, Json], rules: Rules = NATIVE) -> None:
        self.rules, self.config = rules, config
        if not isinstance(config.get("round"), list):
            raise SpecError(f"meta_template needs a list 'round', got {config.get('round')!r}")
        if not isinstance(config.get("reserved_roles", []), list):
            raise SpecError(f"meta_template.reserved_roles must be a list, got {config['reserved_roles']!r}")
        _known_keys("meta_template", config, TOP_KEYS, rules)
        self.round: list[Item] = config["round"]
        self.roles: dict[str, dict[str, Json]] = {}
        for where in ("round", "reserved_roles"):
            for index, entry in enumerate(config.get(where, [])):
                self._declare(f"meta_template.{where}[{index}]", entry)
        self.positions = {entry["role"]: place for place, entry in enumerate(self.round) if isinstance(entry, dict)}

    @property
    def speaks_api(self) -> bool:
        """Whether any role has an api_role."""
        return any("api_role" in role for role in self.roles.values())

    @property
    def is_mapping(self) -> bool:
        """Whether it only maps roles, so that role/content messages need nothing from it."""
        texts = [self.config.get("begin"), self.config.get("end")]
        texts += [role.get(key) for role in self.roles.values() for key in ("begin", "end", "prompt")]
        return not any(texts)

    def check_api(self) -> None:
        """Raise SpecError where this form cannot make API messages."""
        for name, role in self.roles.items():
            if role.get("api_role") not in API_ROLES:
                said = f"has the api_role {role['api_role']!r}" if "api_role" in role else "has no api_role"
                raise SpecError(
                    f"meta_template: role {name!r} {said}; a model that takes messages needs one of {', '.join(API_ROLES)}"
                )
            if not self.rules.forms_may_mix and (role.get("begin") or role.get("end")):
                raise SpecError(
                    f"meta_template: role {name!r} mixes api_role with begin or end; those are for models that take text"
                )
        if text := next((entry for entry in self.round if isinstance(entry, str)), None):
            raise SpecError(f"meta_template.round holds the text {text!r}; a model that takes messages has no place for it")
        for key in ("begin", "end"):
            allowed = self.rules.forms_may_mix and (key == "end" or isinstance(self.config.get(key), dict))
            if self.config.get(key) and not allowed:
                raise SpecError(f"meta_template.{key} is for models that take text; declare SYSTEM and say it in a turn")

    def check_text(self) -> None:
        """Raise SpecError where this form cannot make text."""
        for name, holder in [("meta_template", self.config), *((f"role {n!r}", r) for n, r in self.roles.items())]:
            for key in ("begin", "end"):
                if not isinstance(holder.get(key, ""), str):
                    raise SpecError(f"{name}: {key} must be text, got {holder[key]!r}")

    def text(self, dialogue: Dialogue, generate: bool) -> str:
        """Return the model's text; in generation it stops where the model's turn begins.

        Raises:
            TemplateError: a role that the model does not declare.
        """
        turns = list(self._turns(dialogue, generate, lossy=False))
        stopped = bool(turns) and isinstance(turns[-1], Turn) and turns[-1].open
        body = "".join(turn if isinstance(turn, str) else turn.text() for turn in turns)
        return self.config.get("begin", "") + body + ("" if stopped else self.config.get("end", ""))

    def messages(self, dialogue: Dialogue, generate: bool) -> list[Message]:
        """Return API messages; equal neighbours are joined by a newline, the model's open turn is left out.

        Raises:
            TemplateError: a role that the model does not declare, text without a role, or nothing to send.
        """
        turns = [turn for turn in self._turns(dialogue, generate, lossy=True) if not isinstance(turn, Turn) or not turn.open]
        if lost := next((turn for turn in turns if isinstance(turn, str) and turn.strip()), None):
            if not self.rules.bare_text_lost:
                raise TemplateError(f"the text {lost!r} stands in a dialogue without a role; a model that takes messages needs one")
        spoken = [_message(turn) for turn in turns if isinstance(turn, Turn)]
        messages = join_neighbours(spoken, keep_empty=self.rules.full_rounds)
        if not messages:
            raise TemplateError("the dialogue has no text to send")
        opening = self.config.get("begin")
        return [_opening(opening), *messages] if isinstance(opening, dict) else messages

    def wrap(self, messages: Sequence[Message], generate: bool) -> str:
        """Return role/content messages as the model's text: each in the markers of the role that stands for its own.

        Raises:
            TemplateError: a role without markers, content that is not text, or a slot that is not the last message.
        """
        if generate and messages and messages[-1]["role"] == "assistant" and not messages[-1]["content"]:
            messages = messages[:-1]
        blocks = (Block("begin", ({"role": self._speaker(message["role"]), "prompt": _plain(message)},)) for message in messages)
        ending = () if not generate else (Block("round", ()),)
        return self.text(Dialogue((*blocks, *ending)), generate)

    def markers(self, role: str) -> tuple[str, str] | None:
        """Return the texts before and after a role's turns, or None for an undeclared role."""
        found = self.roles.get(role)
        return None if found is None else (found.get("begin", ""), found.get("end", ""))

    def _declare(self, where: str, entry: Json) -> None:
        if isinstance(entry, str):
            return
        if not isinstance(entry, dict):
            raise SpecError(f"{where} must be a mapping with a role, or text; got {entry!r}")
        if not isinstance(entry.get("role"), str):
            raise SpecError(f"{where} has no 'role', got {entry!r}")
        _known_keys(where, entry, ROLE_KEYS, self.rules)
        if entry["role"] in self.roles:
            raise SpecError(f"{where} declares the role {entry['role']!r} a second time")
        self.roles[entry["role"]] = entry

    def _speaker(self, api_role: str) -> str:
        for name, role in self.roles.items():
            if API_ROLES.get(role.get("api_role") or name) == api_role:
                return name
        raise TemplateError(f"the model's meta_template has no role for {api_role!r} messages; declare it in reserved_roles")

    def _turns(self, dialogue: Dialogue, generate: bool, *, lossy: bool) -> Iterator[str | Turn]:
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
        place = self.positions.get(item["role"])
        if place is None and (self.rules.full_rounds or item["role"] not in self.roles):
            place = self.positions.get(item.get("fallback_role", ""))
        return place

    def _round(self, items: Sequence[Item], final: bool, lossy: bool) -> Iterator[str | Turn]:
        """Yield one round in the model's order; in the final one the model's turn is open."""
        if self.rules.full_rounds:
            items = sorted(items, key=lambda item: isinstance(item, dict))
        done = 0
        for item in items:
            if isinstance(item, str):
                yield item
                continue
            place = self.positions.get(self._name(item))
            if place is None:
                yield from () if lossy and self.rules.full_rounds else (self._turn(item),)
                continue
            yield from self._untouched(done, place, final)
            yield self._turn(item, final)
            done = place + 1
        yield from self._untouched(done, len(self.round), final)

    def _untouched(self, start: int, stop: int, final: bool) -> Iterator[str | Turn]:
        """Yield what the model's round has where the dialogue says nothing."""
        for entry in self.round[start:stop]:
            if isinstance(entry, str):
                yield entry
            elif self.rules.full_rounds or entry.get("prompt") or (final and entry.get("generate")):
                yield self._turn({"role": entry["role"]}, final)

    def _name(self, item: dict[str, Json]) -> str:
        for name in (item["role"], item.get("fallback_role")):
            if name in self.roles:
                return cast(str, name)
        tried = f"{item['role']!r}" + (f" nor its fallback_role {item['fallback_role']!r}" if item.get("fallback_role") else "")
        raise TemplateError(
            f"the model's meta_template does not declare the role {tried}{did_you_mean(item['role'], self.roles)}; "
            f"declare it in reserved_roles or give the turn a fallback_role"
        )

    def _turn(self, item: dict[str, Json], final: bool = False) -> Turn:
        own = {**self.roles[self._name(item)], **item}
        parts = (own.get(key, "") for key in ("begin", "prompt", "end"))
        return Turn(own["role"], own.get("api_role"), *parts, open=final and bool(own.get("generate")))


def join_neighbours(messages: Iterable[Message], *, keep_empty: bool) -> list[Message]:
    """Join neighbours of one role by a newline, empty messages left out unless `keep_empty`."""
    out: list[Message] = []
    for message in messages:
        if not message["content"] and not keep_empty:
            continue
        if out and out[-1]["role"] == message["role"]:
            out[-1] = {**out[-1], "content": f"{out[-1]['content']}\n{message['content']}"}
        else:
            out.append(message)
    return out


def _message(turn: Turn) -> Message:
    role = API_ROLES.get(turn.api_role or "")
    if role is None:
        raise TemplateError(f"the role {turn.role!r} has the api_role {turn.api_role!r}, which is none of {', '.join(API_ROLES)}")
    return {"role": role, "content": turn.text()}


def _opening(config: dict[str, Json]) -> Message:
    role = API_ROLES.get(config.get("role", ""))
    if role is None or not isinstance(config.get("prompt"), str):
        raise SpecError(f"meta_template.begin must be a turn with a role and a prompt, got {config!r}")
    return {"role": role, "content": config["prompt"]}


def _plain(message: Message) -> str:
    content = message["content"]
    if not isinstance(content, str):
        raise TemplateError("a message holds a list of parts, which a model that takes text cannot be given")
    if not content and message["role"] == "assistant":
        raise TemplateError("an empty assistant turn stands before other messages; multi-turn needs a model that takes messages")
    return content


def _known_keys(where: str, config: dict[str, Json], known: Sequence[str], rules: Rules) -> None:
    foreign = [key for key in config if key not in known]
    if foreign and not rules.lenient_templates:
        raise SpecError(f"{where} has no key {foreign[0]!r}{did_you_mean(foreign[0], known)}")
