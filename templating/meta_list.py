"""The list form of meta_template: role/content messages that a model carries in every evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from leaderflow.core.errors import SpecError, TemplateError
from leaderflow.core.types import Json, Message
from templating.raw import ROLES


class ListMeta:
    """Prepends to, or inserts among, the messages of a RawPromptTemplate.

    Args:
        config: the list of ``{role, content}``.

    Raises:
        SpecError: an element that is not exactly a role and text content.
    """

    def __init__(self, config: Sequence[Json]) -> None:
        for index, element in enumerate(config):
            if not isinstance(element, dict) or set(element) != {"role", "content"} or not isinstance(element["content"], str):
                raise SpecError(f"meta_template[{index}] must be a mapping of role and text content, got {element!r}")
            if element["role"] not in ROLES:
                raise SpecError(f"meta_template[{index}].role must be one of {', '.join(ROLES)}, got {element['role']!r}")
        self.messages = [cast(Message, element) for element in config]

    def apply(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with the model's own, both lists walked in order.

        Equal roles at the two places: the model's text goes before the content. A role that the rest of the messages does not
        have is inserted as a message of its own. No messages stay no messages.
        """
        out: list[Message] = []
        own, place = 0, 0
        while own < len(self.messages) and place < len(messages):
            model, message = self.messages[own], messages[place]
            if model["role"] == message["role"]:
                out.append(_prefixed(model, message))
                own, place = own + 1, place + 1
            elif any(later["role"] == model["role"] for later in messages[place:]):
                out.append(message)
                place += 1
            else:
                out.append(model)
                own += 1
        return [*out, *messages[place:], *(self.messages[own:] if messages else [])]


def _prefixed(model: Message, message: Message) -> Message:
    content, text = message["content"], cast(str, model["content"])
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    if not content and message["role"] == "assistant":
        raise TemplateError("the model's meta_template would fill an assistant turn that the model is to generate")
    return {**message, "content": text + content}
