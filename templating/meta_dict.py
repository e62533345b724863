"""The dictionary form of meta_template: how the roles of a legacy dialogue become a model's own text or API messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leaderflow.core.errors import SpecError, TemplateError, did_you_mean
from leaderflow.core.types import Json, Message
from templating.compat import NATIVE, Rules
from templating.dialogue import Block, Dialogue, Item
from templating.rounds import Rounds, Turn

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
        self.rounds = Rounds(self.round, self.roles, rules)

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
            silent = self.rules.forms_may_mix and "api_role" not in role
            if role.get("api_role") not in API_ROLES and not silent:
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
        if isinstance(self.config.get("begin"), dict):
            _opening(self.config["begin"])

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
        turns = list(self.rounds.turns(dialogue, generate, lossy=False))
        stopped = bool(turns) and isinstance(turns[-1], Turn) and turns[-1].open
        body = "".join(turn if isinstance(turn, str) else turn.text() for turn in turns)
        begin, end = (str(self.config.get(key, "")) for key in ("begin", "end"))
        return begin + body + ("" if stopped else end)

    def messages(self, dialogue: Dialogue, generate: bool) -> list[Message]:
        """Return API messages; equal neighbours are joined by a newline, the model's open turn is left out.

        Raises:
            TemplateError: a role that the model does not declare, text without a role, or nothing to send.
        """
        turns = [turn for turn in self.rounds.turns(dialogue, generate, lossy=True) if not isinstance(turn, Turn) or not turn.open]
        lost = next((turn for turn in turns if isinstance(turn, str) and turn.strip()), None)
        if lost is not None and not self.rules.bare_text_lost:
            raise TemplateError(f"the text {lost!r} stands in a dialogue without a role; a model that takes messages needs one")
        spoken = [_message(turn) for turn in turns if isinstance(turn, Turn)]
        messages = join_neighbours(spoken, keep_empty=self.rules.full_rounds)
        if not messages:
            raise TemplateError("the dialogue has no text to send")
        opening = self.config.get("begin")
        return [_opening(opening), *messages] if isinstance(opening, dict) else messages

    def wrap(self, messages: Sequence[Message], generate: bool) -> str:
        """Return role/content messages as the model's text: each in the markers of the role that stands for its own.

        In generation, text of a last assistant message is where the model goes on.

        Raises:
            TemplateError: a role without markers, content that is not text, or a slot that is not the last message.
        """
        prefix = ""
        if generate and messages and messages[-1]["role"] == "assistant":
            content = messages[-1]["content"]
            prefix = _plain(messages[-1]) if content else ""
            messages = messages[:-1]
        items = tuple({"role": self._speaker(message["role"]), "prompt": _plain(message)} for message in messages)
        return self.text(Dialogue((Block("round", items),)), generate) + prefix

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
