"""RawPromptTemplate: role/content messages, as a chat model receives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from leaderflow.core.errors import SpecError, TemplateError
from leaderflow.core.types import Json, Message, Row
from templating.compat import NATIVE, Rules
from templating.substitute import Fill, leak

ROLES = ("system", "user", "assistant")


class RawPromptTemplate:
    """The standard template.

    Args:
        messages: ``{role, content}`` mappings with ``{column}`` placeholders in text content; ``{expand_column: NAME}``, in whose
            place the row's list of messages stands; and the ice_token, in whose place the examples stand. Content that is a list of
            parts and the messages of an expanded column pass as they are.
        format_variables: False leaves every placeholder as it is.
        ice_token: marks where the examples go.
        rules: handed over by leaderflow.

    Raises:
        SpecError: wrong types, roles or keys, or no messages.
    """

    kind = "messages"
    labels: list[str] | None = None

    def __init__(
        self, messages: list[Json], format_variables: bool = True, ice_token: str = "</E>", *, rules: Rules = NATIVE
    ) -> None:
        if not isinstance(messages, list):
            raise SpecError(f"messages must be a list, got {type(messages).__name__} {messages!r}")
        if not messages and not rules.lenient_templates:
            raise SpecError("messages is empty, so the model would be asked nothing")
        for index, element in enumerate(messages):
            _check_element(index, element, ice_token, rules)
        self.messages, self.format_variables, self.ice_token, self.rules = messages, format_variables, ice_token, rules

    @property
    def takes_examples(self) -> bool:
        """Whether the ice_token stands among the messages."""
        return self.ice_token in self.messages

    def texts(self) -> list[str]:
        """Return the texts that may hold placeholders."""
        if not self.format_variables:
            return []
        return [m["content"] for m in self.messages if isinstance(m, dict) and isinstance(m.get("content"), str)]

    def skeletons(self) -> list[list[Message]]:
        """Return what can be seen of the messages without a row."""
        return [[cast(Message, element) for element in self.messages if isinstance(element, dict) and "role" in element]]

    def target(self, row: Row, fill: Fill, examples: Sequence[Message], *, hidden: str | None, label: str | None) -> list[Message]:
        """Render the sample: its messages, with the examples in the ice_token's place.

        Args:
            row: the sample's row.
            fill: fills a text from the row.
            examples: the messages of all examples, in order.
            hidden: the answer column, where it must not show.
            label: no candidate reads differently; kept for the common signature.
        """
        out: list[Message] = []
        for element in self.messages:
            if isinstance(element, str):
                out += examples if element == self.ice_token and label is None else []
            else:
                out += self._element(element, row, fill, hidden)
        return out

    def example(self, row: Row, fill: Fill, *, label: str | None) -> list[Message]:
        """Render an example: the messages without the ice_token."""
        return self.target(row, fill, (), hidden=None, label=None)

    def _element(self, element: dict[str, Json], row: Row, fill: Fill, hidden: str | None) -> list[Message]:
        if "expand_column" in element:
            return self._expanded(element["expand_column"], row, hidden)
        content = element["content"]
        if self.format_variables and isinstance(content, str):
            return [cast(Message, {**element, "content": fill(content)})]
        return [cast(Message, element)]

    def _expanded(self, column: str, row: Row, hidden: str | None) -> list[Message]:
        found = row.get(column)
        if self.rules.lenient_templates:
            return cast(list[Message], found) if isinstance(found, list) else []
        if column == hidden:
            raise TemplateError(leak(column))
        if column not in row:
            raise TemplateError(f"expand_column {column!r} is no column of the row (columns: {', '.join(row)})")
        if not isinstance(found, list):
            raise TemplateError(f"expand_column {column!r} must hold a list of messages, got {type(found).__name__}")
        for message in found:
            if not _is_message(message):
                raise TemplateError(
                    f"expand_column {column!r} holds {message!r}; a message needs a role ({', '.join(ROLES)}) and content"
                )
        return cast(list[Message], found)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") in ROLES and isinstance(value.get("content"), str | list)


def _check_element(index: int, element: Json, ice_token: str, rules: Rules) -> None:
    place = f"messages[{index}]"
    if isinstance(element, str):
        if element != ice_token and not rules.lenient_templates:
            raise SpecError(f"{place} is the text {element!r}, which is not the ice_token {ice_token!r}; write a role and content")
        return
    if not isinstance(element, dict):
        raise SpecError(f"{place} must be a mapping or the ice_token {ice_token!r}, got {element!r}")
    if "expand_column" in element:
        if not rules.lenient_templates and (len(element) > 1 or not isinstance(element["expand_column"], str)):
            raise SpecError(f"{place} must hold expand_column with a column's name and nothing else, got {element!r}")
        return
    for needed in ("role", "content"):
        if needed not in element:
            raise SpecError(f"{place} has no {needed!r} (got {', '.join(map(repr, element)) or 'an empty mapping'})")
    if element["role"] not in ROLES:
        raise SpecError(f"{place}.role must be one of {', '.join(ROLES)}, got {element['role']!r}")
    if not isinstance(element["content"], str | list) and not rules.lenient_templates:
        raise SpecError(f"{place}.content must be text or a list of parts, got {element['content']!r}")
